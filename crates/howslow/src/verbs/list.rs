//! `howslow list`: all operations.

mod syscalls;

use clap::Args;
use clap_complete::ArgValueCompleter;
use operation::{Axis, Item, Need};
use report::Listed;

use crate::output::{self, Outcome};
use crate::pattern::{self, Pattern};
use crate::{complete, find, resolve};

const LISTED: &str = "\
A star marks the headline operations. Several words find what fits all of them best.
Examples:
  howslow list
  howslow list 'context switch'
  howslow list huge
  howslow list memory.load pipe
  howslow list --syscalls 'open*'
Exit status: 0 done; 1 failed; 2 misused: nothing fits these words.";

/// List the operations
#[derive(Debug, Args)]
#[command(after_help = LISTED)]
pub(crate) struct ListArgs {
    /// Patterns as for `howslow run`, or words to search for: huge pages, lat_ctx, 'context switch'; with --syscalls also a
    /// call's name, a glob over names, or a number
    #[arg(value_name = "PATTERN|WORD", add = ArgValueCompleter::new(complete::operations))]
    pub patterns: Vec<String>,
    /// List every system call of this architecture: the operation that times it, or the reason why none does
    #[arg(long)]
    pub syscalls: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    if args.syscalls {
        return syscalls::list(&args.patterns, args.json);
    }
    let patterns = resolve::patterns(&args.patterns);
    let searched = match &patterns {
        Ok(patterns) => !patterns.iter().all(Pattern::is_of_ids),
        // Words may contain what no pattern can, but they have no point.
        Err(_) => !args.patterns.iter().any(|word| word.contains('@')),
    };
    let found = if searched { find::find(&args.patterns.join(" ")) } else { Vec::new() };
    // Those that words mean come best first.
    let listed = match found.as_slice() {
        [] => listed(pattern::choose(&patterns?, true)?),
        found => listed(found.iter().copied().flat_map(Item::all_of).collect()),
    };
    match (args.json, found.is_empty()) {
        (true, _) => output::print_json(&listed)?,
        (false, true) => output::print_page(&report::list(&listed, output::style()))?,
        (false, false) => output::print_page(&report::found(&listed, output::style()))?,
    }
    Ok(Outcome::Done)
}

/// The points, grouped by operation.
fn listed(items: Vec<Item>) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for Item { operation, point } in items {
        match all.last_mut().filter(|last| last.operation == operation.id) {
            Some(last) => last.points.push(point),
            None => all.push(Listed {
                operation: operation.id.into(),
                group: catalogue::heading(operation.id).into(),
                summary: operation.summary.into(),
                per: operation.per.into(),
                points: vec![point],
                free: operation.axes.iter().filter_map(free).collect(),
                headline: operation.headline,
                like: operation.aliases.iter().map(ToString::to_string).collect(),
                needs: operation.needs.iter().map(need).collect(),
            }),
        }
    }
    all
}

/// An axis that takes numbers of the user's own, with its bounds.
fn free(axis: &Axis) -> Option<String> {
    Some(format!("{} {}", axis.name, axis.bounds?.described(axis.unit)))
}

fn need(need: &Need) -> String {
    match need {
        Need::TwoCpus => "two CPUs".into(),
        Need::Root => "root".into(),
        Need::Program(path) => (*path).into(),
    }
}
