//! `howslow explain`: the parts of costs, and the residual.

use analysis::derived::{derive, entry_shares};
use analysis::explain::{Explanation, explain_all};
use analysis::memory::memory;
use record::Run;
use report::document::{CostsExplained, ExplainDocument};

use crate::cli::ExplainArgs;
use crate::output::{self, Misuse, Outcome};
use crate::pattern::Pattern;
use crate::resolve;

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let run = resolve::run(&args.run)?;
    match &args.operation {
        Some(operation) => one(&run, operation, args.json),
        None => all(&run, args.json),
    }
}

fn all(run: &Run, json: bool) -> anyhow::Result<Outcome> {
    let (derived, shares, explanations) = (derive(run), entry_shares(run), explain_all(run));
    if json {
        let memory = memory(run);
        output::print_document(&ExplainDocument::of(&derived, &shares, &explanations, memory.as_ref()))?;
    } else {
        output::print_page(&report::explained(run, &derived, &shares, &explanations, output::style()))?;
    }
    Ok(Outcome::Done)
}

/// The costs of the run that a pattern selects, with their parts.
fn one(run: &Run, operation: &str, json: bool) -> anyhow::Result<Outcome> {
    let pattern = Pattern::parse(operation)?;
    let meant: Vec<_> = run.costs.iter().filter(|cost| pattern.means(&cost.operation, &cost.at)).collect();
    if meant.is_empty() {
        let text = record::printable(operation);
        return Err(Misuse(format!("this run has no cost called '{text}'; `howslow show` lists what it has")).into());
    }
    let mut explanations: Vec<Explanation> = explain_all(run);
    explanations.retain(|it| meant.iter().any(|cost| cost.name() == it.name));
    if explanations.is_empty() && !json {
        let names: Vec<String> = meant.iter().map(|cost| cost.name()).collect();
        output::print_page(&format!("no parts are known of {}\n", names.join(", ")))?;
    } else if json {
        output::print_document(&CostsExplained::of(&explanations))?;
    } else {
        output::print_page(&report::explanations(run, &explanations, output::style()))?;
    }
    Ok(Outcome::Done)
}
