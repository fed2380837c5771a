//! Whether a change that was made on purpose is told: pairs of runs under a filter of the kernel (seccomp) that allows
//! every call, once after few instructions and once after more of them, so that each system call costs so many cycles
//! more and nothing else changes.

mod filter;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{bail, ensure};
use record::Run;
use record::units::percent;

use crate::Extent;
use crate::coverage::{Row, compare};
use crate::tool::{self, Howslow};
use filter::Filter;

const PAIRS: u32 = 10;
/// The call whose cost is made dearer by this share.
const CALL: &str = "syscall.getppid";
const CHANGE: f64 = 0.05;
/// What the change may come to where it is tried.
const ACCEPTED: std::ops::RangeInclusive<f64> = 0.045..=0.06;
/// Instructions of the shorter filter.
const SHORT: u32 = 8;
/// How often the length is corrected.
const TRIES: u32 = 8;

/// What the pairs said of one cost.
#[derive(Default)]
struct Told {
    slower: u32,
    faster: u32,
    pairs: u32,
    /// By how much the added cycles, as timed by hand, should make it dearer.
    wanted: Vec<f64>,
    ratios: Vec<f64>,
}

pub(crate) fn sensitivity(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let cpu = *machine::describe().cpu.usable.last().unwrap_or(&0);
    let Some(Filters { short, long, added }) = filters(cpu)? else {
        tool::skip("no filter of system calls can be set up here", "run where seccomp is allowed");
        return Ok(());
    };
    let times = extent.times(PAIRS);
    println!("{times} pairs of headline runs under either filter; about {} s", times * 2 * extent.budget.unwrap_or(16));
    let budget = extent.budget.map(|seconds| Duration::from_secs(seconds.into()));
    let folder = tempfile::tempdir()?;
    let files = [folder.path().join("short.json"), folder.path().join("long.json")];
    let mut told: BTreeMap<String, Told> = BTreeMap::new();
    for pair in 0..times {
        // Either comes first as often as the other.
        let mut runs: [Option<Run>; 2] = [None, None];
        for turn in 0..2 {
            let which = (turn + pair as usize) % 2;
            let run = howslow.run_under(|command| [&short, &long][which].put_on(command), &[], budget)?;
            fs::write(&files[which], serde_json::to_vec(&run)?)?;
            runs[which] = Some(run);
        }
        let [Some(before), Some(_)] = &runs else { bail!("a pair of one run") };
        let rows = compare(howslow, &files[0], &files[1])?;
        ensure!(rows.iter().any(|row| row.name.starts_with(CALL)), "the comparison lacks {CALL}");
        for row in rows {
            note(&mut told, row, before, added);
        }
    }
    conclude(&told);
    Ok(())
}

/// Two filters of which the second makes the call dearer by about the share that is to be told.
struct Filters {
    short: Filter,
    long: Filter,
    /// By how many cycles.
    added: f64,
}

/// `None` where no filter can be set up.
fn filters(cpu: u32) -> anyhow::Result<Option<Filters>> {
    let short = Filter::of(SHORT);
    let (mut long, mut share) = (SHORT + 64, 0.0);
    for _ in 0..TRIES {
        let filter = Filter::of(long);
        let Some((base, longer)) = filter::in_turn(&short, &filter, cpu)? else { return Ok(None) };
        let added = longer - base;
        share = added / base;
        println!(
            "the call itself: {base:.1} cycles under a filter of {SHORT} instructions, {longer:.1} under {long}: {}",
            percent(share)
        );
        if ACCEPTED.contains(&share) {
            return Ok(Some(Filters { short, long: filter, added }));
        }
        // An instruction takes a cycle or less. Where noise says that they take none, twice as many are tried.
        let each = added / f64::from(long - SHORT);
        let wanted = if each > 0.0 { (CHANGE * base / each).round() as u32 } else { 2 * long };
        long = SHORT + wanted.clamp(1, filter::LONGEST - SHORT);
    }
    bail!("no length of the filter makes the call dearer by {}: the last came to {}", percent(CHANGE), percent(share));
}

fn note(told: &mut BTreeMap<String, Told>, row: Row, before: &Run, added: f64) {
    // What makes one call an iteration rises by the added cycles; of the others nothing is known beforehand.
    let one_call = |operation: &str| operation.starts_with("syscall.") && operation != "syscall.open.close";
    let base = before.costs.iter().find(|cost| cost.name() == row.name);
    let it = told.entry(row.name).or_default();
    it.pairs += 1;
    it.slower += u32::from(row.verdict == "slower");
    it.faster += u32::from(row.verdict == "faster");
    it.ratios.extend(row.ratio);
    it.wanted.extend(base.filter(|cost| one_call(&cost.operation)).map(|cost| added / cost.cycles));
}

fn conclude(told: &BTreeMap<String, Told>) {
    let middle = |values: &[f64]| analysis::statistics::median(values.iter().copied());
    let mut calls: Vec<_> = told.iter().filter(|(_, it)| !it.wanted.is_empty()).collect();
    calls.sort_by(|a, b| middle(&b.1.wanted).unwrap_or(0.0).total_cmp(&middle(&a.1.wanted).unwrap_or(0.0)));
    println!("costs of one call                        dearer by  found    told slower");
    for (name, it) in &calls {
        let by = |value: Option<f64>| value.map_or_else(|| "-".into(), percent);
        println!(
            "  {name:<38} {:>8}  {:>7}  {} of {} pairs{}",
            by(middle(&it.wanted)),
            by(middle(&it.ratios).map(|ratio| ratio - 1.0)),
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
