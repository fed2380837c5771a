//! Bills in namespaces of processes and of cgroups, and without the right to hear of the ends of tasks.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{calls, counting};
use crate::support::folder;

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// A shell that starts one program after another, until it is dropped.
struct Busy(Child);

impl Busy {
    fn start() -> Busy {
        let script = "while :; do /bin/true; done";
        Busy(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().expect("sh starts"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What `howslow bill` prints as a document behind these words, which may hold `HOWSLOW` for the program.
fn document_behind(words: &[&str]) -> Value {
    let (data, howslow) = (folder(), assert_cmd::cargo::cargo_bin!("howslow"));
    let words: Vec<String> = words.iter().map(|word| word.replace("HOWSLOW", path(howslow))).collect();
    let output = Command::new(&words[0])
        .args(&words[1..])
        .env("HOWSLOW_DATA", data.path())
        .env("HOWSLOW_PRICES", "kept")
        .output()
        .expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn is_possible(words: &[&str]) -> bool {
    let possible = matches!(Command::new(words[0]).args(&words[1..]).status(), Ok(status) if status.success());
    if !possible {
        testing::not_tested!("{} is not possible here; run as root", words.join(" "));
    }
    possible
}

#[test]
fn a_namespace_of_processes_is_the_whole_system() {
    if counting("ebpf").is_none() || !is_possible(&["unshare", "-p", "-f", "--mount-proc", "true"]) {
        return;
    }
    let _outside = Busy::start();
    let inside = ["unshare", "-p", "-f", "--mount-proc", "sh", "-c"];
    let bill = "HOWSLOW bill --system --source ebpf --for 400ms --json";
    let quiet = document_behind(&[&inside[..], &[bill]].concat());
    let vforks = |document: &Value| {
        let calls = calls(document);
        ["vfork", "fork", "clone", "clone3"].iter().filter_map(|call| calls.get(*call)).map(|call| call.0).sum::<u64>()
    };
    assert_eq!(vforks(&quiet), 0, "the shell outside is none of its tasks: {quiet}");
    let busy = format!("while :; do /bin/true; done & {bill}; kill $!");
    let busy = document_behind(&[&inside[..], &[&busy]].concat());
    assert!(vforks(&busy) > 10, "the one inside is: {busy}");
    let pids = busy["seen"]["processes"].as_array().expect("processes").iter().filter_map(|it| it["pid"].as_u64());
    assert!(pids.clone().count() > 0 && pids.max() < Some(100_000), "{busy}");
}

/// Mounts the unified hierarchy at $0 for itself, makes a cgroup there, and takes it as the root of a namespace, in which it makes
/// another one with work in it. Removes both.
const IN_A_NAMESPACE_OF_CGROUPS: &str = r#"
    set -e
    mount -t cgroup2 none "$0"; own=$0/howslow-test-$$; mkdir "$own"; echo $$ > "$own/cgroup.procs"
    unshare -C -m sh -c '
        umount "$0"; mount -t cgroup2 none "$0"; mkdir "$0/below"
        sh -c "echo \$\$ > \"$0/below/cgroup.procs\"; while :; do /bin/true; done" & busy=$!
        sleep 0.2
        "$1" bill --cgroup "$0/below" --source ebpf --for 400ms --json
        kill $busy; wait $busy 2>/dev/null; rmdir "$0/below" || { sleep 0.5; rmdir "$0/below"; }' "$0" "$1"
    echo $$ > "$0/cgroup.procs"; rmdir "$own""#;

#[test]
fn a_cgroup_is_counted_from_within_a_namespace_of_cgroups() {
    let place = folder();
    let at = path(place.path());
    if counting("ebpf").is_none() || !is_possible(&["unshare", "-m", "-C", "mount", "-t", "cgroup2", "none", at]) {
        return;
    }
    let _outside = Busy::start();
    let document = document_behind(&["unshare", "-m", "sh", "-c", IN_A_NAMESPACE_OF_CGROUPS, at, "HOWSLOW"]);
    let together = &document["seen"]["together"];
    let (forks, execs) = (together["forks"].as_u64(), together["execs"].as_u64());
    assert!(forks > Some(10) && execs > Some(10), "{document}");
    let names =
        document["seen"]["processes"].as_array().expect("processes").iter().filter_map(|it| it["cgroup"].as_str());
    assert!(names.clone().count() > 0 && names.into_iter().all(|name| name.ends_with("/below")), "{document}");
}

#[test]
fn an_unknown_charge_is_no_charge() {
    let without = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"];
    if counting("ebpf").is_none() || !is_possible(&[&without[..], &["true"]].concat()) {
        return;
    }
    let busy = Busy::start();
    let pid = busy.0.id().to_string();
    let bill = ["HOWSLOW", "bill", "--source", "ebpf", "--for", "300ms", "--json", "-p", &pid];
    let document = document_behind(&[&without[..], &bill].concat());
    assert!(document["charged_ns"].is_null(), "{document}");
    let losses = document["seen"]["losses"].as_array().expect("losses");
    assert!(
        losses.iter().any(|it| it["what"].as_str().is_some_and(|what| what.contains("CAP_NET_ADMIN"))),
        "{losses:?}"
    );
    let document = document_behind(&bill);
    assert!(document["charged_ns"].as_f64() > Some(0.0), "with the right to hear of them: {document}");
    assert_eq!(document["seen"]["losses"], serde_json::json!([]));
}

#[test]
fn a_kernel_that_does_not_describe_its_types_counts_calls_by_name_and_says_so() {
    let hide = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "sh"];
    if counting("ebpf").is_none() || !is_possible(&[&hide[..], &["true"]].concat()) {
        return;
    }
    let bill = ["HOWSLOW", "bill", "--source", "ebpf", "--json", "--", "sh", "-c", "cat /proc/self/stat > /dev/null"];
    let document = document_behind(&[&hide[..], &bill].concat());
    assert!(calls(&document)["read"].0 >= 2, "{document}");
    let all = document["seen"]["together"]["calls"].as_array().expect("calls");
    assert!(all.iter().all(|call| call["objects"].is_null()), "{document}");
    let losses = document["seen"]["losses"].to_string();
    assert!(losses.contains("CONFIG_DEBUG_INFO_BTF"), "{losses}");
}
