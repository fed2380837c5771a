//! How answers are written where `--json` prints them otherwise than their fields are.

use std::marker::PhantomData;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::statistics::Interval;

/// What a `T` is written as.
pub trait Form<T>: Serialize {
    fn of(value: &T) -> Self;
}

impl<T, F: Form<T>> Form<Option<T>> for Option<F> {
    fn of(value: &Option<T>) -> Option<F> {
        value.as_ref().map(F::of)
    }
}

impl<T, F: Form<T>> Form<Vec<T>> for Vec<F> {
    fn of(values: &Vec<T>) -> Vec<F> {
        values.iter().map(F::of).collect()
    }
}

/// `#[serde(with = "As::<F>")]`: the field is written in the form `F`, which the schema describes, and read from it.
pub struct As<F>(PhantomData<F>);

impl<F> As<F> {
    /// Writes the value in the form.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        F: Form<T>,
    {
        F::of(value).serialize(serializer)
    }
}

impl As<Option<TimeFigure>> {
    /// Reads a time; an end that is null is the time itself.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Interval>, D::Error> {
        let read = |TimeFigure { ns, low_ns, high_ns }| {
            let value = ns?;
            let (low, high) = (low_ns.unwrap_or(value).min(value), high_ns.unwrap_or(value).max(value));
            Some(Interval { value, low, high })
        };
        Ok(Option::<TimeFigure>::deserialize(deserializer)?.and_then(read))
    }
}

#[cfg(feature = "schema")]
impl<F: JsonSchema> JsonSchema for As<F> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        F::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        F::schema_id()
    }

    fn inline_schema() -> bool {
        F::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        F::json_schema(generator)
    }

    // Without this, a field that may be null counts as required.
    fn _schemars_private_is_option() -> bool {
        F::_schemars_private_is_option()
    }
}

/// A time in nanoseconds with its 95 % interval. Ends that a single round does not tell are null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeFigure {
    /// The time.
    pub ns: Option<f64>,
    /// Its lower end.
    pub low_ns: Option<f64>,
    /// Its upper end.
    pub high_ns: Option<f64>,
}

impl From<&Interval> for TimeFigure {
    fn from(time: &Interval) -> TimeFigure {
        TimeFigure { ns: finite(time.value), low_ns: finite(time.low), high_ns: finite(time.high) }
    }
}

impl Form<Interval> for TimeFigure {
    fn of(time: &Interval) -> TimeFigure {
        time.into()
    }
}

/// The ends alone.
impl Form<Interval> for [f64; 2] {
    fn of(interval: &Interval) -> [f64; 2] {
        [interval.low, interval.high]
    }
}

/// A figure with its 95 % interval; without ends where nothing supports one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OpenFigure {
    /// The figure.
    value: f64,
    /// Its lower end.
    low: Option<f64>,
    /// Its upper end.
    high: Option<f64>,
}

impl Form<Interval> for OpenFigure {
    fn of(interval: &Interval) -> OpenFigure {
        let end = |end| interval.is_bounded().then_some(end);
        OpenFigure { value: interval.value, low: end(interval.low), high: end(interval.high) }
    }
}

/// JSON has no number for what is not finite.
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
