//! Which operations price a call: the mix of a bill, and its prices in a run.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use analysis::bill::{Bill, CALLS, Met, OperationFacts, PriceList, USER_KINDS, bill};
use analysis::predict::{MachineState, predict_in};
use operation::{Item, Operation};
use record::units::counted;
use record::{Mix, MixLine, Observation, Point, Run, largest_first};
use report::{BillView, PriceOrigin};

use super::args::BillArgs;
use super::kept::Kept;
use crate::resolve;
use crate::verbs::predict::pricing::names;

/// Seconds that a bill may take to measure what it lacks, and seconds with `--measure`.
const SOON: f64 = 8.0;

const LONGER: f64 = 45.0;

/// What prices a bill.
pub(crate) struct Prices {
    pub(super) kept: Kept,
    pub state: MachineState,
    /// The prices of the run.
    pub list: PriceList,
    /// True if `--measure` is an option that was not used.
    can_measure: bool,
}

/// A bill at its prices, and what it lacks.
pub(crate) struct Priced {
    pub bill: Bill,
    pub lines: Vec<MixLine>,
    pub lacking: Vec<String>,
    pub remedy: Option<String>,
    pub origin: PriceOrigin,
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

/// All that bills are priced by, with what says how programs compute.
pub(crate) fn all_items() -> Vec<Item> {
    let used = OPERATIONS.used().into_iter();
    let kernel = used.filter_map(|(id, point)| Some(Item { operation: catalogue::find(id)?, point }));
    kernel.chain(user_items()).collect()
}

/// What says how much longer programs compute on one machine than on another.
fn user_items() -> Vec<Item> {
    let items = |(id, sets): &(&str, &[u64])| -> Vec<Item> {
        let Some(operation) = catalogue::find(id) else { return Vec::new() };
        let sized = sets.iter().map(|set| Point::default().with("set", record::Value::Number(*set)));
        let first = operation.points(false).into_iter().take(usize::from(sets.is_empty()));
        sized.chain(first).map(|point| Item { operation, point }).collect()
    };
    USER_KINDS.iter().flat_map(|kind| kind.iter().flat_map(items)).collect()
}

impl Prices {
    /// Those that the arguments name.
    /// Fails if the named run cannot be read, or is one of another machine and is to be completed by measuring.
    pub(super) fn open(args: &BillArgs) -> anyhow::Result<Prices> {
        let mut prices = Prices::of(args.on.as_deref(), args.by.unwrap_or(MachineState::Typical))?;
        prices.can_measure = !args.measure;
        if let Some(name) = args.on.as_ref().filter(|_| args.measure) {
            prices.kept.check_measurable(name)?;
        }
        Ok(prices)
    }

    /// Those of a run, else the most certain of this kernel, in a state.
    pub(crate) fn of(on: Option<&str>, state: MachineState) -> anyhow::Result<Prices> {
        let kept = on.map_or_else(|| Ok(Kept::here()), |name| resolve::run(name).map(Kept::of))?;
        Ok(Prices::new(kept, state))
    }

    fn new(kept: Kept, state: MachineState) -> Prices {
        let mut prices = Prices { kept, state, list: OPERATIONS.clone(), can_measure: false };
        prices.take();
        prices
    }

    fn take(&mut self) {
        if let Some(run) = self.kept.run() {
            self.list.take(run, self.state);
        }
    }

    /// The run that prices.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.kept.run()
    }

    /// True if they are those of a run that was named.
    pub(crate) fn are_named(&self) -> bool {
        self.kept.is_named()
    }

    /// Measures what is lacking, for some seconds. Returns the signal that cut it short. Fails if nothing can be measured.
    pub(super) fn measure(&mut self, seen: &Observation, longer: bool) -> anyhow::Result<Option<i32>> {
        let mut items = self.lacks(seen);
        items.retain(|item| !self.kept.is_impossible(item));
        if items.is_empty() {
            return Ok(None);
        }
        let ended = self.kept.measure(items, if longer { LONGER } else { SOON })?;
        self.take();
        Ok(ended)
    }

    /// What prices these counts and is not in the run: what costs most first, as far as counts show.
    fn lacks(&self, seen: &Observation) -> Vec<Item> {
        let mut lacks: Vec<(Item, f64)> = Vec::new();
        for (met, weight) in [(Met::AsCounted, 1.0), (Met::One, 0.0), (Met::Many, 0.0)] {
            let lines = self.list.lines(seen, met).into_iter();
            for line in lines.filter(|line| !self.kept.is_usable(&line.term.operation, &line.term.at)) {
                // A process costs what hundreds of calls do.
                let weight = if line.family == CALLS { weight } else { 500.0 * weight };
                let weight = weight * line.term.times;
                let term = line.term;
                let is_it = |item: &Item| item.operation.id == term.operation && item.point == term.at;
                if let Some((_, known)) = lacks.iter_mut().find(|(item, _)| is_it(item)) {
                    *known += weight;
                } else if let Some(operation) = catalogue::find(&term.operation) {
                    lacks.push((Item { operation, point: term.at }, weight));
                }
            }
        }
        largest_first(&mut lacks, |one| one.1);
        lacks.into_iter().map(|(item, _)| item).collect()
    }

    /// The bill of what was counted.
    pub(crate) fn priced(&self, seen: &Observation) -> Priced {
        let lines = self.list.lines(seen, Met::AsCounted);
        let Some(run) = self.run().filter(|_| !lines.is_empty()) else {
            let is_unpriced = self.run().is_none() && !lines.is_empty();
            let remedy = is_unpriced.then(|| format!("no price of this kernel is known; {REMEDY}"));
            let origin = PriceOrigin::default();
            return Priced { bill: bill(seen, None), lines, lacking: Vec::new(), remedy, origin };
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
        let origin = self.origin(&bill);
        let remedy = self.remedy(!lacking.is_empty());
        Priced { bill, lines, lacking, remedy, origin }
    }

    /// Where prices came from beside a named run, and what measures those that lack.
    fn remedy(&self, is_lacking: bool) -> Option<String> {
        let costs = counted(self.kept.taken as u64, "cost");
        let own = || format!("{costs} that the run lacks are of this machine's own prices");
        let taken = (self.kept.taken > 0).then(own);
        let remedy = match (self.are_named(), self.can_measure) {
            (false, _) => REMEDY,
            (true, true) => ELSEWHERE_OR_HERE,
            (true, false) => ELSEWHERE,
        };
        let sentences: Vec<String> = taken.into_iter().chain(is_lacking.then(|| remedy.into())).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    /// Where the prices of a bill come from.
    fn origin(&self, bill: &Bill) -> PriceOrigin {
        let used: BTreeSet<String> = bill.rows.iter().flat_map(|row| row.priced_by.iter().cloned()).collect();
        PriceOrigin { summary: self.kept.origin(&used), details: self.kept.details(&used) }
    }
}

/// What measures prices that are lacking.
const REMEDY: &str = "to measure what is lacking: howslow prices";

/// The same of a run that is named, and where this command may measure.
const ELSEWHERE: &str = "to measure what is lacking: there, howslow prices -o FILE; here, --on FILE";

const ELSEWHERE_OR_HERE: &str = "to measure what is lacking: --measure, if that is this machine; else there, howslow prices -o FILE; \
    here, --on FILE";

impl Priced {
    /// What is shown of it.
    pub(super) fn view<'a>(&'a self, seen: &'a Observation, prices: &'a Prices) -> BillView<'a> {
        let (remedy, lacking, origin) = (self.remedy.as_deref(), self.lacking.as_slice(), &self.origin);
        BillView { seen, bill: &self.bill, run: prices.run(), state: prices.state, lacking, remedy, origin }
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
