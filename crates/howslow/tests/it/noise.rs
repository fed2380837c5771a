//! `howslow noise`, and the tails of a run.

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::support::{QUICK, cost, folder, howslow, json, run_of, skip};

#[test]
fn noise_accounts_for_a_cpu_on_a_page_in_a_picture_and_in_a_document() {
    where_a_real_time_class_is_refused_what_needs_it_is_left_out();
    let data = folder();
    let words = ["noise", "--cpu", "0", "--time", "300ms", "--json"];
    let begun = std::time::Instant::now();
    let document = json(howslow(&data).args(words));
    let took = begun.elapsed().as_secs_f64();
    let cpu = &document["cpus"][0];
    assert_eq!(cpu["cpu"], 0);
    assert!(cpu["step_ns"].as_f64().is_some_and(|step| step > 0.0), "{cpu}");
    let lost = cpu["lost"].as_f64().expect("a share");
    assert!((0.0..=1.0).contains(&lost), "{lost}");
    // What is charged is a part of the time.
    let causes = cpu["causes"].as_array().expect("a list");
    let charged: f64 = causes.iter().filter_map(|cause| cause["share"].as_f64()).sum();
    assert!((0.0..=1.01).contains(&charged), "{causes:?}");
    let gaps: u64 = cpu["histogram"].as_array().expect("a list").iter().filter_map(|bucket| bucket[1].as_u64()).sum();
    let watched = cpu["watched_s"].as_f64().expect("a time");
    // A watcher that is away when the time is over watches longer.
    assert!(gaps > 0 && (0.05..=took).contains(&watched), "{gaps} gaps in {watched} s");
    assert!(matches!(cpu["source"].as_str(), Some("tracepoints" | "counters")));
    let words = ["noise", "--cpu", "0", "--time", "200ms", "--no-trace", "--chart", "--svg"];
    let result = howslow(&data).args(words).arg(data.path()).assert().success();
    result.stdout(contains("CPU 0: ").and(contains("Gaps at least so long")).and(contains("/proc/interrupts")));
    let picture = std::fs::read_to_string(data.path().join("noise.svg")).expect("the picture");
    assert!(picture.starts_with("<svg"), "{picture}");
}

#[test]
fn tails_report_what_was_timed_and_with_arrivals_service_and_response() {
    let data = folder();
    let others = ["instruction.add.latency", "call.mmap", "call.mount", "file.create.delete"];
    let words = ["run", "syscall.stat", "--tails", "--json"].into_iter().chain(others);
    let output = howslow(&data).args(words).args(QUICK).output().expect("it starts");
    let run = run_of(&output);
    let tails = |id: &str| cost(&run, id).tails.clone();
    let stat = tails("syscall.stat").expect("tails");
    assert!(stat.left_out.is_none() && stat.response.is_none(), "{:?}", stat.left_out);
    assert!(stat.service.samples > 100 && stat.clock_ns > 0.0, "{}", stat.service.samples);
    let counted: u64 = stat.service.histogram.iter().map(|(_, count)| count).sum();
    assert_eq!(counted, stat.service.samples);
    let median = stat.service.percentiles[0];
    assert!(median.low_ns <= median.ns && median.ns <= median.high_ns && median.ns > Some(0.0), "{median:?}");
    for (id, reason) in [("instruction.add.latency", "times"), ("file.create.delete", "remembers")] {
        assert!(tails(id).is_some_and(|tails| tails.left_out.is_some_and(|why| why.contains(reason))), "{id}");
    }
    // Each iteration takes another page or folder, and not everybody may mount.
    for id in ["call.mmap", "call.mount"] {
        let Some(cost) = run.costs.iter().find(|cost| cost.operation == id) else {
            assert!(run.skipped.iter().any(|skip| skip.operation == id && !skip.reason.contains("lost")), "{id}");
            testing::left_out!("{id} is not measured here");
            continue;
        };
        let tails = cost.tails.as_ref().expect("tails");
        assert!(tails.left_out.is_none() && tails.service.samples > 16, "{id}: {tails:?}");
    }
    // Measured for the page only.
    assert!(tails("memory.copy").is_none());
    // The run is kept with them.
    howslow(&data).args(["show", "@1"]).assert().success().stdout(contains("single iterations"));
    let words = ["run", "syscall.stat", "--tails", "--arrivals", "2k/s,poisson", "--json"];
    let output = howslow(&data).args(words).args(QUICK).output().expect("it starts");
    let run = run_of(&output);
    let tails = cost(&run, "syscall.stat").tails.as_ref().expect("tails");
    let response = tails.response.as_ref().expect("a response");
    assert_eq!(response.samples, tails.service.samples);
    // Nobody is served before having come. On a busy host too few may have come for any percentile, and where some were not served
    // there are none.
    let percentiles = if tails.unserved > 0 { 0 } else { tails.service.percentiles.len() };
    assert_eq!(response.percentiles.len(), percentiles, "{} unserved: {response:?}", tails.unserved);
    let mut both = response.percentiles.iter().zip(&tails.service.percentiles).take(1);
    assert!(both.all(|(response, service)| response.ns >= service.low_ns), "{response:?}");
    let requested = run.settings.tails.and_then(|tails| tails.arrivals).expect("as requested");
    assert!(requested.poisson && requested.per_second == 2000.0);
}

/// The command as a user who may not use real-time classes.
fn without_real_time(data: &tempfile::TempDir) -> assert_cmd::Command {
    let mut command = std::process::Command::new("setpriv");
    // Who is not root has no such right, and nothing to give up.
    let given_up: &[&str] = if rustix::process::geteuid().is_root() { &["--bounding-set=-sys_nice"] } else { &["--"] };
    command.args(given_up).arg(assert_cmd::cargo::cargo_bin("howslow")).env("HOWSLOW_DATA", data.path());
    assert_cmd::Command::from_std(command)
}

fn where_a_real_time_class_is_refused_what_needs_it_is_left_out() {
    let data = folder();
    let words = ["run", "sleep.late@class=fifo,microseconds=1000", "--json"];
    let output = without_real_time(&data).args(words).args(QUICK).assert().code(3).get_output().clone();
    let run = run_of(&output);
    assert_eq!(skip(&run, "sleep.late").reason, "the real-time class is refused");
    let words = ["noise", "--cpu", "0", "--time", "100ms", "--json"];
    let document = json(without_real_time(&data).args(words));
    assert_eq!(document["cpus"][0]["switching_ns"], Value::Null, "no task could be woken to see what that takes");
    assert!(document["cpus"][0]["watched_s"].as_f64() > Some(0.02), "{document}");
}
