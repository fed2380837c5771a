//! `howslow time --bench`: the benchmarks of one program, or two programs in lockstep.

mod alone;
mod build;
mod judged;
mod others;
mod selection;
mod versus;

use std::path::{Path, PathBuf};

use super::args::TimeArgs;
use crate::output::{Misuse, Outcome, shown};

pub(super) fn bench(args: &TimeArgs) -> anyhow::Result<Outcome> {
    let programs: Vec<PathBuf> = args.bench.bench.iter().map(|path| found(path)).collect::<Result<_, _>>()?;
    match (programs.as_slice(), &args.bench.against) {
        ([program], None) => {
            let needs_two = [
                ("--null", args.bench.null),
                ("--fail-on", args.bench.fail_on.is_some()),
                ("--markdown", args.bench.markdown.is_some()),
                ("--badge", args.bench.badge.is_some()),
            ];
            if let Some((option, _)) = needs_two.iter().find(|(_, given)| *given) {
                return Err(Misuse(format!("{option} is for a comparison; add --against, or a second program")).into());
            }
            alone::alone(program, args)
        }
        ([program], Some(old)) => versus::against(old, program, args),
        ([old, new], None) => versus::versus(old, new, args),
        _ => Err(Misuse("--against names the old one, so --bench takes only the new one".into()).into()),
    }
}

/// The path of a program, absolute, so that it holds wherever the program is started.
fn found(path: &Path) -> Result<PathBuf, Misuse> {
    match std::path::absolute(path) {
        Ok(whole) if whole.is_file() => Ok(whole),
        _ => Err(Misuse(format!("--bench {}: there is no such program", shown(path)))),
    }
}
