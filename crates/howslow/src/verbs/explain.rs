//! `howslow explain`: the parts of costs, and the residual.

use analysis::derived::{derive, entry_shares};
use analysis::explain::{Explanation, explain_all};
use analysis::levels::CostLevels;
use analysis::memory::memory;
use analysis::reference::{Facts, Oddity, Place, hold, judge, sentences};
use clap::Args;
use clap_complete::ArgValueCompleter;
use record::Run;
use report::document::{CostHeld, CostsExplained, ExplainDocument, OddCosts};

use crate::against::references;
use crate::output::{self, Misuse, Outcome};
use crate::pattern::Pattern;
use crate::{complete, resolve};

const EXPLAINED: &str = "\
Examples:
  howslow explain @1
  howslow explain @1 pipe.roundtrip
  howslow explain before.json 'memory.*@size=64MiB' --json
Exit status: 0 done; 1 the run could not be read; 2 misused: no such run, or no cost of it fits.";

/// Explain costs: derived costs, their parts, and what the parts leave unexplained
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct ExplainArgs {
    /// A file, @1, the beginning of a kept run's id, or a book
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Only these costs of the run, with their parts: an id, family or glob, optionally at a point
    #[arg(value_name = "OPERATION", add = ArgValueCompleter::new(complete::operations))]
    pub operation: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let run = resolve::run(&args.run)?;
    match &args.operation {
        Some(operation) => one(&run, operation, args.json),
        None => all(&run, args.json),
    }
}

fn all(run: &Run, json: bool) -> anyhow::Result<Outcome> {
    let (derived, shares, explanations) = (derive(run), entry_shares(run), explain_all(run));
    let references = references(run);
    let verdict = judge(run, &references, &facts(run));
    let place = Place::of(&run.machine);
    let levels = CostLevels::all(run.costs.iter(), &run.machine);
    if json {
        let memory = memory(run);
        let odd = verdict.odd.iter().map(|oddity| OddCosts::of(oddity, place)).collect();
        let (derived, entry_shares, explained, memory) = (&derived, &shares, &explanations, memory.as_ref());
        output::print_document(&ExplainDocument { derived, entry_shares, explained, memory, odd, levels })?;
    } else {
        let style = output::style();
        let page = report::explained(run, &derived, &shares, &explanations, style) + &report::levels(&levels, style);
        output::print_page(&(page + &report::compared_with_references(&sentences(&verdict, place), style)))?;
    }
    Ok(Outcome::Done)
}

fn facts(run: &Run) -> Facts<'_> {
    Facts { machine: &run.machine, noise: &run.noise, present: None }
}

/// The costs of the run that a pattern selects, with their parts, and beside the references.
fn one(run: &Run, operation: &str, json: bool) -> anyhow::Result<Outcome> {
    let pattern = Pattern::parse(operation)?;
    let meant: Vec<_> = run.costs.iter().filter(|cost| pattern.means(&cost.operation, &cost.at)).collect();
    if meant.is_empty() {
        let text = record::printable(operation);
        return Err(Misuse(format!("this run has no cost called '{text}'; `howslow show` lists what it has")).into());
    }
    let mut explanations: Vec<Explanation> = explain_all(run);
    explanations.retain(|explanation| meant.iter().any(|cost| cost.name() == explanation.name));
    let references = references(run);
    let pairs = meant.iter().flat_map(|cost| references.iter().map(move |reference| (*cost, reference)));
    let held: Vec<_> = pairs.filter_map(|(cost, reference)| Some((cost, hold(cost, reference).ok()?))).collect();
    let levels = CostLevels::all(meant.iter().copied(), &run.machine);
    if json {
        let references = held.iter().map(|(cost, held)| CostHeld::of(cost, held)).collect();
        output::print_document(&CostsExplained { explained: &explanations, references, levels })?;
        return Ok(Outcome::Done);
    }
    let style = output::style();
    let names: Vec<String> = meant.iter().map(|cost| cost.typed()).collect();
    let page = match explanations.as_slice() {
        [] => format!("no parts are known of {}\n", names.join(", ")),
        known => report::explanations(run, known, style),
    };
    let page = page + &report::levels(&levels, style);
    let verdict = judge(run, &references, &facts(run));
    let is_meant =
        |oddity: &&Oddity<'_>| oddity.costs.iter().any(|odd| meant.iter().any(|cost| std::ptr::eq(*cost, odd.cost)));
    let odd = verdict.odd.iter().filter(is_meant).map(|oddity| oddity.sentence(Place::of(&run.machine)));
    output::print_page(&(page + &report::held(&held, &odd.collect::<Vec<_>>(), style)))?;
    Ok(Outcome::Done)
}
