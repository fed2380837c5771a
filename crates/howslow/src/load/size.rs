//! `howslow load --size-for`: the least memory and CPUs with which a command keeps a bound of its response time.

use std::path::Path;

use ::load::{Arrivals, Axes, Ending, Interaction, Memory, Plan, Session, Size, Think, Time};
use analysis::load::{Configuration, PageDevice, Response, SHARES, response};
use record::units::counted;
use record::{Bytes, Nanoseconds};
use report::document::{SizeDocument, SizeTrial};

use super::experiment::refused;
use crate::cli::{Bound, LoadArgs};
use crate::output::{self, Bar, Misuse, Outcome, print_note};

/// Memory is found to this share of itself.
const NEAR: f64 = 1.1;
/// With less no program of today begins.
const LEAST: u64 = 1 << 20;
const STEPS: u32 = 24;

struct Trial {
    configuration: Configuration,
    response: Response,
    /// In seconds; `None` if an interaction failed or none ended.
    figure: Option<f64>,
}

/// The search: what was tried, and how.
struct Search<'a, 'b> {
    session: &'a mut Session<'b>,
    bound: Bound,
    users: u32,
    device: PageDevice,
    tried: Vec<Trial>,
    bar: Bar,
}

/// A search that a signal has ended.
struct Interrupted(i32);

pub(super) fn size(args: &LoadArgs, bound: Bound, root: &Path, seed: u64) -> anyhow::Result<Outcome> {
    let plan = plan(args, bound);
    let plan = plan.map_err(Misuse)?;
    let configurations = plan.axes.configurations();
    let mut session = Session::open(&plan, &configurations, root, seed).map_err(refused)?;
    let notes = session.notes.clone();
    let device = plan.axes.device[0];
    let most = plan.axes.cpus.iter().copied().max().unwrap_or(1);
    let users = plan.axes.users[0];
    let mut search = Search { session: &mut session, bound, users, device, tried: Vec::new(), bar: Bar::new() };
    let found = search.find(most)?;
    search.bar.clear();
    let tried = search.tried;
    let found = match found {
        Err(Interrupted(signal)) => {
            print_note("interrupted: the search has no result");
            return Ok(Outcome::Interrupted(signal));
        }
        Ok(found) => found,
    };
    let document = SizeDocument {
        machine: &system::machine::describe(),
        command: &args.command,
        share: bound.share,
        bound_s: bound.seconds,
        cpus: found.map(|(cpus, _)| cpus),
        memory: found.map(|(_, memory)| memory),
        trials: tried.iter().map(|trial| trial.row(bound)).collect(),
        notes: &notes,
    };
    output::answer(args.json, &document, |_| page(&tried, found.as_ref(), bound, &notes))?;
    Ok(Outcome::Done)
}

/// The command as a plan of one interaction.
fn plan(args: &LoadArgs, bound: Bound) -> Result<Plan, String> {
    let usable = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let most = args.cpus.iter().copied().max().unwrap_or(usable);
    let one = |given: &[u32], usual: u32| given.first().copied().unwrap_or(usual);
    // Percentiles need a number of commands: p99 a few hundred.
    let wanted = 40.0 / (1.0 - bound.share.unwrap_or(0.9));
    let time = args.time.unwrap_or_else(|| (bound.seconds * wanted).clamp(3.0, 20.0));
    let plan = Plan {
        name: "size-for".into(),
        about: String::new(),
        time: Time(time),
        settle: Time(args.settle.unwrap_or(1.0)),
        limit: Time((bound.seconds * 20.0).clamp(1.0, 60.0)),
        arrivals: Arrivals::Closed,
        device_size: Size(512 << 20),
        needs_limits: true,
        axes: Axes {
            users: vec![one(&args.users, 1)],
            memory: vec![Memory(Some(LEAST))],
            cpus: (1..=most).collect(),
            eligible: vec![one(&args.eligible, 0)],
            device: vec![args.device.first().copied().unwrap_or(PageDevice::None)],
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
    };
    plan.check().map_err(|error| error.to_string()).map(|()| plan)
}

impl Search<'_, '_> {
    /// The least CPUs that keep the bound with all memory, then the least memory with those.
    fn find(&mut self, most_cpus: u32) -> anyhow::Result<Result<Option<(u32, u64)>, Interrupted>> {
        let mut cpus = 1;
        loop {
            match self.keeps(cpus, None)? {
                Err(interrupted) => return Ok(Err(interrupted)),
                Ok(true) => break,
                Ok(false) if cpus >= most_cpus => return Ok(Ok(None)),
                Ok(false) => cpus = (cpus * 2).min(most_cpus),
            }
        }
        // From what it used, downwards by halves until it breaks, then between.
        let (mut keeps, mut breaks) = (1_u64 << 30, 0);
        let mut next = keeps;
        for _ in 0..STEPS {
            match self.keeps(cpus, Some(next))? {
                Err(interrupted) => return Ok(Err(interrupted)),
                Ok(true) => keeps = next,
                Ok(false) => breaks = next,
            }
            if breaks >= keeps {
                // Even a gigabyte is too little: upwards.
                keeps = breaks * 2;
                breaks = 0;
                next = keeps;
                continue;
            }
            if keeps <= LEAST || keeps as f64 <= breaks as f64 * NEAR {
                break;
            }
            next = if breaks == 0 { keeps / 2 } else { (keeps as f64 * breaks as f64).sqrt() as u64 };
            next = (next >> 12 << 12).max(LEAST);
            if next <= breaks {
                break;
            }
        }
        Ok(Ok(Some((cpus, keeps))))
    }

    /// True if the bound is kept with this much.
    fn keeps(&mut self, cpus: u32, memory: Option<u64>) -> anyhow::Result<Result<bool, Interrupted>> {
        let configuration = Configuration {
            users: self.users,
            memory,
            cpus,
            eligible: None,
            device: self.device,
            relief: analysis::load::Relief::None,
            repetition: 1,
        };
        let (bar, tried) = (&self.bar, self.tried.len() as u32);
        let mut progress = |left: f64| {
            let left = std::time::Duration::from_secs_f64(left);
            bar.show(&measure::Progress { item: configuration.described(), done: tried, total: STEPS, left });
        };
        let measured = match self.session.measure(&configuration, &mut progress) {
            Ok(Ending::Done(measured)) => measured,
            Ok(Ending::Interrupted(signal)) => return Ok(Err(Interrupted(signal))),
            // Users that the limit does not even let begin keep no bound.
            Err(::load::LoadError::Users(_)) if memory.is_some() => {
                self.tried.push(Trial { configuration, response: Response::default(), figure: None });
                return Ok(Ok(false));
            }
            Err(error) => return Err(refused(error)),
        };
        let all = response(&measured.finished);
        let figure = match self.bound.share {
            None => all.mean,
            Some(share) => SHARES.iter().position(|known| *known == share).and_then(|place| all.percentiles[place]),
        };
        let figure = figure.map(|figure| figure.value).filter(|_| all.failed == 0);
        let trial = Trial { configuration, response: all, figure };
        let keeps = trial.keeps(self.bound);
        self.tried.push(trial);
        Ok(Ok(keeps))
    }
}

fn page(tried: &[Trial], found: Option<&(u32, u64)>, bound: Bound, notes: &[String]) -> String {
    let mut text = String::new();
    for trial in tried {
        let figure = trial.figure.map_or_else(|| "failed".into(), |figure| Nanoseconds(figure * 1e9).to_string());
        let sign = if trial.keeps(bound) { "kept" } else { "broken" };
        text += &format!(
            "{:<7} {:>10}  {:>5} ended  {}\n",
            sign,
            figure,
            trial.response.count,
            trial.configuration.described()
        );
    }
    let limit = Nanoseconds(bound.seconds * 1e9);
    text += &match found {
        Some((cpus, memory)) => format!(
            "\n{} below {limit} holds with {} and {} of memory; the search is exact to 10 %\n",
            bound.label(),
            counted((*cpus).into(), "CPU"),
            Bytes(*memory),
        ),
        None => {
            format!("\n{} below {limit} does not hold with all CPUs and all memory of this machine\n", bound.label())
        }
    };
    text + &notes.iter().map(|note| format!("{note}\n")).collect::<String>()
}

impl Trial {
    fn row(&self, bound: Bound) -> SizeTrial {
        SizeTrial {
            memory: self.configuration.memory,
            cpus: self.configuration.cpus,
            response_s: self.figure,
            count: self.response.count,
            failed: self.response.failed,
            kept: self.keeps(bound),
        }
    }

    fn keeps(&self, bound: Bound) -> bool {
        self.figure.is_some_and(|figure| figure < bound.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(memory: Option<u64>, figure: Option<f64>) -> Trial {
        let configuration = Configuration {
            users: 1,
            memory,
            cpus: 2,
            eligible: None,
            device: PageDevice::None,
            relief: analysis::load::Relief::None,
            repetition: 1,
        };
        Trial { configuration, response: Response { count: 7, ..Response::default() }, figure }
    }

    #[test]
    fn a_bound_is_kept_by_what_answers_sooner_and_broken_by_what_fails() {
        let bound = Bound { share: Some(0.95), seconds: 0.2 };
        let tried = [trial(None, Some(0.1)), trial(Some(8 << 20), Some(0.2)), trial(Some(4 << 20), None)];
        assert_eq!(tried.iter().map(|trial| trial.row(bound).kept).collect::<Vec<_>>(), [true, false, false]);
        let text = page(&tried, Some(&(2, 16 << 20)), bound, &["No swap here.".into()]);
        assert!(text.contains("p95 response below 200 ms holds with 2 CPUs and 16 MiB of memory"), "{text}");
        assert!(text.contains("failed") && text.ends_with("No swap here.\n"), "{text}");
        assert!(page(&tried, None, bound, &[]).contains("does not hold"));
    }
}
