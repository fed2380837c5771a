//! The pages of `howslow terminal`.

pub(crate) mod pseudo;

use analysis::statistics::Interval;
use analysis::terminal::{Latency, OwnTerminal, QUANTILES};
use record::Nanoseconds;
use record::units::{binary, counted, significant};

use crate::grid::Grid;
use crate::text::Style;

/// The terminal that howslow was run in.
pub fn own_terminal(terminal: &OwnTerminal, style: Style) -> String {
    let term = if terminal.term.is_empty() { "without TERM" } else { &record::printable(&terminal.term) };
    let names: Vec<&str> = terminal.between.iter().map(|between| between.name).collect();
    let through = if names.is_empty() { String::new() } else { format!(" through {}", names.join(" and ")) };
    let mut text = format!(
        "{}: {term}, {} rows, {} columns{through}\n\n",
        style.bold("this terminal"),
        terminal.rows,
        terminal.columns
    );
    let mut grid = Grid::new("<>>>><", [vec![2], vec![4], vec![3]]);
    grid.heading(["MB/s", "as parsed", "lowest to highest", "as written", "each", "what was sent"]);
    for payload in &terminal.payloads {
        let (parsed, written) = (payload.rate(), payload.written_rate());
        let value = |rate: Option<Interval>| rate.map_or_else(|| "-".into(), |rate| megabytes(rate.value));
        let range =
            parsed.map(|rate| format!("{} to {}", megabytes(rate.low), megabytes(rate.high))).unwrap_or_default();
        let each = format!("{} x {}", payload.passes.len(), binary(payload.bytes as f64));
        grid.row([payload.name, &value(parsed), &range, &value(written), &each, payload.about]);
    }
    text += &format!("{}\n{}\n", grid.render(style), latency("an answer to ESC[6n", &terminal.latency, style));
    text + &style.paragraphs("", notes(terminal))
}

/// A line of quantiles.
fn latency(name: &str, latency: &Latency, style: Style) -> String {
    let quantiles = QUANTILES.iter().filter_map(|&(quantile, share)| {
        let interval = latency
            .interval(share)
            .map_or_else(String::new, |(low, high)| format!(" ({} to {})", Nanoseconds(low), Nanoseconds(high)));
        Some(format!("{quantile} {}{interval}", Nanoseconds(latency.at(share)?)))
    });
    let quantiles: Vec<String> = quantiles.chain([counted(latency.samples() as u64, "sample")]).collect();
    style.paragraph(&format!("{}: ", style.bold(name)), &quantiles.join(", "))
}

fn notes(terminal: &OwnTerminal) -> Vec<String> {
    let mut notes = vec![
        "As parsed: until the terminal answered the question that followed the last byte. As written: until the last write \
         returned, which counts bytes that only lie in a buffer."
            .to_string(),
    ];
    notes.extend(terminal.between.iter().map(|between| format!("{}.", between.meaning)));
    if terminal.resized {
        notes.push("The window changed its size in the meantime: lines may have wrapped.".into());
    }
    if terminal.short {
        notes.push("Fewer than six payloads of a kind were sent: its range is no interval. Raise --budget.".into());
    }
    notes
}

fn megabytes(rate: f64) -> String {
    significant(rate / 1e6)
}

#[cfg(test)]
mod tests {
    use analysis::terminal::{Between, Parsed, Pass};

    use super::*;

    #[test]
    fn a_page_for_a_terminal_in_tmux_over_ssh() {
        let pass = |parsed_s| Pass { written_s: 0.01, parsed_s };
        let payload = |name, bytes, times: &[f64]| Parsed {
            name,
            about: "letters",
            bytes,
            passes: times.iter().copied().map(pass).collect(),
        };
        let terminal = OwnTerminal {
            term: "xterm-256color".into(),
            rows: 24,
            columns: 80,
            between: vec![Between::TMUX, Between::SSH],
            resized: true,
            short: true,
            latency: Latency::new((1..=200).map(|n| f64::from(n) * 1e3)),
            payloads: vec![payload("plain", 2_000_000, &[0.1, 0.11, 0.12]), payload("cursor", 700, &[])],
        };
        insta::assert_snapshot!(own_terminal(&terminal, Style::PLAIN));
    }
}
