//! The common part of every verb that measures: it measures, keeps the run, writes it if requested, prints it, and reports an
//! interruption.

use std::path::Path;
use std::time::Instant;

use analysis::{again, history};
use measure::{Measurement, Plan, Width, usual_settings};
use operation::Item;
use record::{Machine, Point, Run, Settings, Skip, Tailing, Value};
use store::{Calibration, FigureHistory, Store, StoreError};

use crate::against::References;
use crate::beside;
use crate::budget;
use crate::cli::measure::MeasureArgs;
use crate::cpu;
use crate::kin::{kind, machine_name};
use crate::output::{self, Misuse, Outcome, print_note};
use crate::pictures;
use crate::resolve;
use crate::scratch;
use crate::verbs::show::without_samples;

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

impl Wanted {
    /// These items, which the document names one by one.
    pub(crate) fn of(items: Vec<Item>, budget_s: f64) -> Wanted {
        let patterns = items.iter().map(|item| format!("{}{}", item.operation.id, item.point)).collect();
        Wanted { items, patterns, full: false, paired: 0, budget_s }
    }
}

/// Measures what is wanted. Reports bad arguments before it measures anything, and a budget that was exceeded.
pub(crate) fn measure(wanted: Wanted, args: &MeasureArgs) -> anyhow::Result<Measurement> {
    let (started, budget_s) = (Instant::now(), args.budget.unwrap_or(wanted.budget_s));
    let measured = measure_part(wanted, args)?;
    if measured.interrupted.is_none()
        && let Some(warning) = budget::exceeded(started.elapsed().as_secs_f64(), budget_s)
    {
        print_note(&warning);
    }
    Ok(measured)
}

/// The same for a part of what a verb measures: the verb keeps the budget.
pub(crate) fn measure_part(wanted: Wanted, args: &MeasureArgs) -> anyhow::Result<Measurement> {
    let machine = system::machine::describe();
    check(&machine, args)?;
    let mut settings = settings(&wanted, args);
    budget::check(wanted.items.len(), settings.budget_s)?;
    let store = Store::of_user().ok();
    let calibration = store.as_ref().map(Calibration::load).unwrap_or_default();
    let machine_name = machine_name(&machine, args.cpu);
    let scratch = scratch::root();
    let recorded = args.replay.as_deref().map(resolve::run).transpose()?;
    let loads = beside::start(args, &mut settings, &scratch)?;
    let check = || loads.as_ref().map_or(Ok(()), |loads| loads.check().map_err(|error| error.to_string()));
    let requested = wanted.items.clone();
    let plan = Plan {
        tailed: wanted.items.len(),
        paired: wanted.paired,
        items: with_block_move(wanted.items),
        registry: catalogue::REGISTRY,
        machine,
        settings,
        width: calibration.of(&machine_name).map(|best| best.width_cycles),
        program: Some(Path::new(OWN_PROGRAM)),
        scratch_root: &scratch,
        check: Some(&check),
        recorded: recorded.as_ref(),
    };
    let taken = output::watched(|show| measure::measure(plan, &mut |progress| show(&progress)));
    let Measurement { mut run, width, interrupted } = taken?;
    let has = |item: &Item| run.costs.iter().any(|cost| cost.operation == item.operation.id && cost.at == item.point);
    if interrupted.is_none() && !requested.iter().any(has) {
        // What every run measures besides is nothing that was requested.
        run.costs.clear();
    }
    run.noise.traced = recorded.map_or_else(observe::are_calls_traced, |run| run.noise.traced);
    run.noise.beside = beside::finish(loads, &mut run.noise, run.machine.cpu.online)?;
    // What runs alone scatter says nothing of one beside other work.
    if let Some(store) = store.filter(|_| run.settings.beside.is_empty()) {
        learn(&mut run, &FigureHistory::load(&store), &machine_name);
    }
    Ok(Measurement { run, width, interrupted })
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
    /// That of a verb that measured nothing.
    pub(crate) const NOTHING: SessionEnd = SessionEnd { kept: Ok(()), written: Ok(()), interrupted: None };

    /// Reports what interrupted the run.
    /// Fails if the run could not be written to the file of `-o`, or was to be kept and could not.
    pub(crate) fn outcome(self) -> anyhow::Result<Outcome> {
        self.written?;
        self.kept?;
        let Some(signal) = self.interrupted else { return Ok(Outcome::Done) };
        print_note("interrupted: the page shows what was measured until then; it is not kept (-o FILE writes it)");
        Ok(Outcome::Interrupted(signal))
    }
}

/// Checks that a verb without a chart of its own has one to draw. It is misuse to give `--svg` without `--tails`.
pub(crate) fn has_chart(args: &MeasureArgs) -> Result<(), Misuse> {
    if args.svg.is_some() && !args.tails {
        return Err(Misuse("--svg draws the percentile curves of --tails here; add --tails, or omit it".into()));
    }
    Ok(())
}

/// Checks that a verb without a CSV was not given an option for one. It is misuse to give `--csv` or `--summary`.
pub(crate) fn has_no_csv(args: &MeasureArgs, verb: &str) -> Result<(), Misuse> {
    if args.csv || args.summary {
        let what = if args.csv { "--csv" } else { "--summary" };
        let why = format!("{what}: {verb} prints a page or --json; `howslow export` writes its kept run as CSV");
        return Err(Misuse(why));
    }
    Ok(())
}

/// Keeps a complete run, and writes any run to the file of `-o`.
pub(crate) fn finish(measured: Measurement, args: &MeasureArgs) -> (Run, SessionEnd) {
    let Measurement { run, interrupted, width } = measured;
    let is_whole = interrupted.is_none() && !run.costs.is_empty();
    let kept = if is_whole { keep(&run, width, args) } else { Ok(()) };
    // Written before it is printed: a reader that closes the pipe must not cost the file.
    let written = args.output.as_ref().map_or(Ok(()), |path| store::write_run(&run, path));
    (run, SessionEnd { kept, written, interrupted })
}

/// Finishes a run and prints it, with a column for a reference, below an answer in sentences. `by_name` says whether the operations
/// were named, so that a skip counts. A run that cannot be kept is still printed.
pub(crate) fn print_compared(
    measured: Measurement,
    args: &MeasureArgs,
    (against, answer): (Option<Run>, &str),
    by_name: &dyn Fn(&Skip) -> bool,
) -> anyhow::Result<Outcome> {
    let (run, ending) = finish(measured, args);
    if args.csv {
        crate::verbs::export::print_costs(std::slice::from_ref(&run))?;
    } else if args.json {
        let summary = args.summary.then(|| without_samples(run.clone()));
        output::print_json(summary.as_ref().unwrap_or(&run))?;
    } else {
        let present = system::machine::present(&scratch::root());
        let references = References::of(&run, against, Some(present))?;
        let page = report::compared_page(&run, &references.view(), output::style_in(args.all));
        let gap = if answer.is_empty() { "" } else { "\n" };
        output::print_page(&format!("{answer}{gap}{page}"))?;
    }
    pictures::write_charts(args.svg.as_deref(), report::tail_charts(&run))?;
    match ending.outcome()? {
        Outcome::Done if run.skipped.iter().any(by_name) => Ok(Outcome::Skipped),
        Outcome::Done if run.costs.is_empty() => anyhow::bail!(NOTHING),
        outcome => Ok(outcome),
    }
}

/// Keeps a run, and what later runs learn from it. A failure is a warning, unless `--keep` requests more.
/// Fails if `--keep` is given and the run is kept nowhere.
pub(crate) fn keep(run: &Run, width: Width, args: &MeasureArgs) -> anyhow::Result<()> {
    let store = match Store::of_user().and_then(|store| keep_in(&store, run).map(|()| store)) {
        Ok(store) => store,
        Err(error) if args.keep => return Err(anyhow::anyhow!("the run {} is not kept (--keep): {error}", run.id)),
        Err(error) => {
            let why = output::error_text(&error.into());
            print_note(&format!("warning: this run is not kept: {why}; with --keep that is a failure (status 1)"));
            return Ok(());
        }
    };
    // Other runs learn nothing from one beside work on purpose.
    if run.settings.beside.is_empty()
        && let Err(error) = remember(&store, run, width)
    {
        print_note(&format!("warning: later runs learn nothing from this one: {error}"));
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
pub(crate) fn keep_in(store: &Store, run: &Run) -> Result<(), StoreError> {
    if let Some(warning) = store.keep(run)?.warning {
        print_note(&format!("warning: {warning}"));
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

fn settings(wanted: &Wanted, args: &MeasureArgs) -> Settings {
    let usual = usual_settings();
    Settings {
        label: args.label.clone(),
        patterns: wanted.patterns.clone(),
        full: wanted.full,
        count: args.count,
        rounds: args.rounds.unwrap_or(usual.rounds),
        precision: args.precision,
        budget_s: args.budget.unwrap_or(wanted.budget_s),
        cpu: args.cpu,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(..)),
        tails: args.tails.then_some(Tailing { arrivals: args.arrivals }),
        ..usual
    }
}

/// Checks what the command line requests, before anything is done for it.
pub(crate) fn check(machine: &Machine, args: &MeasureArgs) -> Result<(), Misuse> {
    if args.repeat.is_some() {
        return Err(Misuse("--repeat: only `howslow` and `howslow run` repeat whole runs; omit it here".into()));
    }
    cpu::check(args.cpu, &machine.cpu.usable)?;
    output::check_writable(&args.output)?;
    pictures::check(args.svg.as_deref())?;
    scratch::folder().map(|_| ())
}
