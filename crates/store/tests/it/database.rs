//! Runs in SQLite and PostgreSQL: found again, of any machine, with hostile names, beside files.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use howslow_store::{Address, Filter, Store, StoreError};
use record::run_from_bytes;

#[cfg(feature = "team")]
use crate::server::{PASSWORD, Server};
use crate::store::{EXAMPLE, example};

pub const LONG: Duration = Duration::from_secs(600);

pub fn sqlite(folder: &Path) -> Store {
    Store::in_folder(folder).at(Address::Default)
}

/// The number of rows that the store shows for a filter.
pub fn rows(store: &Store, filter: &Filter) -> usize {
    let mut count = 0;
    let each = &mut |_: &howslow_store::CostTable, _: howslow_store::Row| {
        count += 1;
        ControlFlow::Continue(())
    };
    store.costs(filter, &|_| true, each).expect("rows");
    count
}

/// What every store does alike.
fn keeps_and_finds(store: &Store) {
    assert!(store.list().expect("a list").is_empty());
    let mut first = example("20260101-000000-aaaa", "2026-01-01T00:00:00Z");
    first.settings.label = Some("before".into());
    first.machine.host = Some("'; DROP TABLE run; --".into());
    let mut second = example("20260102-000000-bbbb", "2026-01-02T00:00:00Z");
    second.settings.label = Some("before".into());
    second.machine.host = Some("50% \"node\"_7\\".into());
    let mut third = example("20260102-000001-cccc", "2026-01-02T00:00:01.000Z");
    (third.machine.architecture, third.machine.cpu.model) = ("aarch64".into(), "Neoverse\0-N1".into());
    // The clock of its machine is ahead.
    let mut ahead = example("20990101-000000-dddd", "2099-01-01T00:00:00Z");
    ahead.machine.host = Some("ahead".into());
    for run in [&third, &first, &ahead, &second, &first] {
        assert_eq!(store.keep(run).expect("kept").warning, None);
    }
    let heads = store.list().expect("a list");
    assert_eq!(heads.len(), 4, "the first one was kept twice: {heads:?}");
    assert!(heads[0].ordered.as_str() < "2099" && heads[0].started.starts_with("2099"), "{:?}", heads[0]);
    let open = |name: &str| store.open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((open("@2").id, open("@4")), (third.id.clone(), first.clone()));
    assert_eq!((open("before"), open("label:before")), (second.clone(), second.clone()));
    assert_eq!(
        (open("20260101"), open("20260102-000001-cccc").machine.architecture),
        (first.clone(), "aarch64".into())
    );
    assert!(matches!(store.open("20260102"), Err(StoreError::Ambiguous { count: 2, .. })));
    assert!(matches!(store.open("@9"), Err(StoreError::Unknown { .. })));
    let named = |name: &str| Filter { machine: Some(name.into()), ..Filter::default() };
    let costs = first.costs.len();
    for (filter, found) in [
        (Filter::default(), 4),
        (named("'; DROP TABLE run; --"), 1),
        (named("50% \"node\"_7\\"), 1),
        (named("50%"), 0),
        (named("aarch64"), 1),
        (Filter { since: Some("2026-01-02T".into()), ..Filter::default() }, 3),
        (Filter { since: Some("2026-01-02T00:00:01Z".into()), ..Filter::default() }, 2),
        (Filter { label: Some("before".into()), newest: Some(1), ..Filter::default() }, 1),
        (Filter { label: Some("x' OR '1'='1".into()), ..Filter::default() }, 0),
    ] {
        let runs = store.runs(&filter).expect("runs").len();
        assert_eq!((runs, rows(store, &filter)), (found, found * costs), "{filter:?}");
    }
    let mut shown = Vec::new();
    let each = &mut |table: &howslow_store::CostTable, row: howslow_store::Row| {
        shown.push((table.runs[row.run as usize].id.clone(), row, table.doubts[row.doubts as usize].clone()));
        ControlFlow::Continue(())
    };
    store.costs(&Filter::default(), &|series| series.operation == "syscall.getppid", each).expect("rows");
    let cost = first.cost("syscall.getppid", &[]).expect("a cost");
    let (_, row, doubts) = shown.iter().find(|(id, ..)| *id == first.id).expect("a row");
    assert_eq!((row.value, row.low, row.cycles), (cost.quoted().0, cost.net_ns.low.0, cost.cycles));
    assert_eq!((shown.len(), doubts.is_empty()), (4, cost.doubts.is_empty()));
    // Nodes that begin together can draw the same letters.
    let mut twin = first.clone();
    twin.machine.host = Some("twin".into());
    store.keep(&twin).expect("kept");
    assert!(matches!(store.open(&first.id), Err(StoreError::SharedId { count: 2, .. })));
    for second in 2..7 {
        store.keep(&example(&format!("20260102-00000{second}-eeee"), "2026-01-02T00:00:02Z")).expect("kept");
    }
    assert!(matches!(store.open("20260102"), Err(StoreError::Ambiguous { count: 7, .. })));
}

#[test]
fn sqlite_keeps_runs_and_finds_them() {
    let folder = tempfile::tempdir().expect("a folder");
    keeps_and_finds(&sqlite(folder.path()));
    assert!(folder.path().join("runs.sqlite").is_file());
}

#[test]
fn files_show_the_same_rows_as_a_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let [files, base] = [Store::in_folder(folder.path()), sqlite(&folder.path().join("base"))];
    let [run, mut twin] = [(); 2].map(|()| example("20251231-000000-twin", "2025-12-31T00:00:00Z"));
    twin.machine.host = Some("twin".into());
    for store in [&files, &base] {
        for run in [&run, &twin] {
            store.keep(run).expect("kept");
        }
        assert!(matches!(store.open(&run.id), Err(StoreError::SharedId { count: 2, .. })));
        for _ in 0..2 {
            store.remove(&store.find("@1").expect("found")).expect("removed");
        }
    }
    for run in [example("a", "2026-01-01T00:00:00Z"), example("b", "2026-01-02T00:00:00Z")] {
        files.keep(&run).expect("kept");
        base.keep(&run).expect("kept");
    }
    let rows = |store: &Store| {
        let mut rows = Vec::new();
        let table = store.costs(&Filter::default(), &|_| true, &mut |table, row| {
            rows.push(format!("{row:?} {}", table.doubts[row.doubts as usize]));
            ControlFlow::Continue(())
        });
        rows.sort();
        let table = table.expect("rows");
        // What the tables hold of a machine.
        let machine = |machine: &std::sync::Arc<record::Machine>| {
            let kernel = machine.kernel.clone();
            let kernel = (kernel.name, kernel.release, kernel.version, kernel.mitigations);
            let (cpu, memory) = (machine.cpu.clone(), machine.memory.clone());
            let parts = (cpu.signature, cpu.microcode, cpu.online, memory.total, memory.transparent_huge_pages);
            (machine.class(), machine.clock_source.clone(), kernel, parts)
        };
        let quiet = table.runs.iter().map(|head| head.undisturbed.map(|share| (share * 1e6) as u64));
        (rows, table.series, table.machines.iter().map(machine).collect::<Vec<_>>(), quiet.collect::<Vec<_>>())
    };
    assert_eq!(rows(&files), rows(&base));
}

#[test]
fn a_database_of_a_newer_howslow_is_refused_and_untouched() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = sqlite(folder.path());
    store.keep(&example("old", "2026-01-01T00:00:00Z")).expect("kept");
    let file = folder.path().join("runs.sqlite");
    let newer = "INSERT INTO refinery_schema_history VALUES (99, 'later', '2030-01-01T00:00:00Z', '1')";
    rusqlite::Connection::open(&file).expect("opened").execute_batch(newer).expect("done");
    let before = fs::read(&file).expect("read");
    assert!(matches!(store.list(), Err(StoreError::Newer { found: 99, .. })));
    let kept = store.keep(&example("new", "2026-01-02T00:00:00Z")).expect("kept in a file");
    assert!(kept.warning.is_some_and(|why| why.contains("newer howslow") && why.contains("new.json")));
    assert!(folder.path().join("runs/new.json").is_file());
    assert_eq!(fs::read(&file).expect("read"), before);
}

/// A run whose document an earlier version wrote, in a data folder of that version.
#[test]
fn runs_of_the_previous_schema_are_found_as_files_and_taken_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).expect("a folder");
    fs::write(runs.join("20261121-033006-qxtz.json"), EXAMPLE).expect("written");
    let run = run_from_bytes(EXAMPLE).expect("a run");
    assert_eq!(run.schema, record::OLDER_SCHEMA);
    let files = Store::in_folder(folder.path());
    assert_eq!((files.open("@1").expect("a run"), rows(&files, &Filter::default())), (run.clone(), run.costs.len()));
    let store = sqlite(folder.path());
    let stated = store.take_in_waiting(LONG).expect("taken in").expect("a word on it");
    assert!(stated.contains("1 run of files went into"), "{stated}");
    assert_eq!(store.keep(&example("new", "2026-12-02T00:00:00Z")).expect("kept").warning, None);
    assert_eq!(store.open("@2").expect("the older one"), run);
    assert_eq!(rows(&store, &Filter::default()), run.costs.len() + example("", "").costs.len());
    assert_eq!(fs::read(runs.join("taken/20261121-033006-qxtz.json")).expect("there"), EXAMPLE);
}

/// A store as the first version of this program made it, whose library kept the list of steps.
#[test]
fn a_database_of_before_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runs.sqlite");
    let before = rusqlite::Connection::open(&file).expect("opened");
    before.execute_batch(include_str!("data/store-of-before.sql")).expect("a store");
    let steps = |connection: &rusqlite::Connection| -> String {
        let list = "SELECT group_concat(version || name || applied_on || checksum) FROM refinery_schema_history";
        connection.query_row(list, [], |row| row.get(0)).expect("a list")
    };
    let (store, listed) = (sqlite(folder.path()), steps(&before));
    let run = store.open("@1").expect("the run of before");
    assert_eq!((run.id.as_str(), rows(&store, &Filter::default())), ("20260101-000000-kept", run.costs.len()));
    assert_eq!(store.keep(&example("new", "2026-01-02T00:00:00Z")).expect("kept").warning, None);
    assert_eq!((store.list().expect("a list").len(), steps(&before)), (2, listed));
}

#[test]
fn a_database_of_somebody_else_is_read_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runs.sqlite");
    rusqlite::Connection::open(&file).expect("opened").execute_batch("CREATE TABLE mail (body TEXT)").expect("done");
    let (store, before) = (sqlite(folder.path()), fs::read(&file).expect("read"));
    assert!(store.list().expect("a list").is_empty() && store.open("@1").is_err());
    assert_eq!((rows(&store, &Filter::default()), fs::read(&file).expect("read") == before), (0, true));
    assert_eq!(store.keep(&example("new", "2026-01-02T00:00:00Z")).expect("kept").warning, None);
    assert_eq!(store.list().expect("a list").len(), 1);
}

#[test]
fn a_run_of_many_patterns_is_listed_with_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = example("many", "2026-01-02T00:00:00Z");
    run.settings.patterns = (0..300).map(|number| format!("syscall.of.number.{number}")).collect();
    sqlite(folder.path()).keep(&run).expect("kept");
    assert_eq!(sqlite(folder.path()).list().expect("a list")[0].patterns, run.settings.patterns);
}

#[test]
#[cfg(not(feature = "team"))]
fn without_postgres_a_run_waits_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_folder(folder.path()).at(Address::parse("postgres://a:s3cr3t@h/d").expect("an address"));
    assert!(matches!(store.list(), Err(StoreError::Team("PostgreSQL"))));
    let kept = store.keep(&example("kept", "2026-01-03T00:00:00Z")).expect("kept in a file");
    assert!(kept.warning.is_some_and(|why| why.contains("--features team") && !why.contains("s3cr3t")));
    assert!(Path::new(&kept.place).is_file());
}

#[test]
fn a_file_that_is_no_database_is_one_clear_error_and_loses_no_run() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("runs.sqlite"), "no database ".repeat(1000)).expect("written");
    let store = sqlite(folder.path());
    let error = store.list().expect_err("damaged").to_string();
    assert!(error.contains("runs.sqlite") && error.contains("not a database"), "{error}");
    assert!(store.keep(&example("a", "2026")).expect("kept").warning.is_some());
}

#[test]
#[cfg(feature = "team")]
fn encryption_that_cannot_be_had_is_refused_before_anything_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a port");
    let port = listener.local_addr().expect("a port").port();
    for mode in ["sometimes", "verify-full&sslrootcert=/nowhere/root.crt", "%72equire&sslrootcert=/dev/null"] {
        let url = format!("postgres://ann:{PASSWORD}@127.0.0.1:{port}/costs?sslmode={mode}");
        let store = Store::in_folder(folder.path()).at(Address::parse(&url).expect("an address"));
        let reported = store.list().expect_err("no store").to_string();
        assert!(
            reported.contains("sslmode") && reported.contains("Nothing was sent") && !reported.contains(PASSWORD),
            "{reported}"
        );
        let kept = store.keep(&example("kept", "2026-01-03T00:00:00Z")).expect("kept in a file");
        assert!(kept.warning.is_some_and(|why| why.contains("Nothing was sent")));
    }
    assert!(listener.accept().is_err(), "it connected");
}

#[test]
fn a_damaged_database_reports_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = sqlite(folder.path());
    store.keep(&example("a", "2026-01-01T00:00:00Z")).expect("kept");
    let file = folder.path().join("runs.sqlite");
    let mut bytes = fs::read(&file).expect("a database");
    bytes[100..].fill(0xa5);
    fs::write(&file, bytes).expect("written");
    let error = store.list().expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("move it away") && error.to_string().contains(".recover"), "{error}");
}

#[test]
fn a_run_is_removed_with_all_that_was_kept_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    Store::in_folder(folder.path()).keep(&example("20260101", "2026-01-01T00:00:00Z")).expect("kept");
    let store = sqlite(folder.path());
    store.take_in_waiting(LONG).expect("taken in");
    store.keep(&example("20260102", "2026-01-02T00:00:00Z")).expect("kept");
    let taken = folder.path().join("runs/taken/20260101.json");
    assert!(taken.exists());
    store.remove(&store.find("20260101").expect("a run")).expect("removed");
    assert!(!taken.exists(), "the file that it was taken from");
    let ids: Vec<String> = store.list().expect("a list").into_iter().map(|head| head.id).collect();
    assert_eq!(ids, ["20260102"]);
    assert_eq!(rows(&store, &Filter::default()), example("", "").costs.len());
    store.remove(&store.find("@1").expect("a run")).expect("removed");
    let connection = rusqlite::Connection::open(folder.path().join("runs.sqlite")).expect("opened");
    for table in ["run", "document", "cost", "machine"] {
        let count: i64 =
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("counted");
        assert_eq!(count, 0, "{table}");
    }
}

/// A document without its samples can look whole where a reader of the samples would refuse it.
#[test]
fn a_store_takes_only_what_readers_read_and_counts_what_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let example = std::str::from_utf8(EXAMPLE).expect("text");
    // A share of 50.
    let damaged = example.replacen("\"quiet\": 0", "\"quiet\": 50", 1);
    assert!(run_from_bytes(damaged.as_bytes()).is_err(), "no reader takes it");
    let files = [file("good.json", example), file("damaged.json", &damaged)];
    let base = folder.path().join("base");
    for store in [sqlite(&base), Store::in_folder(&base.join("files"))] {
        for (new, known) in [(1, 0), (0, 1)] {
            let taken = store.take_in(&files).expect("taken in");
            assert_eq!((taken.new, taken.known, taken.refused.len()), (new, known, 1), "{taken:?}");
        }
        assert_eq!(store.list().expect("a list").len(), 1);
    }
}

#[test]
#[cfg(feature = "team")]
fn postgres_keeps_runs_and_finds_them_and_shows_no_password() {
    let Some(mut server) = Server::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let store = server.store("costs", folder.path());
    keeps_and_finds(&store);
    assert_eq!(server.query("costs", "SELECT count(*) > 0, count(DISTINCT host) FROM howslow.costs"), "t|5");

    // A wrong password, a database that is not there, a server that is gone: said without the password, and nothing is lost.
    let at = |url: &str| Store::in_folder(folder.path()).at(Address::parse(url).expect("an address"));
    let mut reported = vec![format!("{store:?}"), store.place()];
    for url in [
        server.url("costs").replace("s3cr3t", "wr0ng"),
        server.url("nowhere"),
        "postgres://a:wr0ng@127.0.0.1:1/x".into(),
    ] {
        let kept = at(&url).keep(&example("lost", "2026-01-03T00:00:00Z")).expect("kept in a file");
        reported.extend([at(&url).list().expect_err("no store").to_string(), kept.warning.expect("why"), kept.place]);
    }
    server.kill();
    let waits = example("20260104", "2026-01-04T00:00:00Z");
    let kept = store.keep(&waits).expect("kept in a file");
    reported.push(kept.warning.expect("why"));
    let words = ["s3cr3t", "wr0ng", PASSWORD];
    assert!(reported.iter().all(|reported| words.iter().all(|word| !reported.contains(word))), "{reported:#?}");
    assert!(Path::new(&kept.place).is_file());
    server.run();
    let stated = store.take_in_waiting(LONG).expect("taken in").expect("a word on it");
    assert!(stated.contains("2 runs of files went into") && !stated.contains(PASSWORD), "{stated}");
    assert_eq!(store.open("20260104").expect("a run"), waits);
    assert!(!Path::new(&kept.place).exists());

    let newer = "INSERT INTO howslow.refinery_schema_history VALUES (99, 'later', '2030-01-01T00:00:00Z', '1')";
    server.query("costs", newer);
    assert!(matches!(store.list(), Err(StoreError::Newer { found: 99, .. })));
    drop(server);
}
