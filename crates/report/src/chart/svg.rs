//! A chart as SVG: a document without scripts, fonts or links, readable on light and dark pages, or a part of a page.

use std::fmt::Write;

use super::form::{Chart, Series};
use super::palette;
use super::scale::{Scale, Scales};
use super::text::letter;
use super::xml::{self, escaped, opening};

/// Points that have a mark of their own, at most.
const MOST_MARKS: usize = 40;

/// Where a drawing has its field: left, top, width and height, in a drawing of this width.
struct Frame {
    field: (f64, f64, f64, f64),
    width: f64,
    most_ticks: usize,
}

/// A document of its own has room.
const DOCUMENT: Frame = Frame { field: (92.0, 62.0, 610.0, 330.0), width: 720.0, most_ticks: 8 };
/// In a page a chart may stand on a telephone, so its letters are large beside its field.
const IN_PAGE: Frame = Frame { field: (74.0, 30.0, 390.0, 210.0), width: 480.0, most_ticks: 6 };

impl Frame {
    fn across(&self, place: f64) -> f64 {
        self.field.0 + place * self.field.2
    }

    fn down(&self, place: f64) -> f64 {
        self.field.1 + (1.0 - place) * self.field.3
    }

    fn bottom(&self) -> f64 {
        self.field.1 + self.field.3
    }
}

impl Chart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let mut svg = opening(DOCUMENT.width, self.height(&DOCUMENT), &self.title);
        self.draw(&mut svg, &DOCUMENT);
        svg + "</svg>\n"
    }

    /// The chart as a part of an HTML page, which has its title beside it and its colours in its own style. If it has an `id`, other
    /// places of the page can show it again.
    pub(crate) fn figure(&self, id: Option<&str>) -> String {
        let mut svg = self.figure_opening();
        let _ = match id {
            Some(id) => write!(svg, "<g id=\"{}\">", escaped(id)),
            None => write!(svg, "<g>"),
        };
        self.draw(&mut svg, &IN_PAGE);
        svg + "</g></svg>"
    }

    /// The drawing that [`Chart::figure`] has made under this id, once more.
    pub(crate) fn figure_again(&self, id: &str) -> String {
        format!("{}<use href=\"#{}\"/></svg>", self.figure_opening(), escaped(id))
    }

    fn figure_opening(&self) -> String {
        xml::figure_opening("chart", (IN_PAGE.width, self.height(&IN_PAGE)), &self.title)
    }

    fn height(&self, frame: &Frame) -> f64 {
        let lines = self.entries().len() + usize::from(self.left_out().is_some());
        frame.bottom() + if lines == 0 { 48.0 } else { 64.0 + 20.0 * lines as f64 }
    }

    fn draw(&self, svg: &mut String, frame: &Frame) {
        let scales = Scales { x: Scale::across(self, frame.most_ticks), y: Scale::up(self, frame.most_ticks - 1) };
        axes(svg, self, &scales, frame);
        marks(svg, self, &scales.x, frame);
        for (index, series) in self.series.iter().enumerate() {
            curve(svg, series, &scales, index, frame);
        }
        let mut line = frame.bottom() + 62.0;
        let left = frame.field.0;
        for (index, name) in self.entries() {
            let _ = writeln!(
                svg,
                "<line x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" {}/>\n<text x=\"{:.1}\" y=\"{line:.1}\">{} {}</text>",
                left + 34.0,
                line - 4.0,
                line - 4.0,
                stroke(index),
                left + 42.0,
                letter(index),
                escaped(name)
            );
            line += 20.0;
        }
        if let Some(note) = self.left_out() {
            let _ = writeln!(svg, "<text x=\"{left:.1}\" y=\"{line:.1}\">{}</text>", escaped(&note));
        }
    }

    /// The series that the legend names.
    pub(super) fn entries(&self) -> Vec<(usize, &str)> {
        let all = self.series.iter().map(|series| series.name.as_str()).enumerate();
        all.filter(|(_, name)| self.series.len() > 1 || !name.is_empty()).collect()
    }
}

/// The grid, the edges, the ticks with their names, the names of the axes.
fn axes(svg: &mut String, chart: &Chart, Scales { x, y }: &Scales, frame: &Frame) {
    let (left, top, right, bottom) = (frame.field.0, frame.field.1, frame.field.0 + frame.field.2, frame.bottom());
    for &tick in &y.ticks {
        let at = frame.down(y.place(tick).unwrap_or(0.0));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            escaped(&y.label(tick))
        );
    }
    for &tick in &x.ticks {
        let at = frame.across(x.place(tick).unwrap_or(0.0));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            escaped(&x.label(tick))
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

/// The numbers that the horizontal axis marks: a dashed line with its name at the top.
fn marks(svg: &mut String, chart: &Chart, x: &Scale, frame: &Frame) {
    let (top, bottom) = (frame.field.1, frame.bottom());
    for (number, name) in &chart.x.marks {
        let Some(place) = x.place_inside(*number) else { continue };
        let at = frame.across(place);
        let _ = writeln!(
            svg,
            "<path class=\"axis\" stroke-dasharray=\"2 3\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            at - 4.0,
            top + 12.0,
            escaped(name)
        );
    }
}

/// The colour and dashes of a series.
fn stroke(index: usize) -> String {
    let (colour, dashes) = (palette::series(index), palette::DASHES[index % palette::DASHES.len()]);
    format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" fill=\"none\"")
}

/// The line of a series, interrupted where a point cannot be shown; its intervals; its letter at some points.
fn curve(svg: &mut String, series: &Series, scales: &Scales, index: usize, frame: &Frame) {
    let drawn = |(at, up)| (frame.across(at), frame.down(up));
    let places: Vec<Option<(f64, f64)>> = scales.points(series).map(|place| place.map(drawn)).collect();
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
    let colour = palette::series(index);
    for (at, low, high) in scales.intervals(series) {
        let (at, from, to) = (frame.across(at), frame.down(low), frame.down(high));
        let ends = format!("M{:.1} {from:.1}h6M{:.1} {to:.1}h6M{at:.1} {from:.1}V{to:.1}", at - 3.0, at - 3.0);
        let _ = writeln!(svg, "<path d=\"{ends}\" stroke=\"{colour}\" fill=\"none\"/>");
    }
    let shown: Vec<&(f64, f64)> = places.iter().flatten().collect();
    for (at, up) in shown.iter().step_by(shown.len().div_ceil(MOST_MARKS).max(1)) {
        let _ = writeln!(svg, "<circle cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    // The letter of the legend stands at the last point.
    if let Some((at, up)) = shown.last().filter(|_| !series.name.is_empty()) {
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at + 6.0, up - 5.0, letter(index));
    }
}
