//! A strip: many figures with their spans along one line, small enough to stand in a row of a table.

use std::fmt::Write;

/// A figure that is so many times the middle one would press all others together.
const FAR: f64 = 4.0;
const SIZE: (f64, f64) = (600.0, 60.0);

/// Figures side by side on a logarithmic scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strip {
    pub marks: Vec<Mark>,
}

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

impl Strip {
    /// The ends of its scale: they hold all figures but far ones, which stand at the edge, and of the spans what is no further than
    /// twice from them. `None` without figures.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let known = |value: &f64| value.is_finite() && *value > 0.0;
        let values = || self.marks.iter().map(|mark| mark.value).filter(known);
        let least = values().reduce(f64::min)?;
        let middle = analysis::statistics::median(values())?;
        let most = values().reduce(f64::max)?.min(FAR * middle);
        let low = self.marks.iter().map(|mark| mark.low).filter(known).fold(least, f64::min).max(least / 2.0);
        let high = self.marks.iter().map(|mark| mark.high).filter(known).fold(most, f64::max).min(most * 2.0);
        Some(if low < high { (low, high) } else { (low * 0.99, high * 1.01) })
    }

    /// As a part of an HTML page, whose text has the same content.
    pub fn figure(&self) -> String {
        let (wide, high) = SIZE;
        let mut svg = format!("<svg viewBox=\"0 0 {wide} {high}\" preserveAspectRatio=none aria-hidden=true>");
        let Some((least, most)) = self.ends() else { return svg + "</svg>" };
        let down = |value: f64| {
            let place = (value.max(f64::MIN_POSITIVE) / least).ln() / (most / least).ln();
            4.0 + (1.0 - place.clamp(0.0, 1.0)) * (high - 8.0)
        };
        let mark = (wide / self.marks.len().max(1) as f64 / 2.0).clamp(3.0, 8.0);
        let mut series: Vec<usize> = self.marks.iter().map(|mark| mark.series).collect();
        series.sort_unstable();
        series.dedup();
        for place in series {
            let (mut spans, mut values) = (String::new(), String::new());
            let of_series =
                self.marks.iter().filter(|mark| mark.series == place && mark.value.is_finite() && mark.value > 0.0);
            for Mark { at, value, low, high, .. } in of_series {
                let across = at * wide;
                let _ = write!(spans, "M{across:.0} {:.0}V{:.0}", down(*high), down(*low));
                let _ = write!(values, "M{:.0} {:.0}h{:.0}", across - mark, down(*value), 2.0 * mark);
            }
            let _ = write!(svg, "<path class=s{place} d=\"{spans}\"/><path class=t{place} d=\"{values}\"/>");
        }
        svg + "</svg>"
    }
}
