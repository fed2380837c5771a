//! Which operations price a call: the mix of a bill, and its prices in a run.

use std::sync::LazyLock;

use analysis::bill::{Bill, Met, OperationFacts, PriceList, bill};
use analysis::predict::{MachineState, predict_in};
use operation::{Item, Operation};
use record::{Mix, MixLine, Observation, Run};
use report::BillView;

use super::kept::Kept;
use crate::cli::{BillArgs, PriceState};
use crate::predict::pricing::names;

/// A command with more patterns than this is no help to read or to type.
const MOST_NAMED: usize = 6;

/// What prices a bill.
pub(crate) struct Prices {
    pub(super) kept: Kept,
    pub state: MachineState,
    /// The prices of the run.
    pub list: PriceList,
}

/// A bill at its prices, and what it lacks.
pub(crate) struct Priced {
    pub bill: Bill,
    pub lines: Vec<MixLine>,
    pub lacking: Vec<String>,
    pub remedy: Option<String>,
}

/// All operations of the catalogue, as far as prices depend on them.
static OPERATIONS: LazyLock<PriceList> = LazyLock::new(|| {
    let facts = |operation: &Operation| OperationFacts {
        id: operation.id,
        calls: operation.system_calls().filter(|_| !operation.refused).collect(),
        points: operation.points(false).into_iter().map(|at| (at.clone(), (operation.moves)(&at))).collect(),
    };
    PriceList::of(catalogue::all().map(facts).collect())
});

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
        Ok(Prices::new(Kept::open(on)?, state))
    }

    fn new(kept: Kept, state: MachineState) -> Prices {
        let mut prices = Prices { kept, state, list: OPERATIONS.clone() };
        prices.take();
        prices
    }

    /// Takes what is known now.
    fn take(&mut self) {
        if let Some(run) = &self.kept.run {
            self.list.take(run, self.state);
        }
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
            self.take();
        }
        self.kept.taken.len() > before
    }

    /// Measures what is lacking. Returns the signal that cut it short.
    ///
    /// # Errors
    /// If nothing can be measured.
    pub(super) fn measure(&mut self, seen: &Observation) -> anyhow::Result<Option<i32>> {
        let items = self.lacks(seen);
        let signal = if items.is_empty() { None } else { self.kept.measure(items)? };
        self.take();
        Ok(signal)
    }

    /// What prices these counts and is not in the run.
    fn lacks(&self, seen: &Observation) -> Vec<Item> {
        let mut lacks: Vec<Item> = Vec::new();
        let lines = [Met::AsCounted, Met::One, Met::Many].into_iter().flat_map(|met| self.list.lines(seen, met));
        for term in lines.map(|line| line.term).filter(|term| !self.kept.has(&term.operation, &term.at)) {
            let known = lacks.iter().any(|it| it.operation.id == term.operation && it.point == term.at);
            if let Some(operation) = catalogue::find(&term.operation).filter(|_| !known) {
                lacks.push(Item { operation, point: term.at });
            }
        }
        lacks
    }

    /// The bill of what was counted.
    pub(crate) fn priced(&self, seen: &Observation) -> Priced {
        let lines = self.list.lines(seen, Met::AsCounted);
        let Some(run) = self.kept.run.as_ref().filter(|_| !lines.is_empty()) else {
            let why = (self.kept.run.is_none() && !lines.is_empty())
                .then(|| format!("no run is kept, so there are no prices; {}", command(&self.lacks(seen))));
            return Priced { bill: bill(seen, None), lines, lacking: Vec::new(), remedy: why };
        };
        let at = |lines: Vec<MixLine>| predict_in(self.state, &mix(seen, lines), run, 0, &names);
        let prediction = at(lines.clone());
        let explained = |met| bill(seen, Some(&at(self.list.lines(seen, met)))).explained.value;
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

#[cfg(test)]
mod tests;
