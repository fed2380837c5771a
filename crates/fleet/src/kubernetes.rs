//! Manifests for Kubernetes: a ConfigMap of the plan, an indexed Job that measures on a number of nodes, and a DaemonSet
//! that measures on all. They request what a container would otherwise hide.

use serde_json::{Value, json};

use crate::error::FleetError;
use crate::plan::Plan;
use crate::script::NODE_SCRIPT;

/// Where the documents go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collector {
    /// A PersistentVolumeClaim that many nodes may write.
    Claim(String),
    /// The address of a store, in this key of a Secret.
    Store { secret: String, key: String },
}

impl Collector {
    /// Reads `pvc:CLAIM` or `postgres:SECRET/KEY`. Fails if it is neither, or holds no names of Kubernetes.
    pub fn parse(text: &str) -> Result<Collector, FleetError> {
        let parsed = match text.split_once(':') {
            Some(("pvc", claim)) if is_name(claim, 253) => Some(Collector::Claim(claim.into())),
            Some(("postgres", place)) => place
                .split_once('/')
                .filter(|(secret, key)| is_name(secret, 253) && is_key(key))
                .map(|(secret, key)| Collector::Store { secret: secret.into(), key: key.into() }),
            _ => None,
        };
        parsed.ok_or_else(|| {
            let shown = record::printable(text);
            let remedy = "give pvc:CLAIM or postgres:SECRET/KEY, with names as Kubernetes has them";
            FleetError::Misuse(format!("--collector: {shown:?} is no place for documents: {remedy}"))
        })
    }
}

#[derive(Clone, Debug)]
pub struct Manifests {
    pub id: String,
    pub plan: Plan,
    /// The image, which holds howslow and a shell.
    pub image: String,
    /// The nodes' names, if they are named.
    pub nodes: Vec<String>,
    /// Number of nodes for the Job.
    pub count: u32,
    /// Whole CPUs for each pod.
    pub cpus: u32,
    /// Where the documents go.
    pub collector: Collector,
    pub namespace: Option<String>,
}

/// The documents to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub config_map: Value,
    pub job: Value,
    pub daemon_set: Value,
}

/// The label that all pods of a fleet carry.
const LABEL: &str = "howslow/fleet";
/// The name of a node, as nodes are labelled.
const HOST: &str = "kubernetes.io/hostname";
/// Memory of a pod: the largest operation maps 256 MiB, in several processes.
const MEMORY: &str = "2Gi";

impl Manifests {
    /// Checks every name, and writes the manifests. Fails if a name is none of Kubernetes, or nothing states how many nodes
    /// there are.
    pub fn write(&self) -> Result<Written, FleetError> {
        self.check()?;
        Ok(Written { config_map: self.config_map()?, job: self.job(), daemon_set: self.daemon_set() })
    }

    fn check(&self) -> Result<(), FleetError> {
        let misuse = |option: &str, text: &str, remedy: &str| {
            Err(FleetError::Misuse(format!("{option}: {:?} {remedy}", record::printable(text))))
        };
        if !is_label(&self.id, 50) {
            return misuse("--id", &self.id, "is no name for Kubernetes: small letters, digits and '-', at most 50");
        }
        if let Some(namespace) = self.namespace.as_deref().filter(|name| !is_label(name, 63)) {
            return misuse("--namespace", namespace, "is no namespace: small letters, digits and '-'");
        }
        if let Some(node) = self.nodes.iter().find(|node| !is_name(node, 253)) {
            return misuse("--nodes", node, "is no node's name: small letters, digits, '-' and '.'");
        }
        if self.image.is_empty() || self.image.starts_with('-') || self.image.contains(|c: char| !c.is_ascii_graphic())
        {
            return misuse("--image", &self.image, "is no image");
        }
        if self.count == 0 {
            return Err(FleetError::Misuse("say how many nodes there are: --count N, or --nodes NAME,...".into()));
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("howslow-{}", self.id)
    }

    /// A document of this kind, with the fields of `body`.
    fn document(&self, version: &str, kind: &str, body: Value) -> Value {
        let mut document = json!({
            "apiVersion": version,
            "kind": kind,
            "metadata": { "name": self.name(), "labels": self.labels() },
        });
        if let Some(namespace) = &self.namespace {
            document["metadata"]["namespace"] = json!(namespace);
        }
        merge(&mut document, body);
        document
    }

    fn labels(&self) -> Value {
        json!({ "app.kubernetes.io/name": "howslow", LABEL: self.id })
    }

    fn config_map(&self) -> Result<Value, FleetError> {
        let plan = serde_json::to_string_pretty(&self.plan).map_err(|error| FleetError::Trouble(error.to_string()))?;
        let data = json!({ "plan.json": plan + "\n", "node.sh": NODE_SCRIPT });
        Ok(self.document("v1", "ConfigMap", json!({ "data": data })))
    }

    /// One pod per node. A node on which it fails is tried twice, and takes no other with it.
    fn job(&self) -> Value {
        let mut pod = self.pod(json!(["/bin/sh", "/plan/node.sh"]));
        merge(
            &mut pod,
            json!({
                "restartPolicy": "Never",
                "activeDeadlineSeconds": self.plan.job_limit_s(self.plan.repeat as usize) as i64 + 120,
            }),
        );
        let apart = json!({ "labelSelector": { "matchLabels": self.labels() }, "topologyKey": HOST });
        pod["affinity"]["podAntiAffinity"] = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [apart] });
        let count = self.count.min(i32::MAX as u32);
        let spec = json!({
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": count,
            "template": self.template(pod),
        });
        self.document("batch/v1", "Job", json!({ "spec": spec }))
    }

    /// One pod on every node that may have it, also on those that join later. It sleeps when it has measured, because a
    /// DaemonSet begins again whatever ends.
    fn daemon_set(&self) -> Value {
        const MEASURE_AND_SLEEP: &str = "/bin/sh /plan/node.sh \"$@\"; while :; do sleep 3600; done";
        let pod = self.pod(json!(["/bin/sh", "-c", MEASURE_AND_SLEEP, "howslow"]));
        let spec = json!({ "selector": { "matchLabels": self.labels() }, "template": self.template(pod) });
        self.document("apps/v1", "DaemonSet", json!({ "spec": spec }))
    }

    fn template(&self, pod: Value) -> Value {
        json!({ "metadata": { "labels": self.labels() }, "spec": pod })
    }

    /// The arguments of the node's script. Files are named by the node.
    fn arguments(&self) -> Vec<String> {
        let numbers: Vec<String> = (1..=self.plan.repeat).map(|number| number.to_string()).collect();
        let limit = format!("{:.0}", self.plan.limit_s().ceil());
        let words = ["/results", &self.name(), "$(NODE_NAME)", &limit, &numbers.join(","), "howslow"];
        // Kubernetes replaces $(NAME); patterns cannot mean that.
        let own = self.plan.arguments().into_iter().map(|word| word.replace("$(", "$$("));
        words.iter().map(|word| (*word).to_owned()).chain(own).collect()
    }

    fn pod(&self, command: Value) -> Value {
        // Requests that equal the limits, in whole CPUs: the quality of service is Guaranteed, for which the static CPU
        // manager gives CPUs that no other container uses.
        let amounts = json!({ "cpu": self.cpus.to_string(), "memory": MEMORY });
        let container = json!({
            "name": "howslow",
            "image": self.image,
            "command": command,
            "args": self.arguments(),
            "env": self.environment(),
            "resources": { "requests": amounts, "limits": amounts },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                // A filter of system calls adds some time to each one that is measured.
                "seccompProfile": { "type": "Unconfined" },
            },
            "volumeMounts": [
                { "name": "plan", "mountPath": "/plan", "readOnly": true },
                { "name": "results", "mountPath": "/results" },
                { "name": "scratch", "mountPath": "/tmp" },
            ],
        });
        let mut pod = json!({
            "automountServiceAccountToken": false,
            "containers": [container],
            // Also nodes that are cordoned, or reserved by a taint, are to be measured.
            "tolerations": [{ "operator": "Exists", "effect": "NoSchedule" }],
            "volumes": [
                { "name": "plan", "configMap": { "name": self.name() } },
                self.results(),
                { "name": "scratch", "emptyDir": {} },
            ],
        });
        if !self.nodes.is_empty() {
            let named = json!({ "key": HOST, "operator": "In", "values": self.nodes });
            let terms = json!({ "nodeSelectorTerms": [{ "matchExpressions": [named] }] });
            pod["affinity"]["nodeAffinity"] = json!({ "requiredDuringSchedulingIgnoredDuringExecution": terms });
        }
        pod
    }

    fn environment(&self) -> Value {
        let node = json!({ "name": "NODE_NAME", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } });
        let host = json!({ "name": "HOWSLOW_HOST", "value": "$(NODE_NAME)" });
        let Collector::Store { secret, key } = &self.collector else { return json!([node, host]) };
        let reference = json!({ "secretKeyRef": { "name": secret, "key": key, "optional": false } });
        json!([node, host, { "name": "HOWSLOW_FLEET_STORE", "valueFrom": reference }])
    }

    fn results(&self) -> Value {
        match &self.collector {
            Collector::Claim(claim) => json!({ "name": "results", "persistentVolumeClaim": { "claimName": claim } }),
            Collector::Store { .. } => json!({ "name": "results", "emptyDir": {} }),
        }
    }
}

/// Adds the fields of `more`.
fn merge(document: &mut Value, more: Value) {
    if let (Value::Object(fields), Value::Object(more)) = (document, more) {
        fields.extend(more);
    }
}

/// A label of RFC 1123: small letters, digits and `-`.
fn is_label(text: &str, most: usize) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= most
        && text.chars().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// A name of RFC 1123: labels with points between them.
fn is_name(text: &str, most: usize) -> bool {
    text.len() <= most && text.split('.').all(|label| is_label(label, 63))
}

fn is_key(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 253 && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifests() -> Manifests {
        Manifests {
            id: "f1".into(),
            plan: Plan { repeat: 3, ..Plan::default() },
            image: "registry.example/howslow:1".into(),
            nodes: vec!["n1.example".into(), "n2".into()],
            count: 2,
            cpus: 4,
            collector: Collector::Claim("results".into()),
            namespace: None,
        }
    }

    #[test]
    fn a_pod_requests_what_a_container_hides() {
        let job = &manifests().job()["spec"];
        assert_eq!((&job["completions"], &job["completionMode"]), (&json!(2), &json!("Indexed")));
        let container = &job["template"]["spec"]["containers"][0];
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        assert_eq!(container["resources"]["limits"]["cpu"], "4");
        assert_eq!(container["securityContext"]["seccompProfile"]["type"], "Unconfined");
        let arguments = container["args"].as_array().expect("arguments");
        assert_eq!(arguments[..6], ["/results", "howslow-f1", "$(NODE_NAME)", "78", "1,2,3", "howslow"]);
    }

    #[test]
    fn names_that_could_be_more_than_names_are_refused() {
        for odd in ["", "A", "a\nb", "a: b", "a/b", "-a", "a-", "$(X)", "a..b"] {
            assert!(!is_name(odd, 253), "{odd}");
            let node = Manifests { nodes: vec![odd.into()], ..manifests() };
            assert!(node.write().is_err_and(|error| error.is_misuse()), "{odd}");
        }
        for odd in ["", "pvc", "pvc:", "pvc:A", "postgres:a", "postgres:a/", "postgres:a/b c", "file:x"] {
            assert!(Collector::parse(odd).is_err_and(|error| error.is_misuse()), "{odd}");
        }
        for odd in ["", "a b", "-x", "a\nb"] {
            assert!(Manifests { image: odd.into(), ..manifests() }.write().is_err(), "{odd}");
        }
        assert!(Manifests { count: 0, ..manifests() }.write().is_err());
        let store = Collector::Store { secret: "db".into(), key: "URL".into() };
        assert_eq!(Collector::parse("postgres:db/URL").ok(), Some(store.clone()));
        let environment = Manifests { collector: store, ..manifests() }.environment();
        assert_eq!(environment[2]["name"], "HOWSLOW_FLEET_STORE", "what node.sh reads");
    }
}
