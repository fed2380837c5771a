//! `howslow compare`: runs beside each other.

mod document;

use analysis::compare::{Comparison, Options, Versions, differences};
use record::{CountedIn, ReadError, Run};
use report::{Shown, Sort, View};
use store::{Store, StoreError};

use crate::cli::{CompareAsked, Order, Unit};
use crate::factors::{Split, split_from_first};
use crate::output::{self, Misuse, Outcome};
use crate::pattern::{Pattern, nearest_of};
use crate::predict::{Named, open_mix};

pub(crate) fn compare(asked: &CompareAsked) -> anyhow::Result<Outcome> {
    let patterns = asked.only.iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mix = asked.mix.as_deref().map(open_mix).transpose()?;
    let runs = asked.runs.iter().map(|name| open(name)).collect::<anyhow::Result<Vec<Run>>>()?;
    for pattern in &patterns {
        means_something(pattern, &runs)?;
    }
    let mut comparison = analysis::compare::compare(&runs, &how(asked));
    if comparison.is_empty() {
        return Err(nothing_in_common(asked).into());
    }
    if !patterns.is_empty() {
        comparison.retain(|cost| patterns.iter().any(|pattern| pattern.means(&cost.operation, &cost.at)));
    }
    let named: Vec<Named> = asked.runs.iter().zip(&runs).map(|(name, run)| Named { name, run }).collect();
    let splits = mix.map(|mix| split_from_first(&mix, &named, &asked.measured)).transpose()?;
    if asked.json {
        let mut document = document::document(&comparison, &asked.runs, shown(asked));
        document.extend(splits.iter().flat_map(|splits| document::factors_json(splits)));
        output::print_json(&document)?;
    } else {
        output::print(&sections(&comparison, splits.as_deref().unwrap_or_default(), asked).join("\n"))?;
    }
    Ok(Outcome::Done)
}

/// The parts of the page, in their order; each ends its last line.
fn sections(comparison: &Comparison<'_>, splits: &[Split], asked: &CompareAsked) -> Vec<String> {
    let sort = match asked.sort {
        Order::Ratio => Sort::Ratio,
        Order::Name => Sort::Name,
        Order::Family => Sort::Family,
    };
    let view = View { names: &asked.runs, sort, shown: shown(asked) };
    let mut sections = report::comparison(comparison, &differences(comparison.runs), &view, output::style());
    sections.extend(splits.iter().map(|split| split.page.clone()));
    sections
}

fn shown(asked: &CompareAsked) -> Shown {
    if asked.changed { Shown::Changed } else { Shown::All }
}

fn how(asked: &CompareAsked) -> Options {
    Options {
        unit: asked.unit.map(|unit| match unit {
            Unit::Ns => CountedIn::Nanoseconds,
            Unit::Cycles => CountedIn::Cycles,
        }),
        threshold: asked.threshold,
        margin: asked.margin,
        versions: if asked.ignore_versions { Versions::Ignored } else { Versions::Kept },
    }
}

/// A run that is not there was not meant: misuse, unlike one that cannot be read.
fn open(name: &str) -> anyhow::Result<Run> {
    Store::open_any(name).map_err(|error| match &error {
        StoreError::Unknown { .. } | StoreError::Ambiguous { .. } => Misuse(error.to_string()).into(),
        StoreError::Read { source: ReadError::Io(why), .. } | StoreError::Io { source: why, .. }
            if why.kind() == std::io::ErrorKind::NotFound =>
        {
            Misuse(error.to_string()).into()
        }
        _ => error.into(),
    })
}

/// A pattern means costs of these runs, whether or not this version of howslow knows them.
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

fn nothing_in_common(asked: &CompareAsked) -> Misuse {
    let (base, others) = asked.runs.split_first().map_or(("", &[][..]), |(base, others)| (base.as_str(), others));
    let others = others.iter().map(|name| record::printable(name)).collect::<Vec<_>>().join(", ");
    Misuse(format!(
        "{} has no cost in common with {others}, so there is nothing to compare; `howslow show` lists what a run has",
        record::printable(base)
    ))
}
