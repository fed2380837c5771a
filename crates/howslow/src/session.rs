//! The common part of every verb that measures: it measures, keeps the run, writes it if asked, prints it, and reports an
//! interruption.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::{again, history};
use jiff::Timestamp;
use measure::{Plan, Width};
use operation::Item;
use record::{CountedIn, Machine, Origin, Point, Run, SCHEMA, Settings, Skip, Tailing, Value};
use store::{Calibration, FigureHistory, Store, StoreError};

use crate::against::{Against, Beside};
use crate::beside;
use crate::budget;
use crate::cli::MeasureArgs;
use crate::cpu;
use crate::kin::{kind, machine_name};
use crate::output::{self, Bar, Misuse, Outcome, say};
use crate::pictures::{self, Picture};
use crate::scratch;
use crate::show::Samples;

/// The smallest number of rounds whose smallest and largest median enclose the true one with 95 %: 1 - 2 / 2^6 = 0.97.
pub(crate) const ROUNDS: u32 = 6;
/// The shortest batch in µs. The clock readings are 0.03 % of it. Batches of 500 µs contained the interruptions that this system and
/// the hypervisor cause a thousand times a second, and were 1 % too long.
const BATCH_US: f64 = 100.0;
/// How far the checks around a quiet batch may be above the best width.
const TOLERANCE: f64 = 0.03;

/// This program, even if its file has been replaced meanwhile. It is started again to start rounds.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The operation that copies the block.
const BLOCK_MOVE: &str = "memory.copy";

/// The error message of a run without costs.
pub(crate) const NOTHING: &str = "nothing could be measured here; `howslow doctor` shows the reasons";

/// What to measure.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub items: Vec<Item>,
    pub patterns: Vec<String>,
    pub full: bool,
    /// The batches of this many items, from the first, alternate.
    pub paired: usize,
    /// The budget in seconds, if the command line has none.
    pub budget_s: f64,
}

/// A run, which a signal may have cut short.
pub(crate) struct Measured {
    pub run: Run,
    pub interrupted: Option<i32>,
    /// The width check of an undisturbed core.
    pub width: Width,
}

/// Measures what is wanted. Reports bad arguments before it measures anything, and a budget that was exceeded.
pub(crate) fn measure(wanted: Wanted, args: &MeasureArgs) -> anyhow::Result<Measured> {
    let (started, budget_s) = (Timestamp::now(), args.budget.unwrap_or(wanted.budget_s));
    let measured = measure_part(wanted, args)?;
    let took = Timestamp::now().duration_since(started).as_secs_f64();
    if measured.interrupted.is_none()
        && let Some(told) = budget::exceeded(took, budget_s)
    {
        say(&told);
    }
    Ok(measured)
}

/// The same for a part of what a verb measures: the verb keeps the budget.
pub(crate) fn measure_part(wanted: Wanted, args: &MeasureArgs) -> anyhow::Result<Measured> {
    let machine = system::machine::describe();
    check(&machine, args)?;
    budget::check(wanted.items.len(), args.budget.unwrap_or(wanted.budget_s))?;
    let mut settings = settings(&wanted, args);
    let store = Store::of_user().ok();
    let calibration = store.as_ref().map(Calibration::load).unwrap_or_default();
    let machine_name = machine_name(&machine, args.cpu);
    let scratch = scratch::root();
    let loads = beside::start(args, &mut settings, &scratch)?;
    let check = || loads.as_ref().map_or(Ok(()), |loads| loads.check().map_err(|error| error.to_string()));
    let started = Timestamp::now();
    let bar = Bar::new();
    let plan = Plan {
        tailed: wanted.items.len(),
        paired: wanted.paired,
        items: with_block_move(wanted.items),
        find: catalogue::find,
        crosses: catalogue::crosses,
        settings: settings.clone(),
        width: calibration.of(&machine_name).map(|best| best.width_cycles),
        program: Some(Path::new(OWN_PROGRAM)),
        scratch_root: &scratch,
        check: Some(&check),
    };
    let taken = measure::measure(plan, &mut |progress| bar.show(&progress));
    bar.clear();
    let mut taken = taken?;
    taken.noise.traced = observe::are_calls_traced();
    taken.noise.beside = beside::finish(loads, &mut taken.noise, machine.cpu.online)?;
    for cost in &mut taken.costs {
        cost.group = catalogue::heading(&cost.operation).into();
    }
    let build = fingerprint();
    // Baselines are measured after the wanted operations; the page shows everything in the order of the registry.
    taken.costs.sort_by_cached_key(|cost| catalogue::all().position(|operation| operation.id == cost.operation));
    let mut run = Run {
        schema: SCHEMA.into(),
        id: id(started),
        started: format!("{started:.3}"),
        finished: format!("{:.3}", Timestamp::now()),
        origin: Origin::Measured,
        tool: String::new(),
        howslow: env!("CARGO_PKG_VERSION").into(),
        build,
        counted_in: CountedIn::Nanoseconds,
        machine,
        settings,
        noise: taken.noise,
        costs: taken.costs,
        skipped: taken.skipped,
        ratios: Vec::new(),
        units: BTreeMap::new(),
    };
    // What runs alone scatter says nothing of one beside other work.
    if let Some(store) = store.filter(|_| run.settings.beside.is_empty()) {
        learn(&mut run, &FigureHistory::load(&store), &machine_name);
    }
    run.note_units();
    Ok(Measured { run, interrupted: taken.interrupted, width: taken.width })
}

/// The items, and the block move, in which every cost is also quoted.
fn with_block_move(mut items: Vec<Item>) -> Vec<Item> {
    let point = Point::default().with("size", Value::Number(report::BLOCK));
    let known = items.iter().any(|item| item.operation.id == BLOCK_MOVE && item.point == point);
    items.extend(catalogue::find(BLOCK_MOVE).filter(|_| !known).map(|operation| Item { operation, point }));
    items
}

/// How a session ends after its page is printed.
pub(crate) struct SessionEnd {
    kept: anyhow::Result<()>,
    written: Result<(), StoreError>,
    interrupted: Option<i32>,
}

impl SessionEnd {
    /// Reports what interrupted the run.
    ///
    /// # Errors
    /// The run could not be written to the file of `-o`, or was to be kept and could not.
    pub(crate) fn outcome(self) -> anyhow::Result<Outcome> {
        self.written?;
        self.kept?;
        let Some(signal) = self.interrupted else { return Ok(Outcome::Done) };
        say("interrupted: the page shows what was measured until then; it is not kept (-o FILE writes it)");
        Ok(Outcome::Interrupted(signal))
    }
}

/// Checks that a verb without a chart of its own has one to draw.
///
/// # Errors
/// A misuse if `--svg` is given without `--tails`.
pub(crate) fn has_chart(args: &MeasureArgs) -> Result<(), Misuse> {
    if args.svg.is_some() && !args.tails {
        return Err(Misuse("--svg draws the percentile curves of --tails here; add --tails, or omit it".into()));
    }
    Ok(())
}

/// Checks that a verb without a CSV was not asked for one.
///
/// # Errors
/// A misuse if `--csv` or `--summary` is given.
pub(crate) fn has_no_csv(args: &MeasureArgs, verb: &str) -> Result<(), Misuse> {
    if args.csv || args.summary {
        let what = if args.csv { "--csv" } else { "--summary" };
        return Err(Misuse(format!(
            "{what}: {verb} prints a page or --json; `howslow export` writes its kept run as CSV"
        )));
    }
    Ok(())
}

/// Keeps a complete run, and writes any run to the file of `-o`.
pub(crate) fn finish(measured: Measured, args: &MeasureArgs) -> (Run, SessionEnd) {
    let Measured { run, interrupted, width } = measured;
    let is_whole = interrupted.is_none() && !run.costs.is_empty();
    let kept = if is_whole { keep(&run, width, args) } else { Ok(()) };
    // Written before it is printed: a reader that closes the pipe must not cost the file.
    let written = args.output.as_ref().map_or(Ok(()), |path| store::write_run(&run, path));
    (run, SessionEnd { kept, written, interrupted })
}

/// Finishes a run and prints it, with a column for a reference, below an answer in sentences. `by_name` says whether the operations
/// were named, so that a skip counts. A run that cannot be kept is still printed.
pub(crate) fn print_beside(
    measured: Measured,
    args: &MeasureArgs,
    (against, answer): (Option<Against>, &str),
    by_name: &dyn Fn(&Skip) -> bool,
) -> anyhow::Result<Outcome> {
    let (run, ending) = finish(measured, args);
    if args.csv {
        crate::export::print_costs(std::slice::from_ref(&run))?;
    } else if args.json {
        let samples = if args.summary { Samples::Omitted } else { Samples::Kept };
        crate::show::print_run(run.clone(), samples)?;
    } else {
        let present = system::machine::present(&scratch::root());
        let beside = Beside::of(&run, against, Some(present))?;
        let page = report::page_beside(&run, &beside.view(), output::style_in(args.detail()));
        let gap = if answer.is_empty() { "" } else { "\n" };
        output::print_page(&format!("{answer}{gap}{page}"))?;
    }
    let curves = report::tail_charts(&run).into_iter().map(|(name, chart)| Picture { name, svg: chart.svg() });
    pictures::write(args.svg.as_deref(), &curves.collect::<Vec<_>>())?;
    match ending.outcome()? {
        Outcome::Done if run.skipped.iter().any(by_name) => Ok(Outcome::Skipped),
        Outcome::Done if run.costs.is_empty() => {
            anyhow::bail!(NOTHING)
        }
        outcome => Ok(outcome),
    }
}

/// Keeps a run, and what later runs learn from it. A failure is a warning, unless `--keep` asks for more.
///
/// # Errors
/// If `--keep` is given and the run is kept nowhere.
pub(crate) fn keep(run: &Run, width: Width, args: &MeasureArgs) -> anyhow::Result<()> {
    let store = match Store::of_user().and_then(|store| keep_in(&store, run).map(|()| store)) {
        Ok(store) => store,
        Err(error) if args.keep => return Err(anyhow::anyhow!("the run {} is not kept (--keep): {error}", run.id)),
        Err(error) => {
            let why = output::told(&error.into());
            say(&format!("warning: this run is not kept: {why}; with --keep that is a failure (status 1)"));
            return Ok(());
        }
    };
    // Other runs learn nothing from one beside work on purpose.
    if run.settings.beside.is_empty()
        && let Err(error) = remember(&store, run, width)
    {
        say(&format!("warning: later runs learn nothing from this one: {error}"));
    }
    Ok(())
}

/// Keeps the best speed and the figures of a run.
fn remember(store: &Store, run: &Run, width: Width) -> Result<(), StoreError> {
    let mut calibration = Calibration::load(store);
    let machine = machine_name(&run.machine, run.settings.cpu);
    if width.seen {
        calibration.learn(&machine, width.share)
    } else {
        calibration.miss(&machine)
    }
    calibration.save(store)?;
    let mut figures = FigureHistory::load(store);
    figures.add(&machine, &kind(run), history::traces(run));
    figures.save(store)
}

/// Keeps a run, with a warning if that went another way than usual.
///
/// # Errors
/// If it is kept nowhere.
pub(crate) fn keep_in(store: &Store, run: &Run) -> Result<(), StoreError> {
    if let Some(warning) = store.keep(run)?.warning {
        say(&format!("warning: {warning}"));
    }
    Ok(())
}

/// Computes the intervals anew with what earlier runs of this build, kernel and machine showed of each cost's scatter.
fn learn(run: &mut Run, figures: &FigureHistory, machine: &str) {
    let earlier = figures.of(machine, &kind(run));
    run.noise.earlier_runs = earlier.count() as u32;
    run.noise.earlier_unused = earlier.unused.clone();
    if earlier.count() > 0 {
        again::recompute(run, &|cost| earlier.prior(&cost.name(), analysis::prior::Prior::usual_for(cost)));
    }
}

/// A fingerprint of this program's file: its length and CRC-32; empty if the file cannot be read.
fn fingerprint() -> String {
    std::fs::read(OWN_PROGRAM)
        .map_or_else(|_| String::new(), |bytes| format!("{:08x}{:08x}", bytes.len() as u32, crc32fast::hash(&bytes)))
}

fn settings(wanted: &Wanted, args: &MeasureArgs) -> Settings {
    Settings {
        label: args.label.clone(),
        patterns: wanted.patterns.clone(),
        full: wanted.full,
        count: args.count,
        rounds: args.rounds.unwrap_or(ROUNDS),
        precision: args.precision,
        budget_s: args.budget.unwrap_or(wanted.budget_s),
        cpu: args.cpu,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(..)),
        batch_us: BATCH_US,
        tolerance: TOLERANCE,
        beside: Vec::new(),
        tails: args.tails.then_some(Tailing { arrivals: args.arrivals }),
    }
}

fn check(machine: &Machine, args: &MeasureArgs) -> Result<(), Misuse> {
    if args.repeat.is_some() {
        return Err(Misuse("--repeat: only `howslow` and `howslow run` repeat whole runs; omit it here".into()));
    }
    cpu::check(args.cpu, &machine.cpu.usable)?;
    output::check_writable(&args.output)?;
    pictures::check(args.svg.as_deref())?;
    scratch::folder().map(|_| ())
}

/// Start time and four random letters.
pub(crate) fn id(started: Timestamp) -> String {
    let letters: String = (0..4).map(|_| fastrand::lowercase()).collect();
    format!("{}-{letters}", started.strftime("%Y%m%d-%H%M%S"))
}
