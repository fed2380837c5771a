//! `howslow self-test`: whether costs are measured right on this machine.

use std::time::Duration;

use analysis::self_test::{CheckEnd, SelfCheck, compared_with_plain, known_costs, null_comparison};
use clap::Args;
use measure::Measurement;
use record::Run;
use report::document::SelfTestDocument;
use rustix::process::{Pid, WaitOptions, wait};

use crate::cli::measure::MeasureArgs;
use crate::cli::value::seconds;
use crate::output::{self, Outcome};
use crate::session::{self, Wanted};
use crate::{pattern, resolve, scratch};

const CHECKED: &str = "\
An add, a multiplication and a load from the first cache take a known number of cycles; a system call and a pipe take what plain \
loops take; two runs that differ in nothing do not differ; nothing stays behind. No run is kept.
Examples:
  howslow self-test
  howslow self-test --budget 1m --json
Exit status: 0 pass; 1 nothing could be measured; 2 misused; 3 no check failed, and some cannot be done here or now; 4 a check \
failed; 130 interrupted.";

/// Check that costs are measured right on this machine, in about 20 seconds; exits with 4 if not
#[derive(Debug, Args)]
#[command(after_help = CHECKED)]
pub(crate) struct SelfTestArgs {
    /// Time that both runs together may take; plain loops take a third of it more, 2 s to 6 s
    #[arg(long, value_name = "TIME", default_value = "18s", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What both runs measure. The first three are known in cycles, the others are also timed by plain loops.
const MEASURED: [&str; 5] = [
    "instruction.add.latency@width=64", "instruction.multiply.latency@width=64", "memory.load@set=4KiB",
    "syscall.getppid", "pipe.self@size=64",
];

/// The bytes that a plain loop passes through a pipe, as the last one of them does.
const PIPE: usize = 64;

pub(crate) fn self_test(args: &SelfTestArgs) -> anyhow::Result<Outcome> {
    let before = descriptors();
    let mut both = [Run::default(), Run::default()];
    for own in &mut both {
        let Measurement { run, interrupted, .. } = measured(args)?;
        if let Some(signal) = interrupted {
            return Ok(Outcome::Interrupted(signal));
        }
        *own = run;
    }
    let mut checks = known_costs(&both);
    // Six loops: a third of the time of both runs by default.
    let length = Duration::from_secs_f64((args.budget / 18.0).clamp(0.3, 1.0));
    checks.push(plain(&both[0], "syscall.getppid", || instruments::plain::getppid(length)));
    checks.push(plain(&both[0], "pipe.self", || instruments::plain::pipe(PIPE, length)));
    checks.push(null_comparison(&both));
    checks.push(nothing_stays(before));
    let ends = |wanted: CheckEnd| checks.iter().any(|check| check.end == wanted);
    let outcome = Outcome::of_gate(ends(CheckEnd::Failed), !ends(CheckEnd::Unknown));
    let page = report::self_test(&checks, output::style());
    let document = SelfTestDocument { machine: &both[0].machine, howslow: env!("CARGO_PKG_VERSION"), checks };
    output::answer(args.json, &document, |_| page)?;
    Ok(outcome)
}

/// A run of its own, in half the time. It is not kept.
fn measured(args: &SelfTestArgs) -> anyhow::Result<Measurement> {
    let patterns = MEASURED.map(String::from);
    let items = pattern::choose(&resolve::patterns(&patterns)?, false)?;
    let budget_s = args.budget / 2.0;
    let wanted = Wanted { items, patterns: patterns.into(), full: false, paired: 0, budget_s };
    session::measure_part(wanted, &MeasureArgs::default())
}

/// A cost beside a plain loop, the quickest of a few. A tracer or an agent that comes or goes between the two makes them differ.
fn plain(run: &Run, operation: &str, time: impl Fn() -> rustix::io::Result<f64>) -> SelfCheck {
    const LOOPS: usize = 3;
    let mut traced = run.noise.traced || observe::are_calls_traced();
    let took = (0..LOOPS).try_fold(f64::INFINITY, |least, _| time().map(|ns| ns.min(least)));
    traced |= observe::are_calls_traced();
    match took {
        Ok(ns) => compared_with_plain(run, operation, ns, traced),
        Err(error) => SelfCheck::unknown(&format!("{operation} costs what a plain loop takes"), error.to_string()),
    }
}

/// No child, scratch folder or open descriptor of the runs is left.
fn nothing_stays(before: usize) -> SelfCheck {
    let own = format!("howslow-scratch-{}-", std::process::id());
    let folders = std::fs::read_dir(scratch::root()).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own)).count();
    let child = match wait(WaitOptions::NOHANG) {
        Err(_) => String::new(),
        Ok(None) => ", a child runs".into(),
        Ok(Some((pid, _))) => format!(", the child {} was not waited for", Pid::as_raw_nonzero(pid)),
    };
    let left = descriptors().saturating_sub(before);
    let passed = folders == 0 && child.is_empty() && left == 0;
    let found = format!("{folders} scratch folders, {left} open files{child}");
    SelfCheck::ended("nothing stays behind", passed, found)
}

/// The number of files that this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}
