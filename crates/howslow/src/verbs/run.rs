//! `howslow run`: measures the operations that patterns select; and `howslow` alone: the headline operations.

use clap::Args;
use clap_complete::ArgValueCompleter;
use operation::Item;
use record::{Cost, Run, Skip};

use crate::cli::measure::{AgainstArgs, MeasureArgs};
use crate::output::{self, Misuse, Outcome};
use crate::pattern::{self, Pattern};
use crate::session::{self, Wanted};
use crate::{against, budget, complete, resolve};

const MEASURED: &str = "\
Examples:
  howslow run pipe memory.copy
  howslow run 'pipe.*@size=4KiB,distance=other' --budget 20s
  howslow run syscall.getppid --label before -o before.json
  howslow run syscall.read.null syscall.write.null --ratio
  howslow run syscall:read openat2 --tails --svg charts
  howslow run memory --full --csv > memory.csv
Exit status: 0 done; 1 failed; 2 misused: no such operation, point or CPU, or a budget that is too short; 3 done, but an \
operation asked for by name was skipped; 130 interrupted.";

/// Measure the operations that patterns name
#[derive(Debug, Args)]
#[command(after_help = MEASURED)]
pub(crate) struct RunArgs {
    /// Ids, families or globs, optionally at a point: memory.copy, pipe, 'syscall.*', 'pipe.*@size=4KiB,distance=other';
    /// a number of your own within the bounds that `howslow list` tells: poll.poll@descriptors=10000; or a system call:
    /// openat2
    #[arg(value_name = "PATTERN", add = ArgValueCompleter::new(complete::operations))]
    pub patterns: Vec<String>,
    /// At every point, not only the headline ones; without patterns: every operation
    #[arg(long)]
    pub full: bool,
    /// Let the batches of these 2 to 8 costs alternate, and print how many times as long each takes as that of the first pattern:
    /// what disturbs both cancels
    #[arg(long, requires = "patterns", conflicts_with_all = ["repeat", "tails", "csv"])]
    pub ratio: bool,
    #[command(flatten)]
    pub beside: AgainstArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    if args.patterns.is_empty() && !args.full {
        return headline(&args.measure, &args.beside);
    }
    session::has_chart(&args.measure)?;
    let patterns = resolve::patterns(&args.patterns)?;
    let mut items = pattern::choose(&patterns, args.full)?;
    if patterns.is_empty() {
        items.retain(|item| !item.operation.opt_in);
    }
    let paired = if args.ratio { compared(&items)? } else { 0 };
    let budget_s = if args.full { budget::FULL } else { budget::PATTERNS };
    let wanted = Wanted { items, patterns: args.patterns.clone(), full: args.full, paired, budget_s };
    measured(wanted, &args.measure, &args.beside, &patterns)
}

/// The headline operations, at their headline points.
pub(crate) fn headline(args: &MeasureArgs, beside: &AgainstArgs) -> anyhow::Result<Outcome> {
    session::has_chart(args)?;
    let operations = catalogue::all().filter(|operation| operation.headline);
    let items =
        operations.flat_map(|operation| operation.points(true).into_iter().map(move |point| Item { operation, point }));
    let wanted = Wanted { patterns: Vec::new(), ..Wanted::of(items.collect(), budget::HEADLINE) };
    measured(wanted, args, beside, &[])
}

/// Measures a run, or as many as `--repeat` requests, and prints it. A skip counts if one of the patterns names the operation.
fn measured(wanted: Wanted, args: &MeasureArgs, beside: &AgainstArgs, patterns: &[Pattern]) -> anyhow::Result<Outcome> {
    let by_name =
        |skip: &Skip| patterns.iter().any(|pattern| pattern.is_by_name() && pattern.means(&skip.operation, &skip.at));
    if let Some(count) = args.repeat {
        return crate::repeat::repeat(count, &wanted, args, &by_name);
    }
    let against = against::check(beside.against.as_deref())?;
    let has_ratios = wanted.paired > 0;
    let mut measured = session::measure(wanted, args)?;
    let sentences = if has_ratios { ratios(&mut measured.run, patterns) } else { String::new() };
    session::print_compared(measured, args, (against, &sentences), &by_name)
}

/// The number of costs whose ratios are taken. Refuses a number that cannot be measured in turn within one moment.
fn compared(items: &[Item]) -> Result<usize, Misuse> {
    const MOST: usize = 8;
    match items.len() {
        2..=MOST => Ok(items.len()),
        count => Err(Misuse(format!(
            "--ratio measures 2 to {MOST} costs in turn, and the patterns name {count}; name each at one point, as in \
             'pipe.self@size=64' (`howslow list` shows them)"
        ))),
    }
}

/// Adds how many times as long each cost takes as that of the first pattern. Returns the same in sentences.
fn ratios(run: &mut Run, patterns: &[Pattern]) -> String {
    let named = |cost: &&Cost| patterns.iter().any(|pattern| pattern.means(&cost.operation, &cost.at));
    let costs: Vec<&Cost> = run.costs.iter().filter(named).collect();
    let base = costs.iter().copied().find(|cost| patterns[0].means(&cost.operation, &cost.at));
    let (ratios, sentences) = (report::ratios(&costs, base), report::relatives(&costs, base, output::style()));
    run.ratios = ratios;
    sentences
}
