//! A chart as an SVG document: one file without scripts, fonts or links, readable on light and dark pages.

use std::fmt::Write;

use super::form::{Chart, Series};
use super::scale::{Scale, heights};
use super::text::letter;
use super::xml::{escaped, opening};

/// Colours that are told apart on white and on black, also by most colour-blind readers. The letters and dashes tell the
/// series apart without them.
const COLOURS: [&str; 8] = ["#0a84c6", "#d9600d", "#1a9a6c", "#c0519a", "#a67c00", "#7d6bd0", "#cf3f4f", "#6b7780"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];
/// The inner field: left, top, width, height.
const FIELD: (f64, f64, f64, f64) = (92.0, 62.0, 610.0, 330.0);
const WIDTH: f64 = 720.0;
/// Points that have a mark of their own, at most.
const MOST_MARKS: usize = 40;

impl Chart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let y = Scale::of(heights(&self.series), &self.y, 7);
        let x = Scale::of(self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0)), &self.x, 8);
        let legend = self.entries();
        let height = FIELD.1 + FIELD.3 + 64.0 + 20.0 * (legend.len() + usize::from(self.left_out().is_some())) as f64;
        let mut svg = opening(WIDTH, height, &self.title);
        axes(&mut svg, self, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            curve(&mut svg, series, (&x, &y), index);
        }
        let mut line = FIELD.1 + FIELD.3 + 62.0;
        for (index, name) in legend {
            let _ = writeln!(
                svg,
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" {}/>\n<text x=\"{:.1}\" y=\"{line:.1}\">{} {}</text>",
                FIELD.0,
                FIELD.0 + 34.0,
                line - 4.0,
                line - 4.0,
                stroke(index),
                FIELD.0 + 42.0,
                letter(index),
                escaped(name)
            );
            line += 20.0;
        }
        if let Some(note) = self.left_out() {
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{line:.1}\">{}</text>", FIELD.0, escaped(&note));
        }
        svg + "</svg>\n"
    }

    /// The series that the legend names.
    fn entries(&self) -> Vec<(usize, &str)> {
        let all = self.series.iter().map(|series| series.name.as_str()).enumerate();
        all.filter(|(_, name)| self.series.len() > 1 || !name.is_empty()).collect()
    }
}

fn across(place: f64) -> f64 {
    FIELD.0 + place * FIELD.2
}

fn down(place: f64) -> f64 {
    FIELD.1 + (1.0 - place) * FIELD.3
}

/// The grid, the edges, the ticks with their names, the names of the axes.
fn axes(svg: &mut String, chart: &Chart, x: &Scale, y: &Scale) {
    let (left, top, right, bottom) = (FIELD.0, FIELD.1, FIELD.0 + FIELD.2, FIELD.1 + FIELD.3);
    for &tick in &y.ticks {
        let at = down(y.place(tick).unwrap_or(0.0));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            escaped(&y.told(tick))
        );
    }
    for &tick in &x.ticks {
        let at = across(x.place(tick).unwrap_or(0.0));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            escaped(&x.told(tick))
        );
    }
    let _ = writeln!(svg, "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
    let _ = writeln!(svg, "<text x=\"14\" y=\"{:.1}\">{}</text>", top - 14.0, escaped(&chart.y.label));
    let _ = writeln!(
        svg,
        "<text x=\"{right:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        bottom + 38.0,
        escaped(&chart.x.label)
    );
}

/// The colour and dashes of a series.
fn stroke(index: usize) -> String {
    let (colour, dashes) = (COLOURS[index % COLOURS.len()], DASHES[index % DASHES.len()]);
    format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" fill=\"none\"")
}

/// The line of a series, interrupted where a point cannot be shown; its intervals; its letter at some points.
fn curve(svg: &mut String, series: &Series, (x, y): (&Scale, &Scale), index: usize) {
    let places: Vec<Option<(f64, f64)>> =
        series.points.iter().map(|&(at, up)| Some((across(x.place(at)?), down(y.place(up)?)))).collect();
    let mut path = String::new();
    let mut joined = false;
    for place in &places {
        if let Some((at, up)) = place {
            let _ = write!(path, "{}{at:.1} {up:.1}", if joined { 'L' } else { 'M' });
        }
        joined = place.is_some();
    }
    if path.is_empty() {
        return;
    }
    let _ = writeln!(svg, "<path d=\"{path}\" {}/>", stroke(index));
    let colour = COLOURS[index % COLOURS.len()];
    for (point, &(low, high)) in series.points.iter().zip(&series.intervals) {
        if let (Some(at), Some(low), Some(high)) = (x.place(point.0), y.place_of_end(low), y.place_of_end(high)) {
            let (at, from, to) = (across(at), down(low), down(high));
            let ends = format!("M{:.1} {from:.1}h6M{:.1} {to:.1}h6M{at:.1} {from:.1}V{to:.1}", at - 3.0, at - 3.0);
            let _ = writeln!(svg, "<path d=\"{ends}\" stroke=\"{colour}\" fill=\"none\"/>");
        }
    }
    let shown: Vec<&(f64, f64)> = places.iter().flatten().collect();
    for (at, up) in shown.iter().step_by(shown.len().div_ceil(MOST_MARKS).max(1)) {
        let _ = writeln!(svg, "<circle cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    // The letter of the legend stands at the last point.
    if let Some((at, up)) = shown.last() {
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at + 6.0, up - 5.0, letter(index));
    }
}
