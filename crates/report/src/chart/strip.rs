//! A strip: many figures with their spans along one line, small enough to stand in a row of a table.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A figure that is so many times the middle one would press all others together.
const FAR: f64 = 4.0;
const SIZE: (f64, f64) = (600.0, 60.0);

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Where it stands, 0 to 1.
    pub at: f64,
    /// The figure.
    pub value: f64,
    /// The lower end of its span.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Its series, which gives the colour by the page's style.
    pub series: usize,
}

/// The ends of the logarithmic scale of these figures: they hold all but far ones, which stand at the edge, and of the spans what is
/// no further than twice from them. `None` without figures.
pub(crate) fn ends(marks: &[Mark]) -> Option<(f64, f64)> {
    let values = || marks.iter().map(|mark| mark.value).filter(is_known);
    let least = values().reduce(f64::min)?;
    let middle = analysis::statistics::median(values())?;
    let most = values().reduce(f64::max)?.min(FAR * middle);
    let low = marks.iter().map(|mark| mark.low).filter(is_known).fold(least, f64::min).max(least / 2.0);
    let high = marks.iter().map(|mark| mark.high).filter(is_known).fold(most, f64::max).min(most * 2.0);
    Some(if low < high { (low, high) } else { (low * 0.99, high * 1.01) })
}

fn is_known(value: &f64) -> bool {
    value.is_finite() && *value > 0.0
}

/// The figures between these ends as a part of an HTML page, whose text has the same content.
pub(crate) fn figure(marks: &[Mark], (least, most): (f64, f64)) -> String {
    let (wide, high) = SIZE;
    let mut svg = format!("<svg viewBox=\"0 0 {wide} {high}\" preserveAspectRatio=none aria-hidden=true>");
    let down = |value: f64| {
        let place = (value.max(f64::MIN_POSITIVE) / least).ln() / (most / least).ln();
        4.0 + (1.0 - place.clamp(0.0, 1.0)) * (high - 8.0)
    };
    let half = (wide / marks.len().max(1) as f64 / 2.0).clamp(3.0, 8.0);
    let series: BTreeSet<usize> = marks.iter().map(|mark| mark.series).collect();
    for place in series {
        let (mut spans, mut values) = (String::new(), String::new());
        for Mark { at, value, low, high, .. } in
            marks.iter().filter(|mark| mark.series == place && is_known(&mark.value))
        {
            let across = at * wide;
            let _ = write!(spans, "M{across:.0} {:.0}V{:.0}", down(*high), down(*low));
            let _ = write!(values, "M{:.0} {:.0}h{:.0}", across - half, down(*value), 2.0 * half);
        }
        let _ = write!(svg, "<path class=s{place} d=\"{spans}\"/><path class=t{place} d=\"{values}\"/>");
    }
    svg + "</svg>"
}
