//! Where the prices of a bill come from: a run that is named, else the most certain costs of all that was measured on this kernel.
//! What is lacking is measured here, apart from the user's runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use measure::Measurement;
use operation::Item;
use record::units::counted;
use record::{Cost, Machine, Origin, Point, Run};
use store::{Head, PriceBook, PriceSource, Store};

use crate::cli::measure::MeasureArgs;
use crate::output::{Misuse, print_note};
use crate::session::{self, Wanted};

/// Of so many kept runs that were not looked at, the newest are.
const MOST_RUNS: usize = 64;

/// What a bill needs no better, as a share.
const PRECISION: f64 = 0.05;

/// A price whose interval reaches farther, as a share, is worth measuring again.
const VAGUE: f64 = 0.5;

/// So many costs are measured together: enough that what a session needs itself does not matter, few enough to keep a time.
const TOGETHER: usize = 16;

/// The part of the time in which all are measured once.
const FIRST: f64 = 0.75;

/// What a session needs itself, in seconds.
const SESSION: f64 = 0.7;

/// The prices that are known.
#[derive(Default)]
pub(crate) struct Kept {
    /// The run that is named in place of this machine's prices.
    named: Option<Run>,
    /// The prices of this machine; empty if a run is named.
    book: PriceBook,
    /// How many costs a named run lacked and were taken from those of this machine.
    pub taken: usize,
}

impl Kept {
    /// This run alone.
    pub(crate) fn of(run: Run) -> Kept {
        Kept { named: Some(run), ..Kept::default() }
    }

    /// All of them as one run.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.named.as_ref().or(self.book.run.as_ref())
    }

    /// True if they are those of a run that was named.
    pub(crate) fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// The prices of this machine with this kernel. What cannot be read is not known.
    pub(crate) fn here() -> Kept {
        let machine = system::machine::describe();
        let state = state(&machine);
        let Ok(store) = Store::of_user() else { return Kept::default() };
        let mut book = PriceBook::load(&store, &state);
        let heads = store.list().unwrap_or_default();
        let is_here = |head: &&Head| {
            let of_howslow = !head.build.is_empty() || !head.model.is_empty();
            of_howslow && head.kernel == machine.kernel.release && head.model == machine.cpu.model
        };
        let new = book.to_look_at(heads.iter().filter(is_here)).into_iter().take(MOST_RUNS);
        let new: Vec<Head> = new.cloned().collect();
        for head in &new {
            match store.read(head) {
                Ok(run) if run.origin == Origin::Measured && self::state(&run.machine) == state => {
                    book.take(&state, &run, false, is_current);
                }
                _ => book.pass_over(head),
            }
        }
        if !new.is_empty() {
            // It is made again from the runs if it cannot be written.
            let _ = book.save(&store, &state);
        }
        Kept { book, ..Kept::default() }
    }

    /// Checks that measuring here can complete the run of this name. Fails if it is one of another machine.
    pub(crate) fn check_measurable(&self, name: &str) -> Result<(), Misuse> {
        let here = system::machine::describe();
        let is_here = |machine: &Machine| {
            here.cpu.signature == machine.cpu.signature && here.kernel.release == machine.kernel.release
        };
        if self.run().is_none_or(|run| is_here(&run.machine)) {
            return Ok(());
        }
        let why = format!("{} is a run of another one; omit one of them", record::printable(name));
        Err(Misuse(format!("--measure measures this machine, and {why}")))
    }

    /// True if it has this cost.
    pub(crate) fn has(&self, operation: &str, point: &Point) -> bool {
        self.run().is_some_and(|run| run.costs.iter().any(|cost| cost.operation == operation && cost.at == *point))
    }

    /// True if it has this cost, and as good a one as can be had: one that was measured while calls were traced holds what tracing takes,
    /// so it is measured again when they no longer are.
    pub(super) fn is_usable(&self, operation: &str, point: &Point) -> bool {
        let was_traced = || self.source(operation, point).is_some_and(|source| source.certainty.traced);
        self.has(operation, point) && (!was_traced() || observe::are_calls_traced())
    }

    fn source(&self, operation: &str, point: &Point) -> Option<&PriceSource> {
        self.book.sources.get(&format!("{operation}{point}"))
    }

    /// True if measuring it here was tried and is not possible.
    pub(super) fn is_impossible(&self, item: &Item) -> bool {
        let Item { operation, point } = item;
        let names = [format!("{}{point}", operation.id), operation.id.to_string()];
        names.iter().any(|name| self.book.impossible.contains(name))
    }

    /// Where the prices of these costs come from, in half a line.
    pub(crate) fn origin(&self, priced_by: &BTreeSet<String>) -> String {
        let sources = self.book.sources.iter().filter(|(name, _)| priced_by.contains(*name));
        let (mut for_bills, mut vague, mut runs) = (0, 0, BTreeMap::<&str, u64>::new());
        for (_, source) in sources {
            vague += u64::from(is_uncertain(source));
            let count = if source.for_bills { &mut for_bills } else { runs.entry(&source.run).or_default() };
            *count += 1;
        }
        let own = (for_bills > 0).then(|| format!("{for_bills} measured for bills"));
        let newest = runs.keys().next_back().copied().unwrap_or_default();
        let of_runs = (!runs.is_empty()).then(|| match runs.len() {
            1 => format!("{} of run {newest}", runs.values().sum::<u64>()),
            many => format!("{} of {many} runs, the newest {newest}", runs.values().sum::<u64>()),
        });
        let vague = (vague > 0).then(|| format!("{vague} uncertain, which `howslow prices` mends"));
        own.into_iter().chain(of_runs).chain(vague).collect::<Vec<_>>().join(", ")
    }

    /// Each of these costs with the run that it is from and how certain it is.
    pub(crate) fn details(&self, priced_by: &BTreeSet<String>) -> Vec<String> {
        let sources = self.book.sources.iter().filter(|(name, _)| priced_by.contains(*name));
        let detail = sources.map(|(name, source)| {
            let half = source.certainty.half_width.map(|half| format!("+- {}", record::units::percent(half)));
            let half = half.unwrap_or_else(|| "one round".into());
            let busy = if source.certainty.calm { "" } else { ", on a busy core" };
            let busy = if source.certainty.traced { ", while calls were traced" } else { busy };
            format!("{} {half}, run {}{busy}", record::typed_name(name), source.run)
        });
        detail.collect()
    }

    /// Measures these for at most about so many seconds, the first ones first. They are kept for later bills, and no run of the user's.
    /// Returns the signal that cut it short. Fails if nothing can be measured.
    pub(crate) fn measure(&mut self, items: Vec<Item>, budget_s: f64) -> anyhow::Result<Option<i32>> {
        let Some(named) = &mut self.named else { return self.measure_lacking(&items, budget_s) };
        let mut here = Kept::here();
        let ended = here.measure_lacking(&items, budget_s);
        let wanted =
            |cost: &&Cost| items.iter().any(|item| item.operation.id == cost.operation && item.point == cost.at);
        let found: Vec<Cost> = here.run().into_iter().flat_map(|run| &run.costs).filter(wanted).cloned().collect();
        self.taken += found.len();
        named.costs.extend(found);
        ended
    }

    fn measure_lacking(&mut self, items: &[Item], budget_s: f64) -> anyhow::Result<Option<i32>> {
        let is_lacking = |item: &&Item| !self.is_usable(item.operation.id, &item.point);
        let lacking: Vec<Item> = items.iter().filter(is_lacking).cloned().collect();
        if lacking.is_empty() { Ok(None) } else { self.measure_here(&lacking, budget_s) }
    }

    /// Measures all of these anew, and keeps what is more certain than before. Returns and fails as [`Kept::measure`].
    pub(crate) fn measure_here(&mut self, items: &[Item], budget_s: f64) -> anyhow::Result<Option<i32>> {
        let begun = Instant::now();
        let prices = counted(items.len() as u64, "price");
        print_note(&format!("measuring {prices} of this kernel for at most {budget_s:.0} s; later bills use them"));
        let until = |share: f64| begun + Duration::from_secs_f64(share * budget_s);
        let state = state(&system::machine::describe());
        let mut ended = self.measure_until(until(FIRST), items, TOGETHER, &state)?;
        // What is slow, or measured beside what is, has too few rounds for a narrow interval or for any; then no sum with it has one.
        let vague: Vec<Item> = items.iter().filter(|item| self.is_vague(item)).cloned().collect();
        if ended.is_none() {
            ended = self.measure_until(until(1.0), &vague, TOGETHER / 2, &state)?;
        }
        let kept = Store::of_user().and_then(|store| self.book.save(&store, &state));
        if let Err(error) = kept {
            print_note(&format!("warning: these prices are not kept: {error}"));
        }
        Ok(ended)
    }

    /// True if it can have a price, and has none or an uncertain one.
    fn is_vague(&self, item: &Item) -> bool {
        self.source(item.operation.id, &item.point).is_none_or(is_uncertain) && !self.is_impossible(item)
    }

    /// Measures these as far as there is time, so many together.
    fn measure_until(&mut self, end: Instant, items: &[Item], each: usize, state: &str) -> anyhow::Result<Option<i32>> {
        let mut left = items;
        let time_left = || end.saturating_duration_since(Instant::now()).as_secs_f64();
        while !left.is_empty() && time_left() > 0.0 {
            let (now, later) = left.split_at(left.len().min(each));
            let share = now.len() as f64 / left.len() as f64;
            let part_s = (time_left() * share - SESSION).max(0.3);
            let args = MeasureArgs { precision: PRECISION, ..MeasureArgs::default() };
            let wanted = Wanted { items: now.to_vec(), patterns: Vec::new(), full: false, paired: 0, budget_s: part_s };
            let Measurement { run, interrupted, .. } = session::measure_part(wanted, &args)?;
            if interrupted.is_some() {
                return Ok(interrupted);
            }
            self.book.take(state, &run, true, is_current);
            left = later;
        }
        Ok(None)
    }
}

/// True if it is worth measuring again.
fn is_uncertain(price: &PriceSource) -> bool {
    !price.certainty.half_width.is_some_and(|half| half < VAGUE)
}

/// True if a cost is of work as this program does it.
fn is_current(cost: &Cost) -> bool {
    catalogue::find(&cost.operation).is_some_and(|operation| operation.version == cost.version)
}

/// All that prices depend on: kernel, command line, mitigations, processor, and what is around the system.
fn state(machine: &Machine) -> String {
    let Machine { cpu, kernel, virtualization, .. } = machine;
    let mitigations = kernel.mitigations.iter().map(|(name, state)| format!("{name}={state}"));
    let seccomp = virtualization.seccomp.map(|mode| format!("seccomp {mode}"));
    let mut facts = [&cpu.signature, &kernel.release, &kernel.version].map(String::clone).to_vec();
    let known = [&kernel.command_line, &virtualization.hypervisor, &virtualization.container];
    facts.extend(known.map(|fact| fact.clone().unwrap_or_default()));
    facts.extend(mitigations.chain(seccomp));
    facts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_prices_depend_on_makes_another_state() {
        let here = system::machine::describe();
        let changed = |change: fn(&mut Machine)| {
            let mut machine = here.clone();
            change(&mut machine);
            state(&machine)
        };
        assert_eq!(changed(|machine| machine.cpu.frequency.nominal_mhz = Some(1.0)), state(&here));
        assert_ne!(changed(|machine| machine.kernel.release += "x"), state(&here));
        assert_ne!(changed(|machine| machine.kernel.command_line = Some("mitigations=off never".into())), state(&here));
        assert_ne!(changed(|machine| machine.cpu.signature = "1/2/3".into()), state(&here));
        assert_ne!(changed(|machine| machine.virtualization.seccomp = Some(7)), state(&here));
    }

    #[test]
    fn a_price_of_one_round_is_measured_again_and_one_of_a_traced_machine_too() {
        let mut run =
            record::run_from_bytes(include_bytes!("../../../../record/tests/data/example-run.json")).expect("a run");
        run.costs.retain(is_current);
        run.costs[0].rounds = [&run.costs[0].rounds[..]; 4].concat();
        run.costs[1].rounds.truncate(1);
        let item = |cost: &Cost| Some(Item { operation: catalogue::find(&cost.operation)?, point: cost.at.clone() });
        let items: Vec<Item> = run.costs[..2].iter().filter_map(item).collect();
        let kept = |run: &Run| {
            let mut book = PriceBook::default();
            book.take("here", run, true, is_current);
            Kept { book, ..Kept::default() }
        };
        let known = kept(&run);
        assert_eq!([0, 1].map(|at| known.is_vague(&items[at])), [false, true]);
        let usable = |known: &Kept| known.is_usable(items[1].operation.id, &items[1].point);
        assert!(usable(&known));
        run.noise.traced = true;
        // Beside a tracer no better one can be had.
        assert_eq!(usable(&kept(&run)), observe::are_calls_traced());
    }
}
