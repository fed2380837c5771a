//! A line on the terminal that shows how far something is. It draws only when called and starts no thread, because the instrument forks.

use std::cell::Cell;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use measure::Progress;
use record::units::counted;
use unicode_width::UnicodeWidthChar;

use crate::output::{columns, only_prints};

/// Frames that follow sooner are left out.
const PAUSE: Duration = Duration::from_millis(50);

/// The bar on stderr.
pub(crate) struct Bar {
    /// What is counted, behind the numbers.
    what: &'static str,
    hidden: bool,
    drawn: Cell<Option<Instant>>,
}

impl Bar {
    /// Not a terminal, or one that only prints: nothing is drawn.
    pub(crate) fn new(what: &'static str) -> Bar {
        Bar { what, hidden: only_prints() || !stderr().is_terminal(), drawn: Cell::new(None) }
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden
    }

    pub(crate) fn show(&self, progress: &Progress) {
        let message = format!("{}, {} left", progress.item, in_words(progress.left));
        self.draw(progress.done.into(), progress.total.into(), &message);
    }

    /// Draws the line, cut where the terminal ends.
    pub(crate) fn draw(&self, done: u64, total: u64, message: &str) {
        if self.hidden || self.drawn.get().is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        let columns = columns(stderr());
        let _ = write!(stderr(), "\r{}\x1b[K", line(columns, [done, total], self.what, &record::printable(message)));
    }

    /// Prints something in place of the line, which the next call draws again.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.clear();
        print();
    }

    pub(crate) fn clear(&self) {
        if self.drawn.take().is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn line(columns: usize, [done, total]: [u64; 2], what: &str, message: &str) -> String {
    let bars = (columns / 3).clamp(1, 30);
    let full = bars * done.min(total) as usize / total.max(1) as usize;
    let line = format!("{}{} {done}/{total}{what}  {message}", "█".repeat(full), "░".repeat(bars - full));
    let mut room = columns;
    let fits = |character: &char| {
        let width = character.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    line.chars().take_while(fits).collect()
}

/// A time in the largest unit of which it has one and a half.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64().round();
    match seconds {
        ..90.0 => counted(seconds as u64, "second"),
        ..5400.0 => counted((seconds / 60.0).round() as u64, "minute"),
        _ => counted((seconds / 3600.0).round() as u64, "hour"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_the_terminal_ends() {
        assert_eq!(line(40, [1, 4], " nodes", "2 submitted"), "███░░░░░░░░░░ 1/4 nodes  2 submitted");
        assert_eq!(line(16, [4, 4], "", "syscall.getppid"), "█████ 4/4  sysca");
        assert_eq!((line(2, [0, 0], "", "x"), line(0, [9, 4], "", "x")), ("░ ".into(), String::new()));
    }

    #[test]
    fn times_are_rounded_to_one_unit() {
        let words = [0, 1, 89, 90, 3600, 7300].map(|seconds| in_words(Duration::from_secs(seconds)));
        assert_eq!(words, ["0 seconds", "1 second", "89 seconds", "2 minutes", "60 minutes", "2 hours"]);
    }
}
