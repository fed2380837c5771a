//! Where to measure next, so that the crossing becomes known more closely.

use record::largest_first;

use super::find::found;
use super::form::{CostsAt, Crossing, CrossoverAnswer, pooled};

/// Ends of a crossing farther apart than this ratio are halved; nearer ones have points spread about the crossing.
const APART: f64 = 3.0;
/// How far about a crossing points are spread, as a ratio to either side.
const ABOUT: f64 = 1.6;
/// The least of that, where the crossing is known well: the curve bends less there.
const LEAST_ABOUT: f64 = 1.15;

/// Up to `count` numbers at which to measure both costs next: near the crossings, otherwise in the gaps from `low` to `high`. The same number
/// again where only a narrower interval decides. Empty if there is nothing more to find out.
pub fn next(points: &[CostsAt], (low, high): (f64, f64), count: usize) -> Vec<f64> {
    match found(points) {
        CrossoverAnswer::Once(crossing) => about(&crossing, count),
        CrossoverAnswer::Several(crossings) => {
            let each = (count / crossings.len()).max(1);
            crossings.iter().flat_map(|crossing| about(crossing, each)).take(count).collect()
        }
        CrossoverAnswer::Undecided { .. } => undecided(points, count),
        CrossoverAnswer::Never { .. } => gaps(points, (low, high), count),
    }
}

/// Numbers about a crossing. Which ones depends on its ends, so that they are others each time.
fn about(crossing: &Crossing, count: usize) -> Vec<f64> {
    let (left, right) = (crossing.left, crossing.right);
    if right / left > APART {
        return spread(left, right, count);
    }
    // Some within the ends, which halve them where the costs make a step, the others about the crossing.
    let within = (count / 2).max(1);
    let about = (crossing.at.high / crossing.at.low).powi(4).clamp(LEAST_ABOUT, ABOUT);
    let mut numbers = spread(left, right, within);
    numbers.extend(spread(crossing.at.value / about, crossing.at.value * about, count - within));
    numbers
}

/// Numbers between two, at even ratios, without the two.
fn spread(from: f64, to: f64, count: usize) -> Vec<f64> {
    (1..=count).map(|index| from * (to / from).powf(index as f64 / (count + 1) as f64)).collect()
}

/// The numbers at which the order is not known, evenly chosen.
fn undecided(points: &[CostsAt], count: usize) -> Vec<f64> {
    let ratios = pooled(points);
    let open: Vec<f64> = ratios.iter().filter(|ratio| ratio.cheaper().is_none()).map(|ratio| ratio.at).collect();
    let step = open.len().div_ceil(count.max(1)).max(1);
    open.into_iter().step_by(step).collect()
}

/// The middles of the widest gaps, unless the gaps are narrow: between points far apart two costs could cross twice.
fn gaps(points: &[CostsAt], (low, high): (f64, f64), count: usize) -> Vec<f64> {
    const NARROW: f64 = 2.1;
    let ratios = pooled(points);
    let mut gaps: Vec<(f64, f64)> = ratios.windows(2).map(|pair| (pair[0].at, pair[1].at)).collect();
    gaps.retain(|(from, to)| to / from > NARROW && *from >= low && *to <= high);
    largest_first(&mut gaps, |one| one.1 / one.0);
    gaps.into_iter().take(count).map(|(from, to)| (from * to).sqrt()).collect()
}
