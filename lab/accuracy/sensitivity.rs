//! Whether a change that was made on purpose is told: pairs of runs under a filter of the kernel (seccomp) that allows
//! every call, once after few instructions and once after more of them, so that each system call costs this many cycles
//! more and nothing else changes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, bail, ensure};
use record::Run;
use record::units::percent;

use crate::Extent;
use crate::coverage::{Row, compare};
use crate::filter::{self, Filter};
use crate::independent::{self, Holds, in_turns};
use crate::tool::{self, Howslow};

/// What is measured, unless whole headline runs are asked for: in those each of 81 costs has its share of the time, which on
/// a busy host leaves 0.03 s of it undisturbed.
const FAMILY: &str = "syscall";
/// Seconds of such a run.
const BUDGET: u32 = 15;
const PAIRS: u32 = 10;
/// The call whose cost is made dearer by this share.
const CALL: &str = "syscall.getppid";
const CHANGE: f64 = 0.05;
/// What the change may come to where it is tried.
const ACCEPTED: std::ops::RangeInclusive<f64> = 0.044..=0.065;
/// Instructions of the shorter filter.
const SHORT: u32 = 8;
/// How often the length is corrected.
const TRIES: u32 = 8;

/// What the pairs said of one cost.
#[derive(Default)]
struct Sensitivity {
    slower: u32,
    faster: u32,
    pairs: u32,
    /// By how much the added cycles, as timed by hand, should make it dearer.
    wanted: Vec<f64>,
    ratios: Vec<f64>,
    half_widths: Vec<f64>,
}

pub(crate) fn sensitivity(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let cpus = system::machine::describe().cpu.usable;
    let Some(Filters { short, long, share }) = filters(&cpus)? else {
        tool::skip("no filter of system calls can be set up here", "run where seccomp is allowed");
        return Ok(());
    };
    let (times, family) = (extent.times(PAIRS), [FAMILY]);
    let patterns: &[&str] = if extent.headline { &[] } else { &family };
    let budget = if extent.headline && extent.budget.is_none() { None } else { Some(extent.budget(BUDGET)) };
    let of = if extent.headline { "headline runs" } else { "runs of the system calls" };
    println!(
        "{times} pairs of {of} under either filter; about {} s",
        times * 2 * (extent.budget(BUDGET).as_secs() as u32 + 1)
    );
    let folder = tempfile::tempdir()?;
    // Under either filter it is another machine: what one remembers must not widen what the other says.
    let remembering = [Howslow::new()?, Howslow::new()?];
    let files = [folder.path().join("short.json"), folder.path().join("long.json")];
    let mut told: BTreeMap<String, Sensitivity> = BTreeMap::new();
    for pair in 0..times {
        // Either comes first as often as the other.
        let mut runs: [Option<Run>; 2] = [None, None];
        for turn in 0..2 {
            let which = (turn + pair as usize) % 2;
            let run =
                remembering[which].run_under(|command| [&short, &long][which].put_on(command), patterns, budget)?;
            fs::write(&files[which], serde_json::to_vec(&run)?)?;
            runs[which] = Some(run);
        }
        let [Some(before), Some(_)] = &runs else { bail!("a pair of one run") };
        let base = before.costs.iter().find(|cost| cost.operation == CALL).map_or(f64::NAN, |cost| cost.cycles);
        let rows = compare(howslow, &files[0], &files[1])?;
        ensure!(rows.iter().any(|row| row.name.starts_with(CALL)), "the comparison lacks {CALL}");
        for row in rows {
            note(&mut told, row, before, share * base);
        }
    }
    conclude(&told);
    Ok(())
}

/// Two filters of which the second makes the call dearer by about the share that is to be told.
struct Filters {
    short: Filter,
    long: Filter,
    /// By what share of the cost under the first.
    share: f64,
}

/// `None` where no filter can be set up. The call's own loop takes turns under either: a neighbour of the core disturbs both.
fn filters(cpus: &[u32]) -> anyhow::Result<Option<Filters>> {
    let entry = independent::named(CALL).with_context(|| format!("there is no entry {CALL}"))?;
    let folder = tempfile::tempdir()?;
    let (mut long, mut share) = (SHORT + 64, 0.0);
    // Lengths that were too short and too long. The cost may step between them, so that no proportion leads to the wanted one.
    let (mut too_short, mut too_long): (Option<u32>, Option<u32>) = (None, None);
    for number in 0..TRIES {
        let sides = [Holds::Filtered(long), Holds::Filtered(SHORT)];
        let turns = match in_turns(entry, sides, cpus, &folder.path().join(number.to_string())) {
            Ok(turns) => turns,
            Err(why) => {
                println!("under a filter no call can be timed: {why}");
                return Ok(None);
            }
        };
        share = turns.ratio() - 1.0;
        let (low, high) = turns.interval();
        println!(
            "the call under a filter of {long} instructions, over that of {SHORT}: {} slower [{}, {}]",
            percent(share),
            percent(low - 1.0),
            percent(high - 1.0)
        );
        if ACCEPTED.contains(&share) {
            return Ok(Some(Filters { short: Filter::of(SHORT), long: Filter::of(long), share }));
        }
        if share < CHANGE {
            too_short = Some(long)
        } else {
            too_long = Some(long)
        }
        // An instruction takes a cycle or less. Where noise says that they take none, twice as many are tried.
        let each = share / f64::from(long - SHORT);
        let wanted = if each > 0.0 { (CHANGE / each).round() as u32 } else { 2 * long };
        let by_proportion = SHORT + wanted.clamp(1, filter::LONGEST - SHORT);
        long = too_short.zip(too_long).map_or(by_proportion, |(short, long)| short.midpoint(long));
    }
    bail!("no length of the filter makes the call dearer by {}: the last came to {}", percent(CHANGE), percent(share));
}

fn note(told: &mut BTreeMap<String, Sensitivity>, row: Row, before: &Run, added: f64) {
    // What makes one call an iteration rises by the added cycles; of the others nothing is known beforehand.
    let one_call = |operation: &str| operation.starts_with("syscall.") && operation != "syscall.open.close";
    let base = before.costs.iter().find(|cost| cost.name() == row.name);
    let it = told.entry(row.name).or_default();
    it.pairs += 1;
    it.slower += u32::from(row.verdict == "slower");
    it.faster += u32::from(row.verdict == "faster");
    it.ratios.extend(row.ratio);
    it.half_widths.extend(row.half_width);
    it.wanted.extend(base.filter(|cost| one_call(&cost.operation)).map(|cost| added / cost.cycles));
}

fn conclude(told: &BTreeMap<String, Sensitivity>) {
    let middle = |values: &[f64]| analysis::statistics::median(values.iter().copied());
    let mut calls: Vec<_> = told.iter().filter(|(_, it)| !it.wanted.is_empty()).collect();
    calls.sort_by(|a, b| middle(&b.1.wanted).unwrap_or(0.0).total_cmp(&middle(&a.1.wanted).unwrap_or(0.0)));
    println!("costs of one call                        dearer by    found      +-  told slower");
    for (name, it) in &calls {
        let by = |value: Option<f64>| value.map_or_else(|| "-".into(), percent);
        println!(
            "  {name:<40} {:>6}  {:>7}  {:>6}  {} of {} pairs{}",
            by(middle(&it.wanted)),
            by(middle(&it.ratios).map(|ratio| ratio - 1.0)),
            by(middle(&it.half_widths)),
            it.slower,
            it.pairs,
            if it.faster > 0 { format!(", faster in {}", it.faster) } else { String::new() },
        );
    }
    let others = told.iter().filter(|(_, it)| it.wanted.is_empty() && it.slower + it.faster > 0);
    println!("told of others, which may contain calls");
    for (name, it) in others {
        println!("  {name:<38} slower {}, faster {} of {} pairs", it.slower, it.faster, it.pairs);
    }
}
