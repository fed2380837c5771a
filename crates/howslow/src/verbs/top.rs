//! `howslow top`: the bill of the whole system, live. The module `screen` of the crate says what is shown; this counts, prices, and
//! keeps the terminal.

mod screen;
mod signals;

use std::io::IsTerminal;
use std::time::Duration;

use analysis::bill::interval;
use analysis::predict::MachineState;
use clap::Args;
use observe::{Calibrate, Observer, Options, Source, Stretch, Stretches, Target};
use record::{Observation, Run};
use report::document::TopDocument;
use system::machine::Topology;

use crate::cli::value::seconds;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::screen::{About, Action, Column, Settings, State, View};
use crate::verbs::bill::prices::Prices;
use screen::Screen;
use signals::Signals;

const SHOWN: &str = "\
Shows processes by what they cost the system: the count of each of their requests times its price in a run. Below, the
chosen one with its calls, pairs, errors and trend. ? shows the keys; q ends it.
Calls are counted by programs in the kernel, which needs root. Without them, the columns are those that the kernel's
accounts tell: processor time, faults and switches.
--once prints one interval as a table, and needs no terminal.
Examples: howslow top
          howslow top --cgroups --sort calls
          howslow top --once --every 5s --json
Exit status: 0 done; 1 failed; 2 misused; 128 + n ended by signal n.";

/// The bill of the whole system, live: processes and cgroups by what they cost the system
#[derive(Debug, Args)]
#[command(after_help = SHOWN)]
pub(crate) struct TopArgs {
    /// The length of an interval
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "1s", allow_hyphen_values = true)]
    pub every: f64,
    /// Sort by this column [default: cost; without prices calls, without calls kernel]
    #[arg(long, value_name = "COLUMN", value_enum)]
    pub sort: Option<Column>,
    /// Show only processes whose name or cgroup has this, or whose id is this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// Show cgroups in place of processes
    #[arg(long)]
    pub cgroups: bool,
    /// Print one interval as a table, and end
    #[arg(long)]
    pub once: bool,
    /// The run whose costs are the prices [default: the most certain prices of this kernel]
    #[arg(long, value_name = "RUN", add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub on: Option<String>,
    /// The prices: of an undisturbed core, or of programs that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = MachineState::Typical)]
    pub by: MachineState,
    /// Count in this way only
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub source: Option<Source>,
    /// With --once: print JSON
    #[arg(long, requires = "once")]
    pub json: bool,
}

/// How often what ended is collected, keys are read and signals noticed.
const STEP: Duration = Duration::from_millis(50);

/// The first interval is no longer than this, so that the screen soon shows something.
const FIRST: Duration = Duration::from_millis(500);

/// Rows of a page.
const ROWS: usize = 40;

pub(crate) fn top(args: &TopArgs) -> anyhow::Result<Outcome> {
    if !args.once && !std::io::stdout().is_terminal() {
        let text = "stdout is not a terminal, so there is nothing to draw on; `howslow top --once` prints one interval";
        return Err(Misuse(text.into()).into());
    }
    let prices = Prices::of(args.on.as_deref(), args.by)?;
    let options = Options { source: args.source, calibrate: Calibrate::Before, ..Options::default() };
    let observer = Observer::start(Target::System, &options)?;
    let mut meter = Meter { stretches: Stretches::of(observer), prices };
    if args.once { once(args, &mut meter) } else { live(args, &mut meter) }
}

/// What counts and prices.
struct Meter {
    stretches: Stretches,
    prices: Prices,
}

impl Meter {
    /// What is known of an interval besides its figures.
    fn about(&self, seen: &Observation) -> About {
        let counts_calls = seen.source != Source::Accounts.word();
        let prices = &self.prices;
        let run = prices.run();
        let mut notes = Vec::new();
        if !counts_calls {
            let why = seen.passed_over.iter().map(|passed| format!("{}: {}", passed.source, passed.reason));
            let why = why.collect::<Vec<_>>().join("; ");
            let what = "No calls are counted, so calls, errors and pairs are missing, and costs are those of faults and switches";
            notes.push(if why.is_empty() { format!("{what}.") } else { format!("{what}. {why}.") });
        }
        if run.is_none() {
            notes.push("No price of this kernel is known; `howslow prices` measures them.".into());
        }
        for loss in &seen.losses {
            let count = loss.count.map_or_else(String::new, |count| format!("{count} "));
            notes.push(format!("Lost: {count}{}.", loss.what));
        }
        let whose = |run: &Run| if prices.are_named() { format!("run {}", run.id) } else { "of this kernel".into() };
        About {
            source: seen.source.clone(),
            counts_calls,
            prices: run.map(|run| format!("{}, {}", prices.state.word(), whose(run))),
            counting_ns: seen.counting.as_ref().map(|cost| cost.per_call_ns),
            cpus: Topology::here().count().max(1),
            notes,
        }
    }

    fn show(&mut self, stretch: &Stretch, state: &mut State) {
        state.inform(self.about(&stretch.seen));
        state.update(interval(&stretch.seen, &stretch.started, &self.prices.list));
    }
}

fn settings(args: &TopArgs, about: &About) -> Settings {
    let usual = if about.prices.is_none() { Column::Calls } else { Column::Cost };
    let sort = args.sort.unwrap_or(if about.counts_calls { usual } else { Column::Kernel });
    let every = Duration::from_secs_f64(args.every);
    let view = if args.cgroups { View::Cgroups } else { View::Processes };
    Settings { every, sort, reversed: false, filter: args.filter.clone(), view }
}

/// One interval as a page or document.
fn once(args: &TopArgs, meter: &mut Meter) -> anyhow::Result<Outcome> {
    let signals = measure::Signals::watch();
    let every = Duration::from_secs_f64(args.every);
    while meter.stretches.elapsed() < every && signals.come().is_none() {
        std::thread::sleep(STEP.min(every.saturating_sub(meter.stretches.elapsed())));
        meter.stretches.collect()?;
    }
    let stretch = meter.stretches.take()?;
    // A reader that takes nothing must not keep this process from being ended.
    let come = signals.end();
    let about = meter.about(&stretch.seen);
    let mut state = State::new(about.clone(), settings(args, &about));
    meter.show(&stretch, &mut state);
    let seen = &stretch.seen;
    let prices = &meter.prices;
    if args.json {
        let run = prices.run().map(|run| run.id.as_str());
        output::print_document(&TopDocument::of(seen, run, prices.state.word(), state.accounts()))?;
    } else {
        output::print_page(&crate::screen::page(&state, ROWS))?;
        for note in &about.notes {
            print_note(note);
        }
        if let Some(remedy) = prices.priced(seen).remedy.filter(|_| about.counts_calls) {
            print_note(&remedy);
        }
    }
    Ok(come.map_or(Outcome::Done, Outcome::Interrupted))
}

/// Interval after interval on the screen.
fn live(args: &TopArgs, meter: &mut Meter) -> anyhow::Result<Outcome> {
    let signals = Signals::watch()?;
    // What is known before anything was counted: an empty stretch.
    let about = meter.about(&meter.stretches.nothing());
    let mut state = State::new(about.clone(), settings(args, &about));
    let mut screen = Screen::open(signals.clone())?;
    let ended = watch(&mut screen, meter, &mut state, &signals);
    drop(screen);
    match (ended, signals.ended()) {
        // A terminal that is gone takes no frame.
        (_, Some(signal)) => Ok(Outcome::Interrupted(signal)),
        (ended, None) => ended,
    }
}

fn watch(screen: &mut Screen, meter: &mut Meter, state: &mut State, signals: &Signals) -> anyhow::Result<Outcome> {
    let mut every = FIRST.min(state.every());
    let mut is_drawn = false;
    loop {
        if signals.stop() {
            screen.suspend()?;
            is_drawn = false;
        } else if signals.continued() {
            // Somebody else has had the terminal.
            screen.resume()?;
            is_drawn = false;
        }
        if signals.resized() {
            is_drawn = false;
        }
        let left = every.saturating_sub(meter.stretches.elapsed());
        for key in screen.keys(STEP.min(left))? {
            is_drawn = false;
            match state.press(key) {
                Some(Action::Quit) => return Ok(Outcome::Done),
                Some(Action::Suspend) => screen.stop_all()?,
                Some(Action::Redraw) => screen.clear()?,
                Some(Action::Every(length)) => every = length,
                None => {}
            }
        }
        if let Some(signal) = signals.ended() {
            return Ok(Outcome::Interrupted(signal));
        }
        meter.stretches.collect()?;
        if meter.stretches.elapsed() >= every {
            every = state.every();
            let stretch = meter.stretches.take()?;
            meter.show(&stretch, state);
            is_drawn = false;
        }
        if !is_drawn {
            screen.draw(state)?;
            is_drawn = true;
        }
    }
}
