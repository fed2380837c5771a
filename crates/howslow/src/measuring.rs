//! Between the command line and the instrument: settings in, a run out.

use std::path::{Path, PathBuf};

use analysis::history;
use jiff::Timestamp;
use measure::{Plan, Width};
use operation::Item;
use record::{Cost, CountedIn, Machine, Point, Run, SCHEMA, Settings, Value};
use store::{Figures, Known, Store};

use crate::cli::How;
use crate::output::{Bar, Misuse, say};

/// The fewest rounds whose smallest and largest median enclose the true one with 95 %: 1 - 2 / 2^6 = 0.97.
const ROUNDS: u32 = 6;
/// Shortest batch in µs. The clock's readings are 0.03 % of it. Batches of 500 µs contain the interruptions that this
/// system and the hypervisor make a thousand times a second, and were 1 % too long.
const BATCH_US: f64 = 100.0;
/// How far above the best width the checks around a quiet batch may be.
const TOLERANCE: f64 = 0.03;

/// This program, even where its file has been replaced meanwhile: started anew it starts rounds.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// What copies the block.
const BLOCK_MOVE: &str = "memory.copy";

/// What is to be measured.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub items: Vec<Item>,
    pub patterns: Vec<String>,
    pub full: bool,
    /// Where the command line names none.
    pub budget_s: f64,
}

/// A run, perhaps cut short by a signal.
pub(crate) struct Measured {
    pub run: Run,
    pub interrupted: Option<i32>,
    /// What a core that is ours alone looked like.
    pub width: Width,
}

/// Measures what is wanted. What cannot work is refused before anything is measured.
pub(crate) fn measure(wanted: Wanted, how: &How) -> anyhow::Result<Measured> {
    let machine = machine::describe();
    check(&machine, how)?;
    let settings = settings(&wanted, how);
    let store = Store::of_user().ok();
    let known = store.as_ref().map(Known::load).unwrap_or_default();
    let scratch = scratch_root();
    let started = Timestamp::now();
    let bar = Bar::new();
    let plan = Plan {
        items: with_block_move(wanted.items),
        find: operations::find,
        settings: settings.clone(),
        width: known.of(&machine_name(&machine, how.cpu)).map(|shown| shown.width_cycles),
        program: Some(Path::new(OWN_PROGRAM)),
        scratch_root: &scratch,
    };
    let taken = measure::measure(plan, &mut |progress| bar.show(&progress));
    bar.clear();
    let mut taken = taken?;
    for cost in &mut taken.costs {
        cost.group = heading(&cost.operation).into();
    }
    let build = fingerprint();
    let figures = store.as_ref().map(Figures::load).unwrap_or_default();
    let machine_name = machine_name(&machine, how.cpu);
    taken.noise.earlier_runs = widen(&mut taken.costs, &figures, &machine_name, &build);
    // Baselines come after what was asked for; on the page everything stands in the order of the registry.
    taken.costs.sort_by_key(|cost| operations::all().position(|operation| operation.id == cost.operation));
    let run = Run {
        schema: SCHEMA.into(),
        id: id(started),
        started: format!("{started:.3}"),
        finished: format!("{:.3}", Timestamp::now()),
        howslow: env!("CARGO_PKG_VERSION").into(),
        build,
        counted_in: CountedIn::Nanoseconds,
        machine,
        settings,
        noise: taken.noise,
        costs: taken.costs,
        skipped: taken.skipped,
    };
    Ok(Measured { run, interrupted: taken.interrupted, width: taken.width })
}

/// The items and the block move, in which every cost is also quoted.
fn with_block_move(mut items: Vec<Item>) -> Vec<Item> {
    let point = Point::default().with("size", Value::Number(report::BLOCK));
    let known = items.iter().any(|item| item.operation.id == BLOCK_MOVE && item.point == point);
    items.extend(operations::find(BLOCK_MOVE).filter(|_| !known).map(|operation| Item { operation, point }));
    items
}

/// Keeps the run, and for the next one what a core that is ours alone looked like. Failing that is worth a warning, not the
/// run.
pub(crate) fn keep(run: &Run, width: Width) {
    let kept = Store::of_user().and_then(|store| {
        store.keep(run)?;
        let mut known = Known::load(&store);
        let machine = machine_name(&run.machine, run.settings.cpu);
        if width.seen {
            known.learn(&machine, width.share)
        } else {
            known.miss(&machine)
        }
        known.save(&store)?;
        let mut figures = Figures::load(&store);
        let told = run.costs.iter().filter_map(|cost| Some((cost.name(), history::figure(cost)?)));
        figures.add(&machine, &run.build, told.collect());
        figures.save(&store)
    });
    if let Err(error) = kept {
        say(&format!("warning: this run is not kept: {error}"));
    }
}

/// Widens the intervals of costs that scatter more between runs than their rounds say. Returns how many earlier runs there
/// were to tell it, or 0 where they were too few.
fn widen(costs: &mut [Cost], figures: &Figures, machine: &str, build: &str) -> u32 {
    let mut most = 0;
    for cost in costs {
        let earlier = figures.of(machine, build, &cost.name());
        if earlier.len() >= history::ENOUGH_RUNS {
            most = most.max(earlier.len());
            history::widen(cost, &earlier);
        }
    }
    most as u32
}

/// A fingerprint of this program's file (FNV-1a over words of eight bytes); empty where it cannot be read.
fn fingerprint() -> String {
    let Ok(bytes) = std::fs::read(OWN_PROGRAM) else { return String::new() };
    let words = bytes.chunks(8).map(|chunk| chunk.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte)));
    format!("{:016x}", words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3)))
}

/// What checks and figures are remembered by: the processor and the host, since one home folder may serve many, and the kind
/// of core where one that is not the strongest was asked for.
fn machine_name(machine: &Machine, cpu: Option<u32>) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = format!("{} {}", machine.cpu.signature, host.trim());
    match cpu.map_or(0, machine::kind_of_core) {
        0 => name,
        weaker => format!("{name} kind {weaker}"),
    }
}

/// The heading of an operation's family.
pub(crate) fn heading(id: &str) -> &'static str {
    let family = operations::FAMILIES.iter().find(|family| family.operations().any(|operation| operation.id == id));
    family.map_or("", |family| family.title)
}

fn settings(wanted: &Wanted, how: &How) -> Settings {
    Settings {
        patterns: wanted.patterns.clone(),
        full: wanted.full,
        count: how.count,
        rounds: how.rounds.unwrap_or(ROUNDS),
        precision: how.precision,
        budget_s: how.budget.unwrap_or(wanted.budget_s),
        cpu: how.cpu,
        seed: how.seed.unwrap_or_else(|| fastrand::u64(..)),
        batch_us: BATCH_US,
        tolerance: TOLERANCE,
    }
}

fn check(machine: &Machine, how: &How) -> Result<(), Misuse> {
    if how.repeat.is_some() {
        return Err(Misuse("--repeat: only `howslow` and `howslow run` repeat whole runs; leave it out here".into()));
    }
    let usable = &machine.cpu.usable;
    if let Some(cpu) = how.cpu.filter(|cpu| !usable.contains(cpu)) {
        let may: Vec<String> = usable.iter().map(u32::to_string).collect();
        return Err(Misuse(format!(
            "--cpu {cpu}: this process may use the CPUs {}; choose one of them",
            may.join(", ")
        )));
    }
    if let Some(path) = &how.output {
        store::check_writable(path).map_err(|error| Misuse(format!("-o: {error}; choose another place")))?;
    }
    scratch_folder().map(|_| ())
}

/// The folder for scratch files, which must be there.
pub(crate) fn scratch_folder() -> Result<PathBuf, Misuse> {
    let scratch = scratch_root();
    if scratch.is_dir() {
        return Ok(scratch);
    }
    let text = format!("TMPDIR: {} is no folder; name one for scratch files", scratch.display());
    Err(Misuse(record::printable(&text)))
}

/// Where scratch files go: where TMPDIR says, else /var/tmp, which unlike /tmp lies on a disk on most systems.
pub(crate) fn scratch_root() -> PathBuf {
    let var_tmp = PathBuf::from("/var/tmp");
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if var_tmp.is_dir() => var_tmp,
        _ => std::env::temp_dir(),
    }
}

/// Start time and four random letters.
fn id(started: Timestamp) -> String {
    let letters: String = (0..4).map(|_| fastrand::lowercase()).collect();
    format!("{}-{letters}", started.strftime("%Y%m%d-%H%M%S"))
}
