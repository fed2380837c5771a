//! Keeping runs and finding them again, in good and bad folders.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use analysis::prior::{Prior, Trace};
use howslow_store::{BestSpeed, Calibration, Earlier, FigureHistory, OfRun, RunKind, Store, StoreError};
use record::{Nanoseconds, Run, run_from_bytes};
use tempfile::TempDir;

pub const EXAMPLE: &[u8] = include_bytes!("../../../record/tests/data/example-run.json");

pub fn example(id: &str, started: &str) -> Run {
    let mut run = run_from_bytes(EXAMPLE).expect("a run");
    (run.id, run.started) = (id.into(), started.into());
    run
}

/// A folder and a store in it.
fn empty() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_folder(folder.path());
    (folder, store)
}

/// A store with three runs: `20260101-000000-aaaa`, `20260102-000000-bbbb` and, newest, `20260102-000001-cccc`.
fn three() -> (TempDir, Store) {
    let (folder, store) = empty();
    for (id, started) in [
        ("20260102-000001-cccc", "2026-01-02T00:00:01Z"),
        ("20260101-000000-aaaa", "2026-01-01T00:00:00Z"),
        ("20260102-000000-bbbb", "2026-01-02T00:00:00Z"),
    ] {
        store.keep(&example(id, started)).expect("kept");
    }
    (folder, store)
}

fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn runs_are_listed_newest_first_and_found_by_place_beginning_and_file() {
    let (folder, store) = three();
    let ids: Vec<_> = store.list().expect("a list").into_iter().map(|head| head.id).collect();
    assert_eq!(ids, ["20260102-000001-cccc", "20260102-000000-bbbb", "20260101-000000-aaaa"]);
    let id = |name: &str| store.open(name).expect("a run").id;
    assert_eq!(id("@1"), "20260102-000001-cccc");
    assert_eq!(id("@3"), "20260101-000000-aaaa");
    assert_eq!(id("20260101"), "20260101-000000-aaaa");
    assert_eq!(id("20260102-000000-bbbb"), "20260102-000000-bbbb");
    let path = folder.path().join("runs/20260101-000000-aaaa.json");
    assert_eq!(id(path.to_str().expect("text")), "20260101-000000-aaaa");
    assert_eq!(store.open("@2").expect("a run"), example("20260102-000000-bbbb", "2026-01-02T00:00:00Z"));
}

#[test]
fn several_runs_in_one_have_the_head_of_the_first_of_them() {
    let (_folder, store) = three();
    let runs = ["20260102-000001-cccc", "20260101-000000-aaaa"].map(|id| store.open(id).expect("a run"));
    let all = analysis::again::pooled(&runs).expect("one of them");
    let heads = store.list().expect("a list");
    let of = |run: &Run| heads.iter().filter(|head| head.is_of(run)).map(|head| head.id.clone()).collect::<Vec<_>>();
    assert_eq!((of(&all), of(&runs[1])), (vec![runs[0].id.clone()], vec![runs[1].id.clone()]));
    assert_ne!(all.started, runs[0].started, "it began with the earliest");
}

#[test]
fn a_name_that_means_no_run_or_several_reports_what_there_is() {
    let (_folder, store) = three();
    let error = |name: &str| store.open(name).expect_err("no run").to_string();
    assert!(error("@0").contains("3 runs are kept"), "{}", error("@0"));
    assert!(error("@4").contains("20260102-000001-cccc"), "{}", error("@4"));
    assert!(error("nothing").contains("history"), "{}", error("nothing"));
    assert!(error("").contains("names no run"), "{}", error(""));
    let several = error("20260102");
    assert!(several.contains("2 kept runs") && several.contains("20260102-000000-bbbb"), "{several}");
    assert!(error("./missing.json").contains("No such file"), "{}", error("./missing.json"));
    assert!(!error("\u{1b}[31m").contains('\u{1b}'));
}

#[test]
fn an_empty_store_lists_nothing_and_creates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::in_folder(&folder.path().join("deep/er"));
    assert!(store.list().expect("a list").is_empty());
    assert!(matches!(store.open("@1"), Err(StoreError::Unknown { .. })));
    assert!(files(folder.path()).is_empty());
}

#[test]
fn files_that_are_no_runs_do_not_spoil_the_list() {
    let (folder, store) = three();
    let runs = folder.path().join("runs");
    fs::write(runs.join("empty.json"), "").expect("written");
    fs::write(runs.join("cut.json"), r#"{"schema":"howslow-run/1","id":"x"#).expect("written");
    fs::write(runs.join("other.json"), r#"[{"a":1}]"#).expect("written");
    fs::write(runs.join(".howslow-x.part"), "half").expect("written");
    fs::create_dir(runs.join("folder.json")).expect("made");
    assert_eq!(store.list().expect("a list").len(), 3);
}

#[test]
fn a_head_is_read_without_the_samples_and_is_printable() {
    let (folder, store) = three();
    // Damage behind the beginning of the costs is not even seen by a listing.
    let text = r#"{"id":"9-odd","started":"2027","machine":{"cpu":{"model":"\u001b[2Jx"}},"costs":[{"broken"#;
    fs::write(folder.path().join("runs/9-odd.json"), text).expect("written");
    let heads = store.list().expect("a list");
    assert_eq!((heads[0].id.as_str(), heads[0].model.as_str()), ("9-odd", "\u{fffd}[2Jx"));
    assert_eq!(heads[1].kernel, "6.18.44");
    // Sorted by name, the costs are before id and machine, and longer than a head.
    let mut run = example("20260103-000000-dddd", "2026-01-03T00:00:00Z");
    (run.settings.label, run.machine.host) = (Some("sorted".into()), Some("x".repeat(100_000)));
    let sorted = serde_json::to_value(&run).expect("JSON").to_string();
    assert!(sorted.find("\"costs\"") < sorted.find("\"id\""));
    fs::write(folder.path().join("runs/sorted.json"), sorted).expect("written");
    assert!(
        store.list().expect("a list").iter().any(|head| head.id == run.id && head.label.as_deref() == Some("sorted"))
    );
}

#[test]
fn runs_of_one_id_are_both_found_however_long_it_is() {
    let (_folder, store) = empty();
    let id = "x".repeat(100);
    for started in ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"] {
        store.keep(&example(&id, started)).expect("kept");
    }
    let heads = store.list().expect("a list");
    assert_eq!(heads.iter().map(|head| head.id.as_str()).collect::<Vec<_>>(), [&id, &id]);
}

#[test]
fn a_version_that_no_database_holds_keeps_no_run_away() {
    let mut run = example("odd", "2026-01-01T00:00:00Z");
    run.costs[0].version = u32::MAX;
    let document = howslow_store::Document::of(&run).expect("a document");
    assert_eq!(document.costs[0].series.version, i32::MAX as u32);
}

#[test]
fn an_id_that_would_leave_the_folder_is_refused() {
    let (folder, store) = three();
    for id in ["../evil", "/etc/evil", "a/b", "", ".hidden", "-rf", "a\u{1b}b", &"x".repeat(101), ".."] {
        let error = store.keep(&example(id, "2026-01-01T00:00:00Z")).expect_err("refused");
        assert!(matches!(error, StoreError::Id(_)), "{id}: {error}");
    }
    assert_eq!(files(&folder.path().join("runs")).len(), 3);
    assert_eq!(files(folder.path()), ["runs"]);
}

#[test]
fn a_run_that_could_not_be_read_again_is_refused() {
    let (folder, store) = three();
    let mut run = example("20260103", "2026-01-03T00:00:00Z");
    run.costs[0].net_ns.quiet = Nanoseconds(f64::NAN);
    assert!(matches!(store.keep(&run), Err(StoreError::Unwritable(_))));
    assert_eq!(files(&folder.path().join("runs")).len(), 3);
}

#[test]
fn a_folder_that_cannot_be_made_is_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").expect("written");
    let error = Store::in_folder(&file).keep(&example("a", "2026")).expect_err("no folder").to_string();
    assert!(error.contains("cannot create the folder"), "{error}");
}

/// Runs an ignored test in a file system of its own, mounted in a namespace of its own; reports it and returns `None` where that
/// is not allowed.
pub fn in_private_mount(options: &str, test: &str) -> Option<String> {
    let unshared = |args: &[&str]| Command::new("unshare").arg("--mount").args(args).output();
    if !unshared(&["true"]).is_ok_and(|done| done.status.success()) {
        testing::not_tested!("this test needs root and unshare (util-linux) to mount a file system privately");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (here, me) = (folder.path().display(), std::env::current_exe().expect("a path"));
    let script = format!(
        "set -e; mount -t tmpfs -o {options} none {here}; export STORE_TEST_FOLDER={here}; \
         export STORE_TEST_ADDRESS={here}/full.sqlite; {} --ignored --nocapture --exact {test}",
        me.display()
    );
    let done = unshared(&["sh", "-c", &script]).expect("a shell");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
#[ignore = "not a test of its own: the part of the two below that runs inside their private mounts"]
fn keep_in_the_folder_named_by_the_test_around() {
    let folder = std::env::var_os("STORE_TEST_FOLDER").expect("the folder is named by the test around this one");
    let store = Store::in_folder(Path::new(&folder));
    let mut run = example("big", "2026-01-01T00:00:00Z");
    run.costs[0].summary = "long ".repeat(100_000);
    println!("kept: {}", store.keep(&run).expect_err("no room"));
    println!("left: {:?}", files(&Path::new(&folder).join("runs")));
}

const KEEPS: &str = "store::keep_in_the_folder_named_by_the_test_around";

#[test]
fn a_full_file_system_leaves_no_half_run() {
    let Some(stated) = in_private_mount("size=64k", KEEPS) else { return };
    assert!(stated.contains("No space left on device"), "{stated}");
    assert!(stated.contains("left: []"), "{stated}");
}

#[test]
fn a_read_only_file_system_is_one_clear_error() {
    let Some(stated) = in_private_mount("ro", KEEPS) else { return };
    assert!(stated.contains("Read-only file system"), "{stated}");
}

#[test]
fn the_best_checks_are_remembered_and_nonsense_forgotten() {
    let (folder, store) = empty();
    assert_eq!(Calibration::load(&store), Calibration::default());
    let mut known = Calibration::default();
    let good = BestSpeed { width_cycles: 0.27, misses: 0 };
    known.learn("6/85/7 host", good.width_cycles);
    known.learn("bad", f64::NAN);
    known.learn("worse", -1.0);
    known.save(&store).expect("saved");
    let known = Calibration::load(&store);
    assert_eq!(known.of("6/85/7 host"), Some(good));
    assert_eq!((known.of("bad"), known.of("worse"), known.of("other")), (None, None, None));
    let mut known = known;
    for (misses, left) in [(1, true), (2, true), (3, false)] {
        known.miss("6/85/7 host");
        assert_eq!(known.of("6/85/7 host").is_some(), left, "{misses} runs that came nowhere near");
    }
    let text = r#"{"machines":{"a":{"width_cycles":0.3,"cycle_ns":0.25},"b":{"width_cycles":1e300,"cycle_ns":1}}}"#;
    fs::write(folder.path().join("known.json"), text).expect("written");
    assert_eq!(
        Calibration::load(&store).of("a"),
        Some(BestSpeed { width_cycles: 0.3, misses: 0 }),
        "a clock of older versions is left"
    );
    assert_eq!(Calibration::load(&store).of("b"), None);
    for damaged in ["", "{", "[]", r#"{"machines":"x"}"#] {
        fs::write(folder.path().join("known.json"), damaged).expect("written");
        assert_eq!(Calibration::load(&store), Calibration::default());
    }
}

/// Gives a file to another user. Says so and returns false where that is not allowed.
fn given_away(path: &Path) -> bool {
    let given = std::os::unix::fs::lchown(path, Some(65534), Some(65534)).is_ok();
    if !given {
        testing::not_tested!("only root can give a file to another user");
    }
    given
}

#[test]
fn a_replaced_file_keeps_its_mode_and_only_files_are_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("private"), "old").expect("written");
    fs::set_permissions(at("private"), fs::Permissions::from_mode(0o600)).expect("our file");
    symlink("private", at("link")).expect("a link");
    howslow_store::write_whole(&at("link"), b"new").expect("written");
    let found = fs::symlink_metadata(at("private")).expect("there");
    assert_eq!((found.mode() & 0o777, fs::read(at("private")).expect("read")), (0o600, b"new".to_vec()));
    assert!(fs::symlink_metadata(at("link")).expect("there").is_symlink());
    assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo runs").success());
    fs::create_dir(at("folder")).expect("made");
    let refused = |name: &str| {
        let errors = [howslow_store::check_writable(&at(name)), howslow_store::write_whole(&at(name), b"new")];
        errors.into_iter().all(|error| matches!(error, Err(StoreError::NotAFile { .. })))
    };
    assert!(refused("pipe") && refused("folder"));
    symlink("private", at("planted")).expect("a link");
    if given_away(&at("planted")) {
        assert!(refused("planted"), "a link of another user");
        assert_eq!(fs::read(at("private")).expect("read"), b"new");
    }
    assert_eq!(files(folder.path()), ["folder", "link", "pipe", "planted", "private"]);
}

#[test]
fn what_a_killed_writer_left_is_removed_later() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, hours) in [(".howslow-1-1.part", 2), (".howslow-2-1.part", 0)] {
        let part = fs::File::create(folder.path().join(name)).expect("a file");
        let written = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * hours);
        part.set_modified(written).expect("our file");
    }
    howslow_store::write_whole(&folder.path().join("new"), b"new").expect("written");
    assert_eq!(files(folder.path()), [".howslow-2-1.part", "new"]);
}

#[test]
fn a_data_folder_leads_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, other) = (folder.path().join("data"), folder.path().join("other"));
    fs::create_dir_all(&data).expect("made");
    fs::create_dir_all(&other).expect("made");
    fs::write(other.join("precious"), "precious").expect("written");
    symlink(other.join("precious"), data.join("known.json")).expect("a link");
    let store = Store::in_folder(&data);
    Calibration::default().save(&store).expect("saved");
    assert_eq!(fs::read(other.join("precious")).expect("read"), b"precious");
    assert!(fs::symlink_metadata(data.join("known.json")).expect("there").is_file());
    symlink(&other, data.join("runs")).expect("a link");
    let run = example("a", "2026-01-01T00:00:00Z");
    if !given_away(&data.join("runs")) {
        return;
    }
    store.keep(&run).expect_err("another user's link");
    assert_eq!(files(&other), ["precious"]);
    // As with `sudo` that keeps HOME.
    assert!(given_away(&data));
    let error = store.keep(&run).expect_err("another user's folder");
    assert!(matches!(error, StoreError::AnothersFolder { owner: 65534, .. }), "{error}");
    assert!(error.to_string().contains("sudo -H"), "{error}");
    assert!(Calibration::default().save(&store).is_err());
}

#[test]
fn only_runs_of_one_build_kernel_and_boot_learn_from_each_other() {
    let (folder, store) = empty();
    assert_eq!(FigureHistory::load(&store).of("zen", &RunKind::default()), Earlier::default(), "the first run ever");
    let kind = |build: &str, kernel: &str, boot: &str| RunKind {
        build: build.into(),
        kernel: kernel.into(),
        boot: boot.into(),
    };
    let steady = Trace { rounds: vec![(4.0, 5.0), (4.001, 5.0)], ..Trace::default() };
    let mut known = FigureHistory::default();
    for _ in 0..12 {
        known.add("zen", &kind("b", "6.1", "quiet"), OfRun::from([("a".into(), steady.clone())]));
    }
    known.save(&store).expect("saved");
    let known = FigureHistory::load(&store);
    let same = known.of("zen", &kind("b", "6.1", "quiet"));
    assert_eq!(
        (same.count(), same.prior("a", Prior::DEFAULT).rounds, same.prior("other", Prior::DEFAULT).rounds),
        (10, 20, 0)
    );
    let unused = |kind: RunKind| known.of("zen", &kind).unused.expect("said");
    assert_eq!(unused(kind("c", "6.1", "quiet")), "10 earlier runs are of another build of howslow");
    assert_eq!(unused(kind("b", "6.2", "quiet")), "10 earlier runs are of another kernel");
    assert_eq!(unused(kind("b", "6.1", "mitigations=off")), "10 earlier runs are of another boot option or mitigation");
    assert_eq!(known.of("another microarchitecture", &kind("b", "6.1", "quiet")), Earlier::default());
    for damaged in ["{", "7", r#"{"machines":{"zen":{"build":"b","runs":[{"a":1.5}]}}}"#] {
        fs::write(folder.path().join("figures.json"), damaged).expect("written");
        let known = FigureHistory::load(&store);
        let earlier = known.of("zen", &kind("b", "6.1", "quiet"));
        assert_eq!((earlier.count(), earlier.unused.as_deref()), (0, Some("what earlier runs left cannot be read")));
    }
}
