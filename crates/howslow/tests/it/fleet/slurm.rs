//! Eight nodes of a real Slurm: one refuses, one hangs, one is killed in mid-run, the job of one is cancelled.

use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use fleet::Stage;
use rustix::process::{Pid, Signal, kill_process};

use super::cluster::Cluster;
use super::{TINY, ended, node, small_program, state};
use crate::support::{folder, until};

/// The four nodes that something happens to, and the text that reports it.
const ODD: [(&str, Stage, &str); 4] = [
    ("node1", Stage::Refused, "drained: bad DIMM | A2; $(id)"),
    ("node2", Stage::Hung, "should have ended"),
    ("node3", Stage::Killed, "NODE_FAIL"),
    ("node4", Stage::Cancelled, "CANCELLED"),
];

fn howslow(cluster: &Cluster, data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("howslow"));
    command.arg("fleet").args(words).env("HOWSLOW_DATA", data).env("SLURM_CONF", cluster.configuration());
    // Passwords stay here.
    command.env("HOWSLOW_TEST_SECRET", "secret").env_remove("NO_COLOR");
    command
}

fn howslow_history(data: &Path) -> serde_json::Value {
    let listed = Command::new(cargo_bin!("howslow")).args(["history", "--json"]).env("HOWSLOW_DATA", data).output();
    serde_json::from_slice(&listed.expect("it starts").stdout).expect("JSON")
}

fn run(program: &str) -> Vec<&str> {
    let begin =
        ["run", "--slurm", "--id", "eight", "--binary", program, "--budget", "3s", "--limit", "8s", "--rounds", "900"];
    [&begin[..], &TINY].concat()
}

#[test]
fn eight_nodes_of_which_four_fail_and_are_finished_later() {
    let Some(mut cluster) = Cluster::start(8) else { return };
    let data = folder();
    let program = small_program();
    cluster.printed_by(&["scontrol", "update", "nodename=node1", "state=drain", "reason=bad DIMM | A2; $(id)"]);

    // Begun by one process, which is killed; followed by another.
    let mut first = howslow(&cluster, data.path(), &run(program)).stderr(Stdio::null()).spawn().expect("it starts");
    let shared = data.path().join("fleet/eight/shared");
    until("three nodes to measure", || (1..=3).all(|place| shared.join(format!("n{place}.a1.started")).exists()));
    let _ = kill_process(Pid::from_child(&first), Signal::KILL);
    let _ = first.wait();
    assert!(cluster.stop("node2", Signal::STOP) > 0, "nothing to stop on node2");
    cluster.crash("node3");
    let job = cluster.printed_by(&["squeue", "-h", "-w", "node4", "-o", "%i"]);
    cluster.printed_by(&["scancel", job.trim()]);

    let attached = howslow(&cluster, data.path(), &["attach", "--every", "300ms"]).output().expect("it starts");
    let errors = String::from_utf8_lossy(&attached.stderr);
    assert_eq!(attached.status.code(), Some(3), "{errors}");
    let fleet = state(data.path(), "eight");
    let one = fleet.same_machines().first().map_or(0, Vec::len);
    assert_eq!(one, 4, "that all nodes are this host is not noticed");
    for (name, stage, reason) in ODD {
        ended(&fleet, name, stage, reason);
        assert!(errors.contains(name) || name == "node1", "{name} is not named: {errors}");
        assert!(String::from_utf8_lossy(&attached.stdout).contains(name), "{name} is not on the page");
    }
    let documents = data.path().join("fleet/eight/documents");
    for name in ["node5", "node6", "node7", "node8"] {
        ended(&fleet, name, Stage::Done, "");
        let run = record::read_run(&documents.join(format!("{name}.r1.json"))).expect("a document");
        assert!(run.id.ends_with(name) && run.costs.iter().any(|cost| cost.operation == "loop.empty"));
    }

    // The nodes come back, and the same command finishes what is missing.
    cluster.printed_by(&["scontrol", "update", "nodename=node1", "state=resume"]);
    cluster.start_node("node3");
    until("all nodes to be idle", || cluster.idle() == 8);
    let second = howslow(&cluster, data.path(), &run(program)).output().expect("it starts");
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    let finished = state(data.path(), "eight");
    assert_eq!((finished.complete(), finished.unfinished().len()), (8, 0));
    for place in 1..=8 {
        let name = format!("node{place}");
        let attempts = if place <= 4 { 2 } else { 1 };
        assert_eq!(node(&finished, &name).attempts.len(), attempts, "{name}");
        assert!(record::read_run(&documents.join(format!("{name}.r1.json"))).is_ok(), "{name}");
    }
    for name in ["node5", "node6", "node7", "node8"] {
        assert_eq!(node(&finished, name), node(&fleet, name), "{name} was measured again");
    }
    assert!(!shared.exists(), "the program was left behind");
    let history = howslow_history(data.path());
    assert_eq!(history.as_array().map(Vec::len), Some(8), "runs in the store: {history}");
    prolog_fails(&cluster, data.path(), program);
}

/// The prolog of one node fails: Slurm drains it, and the other is measured.
fn prolog_fails(cluster: &Cluster, data: &Path, program: &str) {
    until("all nodes to be idle", || cluster.idle() == 8);
    cluster.fail_prolog("node7");
    let words = ["run", "--slurm", "--id", "two", "--nodes", "node[7-8]", "--binary", program, "--budget", "1s"];
    let result = howslow(cluster, data, &[&words[..], &TINY].concat()).output().expect("it starts");
    assert_eq!(result.status.code(), Some(3), "{}", String::from_utf8_lossy(&result.stderr));
    let fleet = state(data, "two");
    ended(&fleet, "node7", Stage::Refused, "Prolog error");
    ended(&fleet, "node8", Stage::Done, "");
}
