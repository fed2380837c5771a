//! The prefetch tuner: every window around the one that the arithmetic says, measured on a file, and whether the
//! arithmetic found the best.

use std::path::Path;
use std::time::Duration;

use analysis::prefetch::{Beside, Inputs, Tried, Tuning, Verdict, Window, axis, best};
use anyhow::{Context, ensure};
use operations::reading::prefetch::{Advised, Method, State, Stretch, Way};

use super::{LONGEST, Passes, Target, candidates};

/// Repetitions of the whole sweep.
const REPETITIONS: u32 = 3;
/// Pairs of passes in which the arithmetic and the best window are compared again: at least, at most.
const PAIRS: (usize, usize) = (9, 40);
/// A pass this long fits a surface of twofold steps; where the budget has no room for it, steps are fourfold.
const ROOMY: u64 = 32 << 20;

/// What is asked for: the file, the program's rate in bytes a second where it is not that of adding up, the time.
pub(crate) struct Asked<'a> {
    pub path: &'a Path,
    pub rate: Option<f64>,
    pub budget: Duration,
}

/// Sweeps the windows over the file.
///
/// # Errors
/// When the file cannot be read, or cannot be out of memory.
pub(crate) fn tuning(asked: &Asked<'_>) -> anyhow::Result<Tuning> {
    let target = Target::open(asked.path)?;
    ensure!(
        target.can_be_cold,
        "{} is on a file system that lives in memory: nothing is ever waited for there",
        target.shown()
    );
    let mut passes = Passes::new(&target, asked.rate, asked.budget);
    let (latency, inputs) = passes.inputs(asked.budget / 8)?;
    let plain = [
        Method::Read { bytes: 128 << 10 },
        Method::Direct { bytes: 1 << 20 },
        Method::Mapped(Advised::Nothing),
        Method::Mapped(Advised::Sequential),
        Method::Mapped(Advised::Random),
    ];
    let whole = Stretch { start: 0, length: target.length.min(LONGEST), random: None };
    let rough = passes.must(whole, plain[0], State::Cold)?.rate();
    let Grid { distances, quantities, length, pass_time } = grid(&inputs, rough, &passes, plain.len());
    passes.program.limit = pass_time * 2;
    let stretch = Stretch { length, ..whole };
    let mut sweep = Sweep { passes, stretch };
    let windows =
        distances.iter().flat_map(|&distance| quantities.iter().map(move |&quantity| Window { distance, quantity }));
    let (windows, plain) = sweep.all(windows.collect(), &plain)?;
    let found = best(&windows).context("no window was measured")?.of;
    let verdicts = sweep.verdicts(&inputs, found)?;
    let good = verdicts.iter().rev().find(|verdict| verdict.found);
    Ok(Tuning {
        path: target.shown(),
        file_bytes: target.length,
        pass_bytes: length,
        latency,
        distances,
        quantities,
        windows,
        plain,
        best: found,
        recommended: good.map_or(found, |verdict| verdict.window),
        verdicts,
        inputs,
        passes: sweep.passes.taken,
        not_cold: sweep.passes.not_cold,
    })
}

/// The method of a window.
fn ahead(window: Window) -> Method {
    Method::Ahead { way: Way::Mapped, distance: window.distance, quantity: window.quantity }
}

/// The surface, and how much of the file a pass reads so that all of it fits into the budget.
struct Grid {
    distances: Vec<u64>,
    quantities: Vec<u64>,
    length: u64,
    pass_time: Duration,
}

fn grid(inputs: &Inputs, rough: f64, passes: &Passes<'_>, plain: usize) -> Grid {
    // The rest is for comparing again.
    let time = passes.left().mul_f64(0.6) / REPETITIONS;
    let drain = passes.program.drain;
    let longest = passes.target.length.min(LONGEST);
    let (paper, better) = (inputs.by_the_paper(), inputs.by_saturation());
    let of = |step: u64| {
        let bounds = (inputs.page, longest);
        let distances = axis(paper.distance, step, &[better.distance], bounds);
        let quantities = axis(paper.quantity, step, &[better.quantity], bounds);
        let pass_time = time / (distances.len() * quantities.len() + plain) as u32;
        // Slices of a tenth of a second cannot be told apart in a pass of a few, however little time there is.
        let pass_time = pass_time.saturating_sub(drain).max(drain * 4);
        // Setting up a pass takes as long as the shortest of passes.
        let length = (rough * 0.8 * pass_time.as_secs_f64()) as u64;
        Grid { distances, quantities, length, pass_time }
    };
    let fine = of(2);
    let grid = if fine.length >= ROOMY.min(longest) { fine } else { of(4) };
    let length = grid.length.next_multiple_of(inputs.page).clamp(super::SMALLEST, longest);
    Grid { length, ..grid }
}

/// What the sweep measured: windows, and methods without one.
type Swept = (Vec<Tried<Window>>, Vec<Tried<String>>);

/// Passes over one stretch, cold.
struct Sweep<'a> {
    passes: Passes<'a>,
    stretch: Stretch,
}

impl Sweep<'_> {
    /// Everything once in a shuffled order, so often.
    fn all(&mut self, windows: Vec<Window>, plain: &[Method]) -> anyhow::Result<Swept> {
        let methods: Vec<Method> = windows.iter().map(|&window| ahead(window)).chain(plain.iter().copied()).collect();
        let mut rates = vec![Vec::new(); methods.len()];
        let mut order: Vec<usize> = (0..methods.len()).collect();
        let mut skipped = None;
        for repetition in 1..=REPETITIONS {
            fastrand::shuffle(&mut order);
            for &index in &order {
                self.passes.show(&format!("sweep {repetition} of {REPETITIONS}"));
                let passed = self.passes.take(self.stretch, methods[index], State::Cold, &mut skipped)?;
                rates[index].extend(passed.map(|passed| passed.rate()));
            }
        }
        let plain_rates = rates.split_off(windows.len());
        let windows = windows.into_iter().zip(rates).map(|(of, rates)| Tried { of, rates }).collect();
        let plain = plain.iter().zip(plain_rates).map(|(&method, rates)| Tried { of: candidates::name(method), rates });
        Ok((windows, plain.filter(|tried| !tried.rates.is_empty()).collect()))
    }

    /// Either arithmetic beside the best window of the sweep, in turns: the best of many is the luckiest of them too, so
    /// its figure from the sweep is not what it would do again.
    fn verdicts(&mut self, inputs: &Inputs, best: Window) -> anyhow::Result<Vec<Verdict>> {
        let ways = [best, inputs.by_the_paper(), inputs.by_saturation()];
        let mut rates = [const { Vec::new() }; 3];
        let mut turn = [0, 1, 2];
        while rates[0].len() < PAIRS.0 || (rates[0].len() < PAIRS.1 && !self.passes.left().is_zero()) {
            self.passes.show("the arithmetic beside the best");
            fastrand::shuffle(&mut turn);
            for index in turn {
                rates[index].push(self.passes.must(self.stretch, ahead(ways[index]), State::Cold)?.rate());
            }
        }
        let named = [("paper", 1), ("saturation", 2)].into_iter();
        let verdict = |(arithmetic, index): (&'static str, usize)| {
            let beside_best = Beside::of(&rates[index], &rates[0]).context("no pair was measured")?;
            Ok(Verdict { arithmetic, window: ways[index], beside_best, found: beside_best.is_as_good() })
        };
        named.map(verdict).collect()
    }
}
