//! `history` and `watch` over kept runs: labels, filters, changes, the default store.

use std::fs;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::support::{EXAMPLE, REPLAY, folder, howslow};
use crate::world::scale;

/// What changes at the nights 6, 11, 16 and 21, by the field that is named.
const CHANGES: [(usize, &str); 4] = [
    (6, "machine.cpu.microcode"),
    (11, "machine.kernel.mitigations.meltdown"),
    (16, "machine.cpu.frequency.governor"),
    (21, "noise.cycle_ns"),
];

/// A store of so many nights of one machine, each a run that was changed so.
fn nights(count: usize, change: impl Fn(usize, &mut record::Run)) -> tempfile::TempDir {
    let data = folder();
    let nights = data.path().join("nights");
    fs::create_dir_all(&nights).expect("a folder");
    for night in 1..=count {
        let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
        (run.id, run.started) = (format!("202601{night:02}-000000-aaaa"), format!("2026-01-{night:02}T00:00:00Z"));
        run.machine.host = Some("ci".into());
        change(night, &mut run);
        fs::write(nights.join(format!("{night}.json")), serde_json::to_vec(&run).expect("JSON")).expect("written");
    }
    howslow(&data).args(["history", "--take-in"]).arg(&nights).assert().success();
    data
}

#[test]
fn each_kind_of_change_is_named_where_it_began() {
    let data = nights(25, |night, run| {
        let changed = CHANGES.iter().filter(|(since, _)| night >= *since).count();
        let since = |place: usize| changed > place;
        run.machine.cpu.microcode = Some(if since(0) { "0x2" } else { "0x1" }.into());
        let meltdown = if since(1) { "Mitigation: PTI" } else { "Not affected" };
        run.machine.kernel.mitigations.insert("meltdown".into(), meltdown.into());
        run.machine.cpu.frequency.governor = Some(if since(2) { "powersave" } else { "performance" }.into());
        run.noise.cycle_ns *= if since(3) { 1.2 } else { 1.0 };
        for (place, cost) in run.costs.iter_mut().enumerate() {
            let scatter = 1.0 + 0.001 * ((night * 7 + place * 3) % 5) as f64 - 0.002;
            // Each change makes the call slower by a tenth.
            let call = if cost.operation == "syscall.getppid" { 1.1_f64.powi(changed as i32) } else { 1.0 };
            scale(cost, scatter * call);
        }
    });
    let watch = howslow(&data).args(["watch", "--json", "--since", "2026-01-01"]).assert().code(5);
    let document: serde_json::Value = serde_json::from_slice(&watch.get_output().stdout).expect("JSON");
    let changes = document["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), CHANGES.len(), "{document:#}");
    // The newest first.
    for (change, (night, field)) in changes.iter().zip(CHANGES.iter().rev()) {
        assert_eq!(change["since"], format!("202601{night:02}-000000-aaaa"), "{change:#}");
        let also: Vec<&str> =
            change["also"].as_array().expect("facts").iter().filter_map(|fact| fact["field"].as_str()).collect();
        assert_eq!(also, [*field], "{change:#}");
    }
}

#[test]
fn runs_without_a_cost_do_not_show_its_change() {
    let data = nights(14, |night, run| {
        let is_call = |cost: &record::Cost| cost.operation == "syscall.getppid";
        run.costs.retain(|cost| !is_call(cost) || ![12, 13].contains(&night));
        let scatter = 1.0 + 0.001 * (night * 7 % 5) as f64;
        for cost in &mut run.costs {
            let change = if is_call(cost) && night >= 11 { 1.3 } else { 1.0 };
            scale(cost, scatter * change);
        }
    });
    let watch = howslow(&data).args(["watch", "--json"]).assert().code(5);
    let document: serde_json::Value = serde_json::from_slice(&watch.get_output().stdout).expect("JSON");
    let change = &document["changes"][0];
    assert_eq!((&change["since"], &change["runs"]), (&"20260111-000000-aaaa".into(), &2.into()), "{document:#}");
}

#[test]
fn places_are_those_among_all_runs() {
    let data = nights(4, |night, run| run.settings.label = (night % 2 == 0).then(|| "even".into()));
    let listed = howslow(&data).args(["history", "--label", "even", "--csv"]).assert().success();
    let text = String::from_utf8_lossy(&listed.get_output().stdout).into_owned();
    let places: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(places, ["1", "3"], "{text}");
    howslow(&data).args(["history", "remove", "@3"]).assert().success().stdout(contains("@3"));
}

#[test]
fn what_the_load_of_other_programs_explains_is_no_change() {
    for (load, status) in [(0.7, 0), (0.02, 5)] {
        let data = nights(12, |night, run| {
            run.costs.retain(|cost| cost.operation == "syscall.getppid");
            let is_late = night >= 9;
            run.noise.others = if is_late { load } else { 0.01 };
            let cost = &mut run.costs[0];
            cost.cpus = 2;
            scale(cost, (1.0 + 0.001 * (night * 7 % 5) as f64) * if is_late { 1.4 } else { 1.0 });
        });
        howslow(&data).args(["watch", "--since", "2026-01-01"]).assert().code(status);
    }
}

#[test]
fn an_address_that_is_none_and_one_of_no_server_are_reported_without_their_password() {
    let data = folder();
    let postgres = if cfg!(feature = "team") { 1 } else { 2 };
    for (address, status) in [("mysql://ann:s3cr3t@h/d", 2), ("postgres://ann:s3cr3t@127.0.0.1:1/d", postgres)] {
        let ended = howslow(&data).args(["history", "--store", address]).assert().code(status);
        let output = ended.get_output();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let named = if status == 2 && address.starts_with("postgres") { "--features team" } else { "store" };
        assert!(!text.contains("s3cr3t") && text.contains(named), "{text}");
    }
    // A run is kept in a file, and holds nothing of the password either.
    let mut run = howslow(&data);
    run.env("HOWSLOW_STORE", "postgres://ann:s3cr3t@127.0.0.1:1/d").args(["run", "loop.empty", "--json"]).args(REPLAY);
    let note = contains("taken in when the store can be used again").and(contains("s3cr3t").not());
    let done = run.assert().success().stderr(note);
    assert!(!String::from_utf8_lossy(&done.get_output().stdout).contains("s3cr3t"));
    let waiting = fs::read_dir(data.path().join("waiting")).expect("a folder").flatten().next().expect("a store");
    let file = fs::read_dir(waiting.path()).expect("a folder").flatten().next().expect("a run");
    assert!(!fs::read_to_string(file.path()).expect("text").contains("s3cr3t"));
}
