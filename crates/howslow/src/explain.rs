//! `howslow explain`: what costs consist of, and what is left over.

use analysis::derived::{AGREE, Agreement, Derived, EntryShare, derive, entry_shares};
use analysis::explain::{Explanation, explain_all};
use analysis::memory::memory;
use analysis::statistics::Interval;
use record::Run;
use serde_json::{Value, json};

use crate::cli::ExplainArgs;
use crate::memory::memory_json;
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
        output::print_json(&json!({
            "derived": derived.iter().map(derived_json).collect::<Vec<_>>(),
            "entry_shares": shares.iter().map(share_json).collect::<Vec<_>>(),
            "explained": explanations.iter().map(explanation_json).collect::<Vec<_>>(),
            "memory": memory(run).map(|it| memory_json(&it)),
        }))?;
    } else {
        output::print(&report::explained(run, &derived, &shares, &explanations, output::style()))?;
    }
    Ok(Outcome::Done)
}

/// The costs of the run that a pattern means, part by part.
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
        output::print(&format!("nothing is said to explain {}: it is a part itself\n", names.join(", ")))?;
    } else if json {
        let explained: Vec<Value> = explanations.iter().map(explanation_json).collect();
        output::print_json(&json!({ "explained": explained }))?;
    } else {
        output::print(&report::explanations(run, &explanations, output::style()))?;
    }
    Ok(Outcome::Done)
}

/// A figure in ns with its interval; ends that a single round does not tell are null.
pub(crate) fn figure_json(of: &Interval) -> Value {
    json!({ "ns": of.value, "low_ns": of.low, "high_ns": of.high })
}

/// A ratio or share with its interval.
pub(crate) fn ratio_json(of: &Interval) -> Value {
    json!({ "value": of.value, "low": of.low, "high": of.high })
}

fn derived_json(it: &Derived) -> Value {
    let routes = it.routes.iter().map(|followed| {
        json!({
            "route": followed.route.name,
            "formula": followed.route.formula(),
            "figure": followed.figure.as_ref().ok().map(figure_json),
            "missing": followed.figure.as_ref().err(),
            "doubts": followed.doubts,
        })
    });
    let agreement = it.agreement.map(|Agreement { ratio, overlap, agree }| {
        json!({ "ratio": ratio, "overlap": overlap, "within": AGREE, "agree": agree.is_yes(), "answer": agree.word() })
    });
    json!({ "derived": it.name, "routes": routes.collect::<Vec<_>>(), "agreement": agreement })
}

fn share_json(it: &EntryShare) -> Value {
    json!({ "cost": it.name, "entries": it.entries, "share": ratio_json(&it.share), "doubts": it.doubts })
}

fn explanation_json(it: &Explanation) -> Value {
    let parts = it.parts.iter().map(|part| {
        json!({
            "times": part.term.times,
            "operation": part.term.operation,
            "at": part.term.at,
            "each": part.each.as_ref().map(figure_json),
            "together": part.total.as_ref().map(figure_json),
            "doubts": part.doubts,
        })
    });
    json!({
        "cost": it.name,
        "whole": figure_json(&it.whole),
        "parts": parts.collect::<Vec<_>>(),
        "sum": figure_json(&it.sum),
        "residual": figure_json(&it.residual),
        "residual_share": it.residual_share(),
        "doubts": it.doubts,
        "residual_doubts": it.residual_doubts,
    })
}
