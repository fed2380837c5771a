//! A flame graph from folded stacks, `process;thread;call 23`: how much of the whole each stack takes, the callers below.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::palette;
use super::xml::{escaped, figure_opening, opening};

/// Deeper frames, and stacks beyond so many, are left out.
const DEEPEST: usize = 66;
const MOST_STACKS: usize = 100_000;
/// Narrower frames than this share of the whole are not drawn.
const LEAST: f64 = 0.002;
const ROW: f64 = 20.0;
const WIDTH: f64 = 960.0;

/// What all stacks together take, by their frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flame {
    weight: f64,
    frames: BTreeMap<String, Flame>,
}

impl Flame {
    /// Reads folded stacks. A line that is none is left out.
    pub fn from_folded(text: &str) -> Flame {
        let mut all = Flame::default();
        for line in text.lines().take(MOST_STACKS) {
            let Some((stack, weight)) = line.rsplit_once(' ') else { continue };
            let Some(weight) = weight.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight > 0.0) else {
                continue;
            };
            all.weight += weight;
            let mut at = &mut all;
            for frame in stack.split(';').take(DEEPEST) {
                at = at.frames.entry(frame.chars().take(200).collect()).or_default();
                at.weight += weight;
            }
        }
        all
    }

    /// True if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    fn depth(&self) -> usize {
        1 + self.frames.values().map(Flame::depth).max().unwrap_or(0)
    }

    /// As an SVG document. `what` names what the weights are of.
    pub fn svg(&self, title: &str, what: &str) -> String {
        let height = ROW * self.depth() as f64 + 48.0;
        let mut svg = opening(WIDTH, height, title);
        self.draw(&mut svg, what, height);
        svg + "</svg>\n"
    }

    /// As a part of an HTML page.
    pub(crate) fn figure(&self, title: &str, what: &str) -> String {
        let height = ROW * self.depth() as f64 + 2.0;
        let mut svg = figure_opening("flame", (WIDTH, height), title);
        self.draw(&mut svg, what, height);
        svg + "</svg>"
    }

    fn draw(&self, svg: &mut String, what: &str, height: f64) {
        if self.weight > 0.0 {
            let name = format!("all {what}");
            self.frame(svg, &name, (0.0, WIDTH), height - ROW - 1.0, self.weight);
        }
    }

    /// A frame with those that it called above it.
    fn frame(&self, svg: &mut String, name: &str, (left, width): (f64, f64), top: f64, whole: f64) {
        const LETTER: f64 = 7.0;
        let share = self.weight / whole;
        let fits = ((width - 6.0) / LETTER).max(0.0) as usize;
        let shown: String = if fits < 3 { String::new() } else { cut(name, fits) };
        let colour =
            palette::series(name.bytes().fold(5, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
        let _ = write!(
            svg,
            "<g><title>{}: {:.1} %</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
             fill-opacity=\"0.28\"/>",
            escaped(name),
            share * 100.0,
            (width - 1.0).max(0.5),
            ROW - 1.0
        );
        if !shown.is_empty() {
            let _ =
                write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", left + 3.0, top + ROW - 6.0, escaped(&shown));
        }
        *svg += "</g>\n";
        let mut at = left;
        for (name, called) in &self.frames {
            let wide = width * called.weight / self.weight;
            if called.weight / whole >= LEAST {
                called.frame(svg, name, (at, wide), top - ROW, whole);
            }
            at += wide;
        }
    }
}

/// A name of at most so many letters.
fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most { name.into() } else { name.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_wide_as_their_stacks_weigh() {
        let flame = Flame::from_folded("a;b 3\na;<c> 1\nno weight\nx;y NaN\nx;y -2\n;; inf\n");
        assert_eq!(flame.weight, 4.0);
        let svg = flame.svg("stacks", "samples");
        let document = roxmltree::Document::parse(&svg).expect("SVG");
        let titles: Vec<_> =
            document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
        assert_eq!(titles, ["stacks", "all samples: 100.0 %", "a: 100.0 %", "<c>: 25.0 %", "b: 75.0 %"]);
    }

    #[test]
    fn hostile_stacks_are_bounded() {
        let deep = "f;".repeat(100_000) + "end 5";
        let flame = Flame::from_folded(&deep);
        assert!(flame.depth() <= DEEPEST + 1);
        assert!(flame.svg("deep", "samples").len() < 20_000);
        assert!(Flame::from_folded("").is_empty());
    }
}
