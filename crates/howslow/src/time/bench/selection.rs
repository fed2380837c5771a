//! Which benchmarks are meant.

use std::path::Path;

use record::printable;

use crate::cli::BenchArgs;
use crate::output::Misuse;

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
    let shown = printable(&program.display().to_string());
    Misuse(format!("no benchmark of {shown} is selected; its option --list shows what it has"))
}
