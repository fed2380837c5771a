//! `howslow list`: all operations.

use operation::{Axis, Item, Need};
use record::Bytes;
use report::Listed;

use crate::cli::ListArgs;
use crate::output::{self, Outcome};
use crate::session::heading;
use crate::{pattern, resolve};

pub(crate) fn list(args: &ListArgs) -> anyhow::Result<Outcome> {
    if args.syscalls {
        return crate::syscalls::list(args);
    }
    let patterns = resolve::patterns(&args.patterns)?;
    let listed = listed(pattern::choose(&patterns, true)?);
    if args.json {
        output::print_json(&listed)?;
    } else {
        output::print_page(&report::list(&listed, output::style()))?;
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
                group: heading(operation.id).into(),
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
    Some(format!("{} {}", axis.name, axis.bounds?.told(axis.unit)))
}

fn need(need: &Need) -> String {
    match need {
        Need::TwoCpus => "two CPUs".into(),
        Need::Root => "root".into(),
        Need::Program(path) => (*path).into(),
        Need::Architecture(name) => (*name).into(),
        Need::Memory(bytes) => format!("{} of memory", Bytes(*bytes)),
    }
}
