//! The manifests for Kubernetes, read by PyYAML, since JSON is also YAML, and checked against the schemas of Kubernetes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{folder, howslow};

/// Reads all manifests with PyYAML, also those of a list, checks each strictly, and prints them as JSON.
const VALIDATE: &str = "\
import json, sys, yaml, kubernetes_validate
read = [document for path in sys.argv[1:] for document in yaml.safe_load_all(open(path))]
read = [item for document in read for item in document.get('items', [document])]
for document in read:
    kubernetes_validate.validate(document, '1.33', strict=True)
print(json.dumps(read))
";

const RUN: [&str; 8] =
    ["fleet", "run", "--kubernetes", "--id", "f1", "--image", "registry.example/howslow:1", "--suite"];

/// The manifests in these files, which are what Kubernetes expects. None if they cannot be validated here.
fn validated(files: &[PathBuf]) -> Option<serde_json::Value> {
    let read = Command::new("python3").args(["-c", VALIDATE]).args(files).output();
    let Some(read) = read.ok().filter(|read| !String::from_utf8_lossy(&read.stderr).contains("ModuleNotFound")) else {
        testing::not_tested!("Python cannot validate manifests; pip install kubernetes-validate PyYAML");
        return None;
    };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    Some(serde_json::from_slice(&read.stdout).expect("JSON"))
}

fn kinds(documents: &serde_json::Value) -> Vec<&str> {
    documents.as_array().into_iter().flatten().filter_map(|document| document["kind"].as_str()).collect()
}

#[test]
fn manifests_are_what_kubernetes_expects() {
    let data = folder();
    let words = ["loop.empty", "pipe.*@size=1", "--repeat", "2", "--nodes", "n2,n1.example,n2", "--cpus", "4"];
    let to = data.path().join("manifests");
    howslow(&data).args(RUN).args(words).arg("-o").arg(&to).assert().success();
    let store = data.path().join("store.json");
    let words = ["headline", "--count", "7", "--daemon-set", "--collector", "postgres:db/URL", "--namespace", "perf"];
    let printed = howslow(&data).args(RUN).args(words).assert().success();
    std::fs::write(&store, &printed.get_output().stdout).expect("a file");
    let mut files = ["configmap", "job", "daemonset"].map(|name| to.join(format!("{name}.json"))).to_vec();
    files.push(store);
    let Some(documents) = validated(&files) else { return };
    assert_eq!(kinds(&documents), ["ConfigMap", "Job", "DaemonSet", "ConfigMap", "DaemonSet"]);
    let [map, job] = [&documents[0], &documents[1]];
    assert_eq!(map["data"]["node.sh"].as_str(), Some(fleet::NODE_SCRIPT), "the script is changed by YAML");
    let plan: fleet::Plan = serde_json::from_str(map["data"]["plan.json"].as_str().expect("a plan")).expect("a plan");
    assert_eq!(plan.repeat, 2);
    assert_eq!((&job["spec"]["completions"], &job["spec"]["completionMode"]), (&2.into(), &"Indexed".into()));
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
    assert_eq!(container["args"][2], "$(NODE_NAME)");
    assert_eq!(container["args"][7], "loop.empty");
    let environment = &documents[4]["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!((&environment[1]["name"], &environment[1]["value"]), (&"HOWSLOW_HOST".into(), &"$(NODE_NAME)".into()));
    assert_eq!(environment[2]["valueFrom"]["secretKeyRef"]["key"], "URL");
    assert_eq!(documents[4]["metadata"]["namespace"], "perf");
}

/// `packaging/check` runs what these start.
#[test]
fn the_released_manifests_are_what_kubernetes_expects() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/kubernetes.yaml");
    let Some(documents) = validated(&[file]) else { return };
    assert_eq!(kinds(&documents), ["Namespace", "Job", "DaemonSet"]);
}
