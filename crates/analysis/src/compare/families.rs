//! Geometric means of a family's costs, and of all costs. They cover only costs that both runs have.

use record::CountedIn;
use serde::Serialize;

use super::comparison::{Comparison, ComparisonRow};
use super::options::Joint;
use super::verdict::RatioToBase;
use crate::by_key;
use crate::statistics::{Interval, weighted_sum};

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ComparedMean")]
pub struct Mean {
    /// The mean.
    pub ratio: Option<Interval>,
    /// Ratios in it.
    pub pairs: usize,
    /// Ratios left out, because they are bounds or unknown.
    pub left_out: usize,
}

/// A family's costs.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyRatio<'a> {
    /// Its heading.
    pub name: &'a str,
    /// One mean for each run except the first.
    pub means: Vec<Mean>,
}

/// The families in the order of the first run, each with the geometric mean of its ratios.
pub fn families<'a>(comparison: &Comparison<'a>) -> Vec<FamilyRatio<'a>> {
    let rows = by_key(comparison.rows.iter().map(|row| (row.family(), row)));
    rows.into_iter().map(|(name, rows)| FamilyRatio { name, means: means(&rows, comparison) }).collect()
}

/// The geometric mean of all ratios. Each operation has the same weight.
pub fn overall(comparison: &Comparison<'_>) -> Vec<Mean> {
    means(&comparison.rows.iter().collect::<Vec<_>>(), comparison)
}

fn means(rows: &[&ComparisonRow<'_>], comparison: &Comparison<'_>) -> Vec<Mean> {
    let mean_of = |(place, joint): (usize, &Joint)| {
        let in_cycles = rows.iter().any(|row| row.unit == CountedIn::Cycles);
        let apart = if in_cycles { joint.conditions.cycles_apart } else { 0.0 };
        mean(rows.iter().filter_map(|row| Some(&row.others[place].as_ref()?.1.ratio)), apart)
    };
    comparison.noise.iter().enumerate().map(mean_of).collect()
}

/// The mean of logarithms. It treats its parts as independent but for how far apart all cycles may be counted, on the log scale.
fn mean<'r>(ratios: impl Iterator<Item = &'r RatioToBase>, apart: f64) -> Mean {
    let mut logarithms = Vec::new();
    let mut left_out = 0;
    for ratio in ratios {
        match ratio {
            RatioToBase::Times(ratio) => {
                logarithms.push(Interval { value: ratio.value.ln(), low: ratio.low.ln(), high: ratio.high.ln() });
            }
            RatioToBase::AtMost(_) | RatioToBase::AtLeast(_) | RatioToBase::Unknown(_) => left_out += 1,
        }
    }
    let pairs = logarithms.len();
    let parts: Vec<(f64, Interval)> = logarithms.into_iter().map(|part| (1.0 / pairs as f64, part)).collect();
    let ratio = (pairs > 0).then(|| weighted_sum(&parts)).map(|sum| {
        let [value, low, high] = [sum.value, sum.low, sum.high].map(f64::exp);
        Interval { value, low, high }.with_error(apart)
    });
    Mean { ratio, pairs, left_out }
}
