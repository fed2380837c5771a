//! The text that lmbench prints, in the form that its consumers parse: one line for each of its benchmarks that howslow has an
//! operation for that does the same work. Everything else is left out; docs/GUIDE.md says why.

use std::fmt::Write as _;
use std::io::Write;

use record::{Cost, FixedPoint, FixedTerm, Run, Value};

use super::exporter::{Exporter, Written, only};

const NAME: &str = "lmbench";

pub(super) const LMBENCH: Exporter = Exporter {
    name: NAME,
    summary: "the lines of lmbench that the same work stands behind: its scripts, CI that parses them",
    ending: "",
    is_text: true,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    let Some(run) = only(NAME, runs)? else { return Ok(Vec::new()) };
    let (text, reported) = text(run);
    out.write_all(text.as_bytes())?;
    let lines = if reported == 1 { "1 cost has a line".into() } else { format!("{reported} costs have a line") };
    let left = match run.costs.len() - reported {
        0 => String::new(),
        1 => "; 1 has none and is left out".into(),
        left => format!("; {left} have none and are left out"),
    };
    Ok(vec![format!("{lines} in lmbench{left} (docs/GUIDE.md lists the lines)")])
}

#[derive(Clone, Copy)]
enum Unit {
    Microseconds,
    Nanoseconds,
}

/// A line of lmbench: its name, its unit, and the operation at the point that does the same work.
pub(crate) struct Line {
    name: &'static str,
    unit: Unit,
    same: FixedTerm,
}

const fn line(name: &'static str, operation: &'static str, at: FixedPoint) -> Line {
    Line { name, unit: Unit::Microseconds, same: FixedTerm { times: 1.0, operation, at } }
}

const fn instruction(name: &'static str, operation: &'static str, at: FixedPoint) -> Line {
    Line { unit: Unit::Nanoseconds, ..line(name, operation, at) }
}

/// A message of 26 bytes to a partner on the same CPU. lmbench sends 1 byte, which costs the same, and lets the scheduler place
/// the partner.
const MESSAGE: FixedPoint = &[("distance", Value::Word("same")), ("size", Value::Number(26))];
const WIDE: FixedPoint = &[("width", Value::Number(64))];
const NARROW: FixedPoint = &[("width", Value::Number(32))];
const SINGLE: FixedPoint = &[("precision", Value::Word("single")), ("vector", Value::Word("scalar"))];
const DOUBLE: FixedPoint = &[("precision", Value::Word("double")), ("vector", Value::Word("scalar"))];

/// The lines of single figures, in lmbench's order.
const LINES: &[Line] = &[
    line("Simple syscall", "syscall.getppid", &[]),
    line("Simple read", "syscall.read.zero", &[]),
    line("Simple write", "syscall.write.null", &[]),
    line("Simple fstat", "syscall.fstat", &[]),
    line("Signal handler installation", "signal.install", &[]),
    line("Pipe latency", "pipe.roundtrip", MESSAGE),
    line("Fifo latency", "fifo.roundtrip", MESSAGE),
    line("AF_UNIX sock stream latency", "unix.roundtrip", MESSAGE),
    line("Process fork+exit", "process.fork", &[]),
    instruction("integer mul", "instruction.multiply.latency", NARROW),
    instruction("int64 mul", "instruction.multiply.latency", WIDE),
    instruction("float add", "instruction.float.add.latency", SINGLE),
    instruction("float mul", "instruction.float.multiply.latency", SINGLE),
    instruction("double add", "instruction.float.add.latency", DOUBLE),
    instruction("double mul", "instruction.float.multiply.latency", DOUBLE),
    line("UDP latency using localhost", "udp.roundtrip", MESSAGE),
    line("TCP latency using localhost", "tcp.roundtrip", MESSAGE),
];

/// The line that lmbench prints under this name.
pub(crate) fn line_of(name: &str) -> Option<&'static Line> {
    LINES.iter().find(|line| line.name == name)
}

impl Line {
    /// The operation and its point, with plain numbers.
    pub(crate) fn operation(&self) -> String {
        self.same.term().name()
    }
}

/// The text, and how many costs it holds.
fn text(run: &Run) -> (String, usize) {
    let mut text = banner(run);
    let mut reported = 0;
    for line in LINES {
        let Some(cost) = run.cost_of(&line.same.term()) else { continue };
        let us = cost.quoted().0 / 1e3;
        // lmbench prints no figure that is not positive.
        if !us.is_finite() || us <= 0.0 {
            continue;
        }
        reported += 1;
        let _ = match line.unit {
            // lmbench prints four and two digits, which is little where an operation takes 60 ns or 0.3.
            Unit::Microseconds => writeln!(text, "{}: {us:.4} microseconds", line.name),
            Unit::Nanoseconds => writeln!(text, "{}: {:.2} nanoseconds", line.name, us * 1e3),
        };
    }
    reported += copies(run, &mut text);
    reported += switches(run, &mut text);
    reported += loads(run, &mut text);
    (text, reported)
}

/// What lmbench's own scripts look for at the beginning, and who printed this.
fn banner(run: &Run) -> String {
    let machine = &run.machine;
    let kernel = &machine.kernel;
    let mut text = format!("[lmbench3.0 results for {} howslow {}", kernel.name, kernel.release);
    let _ = writeln!(text, " {} {}]", kernel.version, machine.architecture);
    let _ = writeln!(text, "[printed by howslow {} from its run {}; lmbench did not run]", run.howslow, run.id);
    if run.noise.cycle_ns > 0.0 {
        let _ = writeln!(text, "[MHZ: {:.0} MHz, {:.4} nanosec clock]", 1e3 / run.noise.cycle_ns, run.noise.cycle_ns);
    }
    text
}

/// The costs of an operation over its axis `axis` where that is a number, in ascending order.
fn along<'a>(run: &'a Run, operation: &str, axis: &str) -> Vec<(u64, &'a Cost)> {
    let measured = run.costs.iter().filter(|cost| cost.operation == operation && cost.at.0.len() == 1);
    let known = measured.filter(|cost| cost.quoted().0.is_finite() && cost.quoted().0 > 0.0);
    let mut found: Vec<(u64, &Cost)> = known.filter_map(|cost| Some((cost.at.number(axis)?, cost))).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

const MB: f64 = 1e6;

/// `bw_mem bcopy`: the C library's copy from and to the same addresses.
fn copies(run: &Run, text: &mut String) -> usize {
    let found = along(run, "memory.copy", "size");
    if found.is_empty() {
        return 0;
    }
    text.push_str("\n\"libc bcopy unaligned\n");
    for (size, cost) in &found {
        let (mb, rate) = (*size as f64 / MB, *size as f64 * 1e3 / cost.quoted().0);
        let _ = if mb < 1.0 { writeln!(text, "{mb:.6} {rate:.2}") } else { writeln!(text, "{mb:.2} {rate:.2}") };
    }
    text.push('\n');
    found.len()
}

/// `lat_ctx` with two processes: a block for each size of their working sets.
fn switches(run: &Run, text: &mut String) -> usize {
    let found = along(run, "switch.process", "set");
    let work = along(run, "switch.work", "set");
    for (set, cost) in &found {
        // The overhead that is subtracted: a token through a pipe, and the working set read.
        let overhead = work.iter().find(|(other, _)| other == set).map_or(0.0, |(_, work)| work.quoted().0 / 1e3);
        let _ = writeln!(text, "\n\"size={}k ovr={overhead:.2}", set / 1024);
        let _ = writeln!(text, "2 {:.2}", cost.quoted().0 / 1e3);
    }
    if !found.is_empty() {
        text.push('\n');
    }
    found.len()
}

/// `lat_mem_rd -t` with a stride of a cache line: loads in random order, in base pages.
fn loads(run: &Run, text: &mut String) -> usize {
    let found = along(run, "memory.load.paged", "set");
    if found.is_empty() {
        return 0;
    }
    text.push_str("\nRandom load latency\n\"stride=64\n");
    for (set, cost) in &found {
        let _ = writeln!(text, "{:.5} {:.3}", *set as f64 / (1024.0 * 1024.0), cost.quoted().0);
    }
    text.push('\n');
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_that_of_one_point() {
        let pipe = line_of("Pipe latency").expect("a line");
        assert_eq!(pipe.operation(), "pipe.roundtrip@distance=same,size=26");
        assert_eq!(line_of("Simple syscall").map(Line::operation), Some("syscall.getppid".into()));
        assert!(line_of("Simple stat").is_none(), "lmbench looks up a path of several folders");
    }
}
