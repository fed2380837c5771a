//! The mix of a bill as a file that `howslow predict` takes.

use std::fmt::Write;

use record::{MixLine, Observation};

use super::prices;

/// The text of the mix.
pub(super) fn text(seen: &Observation, lines: &[MixLine]) -> String {
    let mix = prices::mix(seen, lines.to_vec());
    let mut text = String::new();
    let _ = writeln!(text, "name = {}", quoted(&mix.name));
    let _ = writeln!(text, "unit = {}", quoted(&mix.unit));
    if let Some(source) = &mix.source {
        let _ = writeln!(text, "source = {}", quoted(source));
    }
    if let Some(names) = mix.distinct_names {
        let _ = writeln!(text, "distinct_names = {names}");
    }
    for line in &mix.lines {
        let _ = writeln!(text, "\n[[operation]]\noperation = {}", quoted(&line.name()));
        let _ = writeln!(text, "times = {}\nfamily = {}", line.term.times, quoted(&line.family));
        if let Some(note) = &line.note {
            let _ = writeln!(text, "note = {}", quoted(note));
        }
    }
    text
}

/// A basic string of TOML, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(record::printable(text).replace(['\n', '\r', '\t'], " ")).to_string()
}

#[cfg(test)]
mod tests {
    use record::{Mix, Point, Term};

    use super::*;

    #[test]
    fn a_written_mix_can_be_read() {
        let seen =
            Observation { what: "sh -c 'echo \"a\\b\"\n'".into(), source: "eBPF".into(), ..Observation::default() };
        let at = Point::default().with("size", record::Value::Number(4096));
        let term = Term { times: 2.5, operation: "file.read".into(), at };
        let line = MixLine { term, family: "system calls".into(), note: Some("read".into()) };
        let mix = Mix::from_toml(&text(&seen, std::slice::from_ref(&line))).expect("a mix");
        assert_eq!(mix.lines, [line]);
        assert_eq!(mix.unit, "command");
    }
}
