//! Reference machines on the command line: the verdict, `--against`, `contribute`, and what they refuse.

use std::fs;
use std::path::PathBuf;

use predicates::prelude::*;
use predicates::str::contains;
use record::{Book, Run};
use tempfile::TempDir;

use crate::support::{folder, howslow};

/// A run with the costs of a shipped reference, as if this machine had measured them.
fn like(reference: &str) -> Run {
    let mut run = store::Store::open_any(reference).expect("a reference");
    run.origin = record::Origin::Measured;
    run.id = "20261122-203855-rncs".into();
    run.settings.patterns.clear();
    run
}

fn write(folder: &TempDir, name: &str, run: &Run) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, serde_json::to_vec(run).expect("JSON")).expect("written");
    path
}

#[test]
fn every_reference_is_one_and_has_no_oddity_beside_itself() {
    let data = folder();
    let names: Vec<&str> = store::reference_names().collect();
    assert!(names.contains(&"zen-4-kvm") && names.len() >= 3, "{names:?}");
    for name in names {
        let book = store::book(name).expect("listed").expect("a book");
        assert_eq!(book.name, name);
        assert!(book.reference.is_some() && !book.source.is_empty() && !book.machine.architecture.is_empty(), "{name}");
        for cost in &book.measured_costs {
            let operation = catalogue::find(&cost.operation).unwrap_or_else(|| panic!("{name}: {}", cost.operation));
            assert!(cost.version <= operation.version, "{name}: {}", cost.operation);
        }
        let own = write(&data, "own.json", &like(name));
        let page = howslow(&data).arg("show").arg(&own).assert().success();
        page.stdout(contains("Nothing odd: of ").and(contains("Odd here").not()));
        howslow(&data).args(["show", name]).assert().success().stdout(contains(name));
    }
    assert!(store::book_names().all(|name| store::book(name).expect("listed").expect("a book").reference.is_none()));
}

/// A guest on which every task on another CPU is woken seven times as slowly.
fn sleepy() -> Run {
    let mut run = like("zen-4-kvm");
    run.machine.kernel.command_line = None;
    run.machine.kernel.idle = None;
    for cost in run.costs.iter_mut().filter(|cost| cost.at.word("distance") == Some("other")) {
        let net = &mut cost.net_ns;
        for ns in [&mut net.quiet.0, &mut net.typical.0, &mut net.low.0, &mut net.high.0] {
            *ns *= 7.0;
        }
        cost.cycles *= 7.0;
    }
    run
}

#[test]
fn an_oddity_is_told_by_the_page_by_explain_and_by_doctor() {
    let data = folder();
    let file = write(&data, "sleepy.json", &sleepy());
    let told = || contains("Waking a task on another CPU costs").and(contains("idle=poll"));
    howslow(&data).arg("show").arg(&file).assert().success().stdout(contains("Odd here: of ").and(told()));
    howslow(&data).arg("explain").arg(&file).assert().success().stdout(told());
    let one = howslow(&data).arg("explain").arg(&file).arg("futex.roundtrip@distance=other").assert().success();
    one.stdout(told().and(contains("x ref")).and(contains("zen-4-kvm")));
    let json = howslow(&data).arg("explain").arg(&file).arg("--json").assert().success();
    let document: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(document["odd"][0]["direction"], "slower");
    assert!(document["odd"][0]["costs"].as_array().expect("costs").len() > 4);
    // The doctor examines the newest run of the machine that it runs on.
    let mut here = sleepy();
    here.machine = system::machine::describe();
    here.machine.architecture = "x86_64".into();
    store::Store::in_folder(data.path()).keep(&here).expect("kept");
    if std::env::consts::ARCH == "x86_64" {
        let doctor = howslow(&data).arg("doctor").assert().success();
        doctor.stdout(contains("odd in the newest run").and(contains("Waking a task on another CPU costs")));
    }
}

#[test]
fn a_reference_has_a_column_or_one_clear_sentence() {
    let data = folder();
    let file = write(&data, "sleepy.json", &sleepy());
    let page = howslow(&data).arg("show").arg(&file).args(["--all", "--against", "zen-4-kvm"]).assert().success();
    let text = String::from_utf8_lossy(&page.get_output().stdout).into_owned();
    let row = |id: &str, at: &str| {
        text.lines().find(|line| line.contains(id) && line.contains(at)).unwrap_or_else(|| panic!("{id}: {text}"))
    };
    assert!(row("syscall.getppid", "").contains(" 1.0 "), "{}", row("syscall.getppid", ""));
    assert!(row("futex.roundtrip", "other").contains(" 7"), "{}", row("futex.roundtrip", "other"));
    assert!(text.contains("x ref"));
    let refused = |reference: &str, part: &str| {
        let it = howslow(&data).arg("show").arg(&file).args(["--against", reference]).assert().code(2);
        it.stderr(contains(part)).stdout("");
    };
    refused("nosuch", "names no run");
    refused("pdp-11-24", "no reference machine");
    let mut other = sleepy();
    other.machine.architecture = "aarch64".into();
    let other = write(&data, "other.json", &other);
    refused(other.to_str().expect("text"), "another architecture (aarch64, not x86_64)");
    let mut apart = sleepy();
    apart.costs.retain(|cost| cost.operation == "loop.empty");
    apart.costs[0].operation = "loop.other".into();
    let apart = write(&data, "apart.json", &apart);
    refused(apart.to_str().expect("text"), "no cost in common");
    let mut newer = sleepy();
    newer.costs.iter_mut().for_each(|cost| cost.version += 1);
    let newer = write(&data, "newer.json", &newer);
    refused(newer.to_str().expect("text"), "only costs of other versions in common");
    // Refused before anything is measured.
    if std::env::consts::ARCH != "aarch64" {
        let path = other.to_str().expect("text");
        howslow(&data).args(["run", "loop.empty", "--against", path]).assert().code(2).stderr(contains("architecture"));
    }
    howslow(&data).args(["run", "loop.empty", "--against", "zen-4-kvm", "--json"]).assert().code(2);
}

#[test]
fn a_run_is_contributed_without_what_identifies_its_host() {
    let data = folder();
    let mut run = sleepy();
    run.machine.kernel.release = "6.18.44-web07.example.net".into();
    run.machine.kernel.command_line = Some("root=UUID=1234-abcd ip=10.1.2.3 nosmt log=/var/web07".into());
    run.settings.patterns = vec!["/home/alice/secret".into()];
    run.skipped.push(record::Skip {
        operation: "file.fsync".into(),
        at: record::Point::default(),
        reason: "no room in /home/alice".into(),
        remedy: String::new(),
    });
    let file = write(&data, "run.json", &run);
    let book = data.path().join("mine.toml");
    let done = howslow(&data).arg("contribute").arg(&file).arg("-o").arg(&book).assert().success().stdout("");
    done.stderr(contains("kept: ").and(contains("left out: ")).and(contains("read it before you pass it on")));
    let text = fs::read_to_string(&book).expect("written");
    for secret in ["web07", "alice", "10.1.2.3", "1234-abcd", "20261122"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(Book::from_toml(&text).expect("a book").machine.kernel.command_line.as_deref(), Some("nosmt"));
    // It is a reference like those that come with howslow.
    let page = howslow(&data).arg("show").arg(&file).arg("--all").arg("--against").arg(&book).assert().success();
    page.stdout(contains("x ref").and(contains(" 1.00 ")));
    howslow(&data).arg("compare").arg(&file).arg(&book).assert().success();
}

#[test]
fn what_makes_no_reference_is_refused_and_nothing_is_written() {
    let data = folder();
    let book = data.path().join("mine.toml");
    let refused = |run: &str, output: &str, part: &str| {
        let output = data.path().join(output);
        let it = howslow(&data).args(["contribute", run, "-o"]).arg(output).assert().code(2);
        it.stderr(contains(part));
        assert!(!book.exists());
    };
    let good = write(&data, "good.json", &sleepy());
    let good = good.to_str().expect("text");
    refused("zen-4-kvm", "mine.toml", "is a book");
    refused("@1", "mine.toml", "names no run");
    refused(good, "mine.json", "name it NAME.toml");
    refused(good, "no such folder/mine.toml", "choose another place");
    let mut own = sleepy();
    own.costs[0].operation = "command: /usr/bin/secret".into();
    let own = write(&data, "own.json", &own);
    refused(own.to_str().expect("text"), "mine.toml", "costs of your own");
    let mut doubtful = sleepy();
    doubtful.costs.iter_mut().for_each(|cost| cost.doubts.push(record::Doubt::NeverQuiet));
    let doubtful = write(&data, "doubtful.json", &doubtful);
    refused(doubtful.to_str().expect("text"), "mine.toml", "when the machine is quiet");
}
