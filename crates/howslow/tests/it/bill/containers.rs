//! Bills in namespaces of processes and of cgroups, and where the kernel does not report all.

use std::path::Path;
use std::process::{Command, Stdio};

use super::programs::program;
use super::{Bill, billed_by, counting, possible};
use crate::support::{Ours, folder};

fn path(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// A shell that starts one program after another, until it is dropped.
pub(super) fn busy() -> Ours {
    let script = "while :; do /bin/true; done";
    Ours(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().expect("sh starts"))
}

/// What `howslow bill` prints as a document behind these words, which may hold `HOWSLOW` for the program.
pub(super) fn bill_behind(words: &[&str]) -> Bill {
    let (data, howslow) = (folder(), assert_cmd::cargo::cargo_bin!("howslow"));
    let words: Vec<String> = words.iter().map(|word| word.replace("HOWSLOW", path(howslow))).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept");
    let output = command.output().expect("it runs");
    assert!(!output.stdout.is_empty(), "{output:?}");
    Bill::from_bytes(&output.stdout)
}

pub(super) fn is_possible(words: &[&str]) -> bool {
    let possible = matches!(Command::new(words[0]).args(&words[1..]).status(), Ok(status) if status.success());
    if !possible {
        testing::not_tested!("{} is not possible here; run as root", words.join(" "));
    }
    possible
}

#[test]
fn in_namespaces_what_is_inside_is_counted() {
    in_a_namespace_of_processes_their_ids_and_the_system_are_those_inside();
    a_cgroup_is_counted_from_within_a_namespace_of_cgroups();
}

fn in_a_namespace_of_processes_their_ids_and_the_system_are_those_inside() {
    let inside = ["unshare", "-p", "-f", "--mount-proc", "sh", "-c"];
    if !is_possible(&["unshare", "-p", "-f", "--mount-proc", "true"]) {
        return;
    }
    let _outside = busy();
    let behind = |script: &str| bill_behind(&[&inside[..], &[script]].concat());
    let data = folder();
    for source in possible() {
        // Counted by a howslow outside, each has its id there.
        let words = ["unshare", "-p", "-f", "--", "sh", "-c", "/bin/true; /bin/true; :"];
        let seen = billed_by(&data, data.path(), &["--source", source], &words).seen;
        assert_eq!((seen.together.forks, seen.together.execs), (3, 4), "{source}");
        assert!(seen.processes.iter().all(|process| process.pid > Some(3)), "{source}: {seen:?}");
        let bill = format!("HOWSLOW bill --source {source} --json --for 300ms");
        let one = behind(&format!("while :; do /bin/true; done & {bill} -p $!; kill $!"));
        assert!(one.count("wait4") > 0, "{source}: {}", one.document);
    }
    if counting("ebpf").is_none() {
        return;
    }
    let bill = "HOWSLOW bill --system --source ebpf --for 400ms --json";
    let forks = |bill: &Bill| ["vfork", "fork", "clone", "clone3"].map(|call| bill.count(call)).iter().sum::<u64>();
    let quiet = behind(bill);
    assert_eq!(forks(&quiet), 0, "the shell outside is none of its tasks: {}", quiet.document);
    let busy = behind(&format!("while :; do /bin/true; done & {bill}; kill $!"));
    assert!(forks(&busy) > 0, "the one inside is: {}", busy.document);
    let pids: Vec<u32> = busy.seen.processes.iter().filter_map(|process| process.pid).collect();
    assert!(!pids.is_empty() && pids.iter().all(|pid| *pid < 100_000), "{pids:?}");
}

/// Mounts the unified hierarchy at $0 for itself, makes a cgroup there, and takes it as the root of a namespace, in which it makes
/// another one with work in it. Removes both.
const IN_A_NAMESPACE_OF_CGROUPS: &str = r#"
    set -e
    mount -t cgroup2 none "$0"; own=$0/howslow-test-$$; mkdir "$own"; echo $$ > "$own/cgroup.procs"
    unshare -C -m sh -c '
        umount "$0"; mount -t cgroup2 none "$0"; mkdir "$0/below"
        sh -c "echo \$\$ > \"$0/below/cgroup.procs\"; while :; do /bin/true; done" & busy=$!
        until read -r pid < "$0/below/cgroup.procs"; do sleep 0.02; done
        "$1" bill --cgroup "$0/below" --source ebpf --for 400ms --json
        kill $busy; wait $busy 2>/dev/null; until rmdir "$0/below" 2>/dev/null; do sleep 0.02; done' "$0" "$1"
    echo $$ > "$0/cgroup.procs"; rmdir "$own""#;

fn a_cgroup_is_counted_from_within_a_namespace_of_cgroups() {
    let place = folder();
    let at = path(place.path());
    if counting("ebpf").is_none() || !is_possible(&["unshare", "-m", "-C", "mount", "-t", "cgroup2", "none", at]) {
        return;
    }
    let _outside = busy();
    let bill = bill_behind(&["unshare", "-m", "sh", "-c", IN_A_NAMESPACE_OF_CGROUPS, at, "HOWSLOW"]);
    let together = &bill.seen.together;
    assert!(together.forks > 0 && together.execs > 0, "{}", bill.document);
    let names: Vec<&str> = bill.seen.processes.iter().filter_map(|process| process.cgroup.as_deref()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| name.ends_with("/below")), "{}", bill.document);
}

/// The right to hear of the ends of tasks, without which their faults are unknown; and the types of the kernel, without which objects are,
/// and with both the charge.
#[test]
fn what_the_kernel_does_not_report_is_no_charge_and_no_object_and_is_noted() {
    let without = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"];
    let hide = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "sh"];
    if counting("ebpf").is_none()
        || !is_possible(&[&without[..], &["true"]].concat())
        || !is_possible(&[&hide[..], &["true"]].concat())
    {
        return;
    }
    let busy = busy();
    let pid = busy.0.id().to_string();
    let watch = ["HOWSLOW", "bill", "--source", "ebpf", "--for", "300ms", "--json", "-p", &pid];
    let command =
        ["HOWSLOW", "bill", "--source", "ebpf", "--json", "--", "sh", "-c", "cat /proc/self/stat > /dev/null"];
    let behind = |words: &[&[&str]]| {
        let bill = bill_behind(&words.concat());
        let losses: Vec<String> = bill.seen.losses.iter().map(|loss| loss.what.clone()).collect();
        (bill, losses.join("; "))
    };
    let charged = |bill: &Bill| bill.document["charged_ns"].as_f64();
    let (bill, losses) = behind(&[&without, &watch]);
    assert!(losses.contains("faults and switches are not known: that takes CAP_NET_ADMIN"), "{losses}");
    assert!(charged(&bill) > Some(0.0) && bill.seen.usage.minor_faults.is_none(), "{}", bill.document);
    // What a command used in all is reported at its end.
    let short = program("short");
    for _ in 0..3 {
        let (bill, _) = behind(&[&without, &["HOWSLOW", "bill", "--source", "ebpf", "--json", "--", &short]]);
        assert!(charged(&bill) > Some(0.0) && bill.seen.usage.minor_faults > Some(0), "{}", bill.document);
    }
    let (bill, losses) = behind(&[&hide, &without, &watch]);
    assert!(losses.contains("processor time is not known") && losses.contains("CAP_NET_ADMIN"), "{losses}");
    assert!(charged(&bill).is_none(), "{}", bill.document);
    let (bill, losses) = behind(&[&watch]);
    assert!(charged(&bill) > Some(0.0) && losses.is_empty(), "with the right: {}", bill.document);
    let (bill, losses) = behind(&[&hide, &command]);
    assert!(bill.count("read") >= 2 && losses.contains("CONFIG_DEBUG_INFO_BTF"), "{losses}: {}", bill.document);
    assert!(bill.seen.together.calls.iter().all(|call| call.objects.is_empty()), "{}", bill.document);
}
