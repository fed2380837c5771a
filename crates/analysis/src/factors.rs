//! The ratio of two totals split into factors whose product is exactly the ratio: the logarithmic mean Divisia index
//! (B. W. Ang, Energy Policy 33:867, 2005). No order of the factors has to be chosen, and nothing is left over.

use std::collections::BTreeMap;

use crate::mix::Source;
use crate::predict::Prediction;
use crate::statistics::{Interval, ratio};

/// What a side of a comparison takes of one thing: so many times this price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// How often.
    pub times: f64,
    /// One of it, in ns.
    pub price: f64,
}

impl Side {
    fn total(self) -> f64 {
        // Nothing times anything is nothing, also where the price is not known.
        if self.times == 0.0 { 0.0 } else { self.times * self.price }
    }
}

/// A difference of two totals, split.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// What doing it more or less often adds, in ns.
    pub counts: f64,
    /// What its other price adds.
    pub prices: f64,
}

/// The mean of two positive numbers that lies between the geometric and the arithmetic one: (a - b) / ln(a / b).
pub fn logarithmic_mean(a: f64, b: f64) -> f64 {
    let log = (a / b).ln();
    // Close to each other the quotient loses its digits; there the mean is the arithmetic one, to 1e-17 of it.
    if log.abs() < 1e-8 { (a + b) / 2.0 } else { (a - b) / log }
}

/// Splits the difference of one thing's totals; `None` where its price is not positive on a side and its count differs, because
/// such a difference has no logarithm. Where nothing has to be split, no logarithm is needed; where a count or a price comes from or goes to
/// nothing it is responsible for the whole difference, which is the limit (Ang and Liu, Energy Policy 35:238, 2007).
pub fn effects(before: Side, after: Side) -> Option<Effects> {
    let (from, to) = (before.total(), after.total());
    let counts_alone = Effects { counts: to - from, prices: 0.0 };
    let prices_alone = Effects { counts: 0.0, prices: to - from };
    if before.times == after.times {
        return Some(prices_alone);
    }
    if before.times == 0.0 || after.times == 0.0 || before.price == after.price {
        return Some(counts_alone);
    }
    if before.price < 0.0 || after.price < 0.0 {
        return None;
    }
    if before.price == 0.0 || after.price == 0.0 {
        return Some(prices_alone);
    }
    let mean = logarithmic_mean(to, from);
    Some(Effects { counts: mean * (after.times / before.times).ln(), prices: mean * (after.price / before.price).ln() })
}

/// The factor of a ratio of totals that one family is responsible for; above 1 it makes the second dearer.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The family.
    pub family: String,
    /// All of it.
    pub factor: Interval,
    /// Of that, doing its operations more or less often; `None` where one mix is priced twice.
    pub counts: Option<Interval>,
    /// Of that, their prices.
    pub prices: Option<Interval>,
}

/// The ratio of two predictions, the second over the first, and its factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// One per family, the farthest from 1 first.
    pub families: Vec<Factor>,
    /// Their product: what the costs say.
    pub predicted: Interval,
    /// The ratio of what was measured.
    pub measured: Option<Interval>,
    /// Measured over predicted: the factor that the costs do not explain.
    pub unexplained: Option<Interval>,
}

/// Why a ratio has no factors.
#[derive(Clone, Debug, PartialEq)]
pub enum NoFactors {
    /// A line has no price on one side: 0 for the first, 1 for the second.
    Lacking(usize, String),
    /// A total, or a measured whole, that cannot be told from nothing.
    NoTotal(usize),
    /// A cost that cannot be told from nothing, of a line whose count differs.
    NoPrice(String),
}

/// One thing on both sides.
struct Pair {
    family: usize,
    sides: [Side; 2],
    sources: [Option<Source>; 2],
    name: String,
}

/// Everything that is split.
struct Split {
    names: Vec<String>,
    pairs: Vec<Pair>,
}

/// Logarithms of factors: of each family's counts and prices, and of the ratio.
struct Logs {
    families: Vec<Effects>,
    ratio: f64,
}

/// Splits the ratio of two predictions, of one mix on two machines or of two mixes. Each interval comes from moving one cost at
/// a time to the ends of its own, and adding the effects by their squares.
///
/// # Errors
/// A price that is lacking, or not told from nothing where that matters.
pub fn factors(before: &Prediction, after: &Prediction) -> Result<Factors, NoFactors> {
    for (side, prediction) in [before, after].iter().enumerate() {
        if let Some((line, _)) = prediction.lacking.first() {
            return Err(NoFactors::Lacking(side, line.name()));
        }
        let told = |figure: &Interval| figure.low > 0.0;
        if !told(&prediction.total().figure()) || prediction.measured.is_some_and(|whole| !told(&whole)) {
            return Err(NoFactors::NoTotal(side));
        }
    }
    let split = pairs(before, after);
    let logs = split.logs()?;
    let (mut families, predicted) = split.intervals(&logs, [before, after])?;
    if !split.pairs.iter().any(|pair| pair.sides[0].times != pair.sides[1].times) {
        families.iter_mut().for_each(|factor| (factor.counts, factor.prices) = (None, None));
    }
    let size = |factor: &Factor| factor.factor.value.ln().abs();
    families.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let measured = before.measured.zip(after.measured).and_then(|(before, after)| ratio(after, before));
    let unexplained = measured.and_then(|measured| ratio(measured, predicted));
    Ok(Factors { families, predicted, measured, unexplained })
}

/// The lines of both predictions, those of one name beside each other, in the family that the first one gives it.
fn pairs(before: &Prediction, after: &Prediction) -> Split {
    let mut split = Split { names: Vec::new(), pairs: Vec::new() };
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (side, prediction) in [before, after].iter().enumerate() {
        for row in &prediction.rows {
            let name = row.line.name();
            let key = (row.line.family.clone(), name.clone());
            let elsewhere = by_name.get(&name).copied().filter(|_| side == 1);
            let place = known.get(&key).copied().or(elsewhere).unwrap_or_else(|| split.add(&row.line.family, &name));
            known.insert(key, place);
            by_name.entry(name).or_insert(place);
            let pair = &mut split.pairs[place];
            pair.sides[side].times += row.line.times;
            pair.sides[side].price = row.each.figure().value;
            pair.sources[side] = row.by.as_ref().map(|by| by.source.clone());
        }
    }
    split
}

impl Split {
    /// A new pair that neither side does yet; tells its place.
    fn add(&mut self, family: &str, name: &str) -> usize {
        let family = self.names.iter().position(|known| known == family).unwrap_or_else(|| {
            self.names.push(family.into());
            self.names.len() - 1
        });
        let sides = [Side { times: 0.0, price: 0.0 }; 2];
        self.pairs.push(Pair { family, sides, sources: [None, None], name: name.into() });
        self.pairs.len() - 1
    }

    fn logs(&self) -> Result<Logs, NoFactors> {
        self.logs_with(None)
    }

    /// As they are, or with one cost moved to another price.
    fn logs_with(&self, moved: Option<(&Source, f64)>) -> Result<Logs, NoFactors> {
        let mut families = vec![Effects::default(); self.names.len()];
        let mut totals = [0.0; 2];
        for pair in &self.pairs {
            let mut sides = pair.sides;
            for (side, source) in sides.iter_mut().zip(&pair.sources) {
                if let (Some((which, price)), Some(source)) = (moved, source)
                    && which == source
                {
                    side.price = price;
                }
            }
            let split = effects(sides[0], sides[1]).ok_or_else(|| NoFactors::NoPrice(pair.name.clone()))?;
            families[pair.family].counts += split.counts;
            families[pair.family].prices += split.prices;
            totals[0] += sides[0].total();
            totals[1] += sides[1].total();
        }
        let mean = logarithmic_mean(totals[1], totals[0]);
        for family in &mut families {
            family.counts /= mean;
            family.prices /= mean;
        }
        Ok(Logs { families, ratio: (totals[1] / totals[0]).ln() })
    }

    fn intervals(&self, logs: &Logs, sides: [&Prediction; 2]) -> Result<(Vec<Factor>, Interval), NoFactors> {
        let mut reaches = vec![[Reach::default(); 3]; self.names.len()];
        let mut ratio = Reach::default();
        for (source, [low, high]) in ends(sides) {
            let at = [self.logs_with(Some((source, low)))?, self.logs_with(Some((source, high)))?];
            ratio.add(at.each_ref().map(|at| at.ratio - logs.ratio));
            for (place, (family, reach)) in logs.families.iter().zip(&mut reaches).enumerate() {
                let moved = at.each_ref().map(|at| at.families[place]);
                reach[0].add(moved.map(|at| at.counts - family.counts));
                reach[1].add(moved.map(|at| at.prices - family.prices));
                reach[2].add(moved.map(|at| at.counts + at.prices - family.counts - family.prices));
            }
        }
        let families = self.names.iter().zip(&logs.families).zip(&reaches).map(|((name, logs), reach)| Factor {
            family: name.clone(),
            factor: reach[2].around(logs.counts + logs.prices),
            counts: Some(reach[0].around(logs.counts)),
            prices: Some(reach[1].around(logs.prices)),
        });
        Ok((families.collect(), ratio.around(logs.ratio)))
    }
}

/// Both ends of every cost that has any.
fn ends(sides: [&Prediction; 2]) -> BTreeMap<&Source, [f64; 2]> {
    let priced = sides.into_iter().flat_map(|side| &side.rows).filter_map(|row| Some((&row.by.as_ref()?.source, row)));
    let open = priced.map(|(source, row)| (source, row.each.figure())).filter(|(_, each)| each.low < each.high);
    open.map(|(source, each)| (source, [each.low, each.high])).collect()
}

/// How far a logarithm moves when its costs do, squared, to either side.
#[derive(Clone, Copy, Default)]
struct Reach {
    down: f64,
    up: f64,
}

impl Reach {
    fn add(&mut self, moves: [f64; 2]) {
        self.down += moves.iter().fold(0.0, |most: f64, by| most.min(*by)).powi(2);
        self.up += moves.iter().fold(0.0, |most: f64, by| most.max(*by)).powi(2);
    }

    fn around(self, log: f64) -> Interval {
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
            let split = effects(Side { times: n0, price: t0 }, Side { times: n1, price: t1 }).expect("positive");
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
        let side = |times, price| Side { times, price };
        let is = |before, after| effects(before, after).map(|split| (split.counts, split.prices));
        assert_eq!(is(side(0.0, 7.0), side(3.0, 5.0)), Some((15.0, 0.0)));
        assert_eq!(is(side(3.0, 5.0), side(0.0, 7.0)), Some((-15.0, 0.0)));
        assert_eq!(is(side(0.0, f64::INFINITY), side(0.0, 1.0)), Some((0.0, 1.0 * 0.0)));
        assert_eq!(is(side(2.0, 0.0), side(3.0, 5.0)), Some((0.0, 15.0)));
        assert_eq!(is(side(2.0, -1.0), side(2.0, 4.0)), Some((0.0, 10.0)));
        assert_eq!(is(side(2.0, -1.0), side(3.0, 4.0)), None);
        // The limit: ever smaller counts give ever more of the difference to the counts.
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
