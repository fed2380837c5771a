//! Work beside a measurement: the matrix, `--beside`, and what becomes of both when something dies.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::contains;
use record::{Estimate, Place};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    QUICK, TRIES, children, cost, count, folder, found, howslow, is_gone, json, kill, program, run_of, until,
};

fn matrix(data: &TempDir, args: &[&str]) -> Value {
    json(howslow(data).arg("interference").args(args).arg("--json"))
}

fn cell<'d>(document: &'d Value, victim: &str, aggressor: &str) -> &'d Value {
    let cells = document["cells"].as_array().expect("cells");
    let is = |cell: &&Value| cell["victim"] == victim && cell["beside"][0]["kind"] == aggressor;
    cells.iter().find(|cell| is(cell)).expect("the cell")
}

fn sharing_a_cpu_is_distinguished_from_being_slowed(data: &TempDir) {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let document = matrix(data, &["compute", "system-calls", "--on", "same", "--budget", "2s"]);
        let cell = cell(&document, "compute", "system-calls");
        assert!(cell["beside"][0]["per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{cell}");
        let value = |name: &str| cell[name]["value"].as_f64().unwrap_or(f64::NAN);
        let (elapsed, cpu) = (value("elapsed"), value("cpu"));
        seen.push((elapsed, cpu));
        // Half the CPU is gone, or a third where other programs use it too. While it had the CPU it was as fast as ever.
        if elapsed > 1.25 && (0.7..1.3).contains(&cpu) && elapsed > 1.25 * cpu {
            return;
        }
    }
    panic!("elapsed and processor time beside over alone: {seen:?}");
}

#[test]
fn a_matrix_distinguishes_sharing_from_being_slowed_predicts_three_together_and_names_missing_places() {
    let data = folder();
    sharing_a_cpu_is_distinguished_from_being_slowed(&data);
    let words = ["compute", "faults", "pipe", "--on", "same", "--together", "compute+faults+pipe", "--budget", "1s"];
    let document = matrix(&data, &words);
    let together = document["together"].as_array().expect("several loads");
    assert_eq!(together.len(), 3, "each of the three is slowed by the two others");
    for slowed in together {
        let product = slowed["product"].as_f64();
        assert!(product.is_some_and(|product| product > 0.0) && slowed["measured"]["value"].is_number(), "{slowed}");
    }
    on_one_cpu_the_other_places_are_missing(&data);
}

fn on_one_cpu_the_other_places_are_missing(data: &TempDir) {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &usable_cpu()]).arg(cargo_bin("howslow")).env("HOWSLOW_DATA", data.path());
    command.args(["interference", "compute", "pipe", "--json", "--budget", "500ms"]);
    let document = json(&mut command.into());
    assert_eq!(document["places"], serde_json::json!(["same"]));
    let skipped = document["skipped"].as_array().expect("a list");
    let is_skipped = |place: &str| skipped.iter().any(|skip| skip["what"] == place && skip["reason"] != "");
    assert!(is_skipped("on another CPU") && is_skipped("on the core's other hardware thread"), "{skipped:?}");
    let cells = document["cells"].as_array().expect("cells");
    assert!(!cells.is_empty() && cells.iter().all(|cell| cell["beside"][0]["place"] == "same"), "{cells:?}");
}

#[test]
fn a_run_beside_other_work_reports_it_and_neither_outlives_the_other() {
    a_run_beside_other_work_reports_it_and_is_slowed();
    work_that_dies_is_an_error_and_a_run_that_is_killed_leaves_nothing();
}

fn a_run_beside_other_work_reports_it_and_is_slowed() {
    let data = folder();
    let waiting = ["run", "call.pause", "--json", "--beside", "compute@same"];
    let waiting = run_of(howslow(&data).args(waiting).args(QUICK).assert().get_output());
    let left_out = |round: &record::Round| round.queued_ns.is_some();
    // Waits for work that was requested are measured.
    assert!(!cost(&waiting, "call.pause").rounds.iter().any(left_out));
    let taken = |beside: &[&str]| {
        run_of(howslow(&data).args(["run", "syscall.getppid", "--json"]).args(QUICK).args(beside).assert().get_output())
    };
    let figure = |run: &record::Run| {
        let cost = cost(run, "syscall.getppid");
        (cost.gross_ns.typical.0, cost.headline)
    };
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let (alone, beside) = (taken(&[]), taken(&["--beside", "compute@same"]));
        assert!(alone.settings.beside.is_empty() && alone.noise.beside.is_empty());
        let [load] = beside.settings.beside.as_slice() else { panic!("{:?}", beside.settings.beside) };
        assert_eq!((load.kind.as_str(), load.dose, load.place), ("compute", 1.0, Place::Same));
        assert!(beside.noise.beside[0].per_second > 0.0 && beside.noise.beside[0].cpu > 0.1, "{:?}", beside.noise);
        let ((before, _), (after, headline)) = (figure(&alone), figure(&beside));
        assert_eq!(headline, Estimate::Typical);
        seen.push(after / before);
        if after / before > 1.25 {
            let page = howslow(&data).args(["show", "@1"]).assert().success();
            page.stdout(contains("beside compute on the same CPU").and(contains("typical")));
            let compared = howslow(&data).args(["compare", "@2", "@1"]).assert().success();
            compared.stdout(contains("beside"));
            return;
        }
    }
    panic!("beside over alone: {seen:?}");
}

/// The command, measuring in this folder for a long time beside work on its own CPU.
fn long_run(data: &TempDir, scratch: &Path) -> Child {
    let mut command = program(data);
    command.args(["run", "syscall", "--budget", "100s", "--beside", "compute@same"]).env("TMPDIR", scratch);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// The guard of the work beside it and the work itself, once rounds have begun.
fn worker(parent: u32) -> (u32, u32) {
    found("the work beside and the rounds", || {
        let below = children(parent);
        let [guard, launcher] = below.as_slice() else { return None };
        children(*launcher).first()?;
        Some((*guard, *children(*guard).first()?))
    })
}

fn work_that_dies_is_an_error_and_a_run_that_is_killed_leaves_nothing() {
    let (data, scratch) = (folder(), folder());
    let running = long_run(&data, scratch.path());
    let (_, work) = worker(running.id());
    kill(work, Signal::KILL);
    let output = running.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("compute ended before it was told to") && errors.contains("run it again"), "{errors}");
    assert_eq!(count(&scratch), 0, "something is left");
    assert!(!data.path().join("runs").exists(), "nothing of it is kept");
    let mut running = long_run(&data, scratch.path());
    let (guard, work) = worker(running.id());
    kill(running.id(), Signal::KILL);
    running.wait().expect("it ends");
    until("the guard to end", || is_gone(guard));
    until("the work to end", || is_gone(work));
    until("the folders to go", || count(&scratch) == 0);
}

/// A CPU that this process may use.
pub(crate) fn usable_cpu() -> String {
    let allowed = rustix::thread::sched_getaffinity(None).expect("the CPUs");
    (0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).expect("a CPU").to_string()
}
