//! Twenty writers at once, killed in mid-write, with a server that dies and a disk that fills: what was acknowledged is
//! there, and nothing is there in part.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use howslow_store::{Address, Filter, Store};

use crate::database::rows;
#[cfg(feature = "team")]
use crate::server::Server;
use crate::store::{example, in_private_mount};

const WRITERS: usize = 20;
const RUNS: usize = 8;

/// The store of a writer, by its environment.
fn store() -> Store {
    let variable = |name: &str| std::env::var(name).expect("the test around this one sets it");
    let address = Address::parse(&variable("STORE_TEST_ADDRESS")).expect("an address");
    Store::in_folder(Path::new(&variable("STORE_TEST_FOLDER"))).at(address)
}

#[test]
#[ignore = "not a test of its own: one of the writers of the tests below"]
fn a_writer() {
    let (store, name) = (store(), std::env::var("STORE_TEST_NAME").expect("a name"));
    for place in 0..RUNS {
        let id = format!("{name}-{place}");
        if let Err(error) = store.keep(&example(&id, "2026-01-01T00:00:00Z")) {
            println!("failed {error}");
            break;
        }
        println!("kept {id}");
        std::io::stdout().flush().expect("written");
    }
}

fn writer(address: &str, folder: &Path, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--nocapture", "--exact", "writers::a_writer"]);
    command.env("STORE_TEST_ADDRESS", address).env("STORE_TEST_FOLDER", folder).env("STORE_TEST_NAME", name);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a writer")
}

/// Lets twenty write, calls `meanwhile` after the first acknowledgement of the first one, and kills every second one. Returns
/// what was acknowledged.
fn write(address: &str, folder: &Path, meanwhile: impl FnOnce()) -> BTreeSet<String> {
    let mut writers: Vec<Child> =
        (0..WRITERS).map(|number| writer(address, folder, &format!("writer{number}"))).collect();
    let mut outputs: Vec<_> =
        writers.iter_mut().map(|writer| BufReader::new(writer.stdout.take().expect("a pipe")).lines()).collect();
    let mut kept = BTreeSet::new();
    let mut note = |line: String| kept.extend(line.split_once("kept ").map(|(_, id)| id.to_owned()));
    for line in outputs[0].by_ref().map_while(Result::ok) {
        let first = line.contains("kept ");
        note(line);
        if first {
            break;
        }
    }
    for writer in writers.iter_mut().skip(1).step_by(2) {
        writer.kill().expect("killed");
    }
    meanwhile();
    outputs.into_iter().flatten().map_while(Result::ok).for_each(&mut note);
    for (number, mut writer) in writers.into_iter().enumerate() {
        let ended = writer.wait().expect("ended");
        assert!(ended.success() || number % 2 == 1, "writer {number}: {ended}");
    }
    assert!(kept.len() >= WRITERS / 2 * RUNS, "those that lived kept all of their runs: {}", kept.len());
    kept
}

/// Everything acknowledged is there, and whatever is there is whole.
fn is_whole(store: &Store, kept: &BTreeSet<String>) {
    store.take_in_waiting(Duration::from_secs(600)).expect("taken in");
    let heads = store.list().expect("a list");
    let ids: BTreeSet<String> = heads.iter().map(|head| head.id.clone()).collect();
    assert!(kept.is_subset(&ids), "{:?}", kept.difference(&ids).collect::<Vec<_>>());
    assert_eq!(ids.len(), heads.len(), "nothing is there twice");
    let costs = example("", "").costs.len();
    assert_eq!(rows(store, &Filter::default()), heads.len() * costs);
    for head in &heads {
        assert_eq!(store.read(head).expect("a run"), example(&head.id, "2026-01-01T00:00:00Z"));
    }
}

#[test]
fn twenty_writers_of_sqlite_lose_nothing_when_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("team.sqlite");
    let address = file.to_str().expect("text");
    let kept = write(address, folder.path(), || {});
    is_whole(&Store::in_folder(folder.path()).at(Address::Sqlite(file.clone())), &kept);
    let connection = rusqlite::Connection::open(&file).expect("opened");
    let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(whole, "ok");
}

#[test]
#[cfg(feature = "team")]
fn twenty_writers_of_postgres_lose_nothing_when_they_and_the_server_are_killed() {
    let Some(mut server) = Server::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let store = server.store("costs", folder.path());
    let url = server.url("costs");
    let kept = write(&url, folder.path(), || {
        server.kill();
        server.run();
    });
    is_whole(&store, &kept);
    drop(server);
}

#[test]
fn a_disk_that_fills_loses_nothing_that_was_acknowledged() {
    let Some(stated) = in_private_mount("size=700k", "writers::a_disk_is_filled") else { return };
    assert!(stated.contains("it is full and whole"), "{stated}");
}

#[test]
#[ignore = "not a test of its own: the part of the one above that runs inside its private mount"]
fn a_disk_is_filled() {
    let (store, mut kept) = (store(), BTreeSet::new());
    let error = (0..1000).find_map(|place| {
        let id = format!("run{place}");
        let done = store.keep(&example(&id, "2026-01-01T00:00:00Z")).err();
        kept.extend(done.is_none().then_some(id));
        done
    });
    let error = error.expect("it fills").to_string();
    assert!(error.contains("No space left"), "{error}");
    assert!(kept.len() > 3, "{kept:?}");
    // There is no room to take in those that wait in files; they are found all the same.
    let heads = store.list().expect("a list");
    let ids: BTreeSet<String> = heads.iter().map(|head| head.id.clone()).collect();
    assert_eq!(ids, kept);
    for head in &heads {
        assert_eq!(store.read(head).expect("a run").id, head.id);
    }
    println!("it is full and whole");
}
