//! Documents that other verbs print with `--json`, as sections of a page. They come from files, so nothing in them is relied on.

mod anonymous;
mod bill;
mod fleet;
mod interference;
mod load;
mod noise;
mod other;
mod prefetch;
mod watch;

use serde_json::Value;

use super::Section;

pub use anonymous::AnonymousDocument;

/// The section of a document. `name` is what it is called, `place` its number among those of the page.
pub fn document_section(document: &Value, name: &str, place: usize) -> Section {
    let id = |word: &str| format!("{word}-{place}");
    let has = |keys: &[&str]| keys.iter().all(|key| document.get(key).is_some());
    match () {
        () if has(&["seen", "rows", "explained"]) => bill::bill(document, id("bill")),
        () if has(&["bills", "figures", "rows"]) => bill::changes(document, id("bills")),
        () if has(&["cpus", "together", "machine"]) => noise::noise(document, id("noise")),
        () if has(&["victims", "cells"]) || has(&["kinds", "cells"]) => interference::interference(document, id("interference")),
        () if has(&["plan", "configurations"]) => load::load(document, id("load")),
        () if has(&["changes", "among"]) => watch::watch(document, id("watch")),
        () if has(&["slow", "classes"]) => fleet::fleet(document, id("fleet")),
        () if has(&["windows", "distances", "quantities"]) => prefetch::prefetch(document, id("prefetch")),
        () if document.get("prefetch").is_some_and(|inner| inner.get("windows").is_some()) => {
            prefetch::prefetch(&document["prefetch"], id("prefetch"))
        }
        () => other::other(document, name, id("document")),
    }
}

/// More than this of any list is counted, not shown.
const MOST: usize = 500;

/// The number of this name.
fn number(of: &Value, key: &str) -> Option<f64> {
    of.get(key)?.as_f64().filter(|number| number.is_finite())
}

/// The text of this name; empty if there is none.
fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The items of the list of this name.
fn items<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list of this name.
fn texts(of: &Value, key: &str) -> Vec<String> {
    items(of, key).iter().filter_map(|item| item.as_str().map(String::from)).take(MOST).collect()
}

/// As [`texts`], with another limit, and with an empty text in the place of what is none.
fn all_texts(of: &Value, key: &str, most: usize) -> Vec<String> {
    items(of, key).iter().map(|item| item.as_str().unwrap_or_default().to_string()).take(most).collect()
}

/// A time in ns; `-` if there is none.
fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".into(), |ns| record::Nanoseconds(ns).to_string())
}

/// A share; `-` if there is none.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), record::units::percent)
}

/// A count; `-` if there is none.
fn count(count: Option<f64>) -> String {
    let told = |count: f64| if count.fract() == 0.0 && count.abs() < 100.0 { format!("{count}") } else { record::units::grouped(count) };
    count.map_or_else(|| "-".into(), told)
}

/// How much more or less than 1 a ratio with its ends is: `+5.1 % (4.2 to 6.0)`.
fn added(ratio: &Value) -> String {
    const MOST: f64 = 1e5;
    let points = |key: &str| number(ratio, key).map(|value| ((value - 1.0) * 100.0).clamp(-MOST, MOST));
    match (points("value"), points("low"), points("high")) {
        (Some(value), Some(low), Some(high)) => format!("{value:+.1} % ({low:.1} to {high:.1})"),
        (Some(value), ..) => format!("{value:+.1} %"),
        _ => "-".into(),
    }
}
