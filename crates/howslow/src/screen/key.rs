//! Keys from the bytes of a terminal in raw mode (ECMA-48, and the forms of xterm and the Linux console). Reads no terminal: its
//! user waits for input, signals and the next interval at once, and must notice a terminal that is closed. The event reader of
//! crossterm never returns from that (its issue 793).

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Control(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    /// Alone, not the beginning of another key.
    Escape,
    Backspace,
    Function(u8),
}

/// Puts keys together from bytes that may be cut anywhere.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    pending: Vec<u8>,
}

/// A sequence that is longer is none.
const LONGEST: usize = 16;
const ESCAPE: u8 = 0x1b;

impl Keys {
    /// The keys that are whole with these bytes.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for byte in bytes {
            if *byte == ESCAPE && self.pending.first() == Some(&ESCAPE) {
                // What was begun is given up; Escape twice is the key.
                keys.extend((self.pending.len() == 1).then_some(Key::Escape));
                self.pending.clear();
            }
            self.pending.push(*byte);
            match whole(&self.pending) {
                KeySequence::Key(key) => keys.push(key),
                KeySequence::None => {}
                KeySequence::NotYet if self.pending.len() < LONGEST => continue,
                KeySequence::NotYet => {}
            }
            self.pending.clear();
        }
        keys
    }

    /// Nothing came for a while: an Escape that was begun stands alone.
    pub fn pause(&mut self) -> Option<Key> {
        let alone = self.pending == [ESCAPE];
        self.pending.clear();
        alone.then_some(Key::Escape)
    }
}

enum KeySequence {
    Key(Key),
    /// It is no key that is known.
    None,
    NotYet,
}

fn whole(bytes: &[u8]) -> KeySequence {
    match bytes {
        [ESCAPE] | [ESCAPE, b'[' | b'O'] | [ESCAPE, b'[', b'['] => KeySequence::NotYet,
        [ESCAPE, b'O', last] => named(*last, &[]),
        // The Linux console's F1 to F5.
        [ESCAPE, b'[', b'[', last @ b'A'..=b'E'] => KeySequence::Key(Key::Function(last - b'A' + 1)),
        [ESCAPE, b'[', parameters @ .., last @ 0x40..=0x7e] => named(*last, parameters),
        [ESCAPE, b'[', ..] => KeySequence::NotYet,
        // Alt and a character.
        [ESCAPE, ..] => KeySequence::None,
        [b'\r' | b'\n'] => KeySequence::Key(Key::Enter),
        [0x7f | 0x08] => KeySequence::Key(Key::Backspace),
        [byte @ 1..=26] => KeySequence::Key(Key::Control((byte - 1 + b'a') as char)),
        [0..=0x1f] => KeySequence::None,
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> KeySequence {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(KeySequence::None, |character| KeySequence::Key(Key::Char(character))),
        Err(error) if error.error_len().is_none() => KeySequence::NotYet,
        Err(_) => KeySequence::None,
    }
}

/// A key of a control sequence, by its last byte and its first number.
fn named(last: u8, parameters: &[u8]) -> KeySequence {
    let first = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
    let number: u8 = std::str::from_utf8(first).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    KeySequence::Key(match (last, number) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', 1 | 7) => Key::Home,
        (b'F', _) | (b'~', 4 | 8) => Key::End,
        (b'~', 5) => Key::PageUp,
        (b'~', 6) => Key::PageDown,
        (b'P'..=b'S', _) => Key::Function(last - b'P' + 1),
        (b'~', 11..=15) => Key::Function(number - 10),
        (b'~', 17..=21) => Key::Function(number - 11),
        (b'~', 23..=24) => Key::Function(number - 12),
        (b'M', _) if parameters.is_empty() => Key::Enter,
        _ => return KeySequence::None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_keys_however_they_are_cut() {
        let bytes =
            b"q\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[1;5H\x1b[4~\x1bOP\x1b[[B\x1b[15~\x1b[21~\x03\r\x7f\xc3\xa9\x1b[99~j";
        let expected = [
            Key::Char('q'),
            Key::Up,
            Key::Down,
            Key::PageUp,
            Key::PageDown,
            Key::Home,
            Key::End,
            Key::Function(1),
            Key::Function(2),
            Key::Function(5),
            Key::Function(10),
            Key::Control('c'),
            Key::Enter,
            Key::Backspace,
            Key::Char('é'),
            Key::Char('j'),
        ];
        assert_eq!(Keys::default().read(bytes), expected);
        let mut keys = Keys::default();
        let one_by_one: Vec<Key> = bytes.iter().flat_map(|byte| keys.read(&[*byte])).collect();
        assert_eq!(one_by_one, expected);
    }

    #[test]
    fn an_escape_alone_is_one_after_a_pause() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b"), []);
        assert_eq!(keys.pause(), Some(Key::Escape));
        assert_eq!(keys.pause(), None);
        assert_eq!(keys.read(b"\x1b\x1b[A"), [Key::Escape, Key::Up]);
        assert_eq!(keys.read(b"\x1b["), []);
        assert_eq!(keys.pause(), None, "half a sequence is no key");
        assert_eq!(keys.read(b"q"), [Key::Char('q')]);
    }

    #[test]
    fn garbage_is_passed_over() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x00\xff\xfe\x1bx\x1b[1;2;3;4;5;6;7;8;9;0mq").last(), Some(&Key::Char('q')));
        let mut random = 1_u32;
        for _ in 0..100_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            keys.read(&[(random >> 24) as u8]);
            assert!(keys.pending.len() < LONGEST);
        }
    }
}
