//! What if a cost were another: a prediction with some of its costs changed.

use crate::mix::Sum;
use crate::predict::Prediction;

/// What a cost is supposed to become.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This time, in ns.
    Time(f64),
    /// So many ns more, or less.
    By(f64),
    /// So many times what it is.
    Times(f64),
    /// What it is in another prediction of the same mix.
    As(Box<Prediction>),
}

/// A supposition about some rows of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Supposed {
    /// As it was typed.
    pub text: String,
    /// The places of the rows.
    pub rows: Vec<usize>,
    /// What becomes of them.
    pub change: Change,
}

/// Why a supposition cannot be.
#[derive(Debug, Clone, PartialEq)]
pub enum Impossible {
    /// It would cost less than nothing.
    BelowNothing(String),
    /// The other prediction has no price for it.
    Lacking(String),
}

/// A prediction with what is supposed about it; suppositions about one row follow each other.
///
/// # Errors
/// A cost below nothing where it was not before, or a price that another run lacks.
pub fn suppose(prediction: &Prediction, supposed: &[Supposed]) -> Result<Prediction, Impossible> {
    let mut changed = prediction.clone();
    for Supposed { rows, change, .. } in supposed {
        for &place in rows {
            let row = &mut changed.rows[place];
            row.each = match change {
                Change::Time(time) => Sum::exactly(*time),
                Change::By(step) => Sum::exactly(*step).plus(1.0, &row.each),
                Change::Times(factor) => Sum::default().plus(*factor, &row.each),
                Change::As(other) => match &other.rows[place] {
                    found if found.by.is_some() => found.each.clone(),
                    _ => return Err(Impossible::Lacking(row.line.name())),
                },
            };
            // What is merely supposed cannot be doubted; another run's price has that run's doubts.
            match change {
                Change::Time(_) => row.doubts.clear(),
                Change::As(other) => row.doubts.clone_from(&other.rows[place].doubts),
                Change::By(_) | Change::Times(_) => {}
            }
            let steps_below = matches!(change, Change::By(step) if *step < 0.0);
            if steps_below && row.each.figure().value < 0.0 {
                return Err(Impossible::BelowNothing(row.line.name()));
            }
        }
    }
    // What is supposed has a price, so that it is not lacking any more.
    let is_supposed = |name: &str| {
        let sets = supposed.iter().filter(|it| matches!(it.change, Change::Time(_) | Change::As(_)));
        sets.flat_map(|it| &it.rows).any(|&place| prediction.rows[place].line.name() == name)
    };
    changed.lacking.retain(|(line, _)| !is_supposed(&line.name()));
    Ok(changed)
}

/// What one prediction takes less than another, with the costs that both share cancelled.
pub fn difference(after: &Prediction, before: &Prediction) -> Sum {
    after.total().plus(-1.0, &before.total())
}
