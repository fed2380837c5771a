//! The work of a command, counted on the native system: its system calls by `howslow bill`, its instructions by valgrind.

use std::collections::BTreeMap;
use std::fs;
use std::iter::repeat;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use record::{Mix, MixLine};

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
    let calls = calls(words, folder)?;
    calls.lines.iter().for_each(|line| counts.add(&line.name(), "system calls", line.term.times));
    counts.unpriced = calls.unpriced;
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

/// System calls: what prices them, and those that nothing prices, with their number.
struct Calls {
    lines: Vec<MixLine>,
    unpriced: Vec<(String, f64)>,
}

/// The system calls as `howslow bill` counts them, each by what prices it, and those that nothing prices. What begins and ends a
/// process is a line of its own in the mix, and page faults are counted apart; switches have no place in a command that never waits.
fn calls(words: &[String], folder: &Path) -> anyhow::Result<Calls> {
    let [mix, document] = ["calls.toml", "calls.json"].map(|name| folder.join(name));
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("howslow"));
    command.arg("bill").arg("-o").arg(&mix).arg("-o").arg(&document).arg("--").args(words);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    // Without a run there are no prices, but the mix names what would price each call.
    let data = tempfile::tempdir()?;
    let output = command.env("HOWSLOW_DATA", data.path()).output()?;
    ensure!(output.status.success(), "bill {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    let mut lines = Mix::from_toml(&fs::read_to_string(&mix)?)?.lines;
    lines.retain(|line| line.family == "system calls");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&document)?)?;
    let made = document["seen"]["together"]["calls"].as_array().context("a bill without calls")?;
    let is_priced =
        |call: &str| START_UP.contains(&call) || lines.iter().any(|line| line.note.as_deref() == Some(call));
    let unpriced = made.iter().filter_map(|call| Some((call["call"].as_str()?.to_string(), call["count"].as_f64()?)));
    let unpriced = unpriced.filter(|(call, _)| !is_priced(call)).collect();
    Ok(Calls { lines, unpriced })
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
