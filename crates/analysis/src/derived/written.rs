//! Formulas of costs as text, in the form that [`Route::formula`] prints: `a name: (2 x pipe.self@size=26 - CPU of read.read) / 2`.
//! Only those that come with howslow are read, so their texts last as long as the program.

use std::collections::BTreeMap;

use record::{FixedPoint, Value};

use super::route::{Part, Quantity, Route, cost};

/// Points, or choices of them, that formulas name instead of an `AXIS=VALUE`.
pub(crate) type NamedPoints = BTreeMap<String, String>;

/// A route with its name, which may be missing.
pub(crate) fn route(text: &str, points: &NamedPoints) -> Route {
    let (name, formula) = text.split_once(": ").unwrap_or(("", text));
    let (sum, divide_by) = formula.rsplit_once(" / ").map_or((formula, 1.0), |(sum, by)| (sum, number(by)));
    let sum = sum.trim_start_matches('(').trim_end_matches(')').replace(" - ", " + -");
    let (minus, plus): (Vec<&str>, Vec<&str>) = sum.split(" + ").partition(|term| term.starts_with('-'));
    let parts = |terms: Vec<&str>| -> &'static [Part] {
        terms.into_iter().map(|term| part(term.trim_start_matches('-'), points)).collect::<Vec<_>>().leak()
    };
    Route { name: name.to_string().leak(), plus: parts(plus), minus: parts(minus), divide_by }
}

/// A term of a route.
pub(crate) fn part(text: &str, points: &NamedPoints) -> Part {
    let (times, text) = text.split_once(" x ").map_or((1.0, text), |(times, rest)| (number(times), rest));
    let (of, text) = match (text.strip_prefix("CPU of "), text.strip_prefix("delta of ")) {
        (Some(rest), _) => (Quantity::Processor, rest),
        (_, Some(rest)) => (Quantity::Waiting, rest),
        _ => (Quantity::Time, text),
    };
    let (operation, at) = text.split_once('@').unwrap_or((text, ""));
    Part { of, ..cost(operation.to_string().leak()).at(point(at, points)).times(times) }
}

fn point(text: &str, points: &NamedPoints) -> FixedPoint {
    let choices = text.split(',').flat_map(|choice| points.get(choice).map_or(choice, String::as_str).split(','));
    let pairs = choices.filter_map(|choice| choice.split_once('='));
    let pairs = pairs.map(|(axis, value)| (&*axis.to_string().leak(), self::value(value)));
    pairs.collect::<Vec<_>>().leak()
}

fn value(text: &str) -> Value<&'static str> {
    let mebibytes = text.strip_suffix("MiB").and_then(|number| number.parse::<u64>().ok());
    match (mebibytes, text.parse()) {
        (Some(mebibytes), _) => Value::Bytes(mebibytes << 20),
        (None, Ok(number)) => Value::Number(number),
        (None, Err(_)) => Value::Word(text.to_string().leak()),
    }
}

/// A number in a formula. A test reads every formula, so that none is in vain.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_read_as_it_is_printed() {
        for text in [
            "loop.empty",
            "(pipe.roundtrip@distance=same,size=26 - 2 x pipe.self@size=26) / 2",
            "CPU of read.read@state=cold + delta of a.b - c@memory=16777216",
            "a.b / 512",
        ] {
            assert_eq!(route(text, &NamedPoints::new()).formula(), text);
        }
        let points = NamedPoints::from([("large".into(), "file=3,state=cold".into())]);
        let named = route("the name: a@large,order=x", &points);
        assert_eq!((named.name, named.formula().as_str()), ("the name", "a@file=3,order=x,state=cold"));
    }
}
