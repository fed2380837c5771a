//! `--measured`: what a unit of a mix's work took on a run, as a time or as a run that has the mix's whole.

use analysis::predict::{State, whole};
use analysis::statistics::Interval;
use record::units::time_of;
use record::{Mix, Run, printable};

use crate::output::Misuse;
use crate::resolve::{self, Named};

/// What a unit of the mix's work took on one of the runs.
pub(crate) struct Whole {
    text: String,
    /// The place of the run among the runs.
    pub place: usize,
    told: Told,
}

enum Told {
    Time(Interval),
    /// This run has the cost that the mix names as its whole.
    Run(Box<Run>),
}

impl Whole {
    /// Reads every one of these texts.
    ///
    /// # Errors
    /// As [`Whole::read`].
    pub(crate) fn read_all(texts: &[String], runs: &[Named]) -> Result<Vec<Whole>, Misuse> {
        texts.iter().map(|text| Whole::read(text, runs)).collect()
    }

    /// Reads `1.2ms`, `RUN=1.2ms`, or in place of the time a run.
    ///
    /// # Errors
    /// A text that names none of the runs, or neither a time nor a run.
    fn read(text: &str, runs: &[Named]) -> Result<Whole, Misuse> {
        let bad = |why: String| bad(&printable(text), &why);
        let (run, time) = text.rsplit_once('=').map_or((None, text), |(run, time)| (Some(run), time));
        let place = match run {
            Some(name) => runs.iter().position(|named| is_called(named, name)),
            None if runs.len() == 1 => Some(0),
            None => return Err(bad("there are several runs; say RUN=TIME".into())),
        };
        let place = place.ok_or_else(|| bad("it names none of the runs".into()))?;
        let told = match figure(time) {
            Some(whole) => Told::Time(whole),
            None => {
                let form = "say a time above 0 with its unit, such as 1.2ms, or a run that has it";
                Told::Run(Box::new(resolve::run(time).map_err(|error| bad(format!("{form}; {error:#}")))?))
            }
        };
        Ok(Whole { text: printable(text), place, told })
    }

    /// The time for this mix.
    ///
    /// # Errors
    /// A run that does not have the mix's whole.
    pub(super) fn of(&self, state: State, mix: &Mix) -> Result<Interval, Misuse> {
        let bad = |why: String| bad(&self.text, &why);
        match &self.told {
            Told::Time(time) => Ok(*time),
            Told::Run(run) => {
                let of = mix
                    .whole
                    .as_ref()
                    .ok_or_else(|| bad(format!("the mix '{}' names no whole; say a time", mix.name)))?;
                whole(state, mix, run).ok_or_else(|| bad(format!("that run does not have '{of}'")))
            }
        }
    }
}

fn bad(shown: &str, why: &str) -> Misuse {
    Misuse(format!("cannot read --measured '{shown}': {why}"))
}

/// Whether a run is meant by this name: as typed, its id or the beginning of it.
pub(super) fn is_called(named: &Named, name: &str) -> bool {
    named.name == name || (!name.is_empty() && named.run.id.starts_with(name))
}

/// A time above zero, its interval what the digits leave open.
pub(super) fn figure(text: &str) -> Option<Interval> {
    let (time, open) = time_of(text)?;
    let whole = Interval { value: time.0, low: time.0 - open.0, high: time.0 + open.0 };
    (time.0 > 0.0).then_some(whole)
}
