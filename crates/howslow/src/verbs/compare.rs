//! `howslow compare`: runs side by side.

pub(crate) mod args;
mod gate;

use analysis::compare::{CompareOptions, Comparison, Gated, Versions, differences};
use record::Run;
use report::document::{CompareDocument, ComparedGate};
use report::{ComparisonView, Shown};

use crate::factors::{FactorSplit, split_from_first};
use crate::output::{self, Misuse, Outcome, print_note};
use crate::pattern::{Pattern, nearest_of};
use crate::resolve;
use crate::verbs::predict::open_mix;
use crate::verbs::predict::whole::Whole;
use args::CompareArgs;

pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Outcome> {
    let patterns = resolve::patterns(&args.only)?;
    let mix = args.mix.as_deref().map(open_mix).transpose()?;
    let (names, runs) = sides(args)?;
    let named = resolve::named(&names, &runs);
    let skipped = gate::skipped(&patterns, &runs, args);
    for pattern in patterns.iter().filter(|pattern| !skipped.iter().any(|one| one.name == pattern.text())) {
        means_something(pattern, &runs)?;
    }
    let versions = if args.ignore_versions { Versions::Ignored } else { Versions::Kept };
    let how = CompareOptions { unit: args.unit, threshold: args.threshold, margin: args.margin, versions };
    let mut comparison = analysis::compare::compare(&runs, &how);
    if comparison.is_empty() {
        return Err(nothing_in_common(&names).into());
    }
    let measured = Whole::read_all(&args.measured, &named)?;
    if !patterns.is_empty() {
        comparison.retain(|cost| patterns.iter().any(|pattern| pattern.means(&cost.operation, &cost.at)));
    }
    let splits = mix.map(|mix| split_from_first(&mix, &named, &measured)).transpose()?;
    let gated = gate::gated(&comparison, skipped, args);
    print(&comparison, splits, gated.as_ref(), args, &names)?;
    let Some(gated) = gated else { return Ok(Outcome::Done) };
    print_note(&report::gate_sentence(&gated, &view(args, &names)));
    Ok(Outcome::of_gate(!gated.failed.is_empty(), gated.is_complete()))
}

/// What is compared, with its names: the runs, or the runs on either side of `--` taken together.
fn sides(args: &CompareArgs) -> anyhow::Result<(Vec<String>, Vec<Run>)> {
    if args.others.is_empty() {
        if args.runs.len() < 2 {
            return Err(Misuse("compare needs two runs or more, the base first: `howslow compare @2 @1`".into()).into());
        }
        return Ok((args.runs.clone(), resolve::runs(&args.runs)?));
    }
    let sides = [&args.runs, &args.others].map(|names| Ok((joined(names), together(names)?)));
    let sides: anyhow::Result<Vec<(String, Run)>> = sides.into_iter().collect();
    Ok(sides?.into_iter().unzip())
}

/// What a side is called: the last parts of its paths.
fn joined(names: &[String]) -> String {
    let last = |name: &String| name.trim_end_matches(".json").rsplit('/').next().unwrap_or(name).to_string();
    names.iter().map(last).collect::<Vec<_>>().join("+")
}

/// Runs of one machine as one.
fn together(names: &[String]) -> anyhow::Result<Run> {
    let runs = resolve::distinct(names)?;
    let kernel = |run: &Run| (run.machine.kernel.release.clone(), run.machine.kernel.version.clone());
    let alike = |run: &&Run| {
        run.machine.cpu.signature == runs[0].machine.cpu.signature
            && kernel(run) == kernel(&runs[0])
            && run.settings.beside == runs[0].settings.beside
    };
    let measured = |run: &&Run| !run.is_published() && run.costs.iter().any(|cost| !cost.rounds.is_empty());
    let whole = names.iter().zip(&runs).filter(|_| runs.len() > 1);
    if let Some((name, _)) = whole.clone().find(|(_, run)| !measured(run)) {
        let why = "it has no rounds, so it cannot be taken together with others";
        return Err(Misuse(format!("{}: {why}", record::printable(name))).into());
    }
    let odd = whole.clone().find(|(_, run)| !alike(run));
    if let Some((name, _)) = odd {
        let (name, first) = (record::printable(name), record::printable(&names[0]));
        let why = "only runs of one processor and kernel beside the same work can be taken together";
        return Err(Misuse(format!("{name} is not like {first}: {why}")).into());
    }
    analysis::again::pooled(&runs).ok_or_else(|| Misuse("a side of -- has no run".into()).into())
}

fn print(
    comparison: &Comparison<'_>,
    splits: Option<Vec<FactorSplit>>,
    gated: Option<&Gated<'_>>,
    args: &CompareArgs,
    names: &[String],
) -> anyhow::Result<()> {
    let shown = if args.changed { Shown::Changed } else { Shown::All };
    if args.csv {
        return crate::verbs::export::print_table(&crate::tables::comparison(comparison, names, shown));
    }
    if args.json {
        let splits = splits.map(|splits| splits.into_iter().map(|split| split.document).collect());
        let document = CompareDocument::of(comparison, names, shown, splits);
        return output::print_document(&CompareDocument { gate: gated.map(ComparedGate::of), ..document });
    }
    if args.markdown {
        let differing = differences(comparison.runs);
        return output::print(&report::comparison_markdown(comparison, &differing, &view(args, names), gated));
    }
    // Each part ends its last line.
    let view = view(args, names);
    let mut parts = report::comparison(comparison, &differences(comparison.runs), &view, output::style());
    parts.extend(splits.into_iter().flatten().map(|split| split.page));
    output::print_page(&parts.join("\n"))
}

fn view<'n>(args: &CompareArgs, names: &'n [String]) -> ComparisonView<'n> {
    // Costs that were requested by name are shown whatever their verdict.
    let all = args.all || (!args.only.is_empty() && !args.changed);
    ComparisonView { names, sort: args.sort, shown: if all { Shown::All } else { Shown::Changed } }
}

/// A pattern selects among the costs of these runs, including operations that this version of howslow does not have.
fn means_something(pattern: &Pattern, runs: &[Run]) -> Result<(), Misuse> {
    let costs = || runs.iter().flat_map(|run| &run.costs);
    if costs().any(|cost| pattern.means(&cost.operation, &cost.at)) {
        return Ok(());
    }
    let text = record::printable(pattern.text());
    let known = costs().flat_map(|cost| [cost.operation.as_str(), cost.family()]).collect();
    let nearest = nearest_of(text.split('@').next().unwrap_or(&text), known);
    Err(Misuse(format!("no cost of these runs is called '{text}'; {nearest}`howslow show` lists what a run has")))
}

fn nothing_in_common(names: &[String]) -> Misuse {
    let (base, others) = names.split_first().map_or(("", &[][..]), |(base, others)| (base.as_str(), others));
    let others = others.iter().map(|name| record::printable(name)).collect::<Vec<_>>().join(", ");
    let base = record::printable(base);
    Misuse(format!(
        "{base} has no cost in common with {others}, so there is nothing to compare; `howslow show` lists what a run has"
    ))
}
