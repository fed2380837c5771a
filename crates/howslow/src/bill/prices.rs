//! Which operations price a call: the mix of a bill, and its prices in a run.

use analysis::bill::{Bill, bill, executed, is_priced_together};
use analysis::predict::{MachineState, predict_in};
use operation::Item;
use record::{Cost, Mix, MixLine, Observation, Point, Run, Term, Value};
use report::BillView;

use super::choice::{Choice, Met};
use super::kept::Kept;
use crate::cli::{BillArgs, PriceState};
use crate::predict::pricing::names;

/// A command with more patterns than this is no help to read or to type.
const MOST_NAMED: usize = 6;

/// What prices a bill.
pub(crate) struct Prices {
    pub(super) kept: Kept,
    pub state: MachineState,
}

/// A bill at its prices, and what it lacks.
pub(crate) struct Priced {
    pub bill: Bill,
    pub lines: Vec<MixLine>,
    pub lacking: Vec<String>,
    pub remedy: Option<String>,
}

/// Faults of a program that does nothing but load the C library: half of them find pages of its files in memory, a quarter
/// copy such pages to write to them, a quarter write to new memory (`perf trace -F all` of /bin/true, glibc 2.36).
const PROGRAM_FAULTS: u64 = 48;
/// Faults of a copied process that ends without executing a program: it copies what it writes to (httpd of busybox).
const CHILD_FAULTS: u64 = 32;

impl Prices {
    /// Those that the arguments name.
    ///
    /// # Errors
    /// If the named run cannot be read, or is one of another machine and is to be completed by measuring.
    pub(super) fn open(args: &BillArgs) -> anyhow::Result<Prices> {
        let prices = Prices::of(args.on.as_deref(), args.by)?;
        if let Some(name) = args.on.as_ref().filter(|_| args.measure) {
            prices.kept.check_measurable(name)?;
        }
        Ok(prices)
    }

    /// Those of a run, else of the newest that is kept, in a state.
    ///
    /// # Errors
    /// If the named run cannot be read.
    pub(crate) fn of(on: Option<&str>, by: PriceState) -> anyhow::Result<Prices> {
        let state = match by {
            PriceState::Quiet => MachineState::Quiet,
            PriceState::Typical => MachineState::Typical,
        };
        Ok(Prices { kept: Kept::open(on)?, state })
    }

    /// Without any run.
    #[cfg(test)]
    pub(crate) fn nothing(state: MachineState) -> Prices {
        Prices { kept: Kept::nothing(), state }
    }

    /// The run that prices.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.kept.run.as_ref()
    }

    /// Reads older runs until no price is lacking. Returns whether one of them had any.
    pub(crate) fn complete(&mut self, seen: &Observation) -> bool {
        let before = self.kept.taken.len();
        while self.kept.has_older() && !self.lacks(seen).is_empty() {
            self.kept.read_older();
        }
        self.kept.taken.len() > before
    }

    /// Measures what is lacking. Returns the signal that cut it short.
    ///
    /// # Errors
    /// If nothing can be measured.
    pub(super) fn measure(&mut self, seen: &Observation) -> anyhow::Result<Option<i32>> {
        let items = self.lacks(seen);
        if items.is_empty() { Ok(None) } else { self.kept.measure(items) }
    }

    /// What prices these counts and is not in the run.
    fn lacks(&self, seen: &Observation) -> Vec<Item> {
        let mut lacks: Vec<Item> = Vec::new();
        let lines = [Met::AsCounted, Met::One, Met::Many].into_iter().flat_map(|met| self.lines(seen, met));
        for term in lines.map(|line| line.term).filter(|term| !self.kept.has(&term.operation, &term.at)) {
            let known = lacks.iter().any(|it| it.operation.id == term.operation && it.point == term.at);
            if let Some(operation) = catalogue::find(&term.operation).filter(|_| !known) {
                lacks.push(Item { operation, point: term.at });
            }
        }
        lacks
    }

    /// The mix of what was counted. Each line's note is the row of the bill that it belongs to.
    fn lines(&self, seen: &Observation, met: Met) -> Vec<MixLine> {
        let choice = Choice { kept: &self.kept, seen, met };
        let calls = seen.together.calls.iter().filter(|call| !is_priced_together(&call.call));
        let mut lines: Vec<MixLine> = calls.flat_map(|call| choice.call(call)).collect();
        let tasks = Tasks::of(seen);
        lines.extend(self.processes(&tasks));
        lines.extend(self.faults(seen, &tasks));
        let usage = &seen.usage;
        let switches = usage.voluntary_switches.unwrap_or(0) + usage.involuntary_switches.unwrap_or(0);
        let inside = self.within(&tasks, |cost| cost.switches.voluntary + cost.switches.involuntary);
        let nothing = [("set", Value::Number(0))];
        let left = (switches as f64 - inside).max(0.0);
        lines.extend(self.line("switch.process", &nothing, left, "switches", "switches"));
        lines
    }

    /// Faults by what they most likely were: those of programs that begin, of children that were copied, of new memory.
    fn faults(&self, seen: &Observation, tasks: &Tasks) -> Vec<MixLine> {
        let all = seen.usage.minor_faults.unwrap_or(0) as f64;
        let left = (all - self.within(tasks, |cost| cost.faults.minor)).max(0.0);
        let programs = left.min((tasks.executed * PROGRAM_FAULTS) as f64);
        let children = (left - programs).min((tasks.copied * CHILD_FAULTS) as f64);
        let new = left - programs - children;
        let frames = [("frames", Value::Word("recycled".into()))];
        let line = |id: &str, at: &[_], times: f64| self.line(id, at, times, "minor faults", "memory");
        let lines = [
            line("page.fault.anonymous", &frames, new + programs / 4.0),
            line("page.fault.copy", &[], children + programs / 4.0),
            line("page.fault.file", &[], programs / 2.0),
        ];
        lines.into_iter().flatten().collect()
    }

    /// How much of something the prices of processes contain already, by the run.
    fn within(&self, tasks: &Tasks, of: fn(&Cost) -> f64) -> f64 {
        let each = |id: &str| self.kept.run.as_ref().and_then(|run| run.cost(id, &[])).map_or(0.0, of);
        let [executed, copied] = [tasks.executed, tasks.copied].map(|count| count as f64);
        executed * each("process.exec") + copied * each("process.vfork")
    }

    /// Processes that executed a program, those that did not, and threads. What a fork copies depends on the process, so a copy
    /// is priced without that; the pages that it writes to are faults.
    fn processes(&self, tasks: &Tasks) -> Vec<MixLine> {
        let each = [
            ("process.exec", tasks.executed, "processes"),
            ("process.vfork", tasks.copied, "processes"),
            ("thread.clone3", tasks.threads, "threads"),
        ];
        let lines = each.into_iter().filter(|(_, times, _)| *times > 0);
        lines.filter_map(|(id, times, row)| self.line(id, &[], times as f64, row, "processes")).collect()
    }

    /// A line of a mix at the axes named, with the rest as the run has it.
    fn line(&self, id: &str, at: &[(&str, Value)], times: f64, note: &str, family: &str) -> Option<MixLine> {
        let operation = catalogue::find(id).filter(|_| times > 0.0)?;
        let named = |point: &&Point| at.iter().all(|(axis, value)| point.0.get(*axis) == Some(value));
        let points = operation.points(false);
        let at = points.iter().find(named).cloned().unwrap_or_default();
        let term = Term { times, operation: id.into(), at };
        Some(MixLine { term, family: family.into(), note: Some(note.into()) })
    }

    /// The bill of what was counted.
    pub(crate) fn priced(&self, seen: &Observation) -> Priced {
        let lines = self.lines(seen, Met::AsCounted);
        let Some(run) = self.kept.run.as_ref().filter(|_| !lines.is_empty()) else {
            let why = (self.kept.run.is_none() && !lines.is_empty())
                .then(|| format!("no run is kept, so there are no prices; {}", command(&self.lacks(seen))));
            return Priced { bill: bill(seen, None), lines, lacking: Vec::new(), remedy: why };
        };
        let at = |lines: Vec<MixLine>| predict_in(self.state, &mix(seen, lines), run, 0, &names);
        let prediction = at(lines.clone());
        let explained = |met| bill(seen, Some(&at(self.lines(seen, met)))).explained.value;
        let mut bill = bill(seen, Some(&prediction));
        bill.range_ns = Some([Met::One, Met::Many].map(explained)).filter(|[one, many]| one != many);
        let mut lacking: Vec<String> = Vec::new();
        for name in prediction.lacking.iter().map(|(line, _)| line.name()) {
            if !lacking.contains(&name) {
                lacking.push(name);
            }
        }
        Priced { bill, lines, lacking, remedy: self.remedy(&self.lacks(seen)) }
    }

    /// Where prices came from beside the run, and what measures those that lack.
    fn remedy(&self, lacks: &[Item]) -> Option<String> {
        let taken: Vec<String> = self.kept.taken.iter().map(|(run, count)| format!("{count} of {run}")).collect();
        let taken = (!taken.is_empty())
            .then(|| format!("costs that the run lacks, taken from older runs: {}", taken.join(", ")));
        let remedy = (!lacks.is_empty()).then(|| command(lacks));
        let told: Vec<String> = taken.into_iter().chain(remedy).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

impl Priced {
    /// What is shown of it.
    pub(super) fn view<'a>(&'a self, seen: &'a Observation, prices: &'a Prices) -> BillView<'a> {
        let (remedy, lacking) = (self.remedy.as_deref(), self.lacking.as_slice());
        BillView { seen, bill: &self.bill, run: prices.run(), state: prices.state, lacking, remedy }
    }
}

/// How many processes and threads began.
struct Tasks {
    executed: u64,
    copied: u64,
    threads: u64,
}

impl Tasks {
    fn of(seen: &Observation) -> Tasks {
        let executed = executed(&seen.together);
        let created = seen.processes.iter().filter(|process| process.parent.is_some());
        let created: u64 = created.map(|process| process.processes).sum();
        let threads = seen.together.forks.saturating_sub(created);
        // A command's own first program is executed by it, but the process was there.
        let copied = created.saturating_sub(executed.saturating_sub(1));
        Tasks { executed, copied, threads }
    }
}

/// The mix of what was counted.
pub(super) fn mix(seen: &Observation, lines: Vec<MixLine>) -> Mix {
    Mix {
        name: seen.what.clone(),
        unit: "command".into(),
        source: Some(format!("howslow bill, counted by {}", seen.source)),
        whole: None,
        whole_as: record::WholeAs::Net,
        whole_units: 1.0,
        measured: std::collections::BTreeMap::new(),
        distinct_names: seen.together.distinct_names,
        left_out: None,
        lines,
    }
}

/// The command that measures these prices.
fn command(items: &[Item]) -> String {
    let names =
        items.iter().map(|it| shell_words::quote(&format!("{}{}", it.operation.id, it.point.typed())).into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    match names.len() > MOST_NAMED {
        true => format!("to measure the {} lacking prices: howslow bill --measure", names.len()),
        false => format!(
            "to measure lacking prices: howslow bill --measure, or howslow run --precision 5% {}",
            names.join(" ")
        ),
    }
}
