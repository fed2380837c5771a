//! Reference machines on the command line, where this machine matters. The other cases are in tests/cases/references.txt.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{folder, howslow};
use crate::world;

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
        let own = data.path().join("own.json");
        fs::write(&own, serde_json::to_vec(&world::like(name)).expect("JSON")).expect("written");
        let page = howslow(&data).arg("show").arg(&own).assert().success();
        page.stdout(contains("Nothing odd: of ").and(contains("Odd here").not()));
        howslow(&data).args(["show", name]).assert().success().stdout(contains(name));
    }
    assert!(store::book_names().all(|name| store::book(name).expect("listed").expect("a book").reference.is_none()));
}

#[test]
fn doctor_reports_what_is_odd_in_the_newest_run_of_this_machine() {
    if std::env::consts::ARCH != "x86_64" {
        return testing::left_out!("the run is of x86-64");
    }
    let (data, world) = (folder(), world::folder());
    let mut here = record::read_run(&world.path().join("sleepy.json")).expect("a run");
    here.machine = system::machine::describe();
    store::Store::in_folder(data.path()).keep(&here).expect("kept");
    let doctor = howslow(&data).arg("doctor").assert().success();
    doctor.stdout(contains("odd in the newest run").and(contains("Waking a task on another CPU costs")));
}
