//! The prefetch tuner: every window around the one that the arithmetic says, measured on a file, and whether the
//! arithmetic found the best.

use std::path::Path;
use std::time::Duration;

use analysis::prefetch::{FormulaVerdict, Inputs, MeasuredRates, RelativeRate, Tuning, Window, best};
use measure::Progress;
use record::largest_first;

use crate::advise::candidates;
use crate::advise::error::AdviseError;
use crate::advise::limits::LONGEST;
use crate::advise::method::{Advised, Method, Way};
use crate::advise::passes::Passes;
use crate::advise::stretch::{FileState, Stretch};
use crate::advise::surface::{COMPARING, Surface};
use crate::advise::target::MeasuredFile;

/// Pairs of passes in which the arithmetic and the best window are compared again: at least, as many as the budget is
/// planned for, at most.
const PAIRS: (usize, usize, usize) = (3, 9, 40);
/// Pairs after which an arithmetic that is clearly worse is compared no more, and how much worse that is.
const DECIDED: (usize, f64) = (6, 0.9);

/// What to tune on, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct TuningRequest<'a> {
    /// The file. It is put out of memory, and not changed.
    pub path: &'a Path,
    /// What the file is called, where its path says nothing.
    pub name: Option<&'a str>,
    /// Bytes a second that the program takes up; `None` for a program that only adds the bytes up.
    pub rate: Option<f64>,
    /// Time it may take.
    pub budget: Duration,
}

/// Measures the windows around what the arithmetic says on the file. Forks: call it while the process has one thread.
/// Fails for a file that cannot be read, or that cannot be put out of memory.
pub fn tuning(requested: &TuningRequest<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<Tuning, AdviseError> {
    let target = MeasuredFile::open(requested.path)?.called(requested.name);
    if let Some(reason) = &target.never_cold {
        return Err(AdviseError::NeverCold { file: target.shown(), reason: reason.clone() });
    }
    let mut passes = Passes::new(&target, requested.rate, requested.budget, progress);
    let (latency, inputs) = passes.inputs(requested.budget / 8)?;
    let plain = [
        Method::Read { bytes: 128 << 10 },
        Method::Direct { bytes: 1 << 20 },
        Method::Mapped(Advised::Nothing),
        Method::Mapped(Advised::Sequential),
        Method::Mapped(Advised::Random),
    ];
    let whole = Stretch { start: 0, length: target.length.min(LONGEST), random: None };
    let rough = passes.must(whole, plain[0], FileState::Cold)?.rate();
    let mut surface = Surface::of(&inputs, rough, &passes, plain.len());
    passes.program.limit = surface.pass_time * 2;
    let stretch = Stretch { length: surface.length, ..whole };
    let pass_time = surface.pass_time + passes.program.drain;
    let mut sweep = Sweep { passes, stretch, pass_time };
    let (windows, plain) = sweep.all(&mut surface, &plain)?;
    let found = most_measured(&windows).ok_or(AdviseError::Nothing("window was measured"))?;
    let verdicts = sweep.verdicts(&inputs, found)?;
    let good = verdicts.iter().rev().find(|verdict| verdict.relative_to_best.is_rather_as_good());
    Ok(Tuning {
        path: target.shown(),
        file_bytes: target.length,
        pass_bytes: surface.length,
        latency,
        distances: surface.distances,
        quantities: surface.quantities,
        windows,
        plain,
        best: found,
        recommended: good.map_or(found, |verdict| verdict.window),
        verdicts,
        inputs,
        passes: sweep.passes.taken,
        not_cold: sweep.passes.not_cold,
        notes: surface.notes,
    })
}

/// The best of the windows that were measured as often as any: a window that was lucky once is not among them.
fn most_measured(windows: &[MeasuredRates<Window>]) -> Option<Window> {
    let most = windows.iter().map(|tried| tried.rates.len()).max().filter(|&most| most > 0)?;
    let often: Vec<MeasuredRates<Window>> = windows.iter().filter(|tried| tried.rates.len() == most).cloned().collect();
    best(&often).map(|tried| tried.of)
}

fn ahead(window: Window) -> Method {
    Method::Ahead { way: Way::Mapped, distance: window.distance, quantity: window.quantity }
}

/// What the sweep measured: windows, and methods without one.
type Swept = (Vec<MeasuredRates<Window>>, Vec<MeasuredRates<String>>);

/// Passes over one stretch, cold.
struct Sweep<'a> {
    passes: Passes<'a>,
    stretch: Stretch,
    /// What a usual pass takes with what goes before it.
    pass_time: Duration,
}

impl Sweep<'_> {
    /// Everything once, the coarse points first; then the best quarter of the windows, and what either arithmetic says, twice more, so that the time goes
    /// where it decides. What the budget has no room for is left out and noted.
    fn all(&mut self, surface: &mut Surface, plain: &[Method]) -> Result<Swept, AdviseError> {
        let windows = surface.windows();
        let methods: Vec<Method> = windows.iter().map(|&window| ahead(window)).chain(plain.iter().copied()).collect();
        let mut rates = vec![Vec::new(); methods.len()];
        let mut order: Vec<usize> = (0..methods.len()).collect();
        fastrand::shuffle(&mut order);
        order.sort_by_key(|&index| windows.get(index).is_some_and(|&window| !surface.is_coarse(window)));
        // The budget may have room for one point alone, and a window is requested.
        if let Some(first) = order.iter().position(|&index| index < windows.len()) {
            order.swap(0, first);
        }
        let left = self.passes.left();
        let pairs = self.pass_time.mul_f64(COMPARING).min(left.mul_f64(0.3));
        let finer = self.pass_time.mul_f64(Surface::finer(windows.len())).min(left.mul_f64(0.2));
        let left_out = self.once(&methods, &order, finer + pairs, &mut rates)?;
        if left_out > 0 {
            let all = methods.len();
            surface.notes.push(format!(
                "{left_out} of {all} points were left out, since the time ran short; a larger --budget measures them."
            ));
        }
        let mut good = best_quarter(&rates, windows.len());
        let computed = (0..windows.len()).filter(|&index| surface.is_computed(windows[index]));
        good.extend(computed.filter(|index| !good.contains(index)).collect::<Vec<_>>());
        for _ in 0..2 {
            fastrand::shuffle(&mut good);
            self.once(&methods, &good, pairs, &mut rates)?;
        }
        let plain_rates = rates.split_off(windows.len());
        let windows = windows.into_iter().zip(rates).map(|(of, rates)| MeasuredRates { of, rates }).collect();
        let plain =
            plain.iter().zip(plain_rates).map(|(&method, rates)| MeasuredRates { of: candidates::name(method), rates });
        Ok((windows, plain.filter(|tried| !tried.rates.is_empty()).collect()))
    }

    /// One pass of each in this order, while more than `reserve` is left of the budget. Returns how many had no pass.
    fn once(
        &mut self,
        methods: &[Method],
        order: &[usize],
        reserve: Duration,
        rates: &mut [Vec<f64>],
    ) -> Result<usize, AdviseError> {
        let mut skipped = None;
        for (done, &index) in order.iter().enumerate() {
            // Something must have been measured, however short the budget.
            if done > 0 && self.passes.left() <= reserve {
                return Ok(order.len() - done);
            }
            self.passes.show(&format!("sweep, {} of {}", done + 1, order.len()));
            let passed = self.passes.take(self.stretch, methods[index], FileState::Cold, &mut skipped)?;
            rates[index].extend(passed.map(|passed| passed.rate()));
        }
        Ok(0)
    }

    /// Either arithmetic beside the best window of the sweep, in turns: the best of many is the luckiest of them too, so
    /// its figure from the sweep is not what it would do again.
    fn verdicts(&mut self, inputs: &Inputs, best: Window) -> Result<Vec<FormulaVerdict>, AdviseError> {
        let ways = [best, inputs.by_the_paper(), inputs.by_saturation()];
        let mut rates = [const { Vec::new() }; 3];
        let mut turn = vec![0, 1, 2];
        while rates[0].len() < PAIRS.0 || (rates[0].len() < PAIRS.2 && !self.passes.left().is_zero()) {
            self.passes.show("the arithmetic beside the best");
            fastrand::shuffle(&mut turn);
            for &index in &turn {
                rates[index].push(self.passes.must(self.stretch, ahead(ways[index]), FileState::Cold)?.rate());
            }
            turn.retain(|&index| index == 0 || !is_decided(&rates[index], &rates[0]));
        }
        let named = [("paper", 1), ("saturation", 2)].into_iter();
        let verdict = |(arithmetic, index): (&'static str, usize)| {
            let relative_to_best =
                RelativeRate::of(&rates[index], &rates[0]).ok_or(AdviseError::Nothing("pair was measured"))?;
            Ok(FormulaVerdict {
                arithmetic,
                window: ways[index],
                relative_to_best,
                found: relative_to_best.is_as_good(),
            })
        };
        named.map(verdict).collect()
    }
}

/// True if one is so much worse than the other that more pairs would say nothing new.
fn is_decided(rates: &[f64], best: &[f64]) -> bool {
    rates.len() >= DECIDED.0 && RelativeRate::of(rates, best).is_some_and(|relative| relative.high < DECIDED.1)
}

/// The best quarter of the windows, and the other methods that come near them.
fn best_quarter(rates: &[Vec<f64>], windows: usize) -> Vec<usize> {
    let rate = |index: usize| rates[index].first().copied().unwrap_or(0.0);
    let mut good: Vec<usize> = (0..windows).filter(|&index| !rates[index].is_empty()).collect();
    largest_first(&mut good, |&one| rate(one));
    good.truncate(windows.div_ceil(4));
    let top = good.first().map_or(0.0, |&index| rate(index));
    good.extend((windows..rates.len()).filter(|&index| rate(index) > top / 2.0));
    good
}
