//! Measures all cells: passes with new processes, in each of them every victim alone, beside, alone, beside, in shuffled
//! order, until the budget is spent.

use std::path::Path;
use std::time::{Duration, Instant};

use analysis::interference::{
    ComparedStretch, DescribedKind, Interference, NotMeasured, POINTS, PairSlowdown, Slowdown,
};
use measure::{Progress, Scratch, Signals};
use record::Place;

use crate::interference::company::{Company, VictimCost, Wanted};
use crate::interference::error::InterferenceError;
use crate::interference::kind::{KINDS, Kind};
use crate::interference::load::{Cpus, Load};
use crate::interference::loads::spread;
use crate::interference::plan::{Request, RequestedCell, cells, together_name, two_at_once};
use crate::interference::worker::{PERIOD, Role, Task};

/// Lengths of a stretch in seconds: alone or beside work elsewhere; beside work that rests now and then, which is several
/// of its periods; beside work on the same CPU, which is several of the scheduler's turns of 3 to 4 ms.
const SHORT: f64 = 0.006;
const DOSED: f64 = 0.016;
const SHARED: f64 = 0.024;
/// A turn of each of two tasks on one CPU, in seconds.
const TURNS: f64 = 0.008;
/// A cell of so many pairs whose interval reaches no further is known: the time is spent on the others.
const KNOWN_PAIRS: usize = 2 * VISITS;
const KNOWN: f64 = POINTS / 2.0;
/// How many times longer a stretch becomes in which a load did nothing.
const LONGER: [u32; 3] = [2, 4, 8];
/// Starting and stopping a load, and a batch to warm up, in seconds.
const BETWEEN: f64 = 0.002;
/// Starting all workers of a pass, in seconds.
const SETTING_UP: f64 = 0.5;
/// Passes that a budget should hold: stretches are made longer or shorter for it, within these bounds.
const PASSES: f64 = 4.0;
/// Visits of each cell in a pass.
const VISITS: usize = 2;
const SHORTEST: f64 = 0.25;
const LONGEST: f64 = 3.0;

/// Measures how much each kind of work slows each other kind.
/// Forks: call it while the process has one thread. Fails if nothing can be measured, or if a worker ends before it
/// has to.
pub fn matrix(
    request: &Request,
    scratch_root: &Path,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Interference, InterferenceError> {
    let started = Instant::now();
    let cpus = Cpus::around(request.cpu)?;
    let mut result = Interference { cpu: cpus.victim, ..Interference::default() };
    result.victims = request.victims.iter().map(|kind| kind.name.into()).collect();
    result.aggressors = request.aggressors.iter().map(|kind| kind.name.into()).collect();
    for &place in &request.places {
        match cpus.at(place) {
            Ok(_) => result.places.push(place),
            Err(InterferenceError::Place { reason, remedy }) => {
                let reason = format!("{reason}; to measure it: {remedy}");
                result.skipped.push(NotMeasured { what: place.described().into(), reason });
            }
            Err(other) => return Err(other),
        }
    }
    let requested = cells(request, &cpus, &result.places);
    if requested.is_empty() {
        let why: Vec<&str> = result.skipped.iter().map(|skip| skip.reason.as_str()).collect();
        let reason = format!("there is no CPU for the work beside ({})", why.join("; "));
        return Err(InterferenceError::Place { reason, remedy: "choose other places (--on)".into() });
    }
    if two_at_once(&cpus, &result.places).is_none() {
        let reason = "two loads at once run on another CPU or on the same; to measure it: --on other or --on same";
        let skipped = |kinds| NotMeasured { what: together_name(kinds), reason: reason.into() };
        result.skipped.extend(request.together.iter().map(skipped));
    }
    let kinds = KINDS.iter().filter(|kind| requested.iter().any(|cell| cell.names(kind.name)));
    let described = |kind: &Kind| {
        let operation = format!("{}{}", kind.operation, kind.point(cpus.victim));
        DescribedKind { name: kind.name.into(), operation }
    };
    result.kinds = kinds.map(described).collect();
    let signals = Signals::watch();
    let mut work = Work {
        cpus,
        signals: &signals,
        pairs: vec![Vec::new(); requested.len()],
        requested,
        impossible: Vec::new(),
        started,
        budget: request.budget_s,
        scale: 1.0,
        done: 0,
        on_progress,
    };
    work.scale = work.fitting_scale();
    (result.passes, result.interrupted) = work.passes(scratch_root, request.seed)?;
    let skipped = |(kind, why): (&str, String)| NotMeasured { what: kind.into(), reason: why };
    result.skipped.extend(std::mem::take(&mut work.impossible).into_iter().map(skipped));
    result.cells = work.cells();
    result.seconds = started.elapsed().as_secs_f64();
    Ok(result)
}

/// How the work of passes ended early.
enum Stopped {
    Signal(i32),
    BudgetSpent,
    Failed(InterferenceError),
}

impl From<InterferenceError> for Stopped {
    fn from(error: InterferenceError) -> Stopped {
        Stopped::Failed(error)
    }
}

struct Work<'a> {
    cpus: Cpus,
    signals: &'a Signals,
    requested: Vec<RequestedCell>,
    pairs: Vec<Vec<ComparedStretch>>,
    /// Kinds that cannot run here, and why.
    impossible: Vec<(&'static str, String)>,
    started: Instant,
    budget: f64,
    /// What the lengths of stretches are multiplied by.
    scale: f64,
    done: u32,
    on_progress: &'a mut dyn FnMut(&Progress),
}

impl Work<'_> {
    /// Seconds of a stretch beside these loads, before they are scaled.
    fn length(loads: &[Load]) -> f64 {
        let longest = |longest: f64, load: &Load| {
            let needed = match (load.place, load.dose) {
                (Place::Same, _) => SHARED,
                (_, dose) if dose < 1.0 => DOSED,
                _ => SHORT,
            };
            longest.max(needed)
        };
        loads.iter().fold(SHORT, longest)
    }

    /// Seconds that a pass takes.
    fn pass_time(&self, scale: f64) -> f64 {
        let length = |requested: &RequestedCell| scaled(Work::length(&requested.loads), scale);
        let waits = |requested: &RequestedCell| {
            if requested.loads.iter().any(|load| load.place == Place::Same) { TURNS } else { 0.0 }
        };
        let cell = |requested: &RequestedCell| scale * SHORT + length(requested) + waits(requested) + BETWEEN;
        SETTING_UP + VISITS as f64 * self.requested.iter().map(cell).sum::<f64>()
    }

    /// The scale at which the budget holds several passes.
    fn fitting_scale(&self) -> f64 {
        let fixed = self.pass_time(0.0);
        let stretches = self.pass_time(1.0) - fixed;
        ((self.budget / PASSES - fixed) / stretches).clamp(SHORTEST, LONGEST)
    }

    /// Makes passes until the budget is spent or a signal comes. Returns how many, and the signal.
    fn passes(&mut self, scratch_root: &Path, seed: u64) -> Result<(u32, Option<i32>), InterferenceError> {
        let mut random = fastrand::Rng::with_seed(seed);
        for pass in 0_u32.. {
            match self.pass(scratch_root, pass == 0, &mut random) {
                Ok(()) => {}
                Err(Stopped::BudgetSpent) => return Ok((pass + 1, None)),
                Err(Stopped::Signal(signal)) => return Ok((pass + 1, Some(signal))),
                Err(Stopped::Failed(error)) => return Err(error),
            }
            if self.left() < SETTING_UP || (0..self.requested.len()).all(|cell| self.is_settled(cell)) {
                return Ok((pass + 1, None));
            }
        }
        Ok((0, None))
    }

    /// True if another pass would show nothing more of a cell.
    fn is_settled(&self, cell: usize) -> bool {
        is_known(&self.pairs[cell]) || self.impossible.iter().any(|(kind, _)| self.requested[cell].names(kind))
    }

    fn left(&self) -> f64 {
        self.budget - self.started.elapsed().as_secs_f64()
    }

    /// One pass over all cells, with new processes.
    fn pass(&mut self, scratch_root: &Path, first: bool, random: &mut fastrand::Rng) -> Result<(), Stopped> {
        let scratch = Scratch::make(scratch_root).map_err(InterferenceError::from)?;
        let mut company = Company::start(self.tasks(scratch.path(), random)?, scratch.path())?;
        for number in 0..company.tasks.len() {
            let kind = company.tasks[number].kind.name;
            match company.impossible(number) {
                Some(_) if self.impossible.iter().any(|(known, _)| *known == kind) => {}
                Some(why) => self.impossible.push((kind, why)),
                None => company.check(number)?,
            }
        }
        let mut victims: Vec<usize> =
            (0..company.tasks.len()).filter(|&number| company.tasks[number].role == Role::Victim).collect();
        random.shuffle(&mut victims);
        for victim in victims {
            let name = company.tasks[victim].kind.name;
            let is_open = |&cell: &usize| self.requested[cell].victim == name && !self.is_settled(cell);
            let mut cells: Vec<usize> = (0..self.requested.len()).filter(is_open).collect();
            if !cells.is_empty() {
                for _ in 0..VISITS {
                    random.shuffle(&mut cells);
                    self.cells_of(&mut company, victim, &cells, first)?;
                }
            }
        }
        drop(company);
        Ok(())
    }

    /// The workers of a pass: a victim of each kind that is one, and a load of each kind on each CPU where it is one.
    fn tasks(&self, scratch: &Path, random: &mut fastrand::Rng) -> Result<Vec<Task>, InterferenceError> {
        let mut wanted: Vec<(&'static Kind, Role, u32)> = Vec::new();
        for requested in &self.requested {
            let victim = (Kind::named(requested.victim)?, Role::Victim, self.cpus.victim);
            let places = spread(&requested.loads, &self.cpus)?;
            let loads = requested.loads.iter().zip(places).map(|(load, cpu)| (load.kind, Role::Load, cpu));
            for (kind, role, cpu) in std::iter::once(victim).chain(loads) {
                let known = wanted.iter().any(|known| known.0.name == kind.name && known.1 == role && known.2 == cpu);
                if !known {
                    wanted.push((kind, role, cpu));
                }
            }
        }
        let task = |(number, (kind, role, cpu)): (usize, (&'static Kind, Role, u32))| {
            let folder = scratch.join(number.to_string());
            Task { kind, role, cpu, folder, seed: random.u64(..) }
        };
        Ok(wanted.into_iter().enumerate().map(task).collect())
    }

    /// All cells of one victim: alone, beside, alone, beside, ..., alone.
    fn cells_of(&mut self, company: &mut Company, victim: usize, cells: &[usize], first: bool) -> Result<(), Stopped> {
        let alone = Wanted { length: Duration::from_secs_f64(SHORT * self.scale), ..Wanted::default() };
        let mut before = company.stretch(victim, alone)?;
        for &cell in cells {
            if let Some(signal) = self.signals.come() {
                return Err(Stopped::Signal(signal));
            }
            // The first pass visits every cell, however short the time is.
            if !first && self.left() <= 0.0 {
                return Err(Stopped::BudgetSpent);
            }
            self.report(cell);
            // On a busy machine a load may not get its CPU in a short stretch.
            let idle = |achieved: &[f64]| achieved.iter().any(|&per_second| per_second <= 0.0);
            let (mut beside, mut achieved) = self.beside(company, victim, cell, 1)?;
            for longer in LONGER {
                if idle(&achieved) {
                    (beside, achieved) = self.beside(company, victim, cell, longer)?;
                }
            }
            let after = company.stretch(victim, alone)?;
            // A load that has done nothing in a stretch has slowed nothing down.
            if !idle(&achieved) {
                self.pairs[cell].push(pair(before, beside, after, achieved));
            }
            before = after;
            self.done += 1;
        }
        Ok(())
    }

    /// A victim's stretch beside the loads of a cell, and what each of these did meanwhile, per second.
    fn beside(
        &mut self,
        company: &mut Company,
        victim: usize,
        cell: usize,
        longer: u32,
    ) -> Result<(VictimCost, Vec<f64>), InterferenceError> {
        let loads = self.requested[cell].loads.clone();
        let places = spread(&loads, &self.cpus)?;
        let worker = |load: &Load, cpu: u32| {
            let is = |task: &Task| task.role == Role::Load && task.cpu == cpu && task.kind.name == load.kind.name;
            company.tasks.iter().position(is)
        };
        let numbers: Vec<usize> = loads.iter().zip(places).filter_map(|(load, cpu)| worker(load, cpu)).collect();
        let length = Duration::from_secs_f64(scaled(Work::length(&loads), self.scale) * f64::from(longer));
        // A victim that wakes up has the first turn on its CPU. So that this is no bias, its stretch begins at any moment of
        // the turns; so it does in the periods of work that rests.
        let shares = loads.iter().any(|load| load.place == Place::Same);
        let rests = loads.iter().any(|load| load.dose < 1.0);
        let before = |period: f64| Duration::from_secs_f64(period * fastrand::f64());
        let wanted = match shares {
            true => Wanted { length, before: before(TURNS), turn: Duration::from_secs_f64(1.5 * TURNS) },
            false if rests => Wanted { length, before: before(PERIOD / 1e9), ..Wanted::default() },
            false => Wanted { length, ..Wanted::default() },
        };
        for (&number, load) in numbers.iter().zip(&loads) {
            company.begin(number, load.dose)?;
        }
        let (began, done): (Instant, Vec<f64>) =
            (Instant::now(), numbers.iter().map(|&number| company.done(number)).collect());
        let stretch = company.stretch(victim, wanted);
        let seconds = began.elapsed().as_secs_f64();
        let per_second = |(&number, done): (&usize, f64)| (company.done(number) - done) / seconds;
        let achieved = numbers.iter().zip(done).map(per_second).collect();
        numbers.iter().try_for_each(|&number| company.stop(number))?;
        Ok((stretch?, achieved))
    }

    fn report(&mut self, cell: usize) {
        let RequestedCell { victim, loads } = &self.requested[cell];
        let loads: Vec<&str> = loads.iter().map(|load| load.kind.name).collect();
        let (spent, left) = (self.started.elapsed().as_secs_f64(), self.left().max(0.0));
        let total = match self.done {
            0 => self.requested.len() as u32,
            done => done + (left * f64::from(done) / spent).ceil() as u32,
        };
        (self.on_progress)(&Progress {
            item: format!("{victim} beside {}", loads.join(" and ")),
            done: self.done,
            total,
            left: Duration::from_secs_f64(left),
        });
    }

    fn cells(&self) -> Vec<PairSlowdown> {
        let load = |load: &Load| analysis::interference::Load {
            kind: load.kind.name.into(),
            dose: load.dose,
            place: load.place,
        };
        let cell = |(requested, pairs): (&RequestedCell, &Vec<ComparedStretch>)| PairSlowdown {
            victim: requested.victim.into(),
            beside: requested.loads.iter().map(load).collect(),
            slowdown: Slowdown::of(pairs),
        };
        self.requested.iter().zip(&self.pairs).map(cell).collect()
    }
}

/// True if more pairs would show little more of a cell.
fn is_known(pairs: &[ComparedStretch]) -> bool {
    pairs.len() >= KNOWN_PAIRS && Slowdown::of(pairs).is_some_and(|known| known.elapsed.half() <= KNOWN)
}

/// The length of a stretch at this scale. One that holds several of the scheduler's turns or of a dose's periods does not
/// become shorter.
fn scaled(length: f64, scale: f64) -> f64 {
    if length >= DOSED { length * scale.max(1.0) } else { length * scale }
}

/// A stretch beside, compared with the mean of those alone before and after it: what drifts evenly cancels.
fn pair(before: VictimCost, beside: VictimCost, after: VictimCost, achieved: Vec<f64>) -> ComparedStretch {
    let alone = (before.elapsed + after.elapsed) / 2.0;
    let cpu = before.cpu.zip(after.cpu).map(|(before, after)| (before + after) / 2.0);
    ComparedStretch {
        elapsed: beside.elapsed / alone,
        cpu: beside.cpu.zip(cpu).map(|(beside, alone)| beside / alone),
        alone_ns: alone,
        achieved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_hold_whole_turns_and_periods_whatever_the_budget() {
        assert_eq!([SHORT, DOSED, SHARED].map(|length| scaled(length, SHORTEST)), [SHORT * SHORTEST, DOSED, SHARED]);
        assert_eq!([SHORT, DOSED, SHARED].map(|length| scaled(length, 2.0)), [2.0 * SHORT, 2.0 * DOSED, 2.0 * SHARED]);
    }

    #[test]
    fn a_cell_is_known_once_enough_pairs_agree() {
        let pairs = |ratios: &[f64]| -> Vec<ComparedStretch> {
            let pair = |&elapsed: &f64| ComparedStretch { elapsed, cpu: None, alone_ns: 1.0, achieved: vec![1.0] };
            ratios.iter().map(pair).collect()
        };
        assert!(is_known(&pairs(&[1.0, 1.005, 0.995, 1.0])));
        assert!(!is_known(&pairs(&[1.0, 1.0])), "two may agree by chance");
        assert!(!is_known(&pairs(&[1.0, 1.1, 0.95, 1.0])));
    }
}
