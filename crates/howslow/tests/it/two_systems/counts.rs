//! The work of a command, counted on the native system: its system calls by strace, its instructions by valgrind.

use std::collections::BTreeMap;
use std::fs;
use std::iter::repeat;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use operations::timing;

/// One kind of work, and how often a command does it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name in a mix and for `howslow run`.
    pub name: String,
    pub family: &'static str,
    pub times: f64,
}

/// All counts.
#[derive(Debug)]
pub(crate) struct Counts {
    pub lines: Vec<Line>,
    /// Lines of code that were executed at least once: those that an instruction cache had to fetch.
    pub code: f64,
    /// Calls that no operation times, with their number.
    pub unpriced: Vec<(String, f64)>,
}

/// The work of starting and ending a process, which is one line in the mix.
const START_UP: [&str; 2] = ["execve", "exit_group"];

/// Counts both; the command runs once under each of the two.
pub(crate) fn counted(words: &[String], folder: &Path) -> anyhow::Result<Counts> {
    let mut counts = Counts { lines: Vec::new(), code: 0.0, unpriced: Vec::new() };
    for (call, times) in calls(words, folder)? {
        match priced_by(&call) {
            _ if START_UP.contains(&call.as_str()) => {}
            Some(name) => counts.add(&name, "system calls", times),
            None => counts.unpriced.push((call, times)),
        }
    }
    instructions(words, folder, &mut counts)?;
    Ok(counts)
}

impl Counts {
    pub(crate) fn add(&mut self, name: &str, family: &'static str, times: f64) {
        match self.lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.times += times,
            None => self.lines.push(Line { name: name.into(), family, times }),
        }
    }
}

fn run(tool: &str, options: &[String], words: &[String], folder: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(tool);
    command.args(options).args(words).current_dir(folder).stdin(Stdio::null());
    let output = command.output().context(tool.to_string())?;
    ensure!(output.status.success(), "{tool} {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The table of `strace -c`: share, seconds, each, calls, optionally errors, name.
fn calls(words: &[String], folder: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    let table = folder.join("calls");
    run("strace", &["-c", "-f", "-o", &table.display().to_string()].map(String::from), words, folder)?;
    let text = fs::read_to_string(&table)?;
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [share, _, _, calls, .., name] = fields.as_slice()
            && share.parse::<f64>().is_ok()
            && *name != "total"
        {
            found.insert((*name).to_string(), calls.parse().with_context(|| format!("strace says '{line}'"))?);
        }
    }
    ensure!(found.contains_key("execve"), "strace's table cannot be read: {text}");
    Ok(found)
}

/// The operation that times a call alone, at its first point.
fn priced_by(call: &str) -> Option<String> {
    // Of the operations that read, one that returns data.
    if call == "read" {
        return Some("syscall.read.zero".into());
    }
    let operation = timing(call).min_by_key(|operation| (operation.refused, operation.calls.len()))?;
    let point = operation.points(false).into_iter().next().unwrap_or_default();
    Some(format!("{}{point}", operation.id))
}

/// Instructions by kind, as valgrind's callgrind reports them. Its counts of cache misses and mispredictions come from a model.
fn instructions(words: &[String], folder: &Path, counts: &mut Counts) -> anyhow::Result<()> {
    let file = folder.join("instructions");
    let out = format!("--callgrind-out-file={}", file.display());
    run(
        "valgrind",
        &["--tool=callgrind".into(), "--cache-sim=yes".into(), "--branch-sim=yes".into(), out],
        words,
        folder,
    )?;
    let text = fs::read_to_string(&file)?;
    let after = |key: &'static str| text.lines().filter_map(move |line| line.strip_prefix(key));
    let totals = after("events:").zip(after("totals:")).next().context("callgrind tells no totals")?;
    let kinds: BTreeMap<&str, f64> = totals
        .0
        .split_whitespace()
        // Trailing zeros are omitted.
        .zip(totals.1.split_whitespace().chain(repeat("0")))
        .map(|(kind, count)| Ok((kind, count.parse()?)))
        .collect::<anyhow::Result<_>>()?;
    let of = |kind: &str| kinds.get(kind).copied().with_context(|| format!("callgrind does not count {kind}"));
    let called = after("calls=").filter_map(|line| line.split(' ').next()?.parse::<f64>().ok()).sum::<f64>();
    let (loads, stores, branches, indirect) = (of("Dr")?, of("Dw")?, of("Bc")?, of("Bi")?);
    let missed = of("Bcm")? + of("Bim")?;
    let others = of("Ir")? - loads - stores - branches - 2.0 * called;
    counts.code = of("I1mr")?;
    let mut add = |name: &str, times: f64| counts.add(name, "instructions", times);
    add("instruction.load.throughput@width=8", loads);
    add("instruction.store.throughput@width=8", stores);
    // It does not report which branches are taken.
    add("instruction.branch.taken", branches / 2.0);
    add("instruction.branch.not.taken", branches / 2.0);
    add("instruction.branch.missed", missed);
    let through_pointers = indirect.min(called);
    add("instruction.call.indirect", through_pointers);
    add("instruction.call", called - through_pointers);
    add("instruction.add.throughput@width=64", others.max(0.0));
    // Beyond the first level of the data cache, these small programs find all their data in the second.
    add("memory.load@set=262144", of("D1mr")?);
    Ok(())
}
