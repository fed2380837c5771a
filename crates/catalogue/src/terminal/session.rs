//! One interaction at a terminal with all features of the line discipline, without each single feature, and without any.

use operation::{Axis, Operation, repeat, word, words};

use super::TERMINAL;
use super::pair::{Features, LINE, Pty, as_shown, lines, write_all};
use crate::kit::{ensure, read_whole};

/// The feature that is switched off.
const WITHOUT: Axis =
    word("without", words!["nothing", "echo", "canonical", "processing", "tabs", "signals", "flow", "all"]);

/// The program's answer: columns aligned by tabs.
const ANSWER: &[u8] = b"\tname\tsize\tdate\tand a sentence of as many words as the line has room for\n";

pub(crate) const OPERATIONS: &[Operation] = &[TERMINAL
    .named(
        "terminal.session",
        "an emulator sends a line, the program reads it and answers with another, the emulator reads both: \
            without one feature of the terminal",
    )
    .per("interaction")
    .calls(&["read", "write"])
    .axes(&[WITHOUT])
    .moves(|_| (LINE + ANSWER.len()) as u64)
    .prepare(|setting| {
        let features = without(setting.word("without")?);
        let pty = Pty::new(features)?;
        let line = lines(LINE);
        let echo = if features.echo { as_shown(&line, features) } else { Vec::new() };
        let answer = as_shown(ANSWER, features);
        let (mut echoed, mut answered) = (vec![0; echo.len()], vec![0; answer.len()]);
        let mut got = [0; LINE];
        Ok(repeat(move || {
            write_all(&pty.master, &line)?;
            // The program may be woken before the echo is written. The answer's tabs would then end in other columns.
            read_whole(&pty.master, &mut echoed)?;
            read_whole(&pty.slave, &mut got)?;
            write_all(&pty.slave, ANSWER)?;
            read_whole(&pty.master, &mut answered)?;
            ensure(
                got[..] == line[..] && echoed == echo && answered == answer,
                || "the terminal does not show what it should",
            )
        }))
    })];

/// All features but this one.
fn without(feature: &str) -> Features {
    let [echo, canonical, processing, tabs, signals, flow] =
        ["echo", "canonical", "processing", "tabs", "signals", "flow"]
            .map(|known| feature != known && feature != "all");
    Features { echo, canonical, processing, tabs, signals, flow }
}

#[cfg(test)]
mod tests {
    use record::Value;

    use super::*;

    #[test]
    fn each_feature_is_switched_off_by_itself() {
        for choice in WITHOUT.values {
            let Value::Word(feature) = choice else { panic!("{choice:?}") };
            assert_eq!(without(feature) == Features::ALL, *feature == "nothing", "{feature}");
        }
    }
}
