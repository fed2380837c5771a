//! How much work is slowed by other work beside it: one figure from many pairs of a stretch alone and a stretch beside,
//! and what pairs show of three together. Knows nothing of how they were measured.

use record::{Place, smallest_first};
use serde::Serialize;

use crate::by_key;
use crate::form::{As, Form, finite};
use crate::landing::{RoundFigure, around, reach};
use crate::statistics::{Interval, median};

/// Work that runs beside the one measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Load {
    /// Its kind.
    pub kind: String,
    /// The share of the time in which it works or wants to work, 0 to 1.
    pub dose: f64,
    /// Where it runs.
    pub place: Place,
}

/// One stretch beside the loads, compared with those alone just before and after it.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedStretch {
    /// Elapsed time per operation, beside over alone.
    pub elapsed: f64,
    /// Processor time per operation, beside over alone; `None` if it is too short to be known.
    pub cpu: Option<f64>,
    /// Elapsed ns per operation alone.
    pub alone_ns: f64,
    /// What each load did meanwhile, in operations per second.
    pub achieved: Vec<f64>,
}

/// How much a victim is slowed by loads beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSlowdown {
    /// The kind of work that is slowed.
    pub victim: String,
    /// What runs beside it.
    pub beside: Vec<Load>,
    /// The figures; `None` if nothing was measured.
    pub slowdown: Option<Slowdown>,
}

/// The figures of a cell: medians over its pairs, each with the interval in which another run would land.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown {
    pub pairs: usize,
    /// Elapsed time beside over alone.
    pub elapsed: Interval,
    /// Processor time beside over alone, if it is known. Where the loads share its CPU, this is what it is slowed by; the
    /// rest of the elapsed time it had no CPU.
    pub cpu: Option<Interval>,
    /// Elapsed ns per operation alone.
    pub alone_ns: f64,
    /// What each load did, in operations per second.
    pub achieved: Vec<f64>,
}

/// An interval that reaches no further shows a slow-down to this many points.
pub const POINTS: f64 = 0.05;

impl Slowdown {
    /// The figures of these pairs; `None` if there are none.
    pub fn of(pairs: &[ComparedStretch]) -> Option<Slowdown> {
        let figure = |ratios: Vec<f64>| {
            let middle = median(ratios.iter().copied())?;
            Some(around(middle, reach(&RoundFigure::alike(ratios))))
        };
        let cpu: Vec<f64> = pairs.iter().filter_map(|pair| pair.cpu).collect();
        let loads = pairs.first()?.achieved.len();
        let achieved = |load: usize| pairs.iter().map(|pair| pair.achieved[load]).sum::<f64>() / pairs.len() as f64;
        Some(Slowdown {
            pairs: pairs.len(),
            elapsed: figure(pairs.iter().map(|pair| pair.elapsed).collect())?,
            cpu: figure(cpu).filter(|_| pairs.iter().all(|pair| pair.cpu.is_some())),
            alone_ns: median(pairs.iter().map(|pair| pair.alone_ns))?,
            achieved: (0..loads).map(achieved).collect(),
        })
    }

    /// The slow-down, if it is conclusive: its interval leaves 1 out, or reaches no further than [`POINTS`].
    pub fn conclusive(&self) -> Option<Interval> {
        conclusive(self.elapsed)
    }

    /// True if the interval of the elapsed time reaches further than [`POINTS`]: another run may differ by more than that.
    pub fn is_wide(&self) -> bool {
        // An interval without ends is wide.
        self.elapsed.half() > POINTS
    }

    /// The slow-down of the processor time, if it is conclusive.
    pub fn conclusive_cpu(&self) -> Option<Interval> {
        self.cpu.and_then(conclusive)
    }
}

/// The slow-down with this interval, if it is conclusive: the interval leaves 1 out, or reaches no further than [`POINTS`].
pub fn conclusive(interval: Interval) -> Option<Interval> {
    (interval.is_bounded() && (interval.low > 1.0 || interval.high < 1.0 || interval.half() <= POINTS))
        .then_some(interval)
}

/// Everything that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Interference {
    /// The kinds that were slowed, in order.
    #[serde(skip)]
    pub victims: Vec<String>,
    /// The kinds that slowed them, in order.
    #[serde(skip)]
    pub aggressors: Vec<String>,
    /// The places where aggressors ran.
    pub places: Vec<Place>,
    /// The kinds of work, and the operation, with its point, that stands for each.
    pub kinds: Vec<DescribedKind>,
    /// All cells: those of the matrices, of the dose curves and of several loads at once.
    #[serde(with = "As::<Vec<CellWritten>>")]
    pub cells: Vec<PairSlowdown>,
    /// What was not measured: a kind or a place, and why.
    pub skipped: Vec<NotMeasured>,
    /// The CPU of the victims.
    pub cpu: u32,
    /// Passes over all cells, each with new processes.
    pub passes: u32,
    /// Seconds that it took.
    pub seconds: f64,
    /// The signal that ended it early; null if it was not ended early.
    pub interrupted: Option<i32>,
}

impl Interference {
    pub fn cell(&self, victim: &str, beside: &[Load]) -> Option<&Slowdown> {
        let found = self.cells.iter().find(|cell| cell.victim == victim && cell.beside == beside)?;
        found.slowdown.as_ref()
    }

    /// The cell of the matrix of this place.
    pub fn pair(&self, victim: &str, aggressor: &str, place: Place) -> Option<&Slowdown> {
        self.cell(victim, &[Load { kind: aggressor.into(), dose: 1.0, place }])
    }

    /// The curves of a victim by the dose of one load, for those pairs that were measured at several doses: the dose and the
    /// slow-down, by dose. They begin with no load, which slows nothing down. Cells of pairs that predict several loads at
    /// once have one more dose than the matrix, and make no curve.
    pub fn curves(&self) -> Vec<DoseCurve> {
        const FEWEST_DOSES: usize = 3;
        let points = self.cells.iter().filter_map(|cell| {
            let ([load], Some(slowdown)) = (cell.beside.as_slice(), &cell.slowdown) else { return None };
            Some(((&cell.victim, &load.kind, load.place), (load.dose, slowdown.elapsed)))
        });
        let several = by_key(points).into_iter().filter(|(_, points)| points.len() >= FEWEST_DOSES);
        several
            .map(|((victim, aggressor, place), mut points)| {
                points.insert(0, (0.0, Interval::exactly(1.0)));
                smallest_first(&mut points, |one| one.0);
                DoseCurve { victim: victim.clone(), aggressor: aggressor.clone(), place, points }
            })
            .collect()
    }

    /// What pairs predict of each cell with several loads, beside what was measured.
    pub fn together(&self) -> Vec<Together<'_>> {
        let several = self.cells.iter().filter(|cell| cell.beside.len() > 1);
        several
            .filter_map(|cell| {
                let measured = cell.slowdown.as_ref()?.elapsed;
                let alone = |load: &Load| self.cell(&cell.victim, std::slice::from_ref(load));
                let parts: Vec<f64> =
                    cell.beside.iter().map(|load| Some(alone(load)?.elapsed.value)).collect::<Option<_>>()?;
                Some(Together { cell, measured, prediction: LoadsPrediction::of(&parts) })
            })
            .collect()
    }
}

/// The slow-down of one kind by another at several doses.
#[derive(Clone, Debug, PartialEq)]
pub struct DoseCurve {
    /// The kind that is slowed.
    pub victim: String,
    /// The kind beside it.
    pub aggressor: String,
    /// Where that runs.
    pub place: Place,
    /// Dose and slow-down, by dose.
    pub points: Vec<(f64, Interval)>,
}

/// What pairs predict of several loads at once, and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Together<'a> {
    /// The victim and its loads.
    pub cell: &'a PairSlowdown,
    pub measured: Interval,
    /// What the pairs show.
    pub prediction: LoadsPrediction,
}

/// Two models of several loads at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadsPrediction {
    /// Each load slows what the others have left: the product of the slow-downs.
    pub product: f64,
    /// Each load takes a time of its own: 1 and the sum of what each adds.
    pub sum: f64,
}

impl LoadsPrediction {
    /// From the slow-down by each load alone.
    pub fn of(parts: &[f64]) -> LoadsPrediction {
        LoadsPrediction { product: parts.iter().product(), sum: 1.0 + parts.iter().map(|part| part - 1.0).sum::<f64>() }
    }

    /// How far a model's figure is from what was measured, as a share of the latter.
    pub fn error(predicted: f64, measured: f64) -> f64 {
        predicted / measured - 1.0
    }
}

/// A kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "KindWritten")]
pub struct DescribedKind {
    /// Its name.
    pub name: String,
    /// The operation and its point.
    pub operation: String,
}

/// Something not measured here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SkipWritten")]
pub struct NotMeasured {
    /// The kind of work or the place.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// Work beside a victim.
#[derive(Serialize, JsonSchema)]
struct ActiveLoad {
    /// The work.
    #[serde(flatten)]
    load: Load,
    /// What it did meanwhile, in operations per second; null if nothing was measured.
    per_second: Option<f64>,
}

/// A victim beside loads.
#[derive(Serialize, JsonSchema)]
struct CellWritten {
    /// The kind that is slowed.
    victim: String,
    /// What runs beside it.
    beside: Vec<ActiveLoad>,
    /// Pairs of a stretch alone and one beside.
    pairs: usize,
    /// Elapsed ns per operation alone; null if nothing was measured.
    alone_ns: Option<f64>,
    /// Elapsed time beside over alone; null if nothing was measured.
    elapsed: Option<Interval>,
    /// True if the slow-down can be told: its interval leaves 1 out, or is at most 5 points wide on either side.
    conclusive: bool,
    /// True if that interval is more than 5 points wide on either side, so that another run may differ by more.
    wide: bool,
    /// Processor time beside over alone; null if it is too short to tell.
    cpu: Option<Interval>,
}

impl Form<PairSlowdown> for CellWritten {
    fn of(cell: &PairSlowdown) -> CellWritten {
        let slowdown = cell.slowdown.as_ref();
        let load = |(number, load): (usize, &Load)| ActiveLoad {
            load: load.clone(),
            per_second: slowdown.and_then(|slowdown| slowdown.achieved.get(number).copied()).and_then(finite),
        };
        CellWritten {
            victim: cell.victim.clone(),
            beside: cell.beside.iter().enumerate().map(load).collect(),
            pairs: slowdown.map_or(0, |slowdown| slowdown.pairs),
            alone_ns: slowdown.and_then(|slowdown| finite(slowdown.alone_ns)),
            elapsed: slowdown.map(|slowdown| slowdown.elapsed),
            conclusive: slowdown.is_some_and(|slowdown| slowdown.conclusive().is_some()),
            wide: slowdown.is_none_or(Slowdown::is_wide),
            cpu: slowdown.and_then(|slowdown| slowdown.cpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(elapsed: f64, cpu: Option<f64>) -> ComparedStretch {
        ComparedStretch { elapsed, cpu, alone_ns: 100.0, achieved: vec![5.0, 7.0] }
    }

    fn load(kind: &str, dose: f64) -> Load {
        Load { kind: kind.into(), dose, place: Place::Other }
    }

    fn cell(beside: &[Load], elapsed: f64) -> PairSlowdown {
        let pairs: Vec<ComparedStretch> = (0..6).map(|_| pair(elapsed, Some(1.0))).collect();
        PairSlowdown { victim: "compute".into(), beside: beside.to_vec(), slowdown: Slowdown::of(&pairs) }
    }

    #[test]
    fn a_cell_is_conclusive_where_its_interval_is_narrow_or_leaves_one_out() {
        let slowdown = |ratios: &[f64]| {
            let pairs: Vec<ComparedStretch> = ratios.iter().map(|&ratio| pair(ratio, Some(ratio))).collect();
            Slowdown::of(&pairs).expect("figures")
        };
        let nothing = slowdown(&[1.0, 1.01, 0.99, 1.0, 1.01, 0.99]);
        assert!(
            nothing.conclusive().is_some_and(|elapsed| elapsed.value == 1.0 && elapsed.low < 1.0 && elapsed.high > 1.0),
            "{nothing:?}"
        );
        let clear = slowdown(&[2.1, 1.9, 2.0, 2.3, 1.8]);
        assert!(clear.conclusive().is_some_and(|elapsed| elapsed.low > 1.0 && elapsed.half() > POINTS), "{clear:?}");
        assert!(clear.is_wide() && !nothing.is_wide() && slowdown(&[2.0]).is_wide());
        assert_eq!(slowdown(&[1.4, 0.7, 1.0, 1.2]).conclusive(), None);
        assert_eq!(slowdown(&[2.0]).conclusive(), None, "one pair shows no scatter");
        assert_eq!(Slowdown::of(&[]), None);
        assert_eq!((clear.achieved.as_slice(), clear.alone_ns), ([5.0, 7.0].as_slice(), 100.0));
    }

    #[test]
    fn processor_time_is_known_only_if_every_pair_has_it() {
        let pairs = [pair(2.0, Some(1.0)), pair(2.0, None), pair(2.0, Some(1.1))];
        assert_eq!(Slowdown::of(&pairs).and_then(|slowdown| slowdown.cpu), None);
        assert!(Slowdown::of(&pairs[..1]).is_some_and(|slowdown| slowdown.cpu.is_some()));
    }

    #[test]
    fn several_at_once_are_predicted_from_each_alone() {
        let (a, b) = (load("memory", 0.5), load("network", 0.5));
        let both = [a.clone(), b.clone()];
        let cells = vec![cell(std::slice::from_ref(&a), 1.2), cell(std::slice::from_ref(&b), 1.5), cell(&both, 1.9)];
        let all = Interference { cells, ..Interference::default() };
        let together = all.together();
        let [only] = together.as_slice() else { panic!("{together:?}") };
        assert!((only.prediction.product - 1.8).abs() < 1e-12 && (only.prediction.sum - 1.7).abs() < 1e-12);
        assert!((LoadsPrediction::error(only.prediction.product, only.measured.value) + 0.0526).abs() < 1e-4);
        // Without one of the pairs nothing is predicted.
        let fewer = Interference { cells: all.cells[1..].to_vec(), ..Interference::default() };
        assert_eq!(fewer.together(), []);
    }

    #[test]
    fn a_curve_needs_several_doses_and_is_in_their_order() {
        let cells = vec![
            cell(&[load("memory", 1.0)], 1.4),
            cell(&[load("memory", 0.25)], 1.1),
            cell(&[load("memory", 0.5)], 1.2),
            cell(&[load("network", 0.5)], 1.0),
            cell(&[load("network", 1.0)], 1.1),
            cell(&[load("memory", 1.0), load("network", 1.0)], 1.5),
        ];
        let curves = Interference { cells, ..Interference::default() }.curves();
        let [curve] = curves.as_slice() else { panic!("{curves:?}") };
        let points: Vec<(f64, f64)> = curve.points.iter().map(|(dose, ratio)| (*dose, ratio.value)).collect();
        assert_eq!(points, [(0.0, 1.0), (0.25, 1.1), (0.5, 1.2), (1.0, 1.4)]);
    }
}
