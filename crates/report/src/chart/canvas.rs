//! Dots in braille characters: each character holds two columns and four rows of them.

/// A field of dots, with letters over some of its characters.
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    dots: Vec<u8>,
    letters: Vec<Option<char>>,
}

/// The character of a place that several letters claim.
pub(super) const SEVERAL: char = '*';

impl Canvas {
    /// An empty field of this many characters.
    pub fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, rows, dots: vec![0; columns * rows], letters: vec![None; columns * rows] }
    }

    /// The dot of a place; (0, 0) is the lower left corner, (1, 1) the upper right one.
    pub fn dot_of(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let across = (x * (2 * self.columns - 1) as f64).round() as usize;
        let down = ((1.0 - y) * (4 * self.rows - 1) as f64).round() as usize;
        (across.min(2 * self.columns - 1), down.min(4 * self.rows - 1))
    }

    fn set(&mut self, (across, down): (usize, usize)) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        self.dots[down / 4 * self.columns + across / 2] |= BITS[down % 4][across % 2];
    }

    /// Draws a straight line of dots. Every `gap`-th dot is drawn, beginning with the first.
    pub fn line(&mut self, from: (usize, usize), to: (usize, usize), gap: usize) {
        let (wide, high) = (to.0 as f64 - from.0 as f64, to.1 as f64 - from.1 as f64);
        let steps = wide.abs().max(high.abs()).max(1.0);
        for step in (0..=steps as usize).step_by(gap) {
            let part = step as f64 / steps;
            self.set(((from.0 as f64 + wide * part).round() as usize, (from.1 as f64 + high * part).round() as usize));
        }
    }

    /// Puts a letter over the character that holds a dot.
    pub fn letter(&mut self, (across, down): (usize, usize), letter: char) {
        let place = &mut self.letters[down / 4 * self.columns + across / 2];
        *place = Some(if place.is_some_and(|there| there != letter) { SEVERAL } else { letter });
    }

    /// True if several letters claim one place.
    pub fn is_crowded(&self) -> bool {
        self.letters.contains(&Some(SEVERAL))
    }

    /// One row as text, without trailing blanks.
    pub fn row(&self, row: usize) -> String {
        let places = row * self.columns..(row + 1) * self.columns;
        let text: String = places
            .map(|place| match (self.letters[place], self.dots[place]) {
                (Some(letter), _) => letter,
                (None, 0) => ' ',
                (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
            })
            .collect();
        text.trim_end().into()
    }
}
