//! Which benchmarks are meant.

use std::path::Path;

use crate::output::{Misuse, shown};
use crate::verbs::time::args::BenchArgs;

/// A batch that takes longer hangs.
pub(super) const PATIENCE: f64 = 30.0;

/// The names of a program that the filters select; without filters, those that need not be named.
pub(super) fn selected(listed: Vec<(String, bool)>, args: &BenchArgs) -> Vec<String> {
    let names = |name: &String| {
        args.filter.iter().any(|filter| if args.exact { name == filter } else { name.contains(filter.as_str()) })
    };
    let wanted = |(name, ignored): &(String, bool)| if args.filter.is_empty() { !ignored } else { names(name) };
    listed.into_iter().filter(wanted).map(|(name, _)| name).collect()
}

/// A filter that selects nothing is a misuse.
pub(super) fn none(program: &Path) -> Misuse {
    Misuse(format!("no benchmark of {} is selected; its option --list shows what it has", shown(program)))
}

pub(super) fn unknown(program: &Path) -> Misuse {
    Misuse(format!(
        "{} is no bench program that howslow knows: of howslow-bench, criterion, divan, Google Benchmark or go test -c",
        shown(program)
    ))
}

/// The benchmarks that only one of two builds has, as a note for each build.
pub(super) fn only_one_has(old: &[String], new: &[String]) -> Vec<String> {
    let note = |(one, other, which): (&[String], &[String], &str)| {
        let only: Vec<&str> = one.iter().filter(|name| !other.contains(name)).map(String::as_str).collect();
        (!only.is_empty()).then(|| format!("only the {which} build has {}", only.join(", ")))
    };
    [(old, new, "old"), (new, old, "new")].into_iter().filter_map(note).collect()
}
