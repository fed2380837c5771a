//! A chart as text: braille lines, a letter for each series at its points, and a legend.

use std::borrow::Cow;

use super::canvas::{Canvas, SEVERAL};
use super::form::{Chart, Series};
use super::scale::{Scale, Scales, left_out};
use crate::text::{display_width, taken};

/// The letters of the series, in order; further series share the last.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The widest chart: beyond it a curve is no easier to read.
const WIDEST: usize = 160;

impl Chart {
    /// The chart as lines of at most `width` columns, each ending in a line feed.
    pub fn text(&self, width: usize) -> String {
        let width = width.clamp(1, WIDEST);
        let rows = (width / 5).clamp(6, 18);
        let y = Scale::up(self, rows / 2);
        let names: Vec<String> = y.ticks.iter().map(|&tick| y.label(tick)).collect();
        let margin = names.iter().map(|name| display_width(name)).max().unwrap_or(0) + 2;
        let columns = width.saturating_sub(margin).max(4);
        let scales = Scales { x: Scale::across(self, (columns / 10).min(8)), y };
        let Scales { x, y } = &scales;
        let mut canvas = Canvas::new(columns, rows);
        let marks: Vec<(f64, &str)> =
            self.x.marks.iter().filter_map(|(at, name)| Some((x.place_inside(*at)?, name.as_str()))).collect();
        for (place, _) in &marks {
            canvas.line(canvas.dot_of((*place, 0.0)), canvas.dot_of((*place, 1.0)), 3);
        }
        for (index, series) in self.series.iter().enumerate() {
            draw(&mut canvas, series, &scales, letter(index));
        }
        let mut lines = vec![self.title.clone(), self.y.label.clone()];
        let tick_row = |tick: f64| y.place(tick).map_or(0, |place| canvas.dot_of((0.0, place)).1 / 4);
        for row in 0..rows {
            let name = y.ticks.iter().zip(&names).find(|(tick, _)| tick_row(**tick) == row).map(|(_, name)| name);
            let edge = if name.is_some() { '┤' } else { '│' };
            lines.push(format!("{}{edge}{}", right(name.map_or("", String::as_str), margin - 1), canvas.row(row)));
        }
        lines.extend(below(x, &canvas, columns).iter().map(|line| format!("{}{line}", " ".repeat(margin - 1))));
        lines.push(right(&self.x.label, width));
        if !marks.is_empty() {
            let names: Vec<&str> = marks.iter().map(|(_, name)| *name).collect();
            lines.extend(wrapped(&format!("dotted: {}", names.join(", ")), width));
        }
        lines.extend(self.legend(&canvas, width));
        lines.iter().filter(|line| !line.trim().is_empty()).map(|line| whole(line, width)).collect()
    }

    /// What the letters mean, and what is not shown.
    fn legend(&self, canvas: &Canvas, width: usize) -> Vec<String> {
        let named = self.entries().into_iter().map(|(index, name)| entry(letter(index), name));
        let mut lines = entries(named.chain(canvas.is_crowded().then(|| entry(SEVERAL, "several of them"))), width);
        if let Some(note) = self.left_out() {
            lines.extend(wrapped(&note, width));
        }
        lines
    }

    /// How many points are not shown, in words, if any are not.
    pub(super) fn left_out(&self) -> Option<String> {
        let shown: usize = self.series.iter().map(|series| series.points.len()).sum();
        match (shown, left_out(self)) {
            (0, _) => Some("No points.".into()),
            (_, 0) => None,
            (_, 1) => Some("1 point is not shown: it has no place on the axes.".into()),
            (_, count) => Some(format!("{count} points are not shown: they have no place on the axes.")),
        }
    }
}

fn entry(letter: char, name: &str) -> String {
    format!("{letter} {}", name.replace(|c: char| c.is_control(), " "))
}

/// The letter of a series.
pub(super) fn letter(index: usize) -> char {
    LETTERS.chars().nth(index).unwrap_or('Z')
}

/// Draws the line of a series, its intervals, and its letter at every point, or at evenly spaced ones where they are many.
fn draw(canvas: &mut Canvas, series: &Series, scales: &Scales, letter: char) {
    const MOST_LETTERS: usize = 16;
    let dots: Vec<_> = scales.points(series).map(|place| place.map(|place| canvas.dot_of(place))).collect();
    for pair in dots.windows(2) {
        if let [Some(from), Some(to)] = pair {
            canvas.line(*from, *to, 1);
        }
    }
    for (across, low, high) in scales.intervals(series) {
        canvas.line(canvas.dot_of((across, low)), canvas.dot_of((across, high)), 2);
    }
    let shown: Vec<_> = dots.into_iter().flatten().collect();
    let step = shown.len().div_ceil(MOST_LETTERS).max(1);
    for dot in shown.iter().step_by(step).chain(shown.last()) {
        canvas.letter(*dot, letter);
    }
}

/// The horizontal axis with its ticks, and their names: all of them, or every second, third ..., as fit beside each other.
fn below(x: &Scale, canvas: &Canvas, columns: usize) -> [String; 2] {
    let place = |&tick: &f64| Some((canvas.dot_of((x.place(tick)?, 0.0)).0 / 2 + 1, x.label(tick)));
    let ticks: Vec<(usize, String)> = x.ticks.iter().filter_map(place).collect();
    let names = (1..=ticks.len()).find_map(|step| side_by_side(ticks.iter().step_by(step), columns + 1));
    let mut axis: Vec<char> = std::iter::once('└').chain(std::iter::repeat_n('─', columns)).collect();
    let (places, names) = names.unwrap_or_default();
    for column in places {
        axis[column] = '┬';
    }
    [axis.into_iter().collect(), names]
}

/// Names below their columns, or ending at the right edge. Nothing if two of them would touch.
fn side_by_side<'a>(ticks: impl Iterator<Item = &'a (usize, String)>, width: usize) -> Option<(Vec<usize>, String)> {
    let (mut places, mut line) = (Vec::new(), String::new());
    for (column, name) in ticks {
        let wide = display_width(name);
        let start = column.saturating_sub(wide / 2).min(width.saturating_sub(wide));
        let used = display_width(&line);
        if used > 0 && start < used + 2 {
            return None;
        }
        line += &" ".repeat(start - used);
        line += name;
        places.push(*column);
    }
    Some((places, line))
}

/// Lines of at most this width.
pub(super) fn wrapped(text: &str, width: usize) -> impl Iterator<Item = String> {
    textwrap::wrap(text, width).into_iter().map(Cow::into_owned)
}

/// The entries of a legend in lines of at most this width. An entry is not broken between two lines where it fits into one.
pub(super) fn entries(entries: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let entries: Vec<String> = entries.map(|entry| entry.replace(' ', "\u{a0}")).collect();
    wrapped(&entries.join("   "), width).map(|line| line.replace('\u{a0}', " ")).collect()
}

/// The text at the right of a field of this width.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// A line of the page: cut, without trailing blanks, with its line feed.
pub(super) fn whole(line: &str, width: usize) -> String {
    cut(line, width).trim_end().to_owned() + "\n"
}

/// A line with what lies beyond the width removed, and control characters replaced.
pub(super) fn cut(line: &str, width: usize) -> String {
    taken(line.chars().map(|c| if c.is_control() { ' ' } else { c }), width)
}
