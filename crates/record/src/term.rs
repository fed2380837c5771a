//! A term: an operation at a point, and how often. Documents, mixes, the registry's constants and the derivations all refer
//! to costs by it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::point::{Point, Value};

/// A cost contained in another: this many times this operation at this point.
// In constants it is a `FixedTerm`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "Term", bound = "Id: JsonSchema, At: JsonSchema + Default + Serialize")
)]
pub struct Term<Id = String, At = Point> {
    /// How often one iteration contains it; a half is allowed.
    pub times: f64,
    /// The operation's id.
    pub operation: Id,
    /// The point it is taken at.
    #[serde(default)]
    pub at: At,
}

/// A point in a constant.
pub type FixedPoint = &'static [(&'static str, Value<&'static str>)];

/// A term in a constant.
pub type FixedTerm = Term<&'static str, FixedPoint>;

impl FixedTerm {
    /// The same term, as a document holds it.
    pub fn term(&self) -> Term {
        let at = self.at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, value.value()));
        Term { times: self.times, operation: self.operation.into(), at }
    }
}

impl Term {
    /// Id and point with plain numbers, as documents and other programs hold them: `pipe.self@size=4096`.
    pub fn name(&self) -> String {
        format!("{}{}", self.operation, self.at)
    }

    /// Id and point for people, who can type it so: `pipe.self@size=4KiB`.
    pub fn typed(&self) -> String {
        format!("{}{}", self.operation, self.at.typed())
    }
}
