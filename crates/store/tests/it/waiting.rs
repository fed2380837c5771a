//! Files that are taken into a database: once, none because of another, and still runs of the store of files.

use std::fs;

use howslow_store::{Filter, Store};

use crate::database::{LONG, rows, sqlite};
use crate::store::{EXAMPLE, example};

#[test]
fn files_of_before_are_taken_in_once_and_put_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = Store::in_folder(folder.path());
    for day in 1..=9 {
        files.keep(&example(&format!("2026010{day}"), &format!("2026-01-0{day}T00:00:00Z"))).expect("kept");
    }
    let runs = folder.path().join("runs");
    let cut = &EXAMPLE[..EXAMPLE.len() / 2];
    fs::write(runs.join("cut.json"), cut).expect("written");
    let store = sqlite(folder.path());
    assert_eq!(store.list().expect("a list").len(), 10, "found before they are taken in, the damaged one by its head");
    let stated = store.take_in_waiting(LONG).expect("taken in").expect("a word on it");
    let parts = ["9 runs of files went into", "cut.json is not taken in and stays"];
    assert!(parts.iter().all(|part| stated.contains(part)), "{stated}");
    assert_eq!(fs::read(runs.join("cut.json")).expect("there"), cut);
    assert_eq!(fs::read_dir(runs.join("taken")).expect("a folder").count(), 9);
    assert_eq!(store.open("20260105").expect("a run"), example("20260105", "2026-01-05T00:00:00Z"));
    let again = store.take_in_waiting(LONG).expect("nothing").expect("the damaged one");
    assert!(!again.contains("went into"), "{again}");
}

#[test]
fn a_file_that_another_process_has_put_away_is_not_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = sqlite(folder.path()).take_in(&[folder.path().join("gone.json")]).expect("taken in");
    assert_eq!(taken, howslow_store::Taken::default());
}

#[test]
fn a_document_that_a_database_refuses_keeps_no_other_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let [files, store] = [Store::in_folder(folder.path()), sqlite(folder.path())];
    store.keep(&example("first", "2026-01-01T00:00:00Z")).expect("kept");
    let connection = rusqlite::Connection::open(folder.path().join("runs.sqlite")).expect("opened");
    let rule =
        "CREATE TRIGGER rule BEFORE INSERT ON run WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    connection.execute_batch(rule).expect("done");
    for id in ["a", "bad", "z"] {
        files.keep(&example(id, "2026-01-02T00:00:00Z")).expect("kept");
    }
    let stated = store.take_in_waiting(LONG).expect("taken in").expect("a word on it");
    let parts = ["2 runs of files went into", "bad.json is not taken in and stays where it is (not this one)"];
    assert!(parts.iter().all(|part| stated.contains(part)), "{stated}");
    let rows = rows(&store, &Filter { label: None, newest: Some(3), ..Filter::default() });
    assert_eq!((store.list().expect("a list").len(), rows), (4, 3 * example("", "").costs.len()));
    assert!(folder.path().join("runs/bad.json").is_file());
}

#[test]
fn runs_that_a_database_has_taken_in_stay_in_the_store_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [files, base] = [Store::in_folder(folder.path()), sqlite(folder.path())];
    let runs = ["20260101-a", "20260102-b"].map(|id| example(id, &format!("{}T00:00:00Z", &id[..8])));
    for run in &runs {
        files.keep(run).expect("kept");
    }
    base.take_in_waiting(LONG).expect("taken in");
    let ids = |store: &Store| store.list().expect("a list").into_iter().map(|head| head.id).collect::<Vec<_>>();
    assert_eq!(ids(&files), ["20260102-b", "20260101-a"]);
    assert_eq!(rows(&files, &Filter::default()), 2 * runs[0].costs.len());
    assert_eq!(
        (files.open("20260101").expect("a run"), files.open("@1").expect("a run")),
        (runs[0].clone(), runs[1].clone())
    );
    let taken = files.take_in(&[folder.path().join("runs/taken")]).expect("taken in");
    assert_eq!((taken.new, taken.known), (0, 2));
    // One that is kept again is one run, and no file of it is left when it is removed.
    files.keep(&runs[0]).expect("kept");
    assert_eq!((ids(&files).len(), files.open("20260101-a").expect("a run")), (2, runs[0].clone()));
    files.remove(&files.find("20260101-a").expect("found")).expect("removed");
    assert_eq!((ids(&files), ids(&base).len()), (vec!["20260102-b".to_owned()], 2));
}
