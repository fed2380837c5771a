//! Manifests for Kubernetes: a ConfigMap of the plan, an indexed Job that measures on a number of nodes, and a DaemonSet
//! that measures on all. They ask for what a container would otherwise hide.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{DaemonSet, DaemonSetSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Affinity, Capabilities, ConfigMap, ConfigMapVolumeSource, Container, EmptyDirVolumeSource, EnvVar, EnvVarSource,
    NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectFieldSelector,
    PersistentVolumeClaimVolumeSource, PodAffinityTerm, PodAntiAffinity, PodSpec, PodTemplateSpec,
    ResourceRequirements, SeccompProfile, SecretKeySelector, SecurityContext, Toleration, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde::Serialize;

use crate::error::FleetError;
use crate::plan::Plan;
use crate::script::NODE_SCRIPT;

/// Where the documents go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collector {
    /// A PersistentVolumeClaim that many nodes may write.
    Claim(String),
    /// The address of a store, in this key of a Secret.
    Store {
        /// The Secret.
        secret: String,
        /// Its key.
        key: String,
    },
}

impl Collector {
    /// Reads `pvc:CLAIM` or `postgres:SECRET/KEY`.
    ///
    /// # Errors
    /// If it is neither, or holds no names of Kubernetes.
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
            let say = "give pvc:CLAIM or postgres:SECRET/KEY, with names as Kubernetes has them";
            FleetError::Misuse(format!("--collector: {shown:?} is no place for documents: {say}"))
        })
    }
}

/// What the manifests say.
#[derive(Clone, Debug)]
pub struct Manifests {
    /// The fleet's name.
    pub id: String,
    /// What each node does.
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
    /// The namespace, if told.
    pub namespace: Option<String>,
}

/// The documents that are to be applied, in YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The ConfigMap.
    pub config_map: String,
    /// The Job.
    pub job: String,
    /// The DaemonSet.
    pub daemon_set: String,
}

/// The label that all pods of a fleet carry.
const LABEL: &str = "howslow/fleet";
/// The name of a node, as nodes are labelled.
const HOST: &str = "kubernetes.io/hostname";
/// Memory of a pod: the largest operation maps 256 MiB, in several processes.
const MEMORY: &str = "2Gi";

impl Manifests {
    /// Checks every name, and writes the manifests.
    ///
    /// # Errors
    /// If a name is none of Kubernetes, or nothing says how many nodes there are.
    pub fn write(&self) -> Result<Written, FleetError> {
        self.check()?;
        Ok(Written {
            config_map: yaml(&self.config_map()?)?,
            job: yaml(&self.job())?,
            daemon_set: yaml(&self.daemon_set())?,
        })
    }

    fn check(&self) -> Result<(), FleetError> {
        let misuse = |option: &str, text: &str, say: &str| {
            Err(FleetError::Misuse(format!("{option}: {:?} {say}", record::printable(text))))
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

    fn metadata(&self) -> ObjectMeta {
        ObjectMeta {
            name: Some(self.name()),
            namespace: self.namespace.clone(),
            labels: Some(self.labels()),
            ..ObjectMeta::default()
        }
    }

    fn labels(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("app.kubernetes.io/name".into(), "howslow".into()), (LABEL.into(), self.id.clone())])
    }

    fn selector(&self) -> LabelSelector {
        LabelSelector { match_labels: Some(self.labels()), ..LabelSelector::default() }
    }

    fn config_map(&self) -> Result<ConfigMap, FleetError> {
        let plan = serde_json::to_string_pretty(&self.plan).map_err(|error| FleetError::Trouble(error.to_string()))?;
        let data = BTreeMap::from([("plan.json".into(), plan + "\n"), ("node.sh".into(), NODE_SCRIPT.into())]);
        Ok(ConfigMap { metadata: self.metadata(), data: Some(data), ..ConfigMap::default() })
    }

    /// One pod per node. A node on which it fails is tried twice, and takes no other with it.
    fn job(&self) -> Job {
        let count = i32::try_from(self.count).unwrap_or(i32::MAX);
        let mut pod = self.pod(vec!["/bin/sh".into(), "/plan/node.sh".into()], self.arguments());
        pod.restart_policy = Some("Never".into());
        pod.active_deadline_seconds = Some(self.plan.job_limit_s(self.plan.repeat as usize) as i64 + 120);
        let apart = PodAffinityTerm {
            label_selector: Some(self.selector()),
            topology_key: HOST.into(),
            ..PodAffinityTerm::default()
        };
        let affinity = pod.affinity.get_or_insert_default();
        affinity.pod_anti_affinity = Some(PodAntiAffinity {
            required_during_scheduling_ignored_during_execution: Some(vec![apart]),
            ..PodAntiAffinity::default()
        });
        let spec = JobSpec {
            completion_mode: Some("Indexed".into()),
            completions: Some(count),
            parallelism: Some(count),
            backoff_limit_per_index: Some(1),
            max_failed_indexes: Some(count),
            template: self.template(pod),
            ..JobSpec::default()
        };
        Job { metadata: self.metadata(), spec: Some(spec), status: None }
    }

    /// One pod on every node that may have it, also on those that join later. It sleeps when it has measured, because a
    /// DaemonSet begins again whatever ends.
    fn daemon_set(&self) -> DaemonSet {
        const MEASURE_AND_SLEEP: &str = "/bin/sh /plan/node.sh \"$@\"; while :; do sleep 3600; done";
        let command = vec!["/bin/sh".into(), "-c".into(), MEASURE_AND_SLEEP.into(), "howslow".into()];
        let pod = self.pod(command, self.arguments());
        let spec =
            DaemonSetSpec { selector: self.selector(), template: self.template(pod), ..DaemonSetSpec::default() };
        DaemonSet { metadata: self.metadata(), spec: Some(spec), status: None }
    }

    fn template(&self, pod: PodSpec) -> PodTemplateSpec {
        let metadata = ObjectMeta { labels: Some(self.labels()), ..ObjectMeta::default() };
        PodTemplateSpec { metadata: Some(metadata), spec: Some(pod) }
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

    fn pod(&self, command: Vec<String>, arguments: Vec<String>) -> PodSpec {
        let mount = |name: &str, path: &str, read_only: bool| VolumeMount {
            name: name.into(),
            mount_path: path.into(),
            read_only: read_only.then_some(true),
            ..VolumeMount::default()
        };
        // Requests that equal the limits, in whole CPUs: the quality of service is Guaranteed, for which the static CPU
        // manager gives CPUs that no other container uses.
        let amounts = BTreeMap::from([
            ("cpu".into(), Quantity(self.cpus.to_string())),
            ("memory".into(), Quantity(MEMORY.into())),
        ]);
        let container = Container {
            name: "howslow".into(),
            image: Some(self.image.clone()),
            command: Some(command),
            args: Some(arguments),
            env: Some(self.environment()),
            resources: Some(ResourceRequirements {
                requests: Some(amounts.clone()),
                limits: Some(amounts),
                ..ResourceRequirements::default()
            }),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                capabilities: Some(Capabilities { drop: Some(vec!["ALL".into()]), ..Capabilities::default() }),
                seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), ..SeccompProfile::default() }),
                ..SecurityContext::default()
            }),
            volume_mounts: Some(vec![
                mount("plan", "/plan", true),
                mount("results", "/results", false),
                mount("scratch", "/tmp", false),
            ]),
            ..Container::default()
        };
        PodSpec {
            affinity: self.affinity(),
            automount_service_account_token: Some(false),
            containers: vec![container],
            // Also nodes that are cordoned, or reserved by a taint, are to be measured.
            tolerations: Some(vec![Toleration {
                operator: Some("Exists".into()),
                effect: Some("NoSchedule".into()),
                ..Toleration::default()
            }]),
            volumes: Some(self.volumes()),
            ..PodSpec::default()
        }
    }

    fn environment(&self) -> Vec<EnvVar> {
        let from = |name: &str, source: EnvVarSource| EnvVar {
            name: name.into(),
            value_from: Some(source),
            ..EnvVar::default()
        };
        let node = ObjectFieldSelector { field_path: "spec.nodeName".into(), ..ObjectFieldSelector::default() };
        let mut variables = vec![from("NODE_NAME", EnvVarSource { field_ref: Some(node), ..EnvVarSource::default() })];
        if let Collector::Store { secret, key } = &self.collector {
            let key = SecretKeySelector { name: secret.clone(), key: key.clone(), optional: Some(false) };
            let source = EnvVarSource { secret_key_ref: Some(key), ..EnvVarSource::default() };
            variables.push(from("HOWSLOW_STORE", source));
        }
        variables
    }

    fn affinity(&self) -> Option<Affinity> {
        if self.nodes.is_empty() {
            return None;
        }
        let named =
            NodeSelectorRequirement { key: HOST.into(), operator: "In".into(), values: Some(self.nodes.clone()) };
        let term = NodeSelectorTerm { match_expressions: Some(vec![named]), ..NodeSelectorTerm::default() };
        let nodes = NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector { node_selector_terms: vec![term] }),
            ..NodeAffinity::default()
        };
        Some(Affinity { node_affinity: Some(nodes), ..Affinity::default() })
    }

    fn volumes(&self) -> Vec<Volume> {
        let empty = || Some(EmptyDirVolumeSource::default());
        let named = |name: &str| Volume { name: name.into(), ..Volume::default() };
        let results = match &self.collector {
            Collector::Claim(claim) => Volume {
                persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                    claim_name: claim.clone(),
                    read_only: None,
                }),
                ..named("results")
            },
            Collector::Store { .. } => Volume { empty_dir: empty(), ..named("results") },
        };
        let plan = ConfigMapVolumeSource { name: self.name(), ..ConfigMapVolumeSource::default() };
        vec![
            Volume { config_map: Some(plan), ..named("plan") },
            results,
            Volume { empty_dir: empty(), ..named("scratch") },
        ]
    }
}

fn yaml(value: &impl Serialize) -> Result<String, FleetError> {
    serde_saphyr::to_string(value).map_err(|error| FleetError::Trouble(error.to_string()))
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
    fn a_pod_asks_for_what_a_container_hides() {
        let job = manifests().job().spec.expect("a spec");
        assert_eq!((job.completions, job.completion_mode.as_deref()), (Some(2), Some("Indexed")));
        let pod = job.template.spec.expect("a pod");
        let resources = pod.containers[0].resources.clone().expect("resources");
        assert_eq!(resources.requests, resources.limits);
        assert_eq!(resources.limits.expect("limits")["cpu"], Quantity("4".into()));
        let arguments = pod.containers[0].args.clone().expect("arguments");
        assert_eq!(arguments[..6], ["/results", "howslow-f1", "$(NODE_NAME)", "87", "1,2,3", "howslow"]);
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
        assert_eq!(Collector::parse("postgres:db/URL").ok(), Some(store));
    }
}
