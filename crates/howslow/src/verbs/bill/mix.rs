//! The mix of a bill as a file that `howslow predict` takes.

use std::fmt::Write;

use analysis::bill::Bill;
use record::{MixLine, Observation};

use super::prices;

/// The text of the mix of a unit of work, of which there were so many; with what the bill left unexplained.
pub(super) fn text(seen: &Observation, bill: &Bill, lines: &[MixLine], (unit, units): (&str, f64)) -> String {
    let mut mix = prices::mix(seen, lines.to_vec());
    mix.unit = unit.into();
    mix.lines.iter_mut().for_each(|line| line.term.times /= units);
    let mut text = String::new();
    let _ = writeln!(text, "name = {}", quoted(&mix.name));
    let _ = writeln!(text, "unit = {}", quoted(&mix.unit));
    if let Some(source) = &mix.source {
        let _ = writeln!(text, "source = {}", quoted(source));
    }
    if let Some(names) = mix.distinct_names {
        let _ = writeln!(text, "distinct_names = {names}");
    }
    if let Some(left_out) = bill.left_out() {
        let _ = writeln!(text, "left_out = {left_out:.3}");
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
    use analysis::bill::Charged;
    use analysis::statistics::Interval;
    use record::{Mix, Point, Term};

    use super::*;

    const COMMAND: (&str, f64) = ("command", 1.0);

    #[test]
    fn a_written_mix_can_be_read() {
        let seen =
            Observation { what: "sh -c 'echo \"a\\b\"\n'".into(), source: "eBPF".into(), ..Observation::default() };
        let at = Point::default().with("size", record::Value::Number(4096));
        let term = Term { times: 2.5, operation: "file.read".into(), at };
        let line = MixLine { term, family: "system calls".into(), note: Some("read".into()) };
        let mut bill = analysis::bill::bill(&seen, None);
        let mix = Mix::from_toml(&text(&seen, &bill, std::slice::from_ref(&line), COMMAND)).expect("a mix");
        assert_eq!((mix.lines, mix.left_out), (vec![line.clone()], None));
        assert_eq!(mix.unit, "command");
        let each = text(&seen, &bill, std::slice::from_ref(&line), ("request", 100.0));
        let each = Mix::from_toml(&each).expect("a mix");
        assert_eq!((each.unit.as_str(), each.lines[0].term.times), ("request", 0.025));
        // A bill that explains 80 of 100 ns leaves out a quarter of what it explains.
        bill.charged = Some(Charged { ns: 100.0, kernel_alone: true, range_ns: None });
        bill.explained = Interval { value: 80.0, low: 80.0, high: 80.0 };
        let mix = Mix::from_toml(&text(&seen, &bill, std::slice::from_ref(&line), COMMAND)).expect("a mix");
        assert_eq!(mix.left_out, Some(0.25));
    }
}
