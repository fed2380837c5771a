//! Go benchmark text (golang.org/design/14313-benchmark-format), which benchstat reads: one line for each round, so that it
//! has repetitions to test.

use std::fmt::Write as _;
use std::io::Write;

use record::{Cost, Run};

use super::exporter::{Exporter, Written};
use crate::exchange::rounds::{iterations, round_ns};

pub(super) const GO: Exporter = Exporter {
    name: "go",
    summary: "Go benchmark text, one line a round: benchstat",
    ending: "txt",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    let mut text = String::from("Unit ns/op better=lower assume=nothing\n");
    for run in runs {
        head(&mut text, run);
        for cost in &run.costs {
            lines(&mut text, cost);
        }
    }
    out.write_all(text.as_bytes())?;
    Ok(Vec::new())
}

/// The configuration of the lines that follow. benchstat compares only lines of the same configuration, so what differs from
/// run to run is none of it: the id is a comment, which benchstat passes over.
fn head(text: &mut String, run: &Run) {
    let architecture = match run.machine.architecture.as_str() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let facts = [
        ("goos", run.machine.kernel.name.to_ascii_lowercase()),
        ("goarch", architecture.into()),
        ("pkg", "howslow".into()),
        ("cpu", run.machine.cpu.model.clone()),
        ("# run", run.id.clone()),
    ];
    for (key, value) in facts {
        // A line end in a value would begin a line of its own.
        let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(text, "{key}: {}", value.trim());
    }
}

fn lines(text: &mut String, cost: &Cost) {
    let name = name(cost);
    let rounds = round_ns(cost);
    let times = (iterations(cost) / rounds.len().max(1) as u64).max(1);
    let cycle = cost.cycles / cost.quoted().0;
    for ns in rounds {
        let _ = write!(text, "{name} {times} {ns} ns/op");
        if cycle.is_finite() && cycle > 0.0 {
            let _ = write!(text, " {} cycles/op", ns * cycle);
        }
        text.push('\n');
    }
}

/// `BenchmarkMemory.copy/size=64-1`: the id, a part for each axis, and the CPUs that it keeps busy. The number at the end is
/// always there, since benchstat would take that of a value for it.
fn name(cost: &Cost) -> String {
    let plain = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
    let mut id = cost.operation.chars().map(plain);
    let first: String = id.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    // A small letter after "Benchmark" would make it another word.
    let first = if first.starts_with(char::is_lowercase) { format!("X{first}") } else { first };
    let mut name = format!("Benchmark{first}{}", id.collect::<String>());
    for (axis, value) in &cost.at.0 {
        let part: String = format!("{axis}={value}").chars().map(plain).collect();
        let _ = write!(name, "/{}", part.replace('/', "_"));
    }
    let _ = write!(name, "-{}", cost.cpus.max(1));
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_machine_have_one_configuration() {
        let configuration = |id: &str, release: &str| {
            let mut run = Run { id: id.into(), ..Run::default() };
            (run.machine.kernel.name, run.machine.kernel.release) = ("Linux".into(), release.into());
            let mut text = String::new();
            head(&mut text, &run);
            assert!(text.contains("# run: 2026"), "{text}");
            let of_benchstat = |line: &&str| line.starts_with(|first: char| first.is_ascii_lowercase());
            text.lines().filter(of_benchstat).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(configuration("20261126-a", "6.1.0"), configuration("20261127-b\nkey: value", "6.12.0"));
    }
}
