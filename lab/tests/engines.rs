//! Every engine does the work of its operations, and notices wrong work.

use std::fs::File;
use std::path::{Path, PathBuf};

use catalogue::engines::Guest;
use operation::{Failure, Operation, Setting};
use record::Point;

const CATALOGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/catalogue/src/mode");
/// The variable that makes the test translate the guests again.
const WRITE: &str = "HOWSLOW_WRITE_GUESTS";

fn setting(point: Point, folder: &Path) -> Setting {
    Setting::new(point, folder.into(), 0, None, 1)
}

/// The operations of a family.
fn of_family(family: &str) -> impl Iterator<Item = &'static Operation> {
    catalogue::all().filter(move |operation| operation.family() == family)
}

/// Has an operation done at each of its points, in batches of these sizes.
fn perform(operation: &Operation, batches: &[u64]) {
    for point in operation.points(false) {
        let scratch = tempfile::tempdir().expect("a folder");
        let setting = setting(point.clone(), scratch.path());
        let done = operation
            .set_up(&setting)
            .and_then(|mut prepared| batches.iter().try_for_each(|times| prepared.perform(*times)));
        match done {
            // The tests of the catalogue start the emulator.
            Err(_) if point.word("mode") == Some("emulated") => {}
            Err(Failure::Skip { reason, remedy }) => testing::left_out!("{}{point}: {reason}; {remedy}", operation.id),
            done => assert_eq!(done, Ok(()), "{}{point}", operation.id),
        }
    }
}

#[test]
fn every_program_does_its_work_in_every_mode() {
    howslow_lab::install();
    // The last two begin again after the end of a table or a file.
    of_family("mode").for_each(|operation| perform(operation, &[1, 2, 100, 4096, 7040]));
}

#[test]
fn every_reader_reads_every_record() {
    howslow_lab::install();
    let warm = of_family("keyed").filter(|operation| operation.id != "keyed.random.cold");
    warm.for_each(|operation| perform(operation, &[1, 2, 997, 2500, 16_384]));
    of_family("keyed").filter(|operation| operation.id == "keyed.random.cold").for_each(|cold| perform(cold, &[1, 1]));
}

/// A file of these words.
fn holding(folder: &Path, name: &str, words: &[u64]) -> File {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("written");
    File::open(path).expect("the file")
}

#[test]
fn a_short_record_and_a_wrong_one_are_found_out_in_every_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = |name: &str| &*std::fs::read(guest(name, "wasm")).expect("a guest").leak();
    let file = |name: &str, words: &[u64]| holding(folder.path(), name, words).into();
    for mode in ["jit", "interpreted"] {
        let short = Guest { name: "read", code: code("read"), memory: vec![80], files: vec![file("short", &[1; 11])] };
        let foreign = Guest {
            name: "keyed",
            code: code("keyed"),
            memory: [1, 7].into_iter().chain([7; 4095]).collect(),
            files: vec![file("index", &[7, 0]), file("records", &[8; 10])],
        };
        let mut read = howslow_lab::webassembly::program(short, mode).expect("a program");
        let mut keyed = howslow_lab::webassembly::program(foreign, mode).expect("a program");
        assert_eq!(read(1), Ok(10), "{mode}");
        assert!(matches!(read(1), Err(Failure::Wrong(_))), "{mode}");
        assert!(matches!(keyed(1), Err(Failure::Wrong(_))), "{mode}");
    }
}

fn guest(name: &str, extension: &str) -> PathBuf {
    Path::new(CATALOGUE).join(name).with_extension(extension)
}

#[test]
fn guests_are_what_their_texts_say() {
    for name in ["call", "convert", "keyed", "read"] {
        let code = wat::parse_file(guest(name, "wat")).expect("WebAssembly");
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(guest(name, "wasm"), &code).expect("written");
        }
        let committed = std::fs::read(guest(name, "wasm")).expect("the guest");
        assert!(
            committed == code,
            "{name}.wasm is stale: {WRITE}=1 cargo test --manifest-path lab/Cargo.toml guests_are"
        );
    }
}
