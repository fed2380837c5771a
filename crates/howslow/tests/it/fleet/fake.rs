//! A scheduler that is missing, refuses, loses jobs or answers nonsense; nodes with other clocks, programs and architectures.

use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use fleet::Stage;
use rustix::process::Signal;
use tempfile::TempDir;

use super::{TINY, ended, node, small_program, state};
use crate::support::{EXAMPLE, count, folder, has_signal, kill, path_with, until};

/// No process of Linux has a greater number.
const MOST_PROCESSES: u32 = 1 << 22;

/// The programs of the scheduler. `sbatch` runs the script at once for most nodes; the node's name says what goes wrong. Accounting knows
/// what became of one job that left the queue. `@` stands for the test's folder.
const SCHEDULER: [(&str, &str); 6] = [
    ("sbatch", include_str!("fake/sbatch.sh")),
    ("squeue", include_str!("fake/squeue.sh")),
    ("scontrol", include_str!("fake/scontrol.sh")),
    ("sacct", include_str!("fake/sacct.sh")),
    ("sinfo", "sed 's/$/|idle|all*|none/' @/hostnames"),
    ("scancel", "echo \"$@\" >>@/cancelled"),
];

struct Fake(TempDir);

impl Fake {
    /// A scheduler whose cluster has these nodes.
    fn new(hostnames: &str) -> Fake {
        let fake = Fake(folder());
        let at = fake.0.path();
        for name in ["jobs", "bin"] {
            std::fs::create_dir(at.join(name)).expect("a folder");
        }
        std::fs::write(at.join("hostnames"), hostnames).expect("names");
        SCHEDULER.iter().for_each(|(name, text)| fake.program("bin", name, text));
        fake
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, folder: &str, name: &str, text: &str) {
        let at = self.path().join(folder);
        std::fs::create_dir_all(&at).expect("a folder");
        let text = text.replace('@', &self.path().display().to_string()).replace("$NAME", folder);
        // Of `all*` and `"$@"`, only the second is a word of the shell.
        let text = text.replace(&format!("\"${}\"", self.path().display()), "\"$@\"");
        testing::executable(&at.join(name), format!("#!/bin/sh\n{text}").as_bytes());
    }

    /// A node that has a howslow of its own, which writes the example with these changes.
    fn other(&self, node: &str, changes: &[(&str, &str)]) {
        let folder = format!("bin-{node}");
        self.program(&folder, "howslow", include_str!("fake/howslow.sh"));
        let text = changes.iter().fold(EXAMPLE.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "the example lacks {from}");
            text.replacen(from, to, 1)
        });
        std::fs::write(self.path().join(format!("document-{folder}.json")), text).expect("a document");
    }

    fn fleet(&self, words: &[&str]) -> Output {
        let mut command = Command::new(cargo_bin!("howslow"));
        command
            .env("PATH", path_with(&self.path().join("bin")))
            .env("HOWSLOW_TEST_SECRET", "secret")
            .env("HOWSLOW_DATA", self.path().join("data"));
        command.args(["fleet"]).args(words).output().expect("it starts")
    }

    /// The tests run on one host at the same time, so each fleet has a name of its own.
    fn run(&self, id: &str, words: &[&str]) -> Output {
        self.fleet(&[&["run", "--slurm", "--id", id, "--nodes", "list"], words, &TINY].concat())
    }
}

fn errors_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_scheduler_that_refuses_loses_and_talks_nonsense_costs_only_the_nodes_concerned() {
    let fake = Fake::new("good\nrefused\nlost\nstopped\nmute\nforeign\napart\ngood\n");
    std::fs::write(fake.path().join("nonsense"), "").expect("a file");
    fake.program("bin-foreign", "uname", "case $1 in -m) echo riscv64 ;; *) echo foreign ;; esac");
    let program = small_program();
    // On the first node: what an attempt left that was killed, and what one has that works for a fleet of another folder.
    let leftover =
        |process: u32| std::env::temp_dir().join(format!("howslow-fleet-odd-n0.{process}.{}", std::process::id()));
    let [killed, working] = [MOST_PROCESSES + 1, std::process::id()].map(leftover);
    for folder in [&killed, &working] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let result = fake.run("odd", &["--binary", program, "--budget", "1s", "--rounds", "1"]);
    let stays = [&killed, &working].map(|folder| std::fs::remove_dir(folder).is_ok());
    let errors = errors_of(&result);
    assert_eq!(result.status.code(), Some(3), "{errors}");
    for text in ["good is named twice", "squeue did not answer with a list of jobs"] {
        assert!(errors.contains(text), "{text}: {errors}");
    }
    let fleet = state(&fake.path().join("data"), "odd");
    assert_eq!((fleet.nodes.len(), fleet.nodes[0].name.as_str(), stays), (7, "good", [false, true]));
    ended(&fleet, "good", Stage::Done, "");
    // Its job is found by its name.
    ended(&fleet, "mute", Stage::Done, "");
    ended(&fleet, "refused", Stage::Refused, "Access denied");
    ended(&fleet, "lost", Stage::Lost, "no longer knows its job");
    ended(&fleet, "stopped", Stage::Cancelled, "CANCELLED by 1000");
    ended(&fleet, "foreign", Stage::Failed, "no program for riscv64 was sent");
    ended(&fleet, "apart", Stage::Failed, "--shared DIR");
    assert!(!fake.path().join("secrets").exists(), "the environment reached the jobs");
    let again = fake.fleet(&["status", "odd", "--json"]);
    assert_eq!(again.status.code(), Some(3));
    assert_eq!(serde_json::from_slice::<fleet::Fleet>(&again.stdout).expect("a fleet"), fleet);
}

#[test]
fn nodes_with_other_clocks_and_programs_are_reported() {
    let fake = Fake::new("now\nahead\nold\nhalf\nshot\n");
    let now = jiff::Timestamp::now();
    let later = format!("{:.0}", now + jiff::SignedDuration::from_hours(5));
    let now = format!("{now:.0}");
    let run: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let [started, finished, version] =
        ["started", "finished", "howslow"].map(|key| run[key].as_str().expect("a text").to_owned());
    let clock = |time: &str| [(started.clone(), time.to_owned()), (finished.clone(), time.to_owned())];
    let changes = |node: &str, pairs: Vec<(String, String)>| {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        fake.other(node, &pairs);
    };
    changes("now", clock(&now).to_vec());
    changes("ahead", clock(&later).to_vec());
    let old = (format!("\"howslow\": \"{version}\""), "\"howslow\": \"0.0.9\"".to_owned());
    changes("old", clock(&now).into_iter().chain([old]).collect());
    changes("half", Vec::new());
    std::fs::write(fake.path().join("document-bin-half.json"), &EXAMPLE[..EXAMPLE.len() / 2]).expect("half a document");
    fake.program("bin-shot", "howslow", "[ \"$1\" = --version ] || kill -KILL $$");
    let result = fake.run("clocks", &["--installed"]);
    assert_eq!(result.status.code(), Some(3), "{}", errors_of(&result));
    let page = String::from_utf8_lossy(&result.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["The clock of ahead is at least", "different programs: 0.0.9 (build", "cannot be read"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let fleet = state(&fake.path().join("data"), "clocks");
    assert_eq!(node(&fleet, "now").gathered[0].clock_ahead_s, None);
    assert!(node(&fleet, "ahead").gathered[0].clock_ahead_s.is_some_and(|ahead| ahead > 17_000));
    ended(&fleet, "half", Stage::Failed, "its document n3.a1.r1.json cannot be read");
    ended(&fleet, "shot", Stage::Killed, "run 1 was killed");
}

#[test]
fn jobs_that_wait_go_on_without_us_and_are_cancelled_on_request() {
    testing::interruptible();
    let fake = Fake::new("waits\n");
    let begun = fake.run("long-waits", &["--installed", "--detach"]);
    assert!(errors_of(&begun).contains("1 job submitted"), "{}", errors_of(&begun));
    assert!(!fake.path().join("cancelled").exists());
    let fleet = state(&fake.path().join("data"), "long-waits");
    assert_eq!(fleet.nodes[0].attempts[0].stage, Stage::Waiting);
    let mut other = Command::new("nohup");
    other.arg(cargo_bin!("howslow")).args(["fleet", "attach", "--every", "200ms"]);
    other.env("PATH", path_with(&fake.path().join("bin"))).env("HOWSLOW_DATA", fake.path().join("data"));
    let mut attached = other.stderr(std::process::Stdio::null()).spawn().expect("it starts");
    let folder = fleet::Folder::at(&fake.path().join("data/fleet"));
    until("the lock", || folder.lock("long-waits").is_err());
    let second = fake.fleet(&["attach", "long-waits"]);
    let errors = errors_of(&second);
    assert!(second.status.code() == Some(1) && errors.contains("another howslow follows"), "{errors}");
    // A terminal that is closed does not end what nohup started.
    assert!(has_signal(attached.id(), "SigIgn:", Signal::HUP));
    // Ctrl-C requests nothing of the jobs.
    kill(attached.id(), Signal::INT);
    assert_eq!(attached.wait().expect("it ends").code(), Some(130));
    assert!(!fake.path().join("cancelled").exists(), "Ctrl-C cancelled jobs");
    let cancelled = fake.fleet(&["cancel"]);
    assert!(cancelled.status.success(), "{}", errors_of(&cancelled));
    let words = std::fs::read_to_string(fake.path().join("cancelled")).expect("scancel was called");
    assert!(words.contains("--name=howslow.long-waits.n0.a1"), "{words}");
    ended(&state(&fake.path().join("data"), "long-waits"), "waits", Stage::Cancelled, "howslow fleet cancel");
    // Finished with the same options only.
    let other = fake.run("long-waits", &["--installed", "--detach", "--partition", "big", "--shared", "/elsewhere"]);
    let errors = errors_of(&other);
    assert!(other.status.code() == Some(2) && errors.contains("(--shared, --partition)"), "{errors}");
    let same = fake.run("long-waits", &["--installed", "--detach"]);
    assert!(errors_of(&same).contains("1 job submitted"), "{}", errors_of(&same));
}

/// The connection to the first breaks while it is started; to the second, before.
#[test]
fn a_host_whose_connection_breaks_while_it_is_started_is_not_refused() {
    let fake = Fake::new("");
    fake.program("bin", "ssh", include_str!("fake/ssh.sh"));
    fake.program("bin", "howslow", include_str!("fake/howslow.sh"));
    std::fs::write(fake.path().join("document-bin.json"), EXAMPLE).expect("a document");
    let words = ["run", "--ssh", "started,unreached", "--id", "broken", "--installed"];
    let result = fake.fleet(&[&words[..], &TINY].concat());
    assert_eq!(result.status.code(), Some(3), "{}", errors_of(&result));
    let fleet = state(&fake.path().join("data"), "broken");
    ended(&fleet, "started", Stage::Done, "");
    ended(&fleet, "unreached", Stage::Lost, "its job was never seen");
    let attempts = fleet.nodes.iter().map(|node| (node.attempts.len(), node.attempts[0].job.is_some()));
    assert_eq!(attempts.collect::<Vec<_>>(), [(1, true), (1, false)]);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_submitted() {
    let fake = Fake::new("n1;touch owned\n");
    let misuse: [&[&str]; 10] = [
        &["run", "--slurm", "--installed", "--nodes", "n1;touch owned"],
        &["run", "--slurm", "--installed", "--nodes", "--help"],
        &["run", "--slurm", "--installed", "--nodes", "n1 n2"],
        &["run", "--slurm", "--installed", "--nodes", "n1", "--", "--wrap=touch owned"],
        &["run", "--slurm", "--installed", "--nodes", "n1", "--", "touch"],
        &["run", "--slurm", "--installed", "--id", "../x"],
        &["run", "--slurm", "--installed", "--suite", "no.such.operation"],
        &["run", "--slurm", "--installed", "--suite", "full", "pipe.self"],
        &["run", "--slurm", "--binary", "/etc/passwd"],
        &["attach", "no-such-fleet"],
    ];
    for words in misuse {
        let result = fake.fleet(words);
        assert_eq!(result.status.code(), Some(2), "{words:?}: {}", errors_of(&result));
    }
    assert_eq!(count(fake.path().join("jobs")), 0, "something was submitted");
    let mut nobody = Command::new(cargo_bin!("howslow"));
    nobody.args(["fleet", "run", "--slurm", "--installed"]).env("HOWSLOW_DATA", fake.path().join("data"));
    let nobody = nobody.env("PATH", "/nonexistent").output().expect("it starts");
    let is_named = errors_of(&nobody).contains("there is no command sinfo here: --slurm needs");
    assert!(nobody.status.code() == Some(1) && is_named, "{nobody:?}");
}
