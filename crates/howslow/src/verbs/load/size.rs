//! `howslow load --size-for`: the least memory and CPUs with which a command keeps a bound of its response time.

use std::path::Path;
use std::time::Duration;

use ::load::{Arrivals, Axes, Interaction, LoadError, Memory, Plan, Session, Size, Think, Time};
use analysis::load::{Configuration, Finished, Measured, Outcome as Ended, PageDevice};
use measure::Progress;
use record::units::counted;
use record::{Bytes, Nanoseconds};
use report::document::SizeDocument;

use super::args::{Bound, LoadArgs};
use super::experiment::{Stopped, measured};
use super::trial::{Trial, undecided, unsupported};
use crate::output::{self, Bar, Outcome, print_note};

/// Memory is found to this share of itself.
const NEAR: f64 = 1.1;

/// With less no program of today begins.
const LEAST: u64 = 1 << 20;

/// The limit that is tried first.
const FIRST: u64 = 1 << 30;

pub(super) const STEPS: u32 = 24;

/// The search: what was tried, and how.
struct Search<'a, 'b> {
    session: &'a mut Session<'b>,
    plan: &'a Plan,
    bound: Bound,
    tried: Vec<Trial>,
    bar: Bar,
}

/// The least CPUs with all memory, and the least memory with those; `None` for what breaks the bound at any number.
#[derive(Clone, Copy, Default)]
struct Found {
    cpus: Option<u32>,
    memory: Option<u64>,
}

/// A step of the search, unless that has ended early.
type Searched<T> = Result<T, Stopped<anyhow::Error>>;

/// Searches by this plan, which is that of [`plan`].
pub(super) fn size(args: &LoadArgs, plan: &Plan, bound: Bound, root: &Path, seed: u64) -> anyhow::Result<Outcome> {
    let configurations = plan.axes.configurations();
    let mut session = Session::open(plan, &configurations, root, seed)?;
    let mut notes = session.notes.clone();
    let machine = system::machine::describe();
    let memory = machine.limits.memory.map_or(machine.memory.total.0, |limit| limit.0.min(machine.memory.total.0));
    let mut search = Search { session: &mut session, plan, bound, tried: Vec::new(), bar: Bar::new() };
    let found = search.find(memory);
    search.bar.clear();
    let tried = search.tried;
    let found = match found {
        Err(Stopped::Interrupted(signal)) => {
            print_note("interrupted: the search has no result");
            return Ok(Outcome::Interrupted(signal));
        }
        Err(Stopped::Failed(error)) => return Err(error),
        Ok(found) => found,
    };
    notes.extend(unsupported(&tried, bound));
    notes.extend(undecided(&tried, bound));
    let document = SizeDocument {
        machine: &machine,
        command: &args.command,
        share: bound.share,
        bound_s: bound.seconds,
        cpus: found.cpus,
        memory: found.memory,
        trials: tried.iter().map(|trial| trial.row(bound)).collect(),
        notes: &notes,
    };
    output::answer(args.json, &document, |_| page(&tried, found, bound, memory, &notes))?;
    Ok(Outcome::Done)
}

/// The command as a plan of one interaction.
pub(super) fn plan(args: &LoadArgs, bound: Bound) -> Result<Plan, String> {
    fn one<T: Copy>(option: &str, given: &[T], usual: T) -> Result<T, String> {
        match given {
            [] => Ok(usual),
            [one] => Ok(*one),
            _ => Err(format!("{option}: --size-for takes one value")),
        }
    }
    // A plan has no more values of an axis.
    let usable = std::thread::available_parallelism().map_or(1, |count| count.get().min(1000) as u32);
    let most = one("--cpus", &args.cpus, usable)?;
    // Percentiles need a number of commands: p99 a few hundred.
    let wanted = 40.0 / (1.0 - bound.share.unwrap_or(0.9));
    let time = args.time.unwrap_or_else(|| (bound.seconds * wanted).clamp(3.0, 20.0).max(bound.seconds * 3.0));
    let folder = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
    let plan = Plan {
        name: "size-for".into(),
        about: String::new(),
        time: Time(time),
        settle: Time(args.settle.unwrap_or(1.0)),
        limit: Time((bound.seconds * 20.0).clamp(1.0, 60.0).max(bound.seconds * 2.0)),
        arrivals: Arrivals::Closed,
        device_size: Size(512 << 20),
        needs_limits: true,
        axes: Axes {
            users: vec![one("--users", &args.users, 1)?],
            memory: vec![Memory(Some(LEAST))],
            cpus: (1..=most).collect(),
            eligible: vec![one("--eligible", &args.eligible, 0)?],
            device: vec![one("--device", &args.device, PageDevice::None)?],
            ..Axes::default()
        },
        interactions: vec![Interaction {
            name: "command".into(),
            times: 1,
            think: Think::Constant(Time(0.0)),
            job: None,
            command: Some(args.command.clone()),
            any_of: None,
            optional: false,
        }],
        files: Vec::new(),
        setup: Vec::new(),
        folder: Some(folder),
    };
    plan.check().map_err(|error| error.to_string()).map(|()| plan)
}

impl Search<'_, '_> {
    /// The least CPUs that keep the bound with all memory, then the least memory with those, up to this many bytes.
    fn find(&mut self, most_memory: u64) -> Searched<Found> {
        let most_cpus = self.plan.axes.cpus.iter().copied().max().unwrap_or(1);
        let Some(cpus) = least_cpus(most_cpus, |cpus| self.keeps(cpus, None))? else { return Ok(Found::default()) };
        let memory = least_memory(most_memory, |memory| self.keeps(cpus, Some(memory)))?;
        Ok(Found { cpus: Some(cpus), memory })
    }

    /// True if the bound is kept with this much.
    fn keeps(&mut self, cpus: u32, memory: Option<u64>) -> Searched<bool> {
        // The plan has one value of each other axis.
        let usual = self.plan.axes.configurations().into_iter().next().unwrap_or_default();
        let configuration = Configuration { memory, cpus, ..usual };
        let (done, left) = (self.tried.len() as u32, Duration::ZERO);
        let after = Progress { item: configuration.described(), done, total: STEPS, left };
        let found = match measured(self.session, &configuration, &self.bar, &after) {
            Ok(measured) => measured,
            // Users that the limit does not even let begin keep no bound.
            Err(Stopped::Failed(LoadError::Users(_))) if memory.is_some() => Measured::default(),
            Err(Stopped::Failed(error)) => return Err(error.into()),
            Err(Stopped::Interrupted(signal)) => return Err(Stopped::Interrupted(signal)),
        };
        let trial = Trial::of(configuration, &found, self.bound, self.plan.limit.0);
        if memory.is_none() {
            self.check(&trial, &found.finished)?;
        }
        let keeps = trial.keeps(self.bound);
        self.tried.push(trial);
        Ok(keeps)
    }

    /// With all memory, a command that always fails, or never ends within the time measured, says nothing about the bound.
    fn check(&self, trial: &Trial, finished: &[Finished]) -> Searched<()> {
        let left = |finished: &Finished| matches!(finished.outcome, Ended::Failed(_) | Ended::Killed(_));
        let time = self.plan.time.0;
        if !finished.is_empty() && finished.iter().all(left) {
            let failures = trial.failures.as_deref().unwrap_or_default();
            let why = format!("the command fails: {failures}; run it by hand to see its messages");
            return Err(Stopped::Failed(anyhow::anyhow!(why)));
        }
        if finished.is_empty() && time < self.bound.seconds {
            let why = format!("no interaction ended within {}; give a longer --time", Nanoseconds(time * 1e9));
            return Err(Stopped::Failed(anyhow::anyhow!(why)));
        }
        Ok(())
    }
}

/// The least number of CPUs with which the bound is kept; `None` if it is not kept with `most`.
fn least_cpus(most: u32, mut keeps: impl FnMut(u32) -> Searched<bool>) -> Searched<Option<u32>> {
    let (mut breaks, mut kept) = (0, 1);
    while !keeps(kept)? {
        if kept >= most {
            return Ok(None);
        }
        (breaks, kept) = (kept, (kept * 2).min(most));
    }
    while kept - breaks > 1 {
        let middle = (kept + breaks) / 2;
        if keeps(middle)? { kept = middle } else { breaks = middle }
    }
    Ok(Some(kept))
}

/// The least memory in bytes with which the bound is kept, to [`NEAR`]; `None` if it is not kept with `most`.
fn least_memory(most: u64, mut keeps: impl FnMut(u64) -> Searched<bool>) -> Searched<Option<u64>> {
    let whole = |bytes: u64| (bytes >> 12 << 12).max(LEAST);
    let (mut kept, mut breaks) = (None, 0);
    let mut next = whole(FIRST.min(most));
    for _ in 0..STEPS {
        if keeps(next)? {
            kept = Some(next)
        } else {
            breaks = next
        }
        next = whole(match kept {
            None => breaks.saturating_mul(2).min(most),
            Some(kept) if kept as f64 <= breaks as f64 * NEAR => break,
            Some(kept) if breaks == 0 => kept / 2,
            Some(kept) => (kept as f64 * breaks as f64).sqrt() as u64,
        });
        if next <= breaks || kept.is_some_and(|kept| next >= kept) {
            break;
        }
    }
    Ok(kept)
}

fn page(tried: &[Trial], found: Found, bound: Bound, most: u64, notes: &[String]) -> String {
    let mut text = String::new();
    for trial in tried {
        let time = |seconds: f64| Nanoseconds(seconds * 1e9).to_string();
        let known = trial.figure.map(time).or(trial.at_least.map(|seconds| format!(">= {}", time(seconds))));
        let figure = known.unwrap_or_else(|| "failed".into());
        let sign = match () {
            () if trial.keeps(bound) => "kept",
            () if trial.is_undecided(bound) => "unclear",
            () => "broken",
        };
        let failures = trial.failures.as_ref().map_or(String::new(), |failures| format!("; {failures}"));
        let (count, configuration) = (trial.response.count, trial.configuration.described());
        text += &format!("{sign:<7} {figure:>10}  {count:>5} ended  {configuration}{failures}\n");
    }
    text += &format!("\n{} below {} ", bound.label(), Nanoseconds(bound.seconds * 1e9));
    let cpus = |cpus: u32| counted(cpus.into(), "CPU");
    text += &match (found.cpus, found.memory) {
        (Some(least), Some(memory)) => {
            format!("holds with {} and {} of memory; the search is exact to 10 %\n", cpus(least), Bytes(memory))
        }
        (Some(least), None) => {
            format!("holds with {} and all memory; no limit up to {} keeps it\n", cpus(least), Bytes(most))
        }
        _ => "does not hold with the most CPUs that were tried and all memory\n".into(),
    };
    text + &notes.iter().map(|note| format!("{note}\n")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use analysis::load::{Outcome as Ended, Unfinished};

    use super::super::trial::tests::{BOUND, trial};
    use super::*;

    #[test]
    fn a_bound_is_kept_by_what_answers_sooner_and_broken_by_what_fails() {
        let one = |memory, seconds, outcome| trial(Some(memory), &[seconds; 100], outcome);
        let tried =
            [one(8 << 20, 0.1, Ended::Done), one(6 << 20, 0.2, Ended::Done), one(4 << 20, 0.1, Ended::Failed(2))];
        assert_eq!(tried.iter().map(|trial| trial.row(BOUND).kept).collect::<Vec<_>>(), [true, false, false]);
        let page = |cpus, memory| page(&tried, Found { cpus, memory }, BOUND, 8 << 30, &["No swap here.".into()]);
        let text = page(Some(2), Some(16 << 20));
        assert!(text.contains("p95 response below 200 ms holds with 2 CPUs and 16 MiB of memory"), "{text}");
        assert!(text.contains("failed") && text.ends_with("No swap here.\n"), "{text}");
        assert!(text.contains("; all 100 left with status 2\n"), "{text}");
        assert!(page(None, None).contains("does not hold"));
        let text = page(Some(1), None);
        assert!(text.contains("holds with 1 CPU and all memory; no limit up to 8 GiB keeps it"), "{text}");
    }

    #[test]
    fn a_figure_that_is_not_known_is_shown_as_a_bound() {
        let unfinished = |age_s| Unfinished { age_s, ..Unfinished::default() };
        let trial = |age_s| {
            let measured = Measured { unfinished: vec![unfinished(age_s); 4], ..Measured::default() };
            Trial::of(Configuration::default(), &measured, BOUND, 4.0)
        };
        let text = page(&[trial(0.15), trial(3.0)], Found::default(), BOUND, 8 << 30, &[]);
        assert!(text.contains("unclear  >= 150 ms") && text.contains("broken   >= 3.00 s"), "{text}");
    }

    #[test]
    fn the_least_is_what_was_tried_and_kept() {
        let memory = |least: u64, most: u64| {
            let mut tried = Vec::new();
            let found = least_memory(most, |bytes| {
                tried.push(bytes);
                Ok(bytes >= least)
            });
            let found = found.unwrap_or_else(|_| unreachable!());
            assert!(tried.iter().all(|bytes| *bytes <= most) && found.is_none_or(|found| tried.contains(&found)));
            found
        };
        const MIB: u64 = 1 << 20;
        for least in [MIB, 5 * MIB, 700 * MIB, 1024 * MIB, 3000 * MIB, 7000 * MIB, 8000 * MIB] {
            let found = memory(least, 8000 * MIB).expect("it holds");
            assert!(found >= least && found as f64 <= least as f64 * NEAR + 4096.0, "{least}: {found}");
        }
        assert_eq!((memory(u64::MAX, 8000 * MIB), memory(u64::MAX, 512 * MIB)), (None, None));
        for (least, expected) in [(1, Some(1)), (2, Some(2)), (5, Some(5)), (6, Some(6)), (7, None)] {
            assert_eq!(least_cpus(6, |cpus| Ok(cpus >= least)).unwrap_or_else(|_| unreachable!()), expected);
        }
    }

    #[test]
    fn the_command_runs_here_for_as_long_as_its_bound_needs() {
        let read = |words: &[&str]| crate::cli::parsed::<LoadArgs>(&[words, &["--", "sleep", "3"]].concat());
        let args = |words: &[&str]| read(words).expect("arguments");
        let bound = |seconds| Bound { share: None, seconds };
        let of = |words: &[&str], seconds| {
            plan(&args(&[&["--size-for", "response mean < 1s"], words].concat()), bound(seconds))
        };
        let long = of(&["--eligible", "3"], 100.0).expect("a plan");
        assert_eq!((long.time.0, long.limit.0), (300.0, 200.0));
        assert_eq!(long.axes.configurations()[0].eligible, Some(3));
        assert_eq!(long.folder, std::env::current_dir().ok());
        assert_eq!(of(&["--users", "1,2"], 1.0), Err("--users: --size-for takes one value".into()));
        for words in [["--memory", "8MiB"], ["--relief", "none"], ["--repetitions", "2"], ["--svg", "x"]] {
            assert!(read(&[&["--size-for", "response mean < 1s"], &words[..]].concat()).is_err(), "{words:?}");
        }
    }
}
