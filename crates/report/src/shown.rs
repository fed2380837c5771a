//! What may reach a terminal: text, line ends, tabs, and the colours of this program. Everything that is printed passes here, so that
//! a name in a database, a file or an error cannot control a terminal.

use std::borrow::Cow;

use record::steers_terminal;

use crate::text::{Colours, is_plain};

/// The only escape sequences that are printed: those of pages and of the help.
const COLOURS: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// The text with everything replaced that would control a terminal, apart from line ends, tabs and, if they are on, colours.
pub fn shown(text: &str, colours: Colours) -> Cow<'_, str> {
    let plain = |rest: &str| match rest.starts_with("\r\n") {
        true => Some(2),
        false => rest.starts_with(['\n', '\t']).then_some(1),
    };
    let coloured = |rest: &str| {
        let colour = COLOURS.iter().find(|colour| rest.starts_with(**colour)).filter(|_| colours == Colours::On);
        colour.map(|colour| colour.len())
    };
    replaced(text, |rest| plain(rest).or_else(|| coloured(rest)), |_| "\u{fffd}".into())
}

/// A JSON document in which such characters are escaped, so that no value changes.
pub fn shown_json(document: &str) -> Cow<'_, str> {
    let allowed = |rest: &str| rest.starts_with(['\n', '\t', '\r']).then_some(1);
    replaced(document, allowed, |character| format!("\\u{:04x}", u32::from(character)))
}

/// The text with each character that controls a terminal replaced. `allowed` returns the length of what stays at a place.
fn replaced(text: &str, allowed: impl Fn(&str) -> Option<usize>, instead: impl Fn(char) -> String) -> Cow<'_, str> {
    let (mut done, mut rest) = (String::new(), text);
    let mut is_changed = false;
    while let Some(at) = first(rest) {
        let (before, from) = rest.split_at(at);
        let character = from.chars().next().unwrap_or_default();
        let kept = allowed(from);
        is_changed |= kept.is_none();
        done += before;
        done += &kept.map_or_else(|| instead(character), |kept| from[..kept].to_owned());
        rest = &from[kept.unwrap_or(character.len_utf8())..];
    }
    if is_changed { Cow::Owned(done + rest) } else { Cow::Borrowed(text) }
}

/// The place of the first character that controls a terminal. Those of plain ASCII are passed over by byte.
fn first(text: &str) -> Option<usize> {
    let plain = text.bytes().position(|byte| !is_plain(byte))?;
    text[plain..].find(steers_terminal).map(|at| plain + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_tabs_and_own_colours_pass() {
        let page = "\x1b[1mbold\x1b[0m\tand\n\x1b[31mred\x1b[0m\r\n";
        assert!(matches!(shown(page, Colours::On), Cow::Borrowed(text) if text == page));
        assert_eq!(shown("\x1b[1mx", Colours::Off), "\u{fffd}[1mx");
        for hostile in ["\x1b]0;t\x07", "\x1b[2J", "\x1b[8m", "\u{9b}31m", "\r", "\x08", "\x7f", "\u{202e}", "\x1bc"] {
            for colours in [Colours::On, Colours::Off] {
                let text = shown(hostile, colours).into_owned();
                assert!(!text.contains(steers_terminal), "{hostile:?}: {text:?}");
            }
        }
        assert_eq!(shown("größer µs ± 3 %", Colours::Off), "größer µs ± 3 %");
    }

    #[test]
    fn a_document_keeps_its_values() {
        let value = serde_json::json!({"a\u{9b}": "\u{202e}\u{7f}x\n"});
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let safe = shown_json(&text);
        assert!(!safe.contains(|c| steers_terminal(c) && c != '\n'), "{safe:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
    }
}
