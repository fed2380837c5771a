//! Reads documents of which nothing is relied on, and words their figures.

use serde_json::Value;

pub(super) use crate::interval::time;

/// More than this of any list is counted, not shown.
pub(super) const MOST: usize = 500;

/// The number of this name.
pub(super) fn number(of: &Value, key: &str) -> Option<f64> {
    of.get(key)?.as_f64().filter(|number| number.is_finite())
}

/// The text of this name; empty if there is none.
pub(super) fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The value of this name as a word, whatever it is; empty if there is none.
pub(super) fn word(of: &Value, key: &str) -> String {
    of.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), String::from)).unwrap_or_default()
}

/// The items of the list of this name.
pub(super) fn items<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list of this name.
pub(super) fn texts(of: &Value, key: &str) -> Vec<String> {
    items(of, key).iter().filter_map(|item| item.as_str().map(String::from)).take(MOST).collect()
}

/// As [`texts`], with another limit, and with an empty text in the place of what is none.
pub(super) fn all_texts(of: &Value, key: &str, most: usize) -> Vec<String> {
    items(of, key).iter().map(|item| item.as_str().unwrap_or_default().to_string()).take(most).collect()
}

/// A share; `-` if there is none.
pub(super) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), record::units::percent)
}

/// A number by its first digits; `-` if there is none.
pub(super) fn amount(number: Option<f64>) -> String {
    number.map_or_else(|| "-".into(), record::units::significant)
}

/// Bytes a second; `-` if there are none.
pub(super) fn rate(bytes_per_second: Option<f64>) -> String {
    bytes_per_second.map_or_else(|| "-".into(), |rate| record::units::Amount(rate).of("B/s"))
}

/// A count; `-` if there is none.
pub(super) fn count(count: Option<f64>) -> String {
    count.map_or_else(|| "-".into(), crate::text::events)
}

/// How much more or less than 1 a ratio with its ends is: `+5.1 % (4.2 to 6.0)`.
pub(super) fn added(ratio: &Value) -> String {
    const MOST: f64 = 1e3;
    let figures = ["value", "low", "high"].map(|key| number(ratio, key).map_or(f64::NAN, |of| of.clamp(-MOST, MOST)));
    if figures[0].is_nan() { "-".into() } else { crate::interval::added(figures) }
}
