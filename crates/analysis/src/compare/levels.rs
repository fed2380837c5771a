//! Costs that have levels, level with level and share with share. A share that moves is no change of a cost.

use record::{Cost, Level};
use serde::Serialize;

use super::figure::{ComparedFigure, rounds_behind};
use crate::levels::{interval, quoted};
use crate::statistics::sorted;

/// Two costs of which at least one has levels.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedLevels<'a> {
    /// The levels in the base; empty if it was at one alone.
    pub base: &'a [Level],
    /// Those in the other run.
    pub other: &'a [Level],
    /// The places of the levels that were compared, from 0 for the cheapest.
    pub compared: [usize; 2],
    /// Whether the share of the compared level moved, by more than chance. False if the level itself moved.
    pub moved: bool,
    /// False if both have levels of which none is that of the other, by its height or by its place: nothing can be said of a change.
    #[serde(skip)]
    pub comparable: bool,
}

impl<'a> ComparedLevels<'a> {
    /// Those of two costs; `None` if neither has levels.
    pub fn of(base: &'a Cost, other: &'a Cost) -> Option<ComparedLevels<'a>> {
        if base.levels.is_empty() && other.levels.is_empty() {
            return None;
        }
        let nearest = [nearest(base, other), nearest(other, base)];
        let is_near = [base, other].iter().zip(nearest).all(|(cost, near)| cost.levels.is_empty() || near.is_some());
        let (quoted, as_many) = ([base, other].map(quoted), base.levels.len() == other.levels.len());
        // All of them moved, and one may now be where another one was: by how far, the same one of both says.
        let together = as_many && moved_together(base, other);
        let compared = if together || as_many && !is_near {
            [quoted[0].min(quoted[1]); 2]
        } else {
            [0, 1].map(|side| nearest[side].unwrap_or(quoted[side]))
        };
        let is_same = is_near && !together;
        let [one, two] = [share(base, compared[0]), share(other, compared[1])];
        let moved = is_same && (one.0 > two.1 || two.0 > one.1);
        let comparable = is_near || as_many || base.levels.is_empty() || other.levels.is_empty();
        Some(ComparedLevels { base: &base.levels, other: &other.levels, compared, moved, comparable })
    }
}

/// How far one level may lie apart in two runs.
const NEAR: f64 = 0.03;

/// A cost's levels on the log scale, in cycles where they are steadier: a clock that moved is no level.
fn logs(cost: &Cost) -> impl Iterator<Item = f64> {
    let unit = cost.steady() / cost.quoted().0;
    cost.levels.iter().map(move |level| (level.ns.0 * unit).ln())
}

/// True if the levels of two costs with as many of them moved by one factor.
fn moved_together(base: &Cost, other: &Cost) -> bool {
    let moves = sorted(logs(base).zip(logs(other)).map(|(one, two)| two - one));
    let (Some(least), Some(most)) = (moves.first(), moves.last()) else { return false };
    most - least < NEAR && ((least + most) / 2.0).abs() >= NEAR
}

/// The place of a cost's level that is compared with another cost: the one that the other is quoted at, and of two
/// that are quoted at different levels the cheaper one. `None` if no level is near.
fn nearest(cost: &Cost, other: &Cost) -> Option<usize> {
    let wanted = if other.levels.is_empty() { other.steady() } else { other.steady().min(cost.steady()) };
    let near = logs(cost).map(|log| (log - wanted.ln()).abs()).zip(0..).filter(|(apart, _)| *apart < NEAR);
    near.min_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, place)| place)
}

/// The least and the greatest share that this level may have. Of a cost at one level alone, by how many rounds show no other one.
fn share(cost: &Cost, place: usize) -> (f64, f64) {
    /// What n rounds do not show is at most 3 / n, 95 times in 100.
    const THREE: f64 = 3.0;
    match cost.levels.get(place) {
        Some(level) => (level.share_interval.low, level.share_interval.high),
        None => (1.0 - THREE / (rounds_behind(cost) as f64).max(THREE), 1.0),
    }
}

/// The figures by which two costs are compared, from their headline figures.
pub(super) fn figures(base: &Cost, other: &Cost, [one, two]: [ComparedFigure; 2]) -> [ComparedFigure; 2] {
    let compared = ComparedLevels::of(base, other).map_or([0, 0], |levels| levels.compared);
    let compared_figure = |headline: ComparedFigure, cost: &Cost, place: usize| {
        let level = cost.levels.get(place).filter(|_| place != quoted(cost)).map(interval);
        match (headline, level) {
            (ComparedFigure::Value(figure), Some(level)) => {
                ComparedFigure::Value(level.times(figure.value / cost.quoted().0))
            }
            (headline, _) => headline,
        }
    };
    [compared_figure(one, base, compared[0]), compared_figure(two, other, compared[1])]
}
