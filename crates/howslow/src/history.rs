//! `howslow history`: the kept runs.

use report::Kept;
use store::{Head, Store};

use crate::cli::JsonArgs;
use crate::output::{self, Outcome};

pub(crate) fn history(args: &JsonArgs) -> anyhow::Result<Outcome> {
    let kept: Vec<Kept> =
        Store::of_user()?.list()?.into_iter().zip(1..).map(|(head, place)| kept(head, place)).collect();
    if args.json {
        output::print_json(&kept)?;
    } else {
        output::print_page(&report::history(&kept, output::style()))?;
    }
    Ok(Outcome::Done)
}

fn kept(head: Head, place: usize) -> Kept {
    Kept {
        name: format!("@{place}"),
        id: head.id,
        started: head.started,
        model: head.model,
        kernel: head.kernel,
        patterns: head.patterns,
        full: head.full,
        path: head.path.display().to_string(),
    }
}
