//! What a terminal is measured with: five kinds of output, of any length, the same for every terminal of a size.

use std::fmt::Write;

pub(super) struct Payload {
    pub name: &'static str,
    pub about: &'static str,
    /// Appends the next piece to the text.
    piece: fn(&mut Text),
}

pub(super) const PAYLOADS: [Payload; 5] = [
    Payload {
        name: "plain",
        about: "letters that fill the screen from its first corner, again and again",
        piece: plain,
    },
    Payload {
        name: "scrolling",
        about: "lines of all lengths at the lower edge, each of which scrolls the screen",
        piece: scrolling,
    },
    Payload { name: "coloured", about: "words, each in another colour or style (SGR)", piece: coloured },
    Payload {
        name: "unicode",
        about: "accents, combining marks, wide characters, box drawing and emoji in UTF-8",
        piece: unicode,
    },
    Payload { name: "cursor", about: "short words, each at a place of its own (cursor addressing)", piece: cursor },
];

/// Text that grows, and what it needs to know.
struct Text {
    text: String,
    rows: u16,
    columns: u16,
    random: Random,
}

impl Text {
    fn letters(&mut self, count: u32) {
        self.text.extend((0..count).map(|_| self.random.letter()));
    }
}

impl Payload {
    /// At least `bytes` of it for a screen of this size, at whole characters and sequences.
    pub fn text(&self, bytes: usize, rows: u16, columns: u16) -> Vec<u8> {
        let mut text = Text {
            text: String::with_capacity(bytes + (1 << 12)),
            rows,
            columns,
            random: Random(0x9e37_79b9_7f4a_7c15),
        };
        while text.text.len() < bytes {
            (self.piece)(&mut text);
        }
        text.text.into_bytes()
    }
}

/// One screen of letters. The last column of the last row stays empty, so that nothing scrolls.
fn plain(text: &mut Text) {
    text.text.push_str("\x1b[H");
    text.letters((u32::from(text.rows) * u32::from(text.columns)).saturating_sub(1));
}

fn scrolling(text: &mut Text) {
    if text.text.is_empty() {
        let _ = write!(text.text, "\x1b[{};1H", text.rows);
    }
    let length = text.random.below(u32::from(text.columns));
    text.letters(length);
    text.text.push_str("\r\n");
}

/// A line of words, each after a sequence of its own.
fn coloured(text: &mut Text) {
    let mut column = 0;
    while column + 8 < text.columns {
        let colour = text.random.below(256);
        let _ = match text.random.below(4) {
            0 => write!(text.text, "\x1b[{}m", 30 + colour % 8),
            1 => write!(text.text, "\x1b[1;38;5;{colour}m"),
            2 => write!(text.text, "\x1b[0;4;48;5;{colour}m"),
            _ => write!(text.text, "\x1b[38;2;{colour};{};{}m", 255 - colour, colour / 2),
        };
        text.letters(7);
        text.text.push(' ');
        column += 8;
    }
    text.text.push_str("\x1b[0m\r\n");
}

fn unicode(text: &mut Text) {
    /// Each with the columns that it takes.
    const WORDS: [(&str, u16); 8] = [
        ("größer ", 7),
        ("café\u{301}s ", 6),
        ("漢字仮名 ", 9),
        ("한국어 ", 7),
        ("├──┤│└┘ ", 8),
        ("Ελλάδα ", 7),
        ("привет ", 7),
        ("😀🚀 ", 5),
    ];
    let mut column = 0;
    loop {
        let (word, width) = WORDS[text.random.below(WORDS.len() as u32) as usize];
        column += width;
        if column > text.columns {
            break;
        }
        text.text.push_str(word);
    }
    text.text.push_str("\r\n");
}

fn cursor(text: &mut Text) {
    let row = text.random.below(u32::from(text.rows)) + 1;
    let column = text.random.below(u32::from(text.columns.saturating_sub(6).max(1))) + 1;
    let _ = write!(text.text, "\x1b[{row};{column}H");
    text.letters(5);
}

/// Marsaglia's xorshift: the same text each time, on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % limit.max(1)
    }

    fn letter(&mut self) -> char {
        char::from(b"abcdefghijklmnopqrstuvwxyz"[self.below(26) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, bytes: usize, rows: u16, columns: u16) -> (Vec<u8>, vt100::Parser) {
        let payload = PAYLOADS.iter().find(|payload| payload.name == name).expect("a payload");
        let text = payload.text(bytes, rows, columns);
        let mut terminal = vt100::Parser::new(rows, columns, 10_000);
        terminal.process(&text);
        (text, terminal)
    }

    #[test]
    fn each_payload_is_as_long_as_requested_and_the_same_each_time() {
        for payload in &PAYLOADS {
            for (rows, columns) in [(24, 80), (50, 200), (1, 1), (3, 9)] {
                let text = payload.text(5000, rows, columns);
                let most = 5000 + 3 + usize::from(rows) * usize::from(columns) + 40 * usize::from(columns);
                assert!((5000..=most).contains(&text.len()), "{}: {}", payload.name, text.len());
                assert_eq!(text, payload.text(5000, rows, columns));
                assert!(String::from_utf8(text).is_ok());
            }
        }
    }

    #[test]
    fn plain_text_fills_the_screen_and_never_scrolls() {
        let (_, mut terminal) = shown("plain", 3 * 24 * 80, 24, 80);
        let rows: Vec<String> = terminal.screen().rows(0, 80).collect();
        assert!(rows[..23].iter().all(|row| row.chars().count() == 80 && row.chars().all(|c| c.is_ascii_lowercase())));
        assert_eq!(rows[23].len(), 79);
        terminal.screen_mut().set_scrollback(10_000);
        assert_eq!(terminal.screen().scrollback(), 0);
    }

    #[test]
    fn every_line_of_the_scrolling_payload_scrolls() {
        let (text, mut terminal) = shown("scrolling", 20_000, 24, 80);
        terminal.screen_mut().set_scrollback(10_000);
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(terminal.screen().scrollback(), lines);
    }

    #[test]
    fn colours_and_wide_characters_arrive() {
        let (text, terminal) = shown("coloured", 4000, 24, 80);
        let cells = (0..23).flat_map(|row| (0..72).map(move |column| (row, column)));
        let coloured = cells
            .filter_map(|(row, column)| terminal.screen().cell(row, column))
            .filter(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default);
        assert!(coloured.count() > 500, "{}", text.escape_ascii());
        let (text, terminal) = shown("unicode", 4000, 24, 80);
        let wide = (0..24).flat_map(|row| (0..80).map(move |column| (row, column)));
        let wide = wide.filter_map(|(row, column)| terminal.screen().cell(row, column)).filter(|cell| cell.is_wide());
        assert!(wide.count() > 50);
        // No line is longer than the screen: none wraps.
        let lines = String::from_utf8(text).expect("text").matches('\n').count();
        let mut terminal = terminal;
        terminal.screen_mut().set_scrollback(10_000);
        assert_eq!(terminal.screen().scrollback() + 23, lines);
    }

    #[test]
    fn the_cursor_goes_everywhere() {
        let (_, terminal) = shown("cursor", 100_000, 24, 80);
        let empty = terminal.screen().rows(0, 79).filter(|row| row.contains(' ')).count();
        assert_eq!(empty, 0);
    }
}
