//! What comes from a terminal: answers to `ESC[6n`, and keys that the user presses in the meantime.

/// Something that has come whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The cursor is there: `ESC [ row ; column R`.
    Position { row: u16, column: u16 },
    /// The terminal works: `ESC [ 0 n`.
    Alive,
    /// Ctrl-C, which is only a byte while the terminal is raw.
    Interrupt,
}

/// Reads bytes that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct Listener {
    state: State,
    /// The numbers of the sequence so far.
    numbers: Vec<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    Escape,
    Inside,
}

/// A sequence with more numbers than this is no answer.
const MOST_NUMBERS: usize = 4;

const ESCAPE: u8 = 0x1b;
const CTRL_C: u8 = 0x03;

impl Listener {
    /// The next byte; what has come whole with it.
    pub fn next(&mut self, byte: u8) -> Option<Heard> {
        if byte == CTRL_C {
            self.state = State::Outside;
            return Some(Heard::Interrupt);
        }
        let (state, heard) = match (self.state, byte) {
            (_, ESCAPE) => (State::Escape, None),
            (State::Escape, b'[') => {
                self.numbers = vec![0];
                (State::Inside, None)
            }
            (State::Inside, b'0'..=b'9') => {
                if let Some(number) = self.numbers.last_mut() {
                    *number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
                (State::Inside, None)
            }
            (State::Inside, b';') if self.numbers.len() < MOST_NUMBERS => {
                self.numbers.push(0);
                (State::Inside, None)
            }
            (State::Inside, last) => (State::Outside, self.whole(last)),
            _ => (State::Outside, None),
        };
        self.state = state;
        heard
    }

    fn whole(&self, last: u8) -> Option<Heard> {
        match (last, self.numbers.as_slice()) {
            (b'R', &[row, column]) => Some(Heard::Position { row, column }),
            (b'n', [0]) => Some(Heard::Alive),
            _ => None,
        }
    }
}

/// Reads what could have come from a terminal. Returns how many answers it holds.
#[cfg(feature = "fuzz")]
pub fn fuzz_answers(bytes: &[u8]) -> usize {
    let mut listener = Listener::default();
    let heard = bytes.iter().filter(|byte| listener.next(**byte).is_some()).count();
    assert!(listener.numbers.len() <= MOST_NUMBERS, "{:?}", listener.numbers);
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<Heard> {
        let mut listener = Listener::default();
        bytes.iter().filter_map(|&byte| listener.next(byte)).collect()
    }

    #[test]
    fn answers_are_found_among_keys() {
        let position = |row, column| Heard::Position { row, column };
        assert_eq!(heard(b"\x1b[24;80R"), [position(24, 80)]);
        assert_eq!(heard(b"xyz\x1b[A\x1b[1;7Rq\x1bOP\x1b[0n"), [position(1, 7), Heard::Alive]);
        // A key's sequence that another one cuts.
        assert_eq!(heard(b"\x1b[1;\x1b[3;4R"), [position(3, 4)]);
        assert_eq!(heard(b"\x1b[1;2\x03;3R"), [Heard::Interrupt]);
        assert_eq!(heard(b"\x1b[99999999;5R"), [position(u16::MAX, 5)]);
        for nothing in
            [&b"\x1b[5R"[..], b"\x1b[1;2;3R", b"[1;2R", b"\x1b1;2R", b"\x1b[?1;2R", b"\x1b[;;;;;;;;R", b"\x1b[3n"]
        {
            assert_eq!(heard(nothing), [], "{}", nothing.escape_ascii());
        }
    }
}
