//! `--what-if`: which operations of the mix are changed, and to which cost.

use analysis::predict::{MachineState, MixPrediction, PricedLine, predict_in};
use analysis::whatif::{Assumption, Supposed};
use record::units::time_of;
use record::{Mix, Nanoseconds, Run, printable};

use super::pricing::names;
use crate::output::Misuse;
use crate::pattern::{Pattern, few};
use crate::resolve::{self, Named};

/// What the changes refer to.
#[derive(Clone, Copy)]
pub(super) struct WhatIfContext<'a> {
    pub state: MachineState,
    pub mix: &'a Mix,
    pub runs: &'a [Named<'a>],
    pub prediction: &'a MixPrediction,
}

/// One `--what-if`, every name resolved.
pub(super) struct WhatIf {
    text: String,
    pattern: String,
    becomes: Becomes,
}

/// The new cost.
enum Becomes {
    Number(Assumption),
    /// The cost in the run with this index among the given runs.
    AtHand(usize),
    /// The cost in another run.
    Run(Box<Run>),
}

impl WhatIf {
    /// Reads `memory.load@set=32MiB=70ns`, `signal.*=x0.5`, `stpbp=-590ns`, `syscall.getppid=@2`.
    pub(super) fn read(text: &str, runs: &[Named]) -> Result<WhatIf, Misuse> {
        let shown = printable(text);
        let Some((pattern, change)) = text.rsplit_once('=') else {
            let form = "give OPERATION=CHANGE, such as syscall.*=x0.5";
            return Err(Misuse(format!("cannot read --what-if '{shown}': {form}")));
        };
        let at_hand = || runs.iter().position(|named| named.name == change).map(Becomes::AtHand);
        let becomes = match number(change).map(Becomes::Number).or_else(at_hand) {
            Some(becomes) => becomes,
            None => Becomes::Run(Box::new(resolve::run(change).map_err(|error| {
                let ways = "a time (70ns), more or less (+5us, -590ns), a factor (x0.5), or a run";
                Misuse(format!("cannot read the change of --what-if '{shown}': give {ways}; {error:#}"))
            })?)),
        };
        Ok(WhatIf { text: shown, pattern: pattern.into(), becomes })
    }

    /// The change for this prediction. `index` distinguishes it from the others.
    /// Refuses a pattern that selects nothing in the mix.
    pub(super) fn of(&self, index: usize, about: WhatIfContext) -> Result<Supposed, Misuse> {
        let WhatIfContext { state, mix, runs, prediction } = about;
        let rows = rows(&self.pattern, prediction)?;
        if rows.is_empty() {
            let mut all: Vec<&str> = mix.lines.iter().map(|line| line.term.operation.as_str()).collect();
            all.sort_unstable();
            all.dedup();
            let (pattern, name, some) = (printable(&self.pattern), &mix.name, few(&all, 8, ", "));
            let why = format!("--what-if: '{pattern}' matches nothing in the mix '{name}', which has {some}");
            return Err(Misuse(why));
        }
        let by = |run: &Run, place: usize| Assumption::As(Box::new(predict_in(state, mix, run, place, &names)));
        let change = match &self.becomes {
            Becomes::Number(change) => change.clone(),
            Becomes::AtHand(place) => by(runs[*place].run, *place),
            // A separate index distinguishes its costs from those of the given runs and of other changes.
            Becomes::Run(run) => by(run, runs.len() + index),
        };
        Ok(Supposed { text: self.text.clone(), rows, change })
    }
}

/// A time, a difference or a factor; `None` if it is none of them.
fn number(text: &str) -> Option<Assumption> {
    let time = |text: &str| time_of(text).map(|(Nanoseconds(time), _)| time);
    if let Some(factor) = text.strip_prefix('x') {
        let plain = factor.chars().all(|c| c.is_ascii_digit() || c == '.');
        let factor = factor.parse::<f64>().ok().filter(|factor| plain && *factor <= 1e9)?;
        return Some(Assumption::Times(factor));
    }
    match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(more), _) => time(more).map(Assumption::By),
        (_, Some(less)) => time(less).map(|less| Assumption::By(-less)),
        _ => time(text).map(Assumption::Time),
    }
}

/// The indexes of the rows that a pattern selects. A pattern that is a row's exact name selects only that row, whatever it would
/// match as a glob.
fn rows(pattern: &str, prediction: &MixPrediction) -> Result<Vec<usize>, Misuse> {
    let places = |means: &dyn Fn(&PricedLine) -> bool| -> Vec<usize> {
        prediction.rows.iter().enumerate().filter(|(_, row)| means(row)).map(|(place, _)| place).collect()
    };
    let named = places(&|row| {
        let by = row.by.as_ref().is_some_and(|by| by.source.1 == pattern || by.operation == pattern);
        row.line.name() == pattern || row.line.term.operation == pattern || by
    });
    if !named.is_empty() {
        return Ok(named);
    }
    let pattern = Pattern::parse(pattern)?;
    Ok(places(&|row| {
        let by = row.by.as_ref().is_some_and(|by| pattern.means(&by.operation, &by.at));
        by || row.by.as_ref().is_none_or(|by| by.operation != row.line.term.operation)
            && pattern.means(&row.line.term.operation, &row.line.term.at)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_times_steps_and_factors() {
        assert_eq!(number("70ns"), Some(Assumption::Time(70.0)));
        assert_eq!(number("+5us"), Some(Assumption::By(5000.0)));
        assert_eq!(number("-590ns"), Some(Assumption::By(-590.0)));
        assert_eq!(number("x0.5"), Some(Assumption::Times(0.5)));
        assert_eq!(number("x0"), Some(Assumption::Times(0.0)));
        let none = ["", "70", "x", "x-1", "xinf", "xnan", "x1e3", "x2000000000", "--5ns", "+-5ns", "0.5", "@1", "half"];
        assert_eq!(none.map(number), [const { None }; 13]);
    }
}
