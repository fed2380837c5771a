//! What if: a prediction with some of its costs changed.

use crate::mix::Sum;
use crate::predict::{MixPrediction, PricedLine};

/// The change of a cost.
#[derive(Clone, Debug, PartialEq)]
pub enum Assumption {
    /// This time, in ns.
    Time(f64),
    /// This many ns more, or less.
    By(f64),
    /// Its time multiplied by this factor.
    Times(f64),
    /// Its price in another prediction of the same mix.
    As(Box<MixPrediction>),
}

/// A supposition about some rows of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Supposed {
    /// The text as typed.
    pub text: String,
    /// The indices of the rows.
    pub rows: Vec<usize>,
    pub change: Assumption,
}

/// The reasons why a supposition is impossible.
#[derive(Debug, Clone, PartialEq)]
pub enum Impossible {
    BelowNothing(String),
    /// The other prediction has no price for it.
    Lacking(String),
    /// It has no price that could be changed by a step or a factor.
    Unpriced(String),
}

/// A prediction with the suppositions applied. Suppositions about one row are applied in order.
///
/// # Errors
/// If a step makes a cost negative, another run lacks a price, or a cost that is not known is to be changed in proportion.
pub fn suppose(prediction: &MixPrediction, supposed: &[Supposed]) -> Result<MixPrediction, Impossible> {
    let mut changed = prediction.clone();
    let mut is_known: Vec<bool> =
        prediction.rows.iter().map(|row| row.by.is_some() || row.line.term.times <= 0.0).collect();
    for Supposed { rows, change, .. } in supposed {
        for &place in rows {
            let row = &mut changed.rows[place];
            match change {
                Assumption::By(_) | Assumption::Times(_) if !is_known[place] => {
                    return Err(Impossible::Unpriced(row.line.typed()));
                }
                // A supposed time has no doubts. Another run's price has that run's doubts.
                Assumption::Time(time) => (row.each, row.doubts) = (Sum::exactly(*time), Vec::new()),
                Assumption::By(step) => {
                    row.each = Sum::exactly(*step).plus(1.0, &row.each);
                    if *step < 0.0 && row.each.figure().value < 0.0 {
                        return Err(Impossible::BelowNothing(row.line.typed()));
                    }
                }
                Assumption::Times(factor) => row.each = Sum::default().plus(*factor, &row.each),
                Assumption::As(other) => {
                    let found = &other.rows[place];
                    if found.by.is_none() {
                        return Err(Impossible::Lacking(row.line.typed()));
                    }
                    (row.each, row.doubts) = (found.each.clone(), found.doubts.clone());
                }
            }
            is_known[place] = true;
        }
    }
    // A supposed operation has a price, so it is no longer missing.
    let is_supposed = |name: &str| {
        let sets =
            supposed.iter().filter(|assumption| matches!(assumption.change, Assumption::Time(_) | Assumption::As(_)));
        sets.flat_map(|assumption| &assumption.rows).any(|&place| prediction.rows[place].line.name() == name)
    };
    changed.lacking.retain(|(line, _)| !is_supposed(&line.name()));
    Ok(changed)
}

/// What the suppositions change; `None` if one of the costs was not known before.
pub fn known_change(after: &MixPrediction, before: &MixPrediction) -> Option<Sum> {
    (after.lacking.len() == before.lacking.len()).then(|| difference(after, before))
}

/// The lines that the suppositions change, as they were and as they are.
pub fn changed_lines<'a>(
    before: &'a MixPrediction,
    after: &'a MixPrediction,
) -> impl Iterator<Item = (&'a PricedLine, &'a PricedLine)> {
    let lacks =
        |prediction: &MixPrediction, row: &PricedLine| prediction.lacking.iter().any(|(line, _)| *line == row.line);
    // A time of 0 for a cost that was not known changes it, too.
    let is_changed = move |(row, changed): &(&PricedLine, &PricedLine)| {
        row.each != changed.each || lacks(before, row) && !lacks(after, changed)
    };
    before.rows.iter().zip(&after.rows).filter(is_changed)
}

/// The difference of two predictions. Costs that both share cancel.
pub fn difference(after: &MixPrediction, before: &MixPrediction) -> Sum {
    after.total().plus(-1.0, &before.total())
}
