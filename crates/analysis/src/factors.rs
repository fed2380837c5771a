//! Splits the ratio of two totals into factors whose product is exactly the ratio: the logarithmic mean Divisia index
//! (B. W. Ang, Energy Policy 33:867, 2005). There is no order of the factors to choose, and nothing remains.

mod effects;

use std::collections::BTreeMap;

use record::{Doubt, largest_first};
use serde::Serialize;

pub use effects::{Effects, PricedTimes, effects, logarithmic_mean};

use crate::form::{As, Form, finite};
use crate::mix::FigureSource;
use crate::predict::{MixPrediction, QuotedClock};
use crate::statistics::Interval;
use crate::sums::{join, matters, quotient};

/// What a factor is due to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The operations of a family. For those that follow the clock, their cycles.
    Family,
    /// The clock, which takes more or less time for the same cycles.
    Clock,
}

/// The name of the clock's factor. It differs from the family `clock`, the operations that read clocks.
pub const CLOCK: &str = "core clock";

/// The factor of a ratio of totals that one family, or the clock, is responsible for. Above 1 it makes the second total
/// larger.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Factor {
    /// Its cause.
    pub cause: Cause,
    /// The family; for the clock [`CLOCK`].
    pub family: String,
    /// The whole factor.
    #[serde(flatten, with = "As::<FactorFigure>")]
    pub factor: Interval,
    /// The part due to counts; null if one mix is priced twice.
    pub counts: Option<Interval>,
    /// The part due to prices; null likewise.
    pub prices: Option<Interval>,
    /// The doubts of its costs that matter to either total.
    pub doubts: Vec<Doubt>,
}

/// A factor with its interval.
#[derive(Serialize, JsonSchema)]
struct FactorFigure {
    /// The factor.
    factor: f64,
    /// Its lower end.
    low: Option<f64>,
    /// Its upper end.
    high: Option<f64>,
}

impl Form<Interval> for FactorFigure {
    fn of(interval: &Interval) -> FactorFigure {
        FactorFigure { factor: interval.value, low: finite(interval.low), high: finite(interval.high) }
    }
}

/// The ratio of two predictions, the second over the first, and its factors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Factors {
    /// One per family, and one for the clock if both runs know theirs and it is that of one kind of processor. The
    /// farthest from 1 first.
    #[serde(rename = "factors")]
    pub families: Vec<Factor>,
    /// Their product: the ratio according to the costs.
    pub predicted: Interval,
    /// The measured ratio.
    pub measured: Option<Interval>,
    /// Measured divided by predicted: the factor that the costs do not explain.
    pub unexplained: Option<Interval>,
}

/// The reasons why a ratio has no factors.
#[derive(Clone, Debug, PartialEq)]
pub enum NoFactors {
    /// A line has no price on one side: 0 for the first, 1 for the second.
    Lacking(usize, String),
    /// A total, or a measured whole, is not distinguishable from zero.
    NoTotal(usize),
    /// A cost is not distinguishable from zero, and its line's count differs.
    NoPrice(String),
}

/// One thing on both sides.
struct SidePair {
    family: usize,
    sides: [PairSide; 2],
    name: String,
    /// Those of its costs that matter to the total of their side.
    doubts: Vec<Doubt>,
}

/// What one side takes of it.
#[derive(Default)]
struct PairSide {
    taken: PricedTimes,
    source: Option<FigureSource>,
    clock: Option<QuotedClock>,
}

/// The input of the split.
struct Split {
    names: Vec<String>,
    pairs: Vec<SidePair>,
}

/// Logarithms of factors: for each family's counts and prices, and for the ratio.
struct Logs {
    families: Vec<Effects>,
    clock: f64,
    ratio: f64,
}

/// Splits the ratio of two predictions, of one mix on two machines or of two mixes. For the intervals, each cost is
/// moved to the ends of its own interval, then all costs of a run together by the error that they share. The effects
/// are added by their squares.
///
/// # Errors
/// A price that is missing, or not distinguishable from zero where that matters.
pub fn factors(before: &MixPrediction, after: &MixPrediction) -> Result<Factors, NoFactors> {
    for (side, prediction) in [before, after].iter().enumerate() {
        if let Some((line, _)) = prediction.lacking.first() {
            return Err(NoFactors::Lacking(side, line.typed()));
        }
        let known = |figure: &Interval| figure.value > 0.0 && !figure.is_at_most();
        if !known(&prediction.total().figure()) || prediction.measured.is_some_and(|whole| !known(&whole)) {
            return Err(NoFactors::NoTotal(side));
        }
    }
    let split = pairs(before, after);
    let logs = split.logs(&|_, price| price)?;
    let (mut families, predicted) = split.intervals(&logs, [before, after])?;
    for factor in families.iter_mut().filter(|factor| factor.cause == Cause::Family) {
        let of_family = split.pairs.iter().filter(|pair| split.names[pair.family] == factor.family);
        of_family.for_each(|pair| join(&mut factor.doubts, pair.doubts.iter().cloned()));
    }
    if !split.pairs.iter().any(|pair| pair.sides[0].taken.times != pair.sides[1].taken.times) {
        families.iter_mut().for_each(|factor| (factor.counts, factor.prices) = (None, None));
    }
    let size = |factor: &Factor| factor.factor.value.ln().abs();
    largest_first(&mut families, size);
    let measured = before.measured.zip(after.measured).and_then(|(before, after)| quotient(after, before));
    let unexplained = measured.and_then(|measured| quotient(measured, predicted));
    Ok(Factors { families, predicted, measured, unexplained })
}

/// The lines of both predictions, matched by name. The first prediction decides the family.
fn pairs(before: &MixPrediction, after: &MixPrediction) -> Split {
    let mut split = Split { names: Vec::new(), pairs: Vec::new() };
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (side, prediction) in [before, after].iter().enumerate() {
        let total = prediction.total().figure();
        for row in &prediction.rows {
            let name = row.line.name();
            let key = (row.line.family.clone(), name.clone());
            let elsewhere = by_name.get(&name).copied().filter(|_| side == 1);
            let place = known.get(&key).copied().or(elsewhere).unwrap_or_else(|| split.add(&row.line.family, &name));
            known.insert(key, place);
            if side == 0 {
                by_name.entry(name).or_insert(place);
            }
            let pair = &mut split.pairs[place];
            let times = pair.sides[side].taken.times + row.line.term.times;
            pair.sides[side] = PairSide {
                taken: PricedTimes { times, price: row.each.figure().value },
                source: row.by.as_ref().map(|by| by.source.clone()),
                clock: row.clock.clone(),
            };
            if matters(&total, row.line.term.times, &row.each.figure()) {
                join(&mut pair.doubts, row.doubts.iter().cloned());
            }
        }
    }
    split
}

impl Split {
    /// Adds a pair without counts on either side. Returns its index.
    fn add(&mut self, family: &str, name: &str) -> usize {
        let family = self.names.iter().position(|known| known == family).unwrap_or_else(|| {
            self.names.push(family.into());
            self.names.len() - 1
        });
        self.pairs.push(SidePair { family, sides: Default::default(), name: name.into(), doubts: Vec::new() });
        self.pairs.len() - 1
    }

    /// The logarithms with costs moved to other prices.
    fn logs(&self, moved: &dyn Fn(&FigureSource, f64) -> f64) -> Result<Logs, NoFactors> {
        let mut families = vec![Effects::default(); self.names.len()];
        let mut totals = [0.0; 2];
        let mut clock = 0.0;
        for pair in &self.pairs {
            let sides = pair.sides.each_ref().map(|PairSide { taken, source, .. }| PricedTimes {
                price: source.as_ref().map_or(taken.price, |source| moved(source, taken.price)),
                ..*taken
            });
            let split = effects(sides[0], sides[1]).ok_or_else(|| NoFactors::NoPrice(pair.name.clone()))?;
            let by_clock = pair.by_clock(sides);
            clock += by_clock;
            families[pair.family].counts += split.counts;
            families[pair.family].prices += split.prices - by_clock;
            totals[0] += sides[0].total();
            totals[1] += sides[1].total();
        }
        let mean = logarithmic_mean(totals[1], totals[0]);
        for family in &mut families {
            family.counts /= mean;
            family.prices /= mean;
        }
        Ok(Logs { families, clock: clock / mean, ratio: (totals[1] / totals[0]).ln() })
    }

    /// True if any cost has the clocks of two runs to compare.
    fn has_clock(&self) -> bool {
        let runs = |pair: &SidePair| pair.sides.each_ref().map(|side| side.source.as_ref().map(|source| source.0));
        let two = |pair: &SidePair| matches!(runs(pair), [Some(one), Some(other)] if one != other);
        self.pairs.iter().any(|pair| two(pair) && pair.clock_ratio().is_some())
    }

    fn intervals(&self, logs: &Logs, sides: [&MixPrediction; 2]) -> Result<(Vec<Factor>, Interval), NoFactors> {
        let mut reaches = vec![[Reach::default(); 3]; self.names.len()];
        let (mut ratio, mut clock) = (Reach::default(), Reach::default());
        for [low, high] in moves(sides) {
            let at = [self.logs(&*low)?, self.logs(&*high)?];
            ratio.add(at.each_ref().map(|at| at.ratio - logs.ratio));
            clock.add(at.each_ref().map(|at| at.clock - logs.clock));
            for (place, (family, reach)) in logs.families.iter().zip(&mut reaches).enumerate() {
                let moved = at.each_ref().map(|at| at.families[place]);
                reach[0].add(moved.map(|at| at.counts - family.counts));
                reach[1].add(moved.map(|at| at.prices - family.prices));
                reach[2].add(moved.map(|at| at.counts + at.prices - family.counts - family.prices));
            }
        }
        // If one cost has no interval, no factor has one, because each is a part of one ratio.
        if sides.iter().any(|side| !side.total().figure().is_bounded()) {
            reaches = vec![[Reach::UNBOUNDED; 3]; self.names.len()];
            (ratio, clock) = (Reach::UNBOUNDED, Reach::UNBOUNDED);
        }
        let families = self.names.iter().zip(&logs.families).zip(&reaches).map(|((name, logs), reach)| Factor {
            cause: Cause::Family,
            family: name.clone(),
            factor: reach[2].around(logs.counts + logs.prices),
            counts: Some(reach[0].around(logs.counts)),
            prices: Some(reach[1].around(logs.prices)),
            doubts: Vec::new(),
        });
        let by_clock = self.has_clock().then(|| Factor {
            cause: Cause::Clock,
            family: CLOCK.into(),
            factor: clock.around(logs.clock),
            counts: Some(Interval::exactly(1.0)),
            prices: Some(clock.around(logs.clock)),
            doubts: Vec::new(),
        });
        Ok((families.chain(by_clock).collect(), ratio.around(logs.ratio)))
    }
}

impl SidePair {
    /// The second side's cycle divided by the first side's; `None` if a price follows no clock, or another processor's.
    fn clock_ratio(&self) -> Option<f64> {
        let [Some(one), Some(other)] = self.sides.each_ref().map(|side| side.clock.as_ref()) else { return None };
        (one.processor == other.processor).then(|| other.cycle_ns / one.cycle_ns)
    }

    /// The effect of the clock, in ns: the same cycles at another clock. The rest of the price's effect is that of its
    /// cycles.
    fn by_clock(&self, sides: [PricedTimes; 2]) -> f64 {
        let [from, to] = sides.map(PricedTimes::total);
        let positive = from > 0.0 && to > 0.0;
        self.clock_ratio().filter(|_| positive).map_or(0.0, |ratio| logarithmic_mean(to, from) * ratio.ln())
    }
}

/// A change of prices.
type Move<'a> = Box<dyn Fn(&FigureSource, f64) -> f64 + 'a>;

/// The possible changes of prices, down and up: for each cost the interval that is its own, and for all costs of one
/// run the error that they share.
fn moves<'a>(sides: [&'a MixPrediction; 2]) -> Vec<[Move<'a>; 2]> {
    let mut own: BTreeMap<&FigureSource, [f64; 2]> = BTreeMap::new();
    let mut shared: BTreeMap<usize, f64> = BTreeMap::new();
    for (source, price, error) in sides.into_iter().flat_map(|side| &side.rows).flat_map(|row| row.each.prices()) {
        if price.is_bounded() && price.low < price.high {
            own.insert(source, [price.low, price.high]);
        }
        let most = shared.entry(source.0).or_default();
        *most = most.max(error);
    }
    let to = |which: &'a FigureSource, end: f64| -> Move<'a> {
        Box::new(move |source, price| if source == which { end } else { price })
    };
    let by = |run: usize, factor: f64| -> Move<'a> {
        Box::new(move |source, price| if source.0 == run { price * factor } else { price })
    };
    let own = own.into_iter().map(|(source, ends)| ends.map(|end| to(source, end)));
    let shared = shared.into_iter().filter(|(_, error)| *error > 0.0);
    own.chain(shared.map(|(run, error)| [1.0 - error, 1.0 + error].map(|factor| by(run, factor)))).collect()
}

/// How far a logarithm moves when its costs move, squared, to either side.
#[derive(Clone, Copy, Default)]
struct Reach {
    down: f64,
    up: f64,
}

impl Reach {
    /// The reach of a value without an interval.
    const UNBOUNDED: Reach = Reach { down: f64::INFINITY, up: f64::INFINITY };

    fn add(&mut self, moves: [f64; 2]) {
        self.down += moves.iter().fold(0.0, |most: f64, by| most.min(*by)).powi(2);
        self.up += moves.iter().fold(0.0, |most: f64, by| most.max(*by)).powi(2);
    }

    fn around(self, log: f64) -> Interval {
        if self.down.is_infinite() {
            return Interval::unbounded(log.exp());
        }
        Interval { value: log.exp(), low: (log - self.down.sqrt()).exp(), high: (log + self.up.sqrt()).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_prices_of_the_published_kind_of_example() {
        // 500 becomes 475 by +2.7346 and -27.7346.
        let before = [(100.0, 1.0), (20.0, 10.0), (5.0, 40.0)];
        let after = [(100.0, 0.5), (25.0, 9.0), (4.0, 50.0)];
        let mut sum = Effects::default();
        for ((n0, t0), (n1, t1)) in before.into_iter().zip(after) {
            let split =
                effects(PricedTimes { times: n0, price: t0 }, PricedTimes { times: n1, price: t1 }).expect("positive");
            sum.counts += split.counts;
            sum.prices += split.prices;
        }
        assert!((sum.counts - 2.7346).abs() < 5e-5 && (sum.prices + 27.7346).abs() < 5e-5, "{sum:?}");
        let mean = logarithmic_mean(475.0, 500.0);
        let (counts, prices) = ((sum.counts / mean).exp(), (sum.prices / mean).exp());
        assert!((counts - 1.005626).abs() < 5e-7 && (prices - 0.944685).abs() < 5e-7, "{counts} {prices}");
        assert!((counts * prices - 0.95).abs() < 1e-12);
    }

    #[test]
    fn what_comes_from_nothing_is_responsible_for_all_of_it() {
        let side = |times, price| PricedTimes { times, price };
        let is = |before, after| effects(before, after).map(|split| (split.counts, split.prices));
        assert_eq!(is(side(0.0, 7.0), side(3.0, 5.0)), Some((15.0, 0.0)));
        assert_eq!(is(side(3.0, 5.0), side(0.0, 7.0)), Some((-15.0, 0.0)));
        assert_eq!(is(side(0.0, f64::INFINITY), side(0.0, 1.0)), Some((0.0, 1.0 * 0.0)));
        assert_eq!(is(side(2.0, 0.0), side(3.0, 5.0)), Some((0.0, 15.0)));
        assert_eq!(is(side(2.0, -1.0), side(2.0, 4.0)), Some((0.0, 10.0)));
        assert_eq!(is(side(2.0, -1.0), side(3.0, 4.0)), None);
        // The limit: smaller and smaller counts give more and more of the difference to the counts.
        let split = effects(side(1e-12, 7.0), side(3.0, 5.0)).expect("positive");
        assert!((split.counts - 15.0).abs() < 0.3 && split.prices.abs() < 0.3, "{split:?}");
    }

    #[test]
    fn the_mean_of_equals_is_themselves() {
        assert_eq!(logarithmic_mean(3.0, 3.0), 3.0);
        let near = logarithmic_mean(3.0, 3.0 * (1.0 + 1e-9));
        assert!((near - 3.0).abs() < 1e-8);
        let plain = logarithmic_mean(3.0, 3.0 * (1.0 + 1e-7));
        assert!((plain / (3.0 * (1.0 + 5e-8)) - 1.0).abs() < 1e-8);
    }
}
