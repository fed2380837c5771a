//! `howslow fleet show` of every kind of store. Its pages are in tests/cases.

use std::fs;
use std::path::Path;

use predicates::str::contains;
use record::{Beside, Origin, Place, Point, Run};
use tempfile::TempDir;

#[cfg(feature = "team")]
use crate::server::Server;
use crate::support::{folder, howslow, json};
use crate::world;

/// The slow nodes of a report, each with its first cause.
fn slow(data: &TempDir, store: Option<&str>, documents: &Path) -> Vec<String> {
    let mut command = howslow(data);
    if let Some(store) = store {
        command.env("HOWSLOW_STORE", store);
    }
    let document = json(command.args(["fleet", "show", "--json"]).arg(documents));
    assert_eq!(document["classes"][0]["runs"], 36, "{document:#}");
    let slow = document["slow"].as_array().expect("nodes").iter();
    slow.map(|slow| {
        let families = &slow["families"];
        format!("{} {} {} {}", slow["node"], slow["causes"][0], families[0]["family"], families[1]["family"])
    })
    .collect()
}

#[test]
fn sqlite_postgres_files_and_documents_give_the_same_report() {
    let (data, world) = (folder(), world::folder());
    let fleet = world.path().join("fleet");
    // Neither a run beside other work nor what another tool measured is a node.
    let example = fs::read_to_string(fleet.join("n00.r1.json")).expect("a document");
    let other = |name: &str, change: fn(&mut Run)| {
        let mut run = record::run_from_bytes(example.as_bytes()).expect("a run");
        (run.id, run.machine.host) = (name.into(), Some(name.into()));
        change(&mut run);
        store::write_run(&run, &fleet.join(format!("{name}.json"))).expect("a document");
    };
    other("imported", |run| {
        run.origin = Origin::Imported;
        run.costs.iter_mut().for_each(|cost| cost.operation = format!("imported.other.{}", cost.operation));
    });
    other("beside", |run| {
        let (kind, operation, at) = ("disk-reads".into(), "file.read".into(), Point::default());
        run.settings.beside = vec![Beside { kind, operation, at, dose: 1.0, place: Place::Other }];
    });
    let wanted = slow(&data, None, &fleet);
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
        taken.env("HOWSLOW_STORE", store).args(["history", "-n", "1", "--take-in"]).arg(&fleet);
        taken.assert().success().stderr(contains("38 runs taken into"));
        assert_eq!(slow(&data, Some(store), Path::new("store")), wanted);
    }
}
