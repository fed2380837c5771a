//! Where one operation overtakes another along an axis: which numbers to measure, coarsely first and then about the crossing,
//! until it is known well enough or the time is up. The caller measures.

use std::time::{Duration, Instant};

use analysis::crossover::{CostsAt, CrossoverAnswer, found, next};
use analysis::statistics::Interval;
use operation::{Axis, Item, Value};
use record::{Cost, smallest_first};

/// Numbers of the coarse grid.
const GRID: usize = 9;
/// Numbers that a later step measures.
const MORE: usize = 5;
/// The share of the time that the grid gets, and each later step.
const SHARES: (f64, f64) = (0.4, 0.15);
/// How narrow the interval of a crossing must be to need no more points, as a ratio of its ends.
const NARROW: f64 = 1.02;
/// The least time of a step: with less, rounds have no intervals.
const LEAST: Duration = Duration::from_millis(700);

/// What a cost is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum By {
    /// The time that passes
    Time,
    /// The processor time of all tasks that take part
    Processor,
}

/// Two operations and the axis along which they are compared.
pub struct CrossoverRequest {
    /// The operations, each at a point that says its other axes.
    pub items: [Item; 2],
    /// The axis, which both have.
    pub axis: String,
    /// The least and the greatest number.
    pub range: (u64, u64),
    /// What is compared.
    pub by: By,
    /// Time it may take.
    pub budget: Duration,
}

/// What was found, and all that was measured for it.
pub struct Crossover {
    /// Whether and where they cross.
    pub answer: CrossoverAnswer,
    /// Both costs at each number, in ns, in the order of the numbers.
    pub points: Vec<CostsAt>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CrossoverError<E> {
    /// The operations have fewer than two numbers in common.
    #[error("{first} and {second} have fewer than two numbers of {axis} in common in this range; {hint}")]
    TooFew {
        first: &'static str,
        second: &'static str,
        axis: String,
        /// What each takes.
        hint: String,
    },
    #[error(transparent)]
    Measuring(E),
}

/// The numbers of an axis that two operations have in common.
struct SharedAxes<'a> {
    axes: [&'a Axis; 2],
    range: (u64, u64),
}

impl SharedAxes<'_> {
    fn take(&self, number: u64) -> bool {
        (self.range.0.max(1)..=self.range.1).contains(&number)
            && self.axes.iter().all(|axis| axis.takes(number).is_ok())
    }

    /// Numbers that both take, near these and in ascending order, each once.
    fn near(&self, wanted: &[f64]) -> Vec<u64> {
        let fitting = |&number: &f64| {
            let steps = self.axes.iter().filter_map(|axis| axis.bounds).map(|bounds| bounds.nearest(number));
            steps.chain([number.round().max(0.0) as u64]).find(|&number| self.take(number))
        };
        let mut numbers: Vec<u64> = wanted.iter().filter_map(fitting).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The coarse grid: even ratios from end to end, and the values that both have where an axis takes nothing else.
    fn grid(&self) -> Vec<u64> {
        let (low, high) = (self.range.0.max(1) as f64, self.range.1 as f64);
        let even = |index: usize| low * (high / low).powf(index as f64 / (GRID - 1) as f64);
        let mut numbers = self.near(&(0..GRID).map(even).collect::<Vec<_>>());
        if let Some(fixed) = self.axes.iter().find(|axis| axis.bounds.is_none()) {
            numbers = fixed.values.iter().filter_map(Value::number).filter(|&number| self.take(number)).collect();
        }
        numbers.sort_unstable();
        numbers
    }
}

/// Finds where the operations cross. `measure` takes the costs of items in about this time; it may leave some out.
/// Fails if they have too few numbers in common, or `measure` fails.
pub fn crossover<E>(
    request: &CrossoverRequest,
    measure: &mut dyn FnMut(Vec<Item>, Duration) -> Result<Vec<Cost>, E>,
) -> Result<Crossover, CrossoverError<E>> {
    let [first, second] = [0, 1].map(|index| request.items[index].operation);
    let hint = [first, second].map(|operation| bounds_of(operation.id, operation.axis(&request.axis))).join(", ");
    let too_few = || CrossoverError::TooFew { first: first.id, second: second.id, axis: request.axis.clone(), hint };
    let (Some(one), Some(other)) = (first.axis(&request.axis), second.axis(&request.axis)) else {
        return Err(too_few());
    };
    let common = SharedAxes { axes: [one, other], range: request.range };
    let mut numbers = common.grid();
    if numbers.len() < 2 {
        return Err(too_few());
    }
    let started = Instant::now();
    let ends = (numbers[0] as f64, numbers[numbers.len() - 1] as f64);
    let mut points: Vec<CostsAt> = Vec::new();
    let mut share = SHARES.0;
    while !numbers.is_empty() {
        let items = numbers.iter().flat_map(|&number| request.at(number)).collect();
        let left = request.budget.saturating_sub(started.elapsed());
        let costs =
            measure(items, request.budget.mul_f64(share).min(left).max(LEAST)).map_err(CrossoverError::Measuring)?;
        let taken = numbers.iter().filter_map(|&number| request.measured(number, &costs));
        let before = points.len();
        points.extend(taken);
        let left = request.budget.saturating_sub(started.elapsed());
        // Without a new point, and without time, nothing more is found out.
        if points.len() == before || left < LEAST || is_known(&found(&points)) {
            break;
        }
        numbers = common.near(&next(&points, ends, MORE));
        share = SHARES.1;
    }
    smallest_first(&mut points, |one| one.at);
    Ok(Crossover { answer: found(&points), points })
}

/// What an operation's axis takes, in words.
fn bounds_of(id: &str, axis: Option<&Axis>) -> String {
    match axis {
        None => format!("{id} has no such axis"),
        Some(Axis { bounds: Some(bounds), unit, .. }) => format!("{id} goes {}", bounds.described(*unit)),
        Some(axis) => {
            let values: Vec<String> =
                axis.values.iter().filter_map(Value::number).map(|number| number.to_string()).collect();
            format!("{id} takes {}", if values.is_empty() { "no numbers".into() } else { values.join(", ") })
        }
    }
}

/// True if every crossing is known closely.
fn is_known(answer: &CrossoverAnswer) -> bool {
    let crossings = match answer {
        CrossoverAnswer::Once(crossing) => std::slice::from_ref(crossing),
        CrossoverAnswer::Several(crossings) => crossings,
        _ => return false,
    };
    crossings.iter().all(|crossing| crossing.at.high <= crossing.at.low * NARROW)
}

impl CrossoverRequest {
    /// Both items at this number.
    pub fn at(&self, number: u64) -> [Item; 2] {
        self.items.clone().map(|item| {
            let unit = item.operation.axis(&self.axis).map(|axis| axis.unit).unwrap_or_default();
            Item { point: item.point.clone().with(&self.axis, Value::Number(number).in_unit(unit)), ..item }
        })
    }

    /// Both costs at this number, if both were measured.
    fn measured(&self, number: u64, costs: &[Cost]) -> Option<CostsAt> {
        let figure = |item: &Item| {
            let cost = costs.iter().find(|cost| cost.operation == item.operation.id && cost.at == item.point)?;
            self.by.figure(cost)
        };
        let [one, other] = self.at(number);
        Some(CostsAt { at: number as f64, costs: [figure(&one)?, figure(&other)?] })
    }
}

impl By {
    /// The figure of a cost in ns; `None` if it has no such interval.
    fn figure(self, cost: &Cost) -> Option<Interval> {
        match self {
            By::Time => Some(Interval { value: cost.quoted().0, low: cost.net_ns.low.0, high: cost.net_ns.high.0 }),
            By::Processor => {
                let ends = cost.cpu_interval_ns?;
                Some(Interval { value: cost.cpu_ns.user.0 + cost.cpu_ns.system.0, low: ends.low, high: ends.high })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use operation::{Operation, size};
    use record::{Estimate, Figures, Nanoseconds, Point};

    use super::*;

    static CHEAP_START: Operation =
        Operation { id: "made.up", axes: &[size(&[Value::Number(64)]).in_steps(8, 8, 1 << 20)], ..Operation::DEFAULT };
    static CHEAP_BYTES: Operation =
        Operation { id: "made.down", axes: &[size(&[Value::Number(64)]).within(1, 1 << 20)], ..Operation::DEFAULT };

    /// 200 + x / 10 against 300 + x / 50, each known to a half percent: they cross at 1250.
    fn made_up(item: &Item) -> Cost {
        let example = include_bytes!("../../../record/tests/data/example-run.json");
        let cost = record::run_from_bytes(example).expect("a run").costs[0].clone();
        let bytes = item.point.number("size").expect("a size") as f64;
        let ns = if item.operation.id == "made.up" { 200.0 + bytes / 10.0 } else { 300.0 + bytes / 50.0 };
        let [value, low, high] = [ns, ns * 0.995, ns * 1.005].map(Nanoseconds);
        let net_ns = Figures { best: low, quiet: value, typical: value, low, high };
        Cost { operation: item.operation.id.into(), at: item.point.clone(), net_ns, headline: Estimate::Quiet, ..cost }
    }

    fn request(range: (u64, u64)) -> CrossoverRequest {
        let point = Point::default().with("size", Value::Number(64));
        let items = [&CHEAP_START, &CHEAP_BYTES].map(|operation| Item { operation, point: point.clone() });
        CrossoverRequest { items, axis: "size".into(), range, by: By::Time, budget: Duration::from_secs(60) }
    }

    #[test]
    fn the_crossing_of_made_up_costs_is_found_and_only_common_numbers_are_measured() {
        let mut requested = Vec::new();
        let found = crossover::<()>(&request((8, 1 << 20)), &mut |items, _| {
            requested.extend(items.iter().map(|item| item.point.number("size").expect("a size")));
            Ok(items.iter().map(made_up).collect())
        });
        let CrossoverAnswer::Once(crossing) = found.expect("an answer").answer else { panic!("once") };
        assert!(
            crossing.at.low <= 1250.0 && crossing.at.high >= 1250.0 && crossing.at.high < crossing.at.low * 1.1,
            "{crossing:?}"
        );
        assert!(requested.iter().all(|number| number % 8 == 0 && *number >= 8), "{requested:?}");
    }

    #[test]
    fn what_is_left_out_ends_the_search_and_a_range_without_numbers_is_refused() {
        let nothing = crossover::<()>(&request((8, 4096)), &mut |_, _| Ok(Vec::new())).expect("an answer");
        assert_eq!((nothing.answer, nothing.points.len()), (CrossoverAnswer::Undecided { cheaper: None }, 0));
        let why = crossover::<String>(&request((1, 7)), &mut |_, _| Ok(Vec::new())).err().expect("refused").to_string();
        assert!(why.contains("made.up goes from 8 B to 1 MiB, in steps of 8 B"), "{why}");
    }

    #[test]
    fn an_axis_that_takes_a_few_numbers_alone_is_measured_at_these_in_either_order() {
        const FEW: Axis = size(&[Value::Number(8), Value::Number(12), Value::Number(64), Value::Number(4096)]);
        for axes in [[&FEW, &CHEAP_START.axes[0]], [&CHEAP_START.axes[0], &FEW]] {
            assert_eq!(SharedAxes { axes, range: (8, 1024) }.grid(), [8, 64]);
        }
    }
}
