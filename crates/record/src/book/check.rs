//! Printed figures that follow from others, and those that differ from the recomputed value.

use serde::Deserialize;

use super::figure::{decimals, number, positive};

/// A printed figure that is no cost and follows from no other: a size, a guess.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fact {
    /// The name of the quantity.
    pub name: String,
    /// As printed.
    pub printed: String,
    /// The unit.
    pub unit: String,
}

impl Fact {
    pub(super) fn check(&self) -> Result<(), String> {
        positive(&self.printed).map(drop)
    }

    /// As a number.
    pub fn value(&self) -> Option<f64> {
        number(&self.printed)
    }
}

/// A printed figure that belongs to no single cost: the quotient, the product or the difference of printed figures.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// Its row.
    pub name: String,
    /// Its column.
    pub column: String,
    /// As printed.
    pub printed: String,
    /// The dividend, as printed.
    pub over: Option<String>,
    /// A factor on the dividend, as printed.
    pub by: Option<String>,
    /// The divisor, as printed.
    pub under: Option<String>,
    /// The minuend, as printed.
    pub of: Option<String>,
    /// The subtrahend, as printed.
    pub less: Option<String>,
}

/// A printed figure that differs from the recomputed one after rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The cost; empty for a check.
    pub operation: String,
    /// The name in the publication.
    pub name: String,
    /// `ns`, `ms`, `block moves`, `kbit/s`; for a check its column.
    pub unit: String,
    /// As printed.
    pub printed: String,
    /// Recomputed from the other figures.
    pub recomputed: f64,
}

impl Check {
    pub(super) fn check(&self) -> Result<(), String> {
        positive(&self.printed)?;
        for text in [&self.over, &self.by, &self.under, &self.of, &self.less].into_iter().flatten() {
            positive(text)?;
        }
        let scaled = self.by.is_some() || self.under.is_some();
        match (&self.over, scaled, &self.of, &self.less) {
            (Some(_), true, None, None) | (None, false, Some(_), Some(_)) => Ok(()),
            _ => Err("a check is one figure over another, one by another, or one less another".into()),
        }
    }

    /// The value that follows from the other figures.
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
    /// The departure, if the recomputed figure, rounded to the printed digits, differs from the printed one.
    pub fn of(operation: &str, name: &str, unit: &str, printed: &str, recomputed: f64) -> Option<Departure> {
        // Compared as text, because 0.55 is not a binary fraction. Some print no zero before the point.
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

    /// `SETF 0.55 ms is 0.559`; for a check `ada 645/6180 2.62 is 2.612`. The recomputed figure has one digit more than
    /// the printed one.
    pub fn text(&self) -> String {
        let recomputed = format!("{:.*}", decimals(&self.printed) + 1, self.recomputed);
        let Departure { operation, name, unit, printed, .. } = self;
        if operation.is_empty() {
            return format!("{name} {unit} {printed} is {recomputed}");
        }
        format!("{name} {printed} {unit} is {recomputed}")
    }
}
