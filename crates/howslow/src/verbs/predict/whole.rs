//! `--measured`: the measured time of a unit of a mix's work, given as a time or as a run that has the mix's whole.

use std::collections::BTreeSet;

use analysis::predict::{MachineState, whole, whole_cost};
use analysis::statistics::Interval;
use record::units::time_of;
use record::{Mix, Run, printable};

use crate::output::Misuse;
use crate::resolve::{self, Named};

/// The measured time of a unit of the mix's work on one of the runs.
pub(crate) struct Whole {
    text: String,
    /// The index of the run among the runs.
    pub place: usize,
    measured: MeasuredWhole,
}

enum MeasuredWhole {
    Time(Interval),
    /// The run whose cost, named by the mix as its whole, is this time.
    Run(Box<Run>),
}

impl Whole {
    /// Parses each of these texts. Refuses two that are of one run.
    pub(crate) fn read_all(texts: &[String], runs: &[Named]) -> Result<Vec<Whole>, Misuse> {
        let all: Vec<Whole> = texts.iter().map(|text| Whole::read(text, runs)).collect::<Result<_, Misuse>>()?;
        let mut seen = BTreeSet::new();
        match all.iter().find(|whole| !seen.insert(whole.place)) {
            Some(again) => Err(bad(&again.text, "another --measured is of the same run; give one for each run")),
            None => Ok(all),
        }
    }

    /// Parses `1.2ms`, `RUN=1.2ms`, or a run in place of the time.
    /// Refuses a text that names none of the runs, or is neither a time nor a run.
    fn read(text: &str, runs: &[Named]) -> Result<Whole, Misuse> {
        let bad = |why: String| bad(&printable(text), &why);
        let (run, time) = text.rsplit_once('=').map_or((None, text), |(run, time)| (Some(run), time));
        let place = match run {
            Some(name) => runs.iter().position(|named| is_called(named, name)),
            None if runs.len() == 1 => Some(0),
            None => return Err(bad("there are several runs; give RUN=TIME".into())),
        };
        let place = place.ok_or_else(|| bad("it names none of the runs".into()))?;
        let form = "give a time above 0 with its unit, such as 1.2ms, or a run that measured it";
        let run = || resolve::run(time).map(Box::new).map_err(|error| bad(format!("{form}; {error:#}")));
        let measured = match figure(time) {
            Some(whole) => MeasuredWhole::Time(whole),
            None => MeasuredWhole::Run(run()?),
        };
        Ok(Whole { text: printable(text), place, measured })
    }

    /// The time for this mix. Refuses a run that does not have the mix's whole.
    pub(super) fn of(&self, state: MachineState, mix: &Mix) -> Result<Interval, Misuse> {
        let bad = |why: String| bad(&self.text, &why);
        match &self.measured {
            MeasuredWhole::Time(time) => Ok(*time),
            MeasuredWhole::Run(run) => {
                let unnamed = || bad(format!("the mix '{}' names no whole; give a time", mix.name));
                let named = mix.whole.as_ref().ok_or_else(unnamed)?;
                is_one(mix, run)?;
                whole(state, mix, run).ok_or_else(|| bad(format!("that run does not have '{named}'")))
            }
        }
    }
}

/// Refuses a mix whose whole may be several costs of the run.
pub(super) fn is_one(mix: &Mix, run: &Run) -> Result<(), Misuse> {
    let (name, whole) = (&mix.name, mix.whole.as_deref().unwrap_or_default());
    whole_cost(mix, run).map(drop).map_err(|several| {
        let several = several.join(", ");
        Misuse(format!("the mix '{name}': whole = '{whole}' may be {several}; write one of them there"))
    })
}

fn bad(shown: &str, why: &str) -> Misuse {
    Misuse(format!("cannot read --measured '{shown}': {why}"))
}

/// True if this name means the run: the name given, its id or the beginning of the id.
pub(super) fn is_called(named: &Named, name: &str) -> bool {
    named.name == name || (!name.is_empty() && named.run.id.starts_with(name))
}

/// A time above zero. Its interval is what rounding to the given digits leaves open.
pub(super) fn figure(text: &str) -> Option<Interval> {
    let (time, open) = time_of(text)?;
    let whole = Interval::around(time.0, open.0);
    (time.0 > 0.0).then_some(whole)
}
