//! `howslow fleet show` of every kind of store. Its pages are in tests/cases.

use std::path::Path;

use predicates::str::contains;
use record::{Nanoseconds, Run};
use tempfile::TempDir;

#[cfg(feature = "team")]
use crate::server::Server;
use crate::support::{EXAMPLE, folder, howslow};

/// Three runs of each of these nodes. Node 4 is slow in system calls and pipes by a quarter.
pub fn documents(folder: &Path, nodes: usize) {
    let example: Run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    for node in 0..nodes {
        for number in 1..=3 {
            let mut run = example.clone();
            run.id = format!("run-{node}-{number}");
            run.machine.host = Some(format!("n{node}"));
            let meltdown = if node == 4 { "Mitigation: PTI" } else { "Not affected" };
            run.machine.kernel.mitigations.insert("meltdown".into(), meltdown.into());
            let mut random = fastrand::Rng::with_seed((node * 10 + number) as u64);
            for cost in &mut run.costs {
                let slow = if node == 4 && ["syscall", "pipe"].contains(&cost.family()) { 1.25 } else { 1.0 };
                let times = slow * (1.0 + 0.01 * (random.f64() + random.f64() - 1.0));
                let figures = &mut cost.net_ns;
                for figure in
                    [&mut figures.best, &mut figures.quiet, &mut figures.typical, &mut figures.low, &mut figures.high]
                {
                    *figure = Nanoseconds(figure.0 * times);
                }
                cost.doubts.clear();
            }
            let text = serde_json::to_vec(&run).expect("JSON");
            std::fs::write(folder.join(format!("n{node}.r{number}.json")), text).expect("written");
        }
    }
}

/// The slow nodes of a report, each with its first cause.
fn slow(data: &TempDir, store: Option<&str>, of: &Path) -> Vec<String> {
    let mut command = howslow(data);
    if let Some(store) = store {
        command.env("HOWSLOW_STORE", store);
    }
    let shown = command.args(["fleet", "show", "--json"]).arg(of).assert().success();
    let document: serde_json::Value = serde_json::from_slice(&shown.get_output().stdout).expect("JSON");
    assert_eq!(document["classes"][0]["runs"], 36, "{document:#}");
    let slow = document["slow"].as_array().expect("nodes").iter();
    slow.map(|it| {
        format!("{} {} {} {}", it["node"], it["causes"][0], it["families"][0]["family"], it["families"][1]["family"])
    })
    .collect()
}

#[test]
fn sqlite_postgres_files_and_documents_give_the_same_report() {
    let (data, fleet) = (folder(), folder());
    documents(fleet.path(), 12);
    let wanted = slow(&data, None, fleet.path());
    assert!(wanted.len() == 1 && wanted[0].contains("meltdown: Mitigation: PTI"), "{wanted:?}");
    #[cfg(feature = "team")]
    let server = Server::start();
    #[cfg(feature = "team")]
    let postgres = server.as_ref().map(|server| server.url("postgres"));
    #[cfg(not(feature = "team"))]
    let postgres: Option<String> = None;
    let sqlite = data.path().join("team.sqlite").display().to_string();
    for store in ["files", &sqlite].into_iter().chain(postgres.as_deref()) {
        let mut taken = howslow(&data);
        taken.env("HOWSLOW_STORE", store).args(["history", "-n", "1", "--take-in"]).arg(fleet.path());
        taken.assert().success().stderr(contains("36 runs taken into"));
        assert_eq!(slow(&data, Some(store), Path::new("store")), wanted);
    }
}
