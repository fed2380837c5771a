//! The cells of a terminal in memory. Parts of a frame write styled text into areas of it; what differs from the frame before it is what
//! a terminal is sent.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Area {
    /// Its first lines, and the others.
    pub(crate) fn top(self, lines: u16) -> (Area, Area) {
        let height = lines.min(self.height);
        (Area { height, ..self }, Area { y: self.y + height, height: self.height - height, ..self })
    }

    /// Its first columns, and the others.
    pub(crate) fn left(self, columns: u16) -> (Area, Area) {
        let width = columns.min(self.width);
        (Area { width, ..self }, Area { x: self.x + width, width: self.width - width, ..self })
    }

    /// Without its outermost cells.
    fn inside(self) -> Area {
        let (width, height) = (self.width.saturating_sub(2), self.height.saturating_sub(2));
        Area { x: self.x + 1, y: self.y + 1, width, height }
    }

    fn lines(self) -> impl Iterator<Item = Area> {
        (self.y..self.y + self.height).map(move |y| Area { y, height: 1, ..self })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// A character of two columns has a second cell, of nothing.
    symbol: char,
    style: Style,
}

const NOTHING: char = '\0';
const BLANK: Cell = Cell { symbol: ' ', style: Style::new() };

/// Pieces of a line, each with its style.
pub(crate) type Spans = Vec<(String, Style)>;

/// A piece of a line without a style.
pub(crate) fn plain(text: impl Into<String>) -> (String, Style) {
    (text.into(), Style::new())
}

/// The cells of a frame.
#[derive(Debug)]
pub struct Canvas {
    width: u16,
    height: u16,
    cells: Vec<Cell>,
}

impl Canvas {
    /// Blanks.
    pub fn new(width: u16, height: u16) -> Canvas {
        Canvas { width, height, cells: vec![BLANK; usize::from(width) * usize::from(height)] }
    }

    /// All of it.
    pub(crate) fn area(&self) -> Area {
        Area { x: 0, y: 0, width: self.width, height: self.height }
    }

    fn cells(&mut self, area: Area) -> &mut [Cell] {
        let start = usize::from(area.y) * usize::from(self.width) + usize::from(area.x);
        &mut self.cells[start..start + usize::from(area.width)]
    }

    /// Writes lines, each from the left of the area; what has no room is cut off.
    pub(crate) fn write(&mut self, area: Area, lines: impl IntoIterator<Item = Spans>) {
        for (line, spans) in area.lines().zip(lines) {
            let mut rest = line;
            for (text, style) in spans {
                rest = self.put(rest, &text, style);
            }
        }
    }

    /// Writes into the first line of the area. Returns what is left of it.
    fn put(&mut self, mut area: Area, text: &str, style: Style) -> Area {
        for symbol in text.chars() {
            let width = symbol.width().unwrap_or(0) as u16;
            if width == 0 {
                continue;
            }
            if width > area.width || area.height == 0 {
                return Area { width: 0, ..area };
            }
            let (here, rest) = area.left(width);
            self.cells(here).fill(Cell { symbol: NOTHING, style });
            self.cells(here)[0].symbol = symbol;
            area = rest;
        }
        area
    }

    /// Writes rows of cells, one blank apart. The column without a width has the room that the others leave, and its texts stand at the
    /// left; all others are numbers, at the right.
    pub(crate) fn table(
        &mut self,
        area: Area,
        widths: &[Option<u16>],
        rows: impl IntoIterator<Item = (Vec<String>, Style)>,
    ) {
        let gaps = (widths.len() as u16).saturating_sub(1);
        let left = area.width.saturating_sub(widths.iter().flatten().sum::<u16>() + gaps);
        for (line, (texts, style)) in area.lines().zip(rows) {
            self.cells(line).fill(Cell { style, ..BLANK });
            let mut rest = line;
            for (text, width) in texts.iter().zip(widths) {
                let (cell, behind) = rest.left(width.unwrap_or(left));
                let blanks = match width {
                    Some(_) => usize::from(cell.width).saturating_sub(text.chars().count()),
                    None => 0,
                };
                self.put(cell.left(blanks as u16).1, text, style);
                rest = behind.left(1).1;
            }
        }
    }

    /// Draws a line at the top, with a title in it. Returns the area below.
    pub(crate) fn titled(&mut self, area: Area, title: (String, Style)) -> Area {
        let (line, below) = area.top(1);
        let rest = self.put(line, &title.0, title.1);
        self.put(rest, &"─".repeat(rest.width.into()), Style::new());
        below
    }

    /// Draws a border with a title in it. Returns the area inside.
    pub(crate) fn bordered(&mut self, area: Area, title: &str) -> Area {
        let inside = area.inside();
        let across = "─".repeat(inside.width.into());
        let last = usize::from(area.height).saturating_sub(1);
        for (index, line) in area.lines().enumerate() {
            let (first, fill, end) = match index {
                0 => ("┌", across.clone(), "┐"),
                index if index == last => ("└", across.clone(), "┘"),
                _ => ("│", " ".repeat(inside.width.into()), "│"),
            };
            self.put(line, &format!("{first}{fill}{end}"), Style::new());
        }
        self.put(Area { y: area.y, height: area.height.min(1), ..inside }, title, Style::new());
        inside
    }

    /// Draws a bar for each share of 1, from the left, in eighths of a cell.
    pub(crate) fn bars(&mut self, area: Area, shares: &[f64]) {
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        for (line, above) in area.lines().zip((0..usize::from(area.height)).rev()) {
            let eighths = |share: &f64| (share * f64::from(area.height) * 8.0) as usize;
            let bar = |share: &f64| EIGHTHS[eighths(share).saturating_sub(8 * above).min(8)];
            self.put(line, &shares.iter().map(bar).collect::<String>(), Style::new());
        }
    }

    fn line(&self, y: u16) -> &[Cell] {
        let width = usize::from(self.width);
        &self.cells[usize::from(y) * width..][..width]
    }

    /// What a terminal that shows `before` is sent to show this: the lines that differ, or all of them if it shows nothing of this size.
    pub fn changes(&self, before: Option<&Canvas>, colored: bool) -> String {
        let before = before.filter(|before| (before.width, before.height) == (self.width, self.height));
        let mut text = String::from(if before.is_none() { "\x1b[0m\x1b[2J" } else { "" });
        for y in (0..self.height).filter(|y| before.is_none_or(|before| before.line(*y) != self.line(*y))) {
            let _ = write!(text, "\x1b[{};1H", y + 1);
            let mut style = Style::new();
            for cell in self.line(y).iter().filter(|cell| cell.symbol != NOTHING) {
                let wanted = if colored { cell.style } else { cell.style.fg_color(None) };
                if wanted != style {
                    let _ = write!(text, "{style:#}{wanted}");
                    style = wanted;
                }
                text.push(cell.symbol);
            }
            let _ = write!(text, "{style:#}");
        }
        text
    }

    /// Its lines without styles.
    #[cfg(test)]
    pub fn text(&self) -> String {
        let symbols = |y| self.line(y).iter().map(|cell| cell.symbol).filter(|symbol| *symbol != NOTHING);
        (0..self.height).map(|y| format!("\"{}\"\n", symbols(y).collect::<String>())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canvas(text: &str, style: Style) -> Canvas {
        let mut canvas = Canvas::new(6, 2);
        canvas.write(canvas.area(), [vec![plain("first")], vec![(text.into(), style), plain("|")]]);
        canvas
    }

    #[test]
    fn a_terminal_is_sent_the_lines_that_differ() {
        let (one, other) = (canvas("ab", Style::new()), canvas("ac", Style::new().bold()));
        assert_eq!(one.changes(None, true), "\x1b[0m\x1b[2J\x1b[1;1Hfirst \x1b[2;1Hab|   ");
        assert_eq!(one.changes(Some(&canvas("ab", Style::new())), true), "");
        assert_eq!(other.changes(Some(&one), true), "\x1b[2;1H\x1b[1mac\x1b[0m|   ");
        assert!(one.changes(Some(&Canvas::new(5, 2)), true).contains("first"), "another size is drawn in full");
        let yellow = canvas("ab", anstyle::AnsiColor::Yellow.on_default().bold());
        assert!(!yellow.changes(Some(&one), false).contains("33"), "no color where none is wanted");
        assert!(yellow.changes(Some(&one), true).contains("33"));
    }

    #[test]
    fn a_wide_character_has_two_cells_or_none() {
        assert_eq!(canvas("表e\u{301}", Style::new()).text(), "\"first \"\n\"表e|  \"\n");
        assert_eq!(canvas("abcde表", Style::new()).text(), "\"first \"\n\"abcde \"\n");
    }
}
