//! Readers whose file is truncated while they read: the round is lost with a clear reason, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use howslow_catalogue::reading::UserFile;
use measure::{Measurement, Plan, measure};
use operation::{Failure, Item, Loop, Operation, Registry, Setting};
use record::{Machine, Point, Settings};

use crate::support::{in_a_process, in_sequence};

fn point(file: u64, state: &str) -> Point {
    let numbers = [("file", file), ("record", 4096), ("depth", 4), ("ahead", 65_536), ("quantity", 65_536)];
    in_sequence(state, &numbers)
}

/// Accepts these for a second.
fn measured(items: Vec<Item>, root: &Path) -> Measurement {
    let settings = Settings {
        rounds: 2,
        precision: 0.5,
        budget_s: 1.0,
        seed: 7,
        batch_us: 200.0,
        tolerance: 0.06,
        ..Settings::default()
    };
    let plan = Plan {
        items,
        registry: Registry { crosses: |_| false, ..howslow_catalogue::REGISTRY },
        machine: Machine::default(),
        settings,
        tailed: 0,
        paired: 0,
        width: None,
        program: None,
        scratch_root: root,
        check: None,
        recorded: None,
    };
    measure(plan, &mut |_| {}).expect("something is measured")
}

/// A file that is truncated after the reader has been set up on it.
static CUT: OnceLock<PathBuf> = OnceLock::new();

fn cut_meanwhile(id: &str, setting: &Setting) -> Result<Loop, Failure> {
    let path = CUT.get().ok_or_else(|| Failure::wrong("no file"))?;
    std::fs::write(path, vec![1; 1 << 20])?;
    let given: &'static UserFile = Box::leak(Box::new(UserFile::read(path)?));
    let over = Setting::new(setting.point().clone(), setting.scratch().into(), setting.cpu(), None, 1);
    let work = howslow_catalogue::find(id).expect(id).set_up(&over.with_argument(Some(given)))?;
    std::fs::File::options().write(true).open(path)?.set_len(100_000)?;
    // The check before a pass would detect it; this is about the pass itself, which must not end anything else.
    Ok(work.before(|_| Ok(())))
}

const CUTS: &[Operation] = &[
    Operation {
        id: "test.mapped",
        prepare: |setting| cut_meanwhile("read.mmap", setting),
        memory: 1 << 46,
        ..Operation::DEFAULT
    },
    Operation { id: "test.pread", prepare: |setting| cut_meanwhile("read.pread", setting), ..Operation::DEFAULT },
    Operation { id: "test.ring", prepare: |setting| cut_meanwhile("read.uring", setting), ..Operation::DEFAULT },
];

#[test]
fn a_file_cut_short_while_it_is_read_loses_the_rounds_with_the_reason() {
    // In a separate process, because rounds fork from it.
    in_a_process(lose_the_rounds).unwrap_or_else(|why| panic!("{why}"));
}

fn lose_the_rounds() {
    let root = tempfile::tempdir().expect("a folder");
    CUT.set(root.path().join("cut")).expect("once");
    let item = |operation| Item { operation, point: point(1 << 20, "warm") };
    let taken = measured(CUTS.iter().map(item).collect(), root.path());
    assert!(taken.run.costs.is_empty(), "{:?}", taken.run.costs.iter().map(|cost| cost.name()).collect::<Vec<_>>());
    let why = |id: &str| taken.run.skipped.iter().find(|skip| skip.operation == id).map(|skip| skip.reason.clone());
    let mapped = why("test.mapped").expect("skipped");
    assert!(mapped.contains("SIGBUS") && mapped.contains("truncated"), "{mapped}");
    let read = why("test.pread").expect("skipped");
    assert!(read.contains("truncated"), "{read}");
    if let Some(ring) = why("test.ring").filter(|ring| !ring.contains("io_uring")) {
        assert!(ring.contains("truncated"), "{ring}");
    }
    let left: Vec<_> =
        std::fs::read_dir(root.path()).expect("readable").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["cut"], "scratch files are left");
}
