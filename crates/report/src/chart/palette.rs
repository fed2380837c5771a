//! The one palette: of curves, of shades, of verdicts. Most colour-blind readers distinguish its colours, on white and on black; a
//! letter, dashes or a word means the same as each of them.

/// Colours of the series of a chart, in this order.
pub(crate) const SERIES: [&str; 8] =
    ["#0a84c6", "#d9600d", "#1a9a6c", "#c0519a", "#a67c00", "#7d6bd0", "#cf3f4f", "#6b7780"];
/// Dashes of the series.
pub(super) const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];
/// The colour whose opacity shades a matrix.
pub(super) const SHADE: &str = SERIES[1];

/// The colour of a series at this place.
pub(super) fn series(index: usize) -> &'static str {
    SERIES[index % SERIES.len()]
}
