//! Keeping a screen up to date: drawn completely, or only where it changed, which is found by comparison.

use std::io::Write;

use operation::{Axis, Failure, Loop, Operation, Setting, word, words};

use super::TERMINAL;
use super::drained::Drained;
use super::pair::{Features, Pty, write_all};

/// Rows and columns.
const SCREEN: Axis = word("screen", words!["24x80", "50x200"]);

/// What is sent: everything; the changes, each after positioning the cursor; or the changes, each after tabs and spaces.
const BY: Axis = word("by", words!["whole", "cursor", "tabs", "library"]);

/// The number of words that change in each changed row from one update to the next, and the distance between changed rows.
const CHANGES: usize = 2;
const ROWS_APART: usize = 4;
const WORD: usize = 6;
/// Columns between two tab stops.
const STOP: usize = 8;

pub(crate) const OPERATIONS: &[Operation] = &[TERMINAL
    .named(
        "terminal.update",
        "a program changes a few words of the screen and brings the terminal up to date by one write, which a \
            partner drains and reports through a pipe",
    )
    .per("update")
    .calls(&["write"])
    .axes(&[BY, SCREEN])
    .prepare(updates)];

fn updates(setting: &Setting) -> Result<Loop, Failure> {
    let how = setting.word("by")?.to_owned();
    let (rows, columns) =
        setting.word("screen")?.split_once('x').ok_or_else(|| Failure::wrong("no size of a screen"))?;
    let number = |text: &str| text.parse().map_err(|_| Failure::wrong("no number of rows or columns"));
    let mut program = ScreenProgram::new(number(rows)?, number(columns)?, setting.seed());
    let Pty { master, slave } = Pty::new(Features::RAW)?;
    let mut drained = Drained::new(setting, slave, master)?;
    let sent = setting.tally("bytes sent");
    let first = program.whole();
    drained.until_come(first.len() as u64, |output| write_all(output, &first))?;
    Ok(Loop::new(move |times| {
        for _ in 0..times {
            program.change();
            let bytes = program.update(&how);
            sent.pass(bytes.len() as u64);
            drained.until_come(bytes.len() as u64, |output| write_all(output, &bytes))?;
        }
        Ok(())
    }))
}

struct ScreenProgram {
    columns: usize,
    wanted: Vec<Vec<u8>>,
    shown: Vec<Vec<u8>>,
    /// The library's copy of the screen, and what the terminal shows as far as it knows.
    library: vt100::Parser,
    known: vt100::Screen,
    random: fastrand::Rng,
}

impl ScreenProgram {
    fn new(rows: usize, columns: usize, seed: u64) -> ScreenProgram {
        let mut random = fastrand::Rng::with_seed(seed);
        let wanted: Vec<Vec<u8>> = (0..rows).map(|_| (0..columns).map(|_| letter(&mut random)).collect()).collect();
        let library = vt100::Parser::new(rows as u16, columns as u16, 0);
        let known = library.screen().clone();
        let mut program = ScreenProgram { columns, shown: wanted.clone(), wanted, library, known, random };
        // The terminal is given all of it at first.
        program.by_library();
        program
    }

    /// Replaces a few words.
    fn change(&mut self) {
        for row in (0..self.wanted.len()).step_by(ROWS_APART) {
            for _ in 0..CHANGES {
                let start = self.random.usize(0..self.columns - WORD);
                for column in start..start + WORD {
                    self.wanted[row][column] = letter(&mut self.random);
                }
            }
        }
    }

    /// The bytes that bring the terminal up to date.
    fn update(&mut self, how: &str) -> Vec<u8> {
        let bytes = match how {
            "cursor" => self.by_cursor(),
            "tabs" => self.by_tabs(),
            "library" => self.by_library(),
            _ => self.whole(),
        };
        for (shown, wanted) in self.shown.iter_mut().zip(&self.wanted) {
            shown.copy_from_slice(wanted);
        }
        bytes
    }

    fn whole(&self) -> Vec<u8> {
        let mut bytes = b"\x1b[H".to_vec();
        for (row, text) in self.wanted.iter().enumerate() {
            if row > 0 {
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(text);
        }
        bytes
    }

    /// Each run of changed cells, after positioning the cursor. Runs only a few cells apart are joined, because sending
    /// these cells is shorter than positioning.
    fn by_cursor(&self) -> Vec<u8> {
        const APART: usize = 6;
        let mut bytes = Vec::new();
        for (row, (wanted, shown)) in self.wanted.iter().zip(&self.shown).enumerate() {
            for (start, end) in runs(wanted, shown, APART) {
                let _ = write!(bytes, "\x1b[{};{}H", row + 1, start + 1);
                bytes.extend_from_slice(&wanted[start..end]);
            }
        }
        bytes
    }

    /// What the library `vt100` sends for the difference of two screens.
    fn by_library(&mut self) -> Vec<u8> {
        self.library.process(&self.whole());
        let screen = self.library.screen().clone();
        let bytes = screen.contents_diff(&self.known);
        self.known = screen;
        bytes
    }

    /// For terminals that can position the cursor only at home: newlines down to each row, then tabs and the cells between
    /// to each change.
    fn by_tabs(&self) -> Vec<u8> {
        let mut bytes = b"\x1b[H".to_vec();
        let mut line = 0;
        for (row, (wanted, shown)) in self.wanted.iter().zip(&self.shown).enumerate() {
            let mut column = 0;
            for (start, end) in runs(wanted, shown, STOP) {
                bytes.extend(std::iter::repeat_n(b'\n', row - line));
                if column == 0 {
                    bytes.push(b'\r');
                }
                line = row;
                while (column / STOP + 1) * STOP <= start {
                    bytes.push(b'\t');
                    column = (column / STOP + 1) * STOP;
                }
                bytes.extend_from_slice(&wanted[column..end]);
                column = end;
            }
        }
        bytes
    }
}

fn letter(random: &mut fastrand::Rng) -> u8 {
    b"abcdefghijklmnopqrstuvwxyz     "[random.usize(0..31)]
}

/// Runs of cells that differ, joined if fewer than `apart` equal ones lie between.
fn runs(wanted: &[u8], shown: &[u8], apart: usize) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for column in (0..wanted.len()).filter(|&column| wanted[column] != shown[column]) {
        match runs.last_mut() {
            Some((_, end)) if column - *end < apart => *end = column + 1,
            _ => runs.push((column, column + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_leaves_the_same_screen() {
        for (rows, columns) in [(24, 80), (50, 200)] {
            for how in ["whole", "cursor", "tabs", "library"] {
                let mut program = ScreenProgram::new(rows, columns, 7);
                let mut terminal = vt100::Parser::new(rows as u16, columns as u16, 0);
                terminal.process(&program.whole());
                let mut sent = 0;
                for _ in 0..100 {
                    program.change();
                    let bytes = program.update(how);
                    sent += bytes.len();
                    terminal.process(&bytes);
                    let shown: Vec<String> = terminal.screen().rows(0, columns as u16).collect();
                    let wanted: Vec<String> =
                        program.wanted.iter().map(|row| String::from_utf8_lossy(row).trim_end().to_owned()).collect();
                    let shown: Vec<String> = shown.iter().map(|row| row.trim_end().to_owned()).collect();
                    assert_eq!(shown, wanted, "{how} {rows}x{columns}");
                }
                let whole = 100 * rows * columns;
                assert_eq!(sent > whole, how == "whole", "{how}: {sent} bytes");
            }
        }
    }
}
