//! The work of a command, counted on the native system: its system calls by `howslow bill`, its instructions by valgrind.

use std::collections::BTreeMap;
use std::fs;
use std::iter::repeat;
use std::path::Path;

use anyhow::Context;
use record::{Mix, MixLine};

use super::subject::Subject;

/// One kind of work, and how often a command does it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name in a mix and for `howslow run`.
    pub name: String,
    pub family: &'static str,
    pub times: f64,
}

#[derive(Debug)]
pub(crate) struct Counts {
    pub lines: Vec<Line>,
    /// Lines of code that were executed at least once.
    pub code: f64,
    /// Calls that no operation times, with their number.
    pub unpriced: Vec<(String, f64)>,
}

/// The work of starting and ending a process, which is one line in the mix.
const START_UP: [&str; 2] = ["execve", "exit_group"];
/// The program that counts them.
const HOWSLOW: &str = env!("CARGO_BIN_EXE_howslow-lab");
/// What they are counted with.
const SYSTEM: &str = "system calls";

/// Counts both; the command runs once under each of the two.
pub(crate) fn counted(subject: &Subject, folder: &Path) -> anyhow::Result<Counts> {
    let mut counts = Counts { lines: Vec::new(), code: 0.0, unpriced: Vec::new() };
    let calls = calls(subject, folder)?;
    calls.lines.iter().for_each(|line| counts.add(&line.name(), SYSTEM, line.term.times));
    counts.unpriced = calls.unpriced;
    instructions(subject, folder, &mut counts)?;
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

/// System calls: what prices them, and those that nothing prices, with their number.
struct Calls {
    lines: Vec<MixLine>,
    unpriced: Vec<(String, f64)>,
}

/// The system calls as `howslow bill` counts them, each by what prices it, and those that nothing prices; and switches, of which
/// only a server makes many. What begins and ends a process is a line of its own in the mix, and page faults are counted apart.
fn calls(subject: &Subject, folder: &Path) -> anyhow::Result<Calls> {
    let [mix, document] = ["calls.toml", "calls.json"].map(|name| folder.join(name));
    // Without a run there are no prices, but the mix names what would price each call.
    let data = format!("HOWSLOW_DATA={}", folder.join("no data").display());
    let [mix_path, document_path] = [&mix, &document].map(|path| path.display().to_string());
    subject.run(
        &["env", &data, "HOWSLOW_PRICES=kept", HOWSLOW, "bill", "-o", &mix_path, "-o", &document_path, "--"],
        folder,
    )?;
    let mut lines = Mix::from_toml(&fs::read_to_string(&mix)?)?.lines;
    lines.retain(|line| [SYSTEM, "switches"].contains(&line.family.as_str()));
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&document)?)?;
    let made = document["seen"]["together"]["calls"].as_array().context("a bill without calls")?;
    let is_priced =
        |call: &str| START_UP.contains(&call) || lines.iter().any(|line| line.note.as_deref() == Some(call));
    let unpriced = made.iter().filter_map(|call| Some((call["call"].as_str()?.to_string(), call["count"].as_f64()?)));
    let unpriced = unpriced.filter(|(call, _)| !is_priced(call)).collect();
    Ok(Calls { lines, unpriced })
}

/// A last cache from which nothing is ever displaced: what it misses is met for the first time. Its bytes, ways and bytes of a line.
const LAST_CACHE: &str = "--LL=268435456,16,64";

/// Instructions by kind, as valgrind's callgrind reports them. Its counts of cache misses and mispredictions come from a model.
fn instructions(subject: &Subject, folder: &Path, counts: &mut Counts) -> anyhow::Result<()> {
    let file = folder.join("instructions");
    let out = format!("--callgrind-out-file={}", file.display());
    let options = ["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes", LAST_CACHE, &out];
    subject.run(&[&["valgrind"], &options[..]].concat(), folder)?;
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
    counts.code = of("ILmr")?;
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
