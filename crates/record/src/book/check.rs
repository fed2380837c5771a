//! Printed figures that follow from others, and those that do not follow as printed.

use serde::Deserialize;

use super::figure::{decimals, number};

/// A printed figure that is no cost and follows from nothing printed: a size, a guess.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fact {
    /// What it is of.
    pub name: String,
    /// As printed.
    pub printed: String,
    /// What it counts.
    pub unit: String,
}

impl Fact {
    pub(super) fn check(&self) -> Result<(), String> {
        match number(&self.printed).filter(|figure| *figure > 0.0) {
            Some(_) => Ok(()),
            None => Err(format!("{} is not a positive number", self.printed)),
        }
    }

    /// As a number.
    pub fn value(&self) -> Option<f64> {
        number(&self.printed)
    }
}

/// A printed figure that belongs to no single cost: the quotient, the product or the difference of printed ones.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// The row it stands in.
    pub name: String,
    /// The column it stands in.
    pub column: String,
    /// As printed.
    pub printed: String,
    /// What is divided, as printed.
    pub over: Option<String>,
    /// What that is multiplied by, as printed.
    pub by: Option<String>,
    /// What it is divided by, as printed.
    pub under: Option<String>,
    /// What is subtracted from, as printed.
    pub of: Option<String>,
    /// What is subtracted, as printed.
    pub less: Option<String>,
}

/// A printed figure that is not what the others give when rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The cost; empty for a check.
    pub operation: String,
    /// As the publication calls it.
    pub name: String,
    /// `ns`, `ms`, `block moves`, `kbit/s`; of a check its column.
    pub unit: String,
    /// As printed.
    pub printed: String,
    /// From the others.
    pub recomputed: f64,
}

impl Check {
    pub(super) fn check(&self) -> Result<(), String> {
        let texts = [&self.over, &self.by, &self.under, &self.of, &self.less].into_iter().flatten();
        let wrong = |text: &&String| number(text).is_none_or(|it| it <= 0.0);
        if let Some(text) = std::iter::once(&self.printed).chain(texts).find(wrong) {
            return Err(format!("{text} is not a positive number"));
        }
        let scaled = self.by.is_some() || self.under.is_some();
        match (&self.over, scaled, &self.of, &self.less) {
            (Some(_), true, None, None) | (None, false, Some(_), Some(_)) => Ok(()),
            _ => Err("a check is one figure over another, one by another, or one less another".into()),
        }
    }

    /// What the figures give.
    pub fn recomputed(&self) -> Option<f64> {
        let figure = |text: &Option<String>| text.as_deref().and_then(number);
        match figure(&self.over) {
            Some(over) => Some(over * figure(&self.by).unwrap_or(1.0) / figure(&self.under).unwrap_or(1.0)),
            None => Some(figure(&self.of)? - figure(&self.less)?),
        }
    }

    pub(super) fn departure(&self) -> Option<Departure> {
        Departure::of("", &self.name, &self.column, &self.printed, self.recomputed()?)
    }
}

impl Departure {
    /// Where the recomputed figure, rounded to the printed digits, is not the printed one.
    pub fn of(operation: &str, name: &str, unit: &str, printed: &str, recomputed: f64) -> Option<Departure> {
        // Compared as printed: 0.55 is not a binary fraction. Some print no zero before the point.
        let digits = |text: &str| text.trim_start_matches('0').to_string();
        let same = digits(&format!("{recomputed:.*}", decimals(printed))) == digits(printed);
        (!same).then(|| Departure {
            operation: operation.into(),
            name: name.into(),
            unit: unit.into(),
            printed: printed.into(),
            recomputed,
        })
    }

    /// `SETF 0.55 ms is 0.559`, of a check `ada 645/6180 2.62 is 2.612`: with one digit more than was printed.
    pub fn text(&self) -> String {
        let recomputed = format!("{:.*}", decimals(&self.printed) + 1, self.recomputed);
        let Departure { operation, name, unit, printed, .. } = self;
        if operation.is_empty() {
            return format!("{name} {unit} {printed} is {recomputed}");
        }
        format!("{name} {printed} {unit} is {recomputed}")
    }
}
