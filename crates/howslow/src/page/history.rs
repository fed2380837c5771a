//! The figures of earlier runs of the machine, where the store has some, and what `howslow watch` reports of them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analysis::change::LEAST;
use jiff::Timestamp;
use record::Run;
use report::{AnonymousDocument, CostHistories, EarlierFigure, Section, document_section};
use serde_json::{Value, json};
use store::{CostTable, Filter, Head, Row, Store};

use super::sources::Privacy;
use crate::resolve;

/// Older runs mean little for the present machine.
const MOST_RUNS: usize = 60;
/// Changes that have a chart.
const MOST_CHARTS: usize = 12;

/// The histories of a kept run's costs, and the section of the watch. Empty for a run that is not kept: it has no history.
pub(super) fn gathered(run: &Run, privacy: Privacy) -> (CostHistories, Option<Section>) {
    let read = || -> anyhow::Result<(CostHistories, Option<Section>)> {
        let store = resolve::store()?;
        let all = store.runs(&Filter::default())?;
        let Some(own) = all.iter().find(|head| head.id == run.id) else { return Ok((CostHistories::new(), None)) };
        let earlier = |head: &&Head| head.class == own.class && head.host == own.host && head.ordered < own.ordered;
        let heads: Vec<&Head> = all.iter().filter(earlier).take(MOST_RUNS).collect();
        let histories = histories(&store, own, &heads)?;
        let watched = watched(&store, own, &histories, privacy);
        Ok((histories, watched))
    };
    // A page without history is a page: a run in a file needs no store.
    if run.is_book() { (CostHistories::new(), None) } else { read().unwrap_or_default() }
}

fn histories(store: &Store, own: &Head, heads: &[&Head]) -> anyhow::Result<CostHistories> {
    let moment = |text: &str| text.parse::<Timestamp>().ok().map(|time| time.as_second() as f64);
    let now = moment(&own.started);
    let known: BTreeMap<&str, f64> =
        heads.iter().filter_map(|head| Some((head.id.as_str(), (now? - moment(&head.started)?) / 86_400.0))).collect();
    let Some(oldest) = heads.last() else { return Ok(CostHistories::new()) };
    let filter = Filter { machine: Some(own.class.clone()), since: Some(oldest.ordered.clone()), ..Filter::default() };
    let mut found = CostHistories::new();
    store.costs(
        &filter,
        &|series| series.unit == "ns" && !series.beside_work,
        &mut |table: &CostTable, row: Row| {
            let head = &table.runs[row.run as usize];
            if let Some(days_before) = known.get(head.id.as_str()) {
                let figure =
                    EarlierFigure { days_before: *days_before, value: row.value, low: row.low, high: row.high };
                found.entry(table.series[row.series as usize].name()).or_default().push(figure);
            }
            ControlFlow::Continue(())
        },
    )?;
    found.values_mut().for_each(|figures| figures.sort_by(|one, other| other.days_before.total_cmp(&one.days_before)));
    Ok(found)
}

/// The section of the watch: what changed, and the costs that did from run to run. `None` if too few runs are kept.
fn watched(store: &Store, own: &Head, histories: &CostHistories, privacy: Privacy) -> Option<Section> {
    let document = crate::watch::document(store, own, &[], None, LEAST).ok()?;
    let mut value = serde_json::to_value(&document).ok()?;
    let changes = &document.changes;
    let costs: Vec<&str> = changes.iter().flat_map(|change| &change.costs).map(|cost| cost.cost.as_str()).collect();
    let series = |cost: &&str| -> Option<Value> {
        let figures = histories.get(*cost)?;
        let point = |figure: &EarlierFigure| json!({ "value": figure.value, "low": figure.low, "high": figure.high });
        let begins = changes.iter().filter(|change| change.costs.iter().any(|changed| changed.cost == *cost));
        let places: Vec<usize> = begins.map(|change| (figures.len() + 1).saturating_sub(change.runs)).collect();
        Some(json!({ "cost": cost, "figures": figures.iter().map(point).collect::<Vec<_>>(), "changes": places }))
    };
    value["series"] = costs.iter().take(MOST_CHARTS).filter_map(series).collect();
    let clean = if privacy == Privacy::Anonymous { AnonymousDocument::of(&value) } else { value };
    Some(Section { id: "watch".into(), ..document_section(&clean, "Watch", 0) })
}
