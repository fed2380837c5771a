//! The figures of earlier runs of the machine, where the store has some, and what `howslow watch` reports of them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analysis::change::LEAST;
use jiff::Timestamp;
use record::{Run, largest_first};
use report::{AnonymousDocument, CostHistories, EarlierFigure, Section, document_section};
use serde_json::{Value, json};
use store::{CostTable, Filter, Head, Row, Series, Store};

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
        let Some(own) = all.iter().find(|head| head.is_of(run)) else { return Ok((CostHistories::new(), None)) };
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
    let known: BTreeMap<[&str; 3], f64> =
        heads.iter().filter_map(|head| Some((head.name(), days_before(own, &head.started)?))).collect();
    let Some(oldest) = heads.last() else { return Ok(CostHistories::new()) };
    let filter = Filter { machine: Some(own.class.clone()), since: Some(oldest.ordered.clone()), ..Filter::default() };
    let mut found = CostHistories::new();
    let wanted = |series: &Series| series.unit == "ns" && !series.beside_work;
    store.costs(&filter, &wanted, &mut |table: &CostTable, row: Row| {
        let head = &table.runs[row.run as usize];
        if let Some(&days_before) = known.get(&head.name()) {
            let figure = EarlierFigure { days_before, value: row.value, low: row.low, high: row.high };
            found.entry(table.series[row.series as usize].name()).or_default().push(figure);
        }
        ControlFlow::Continue(())
    })?;
    found.values_mut().for_each(|figures| largest_first(figures, |one| one.days_before));
    Ok(found)
}

/// How many days before this run another one started.
fn days_before(own: &Head, started: &str) -> Option<f64> {
    let moment = |text: &str| text.parse::<Timestamp>().ok().map(|time| time.as_second() as f64);
    Some((moment(&own.started)? - moment(started)?) / 86_400.0)
}

/// The number of figures, the oldest first, before the run that started so many days ago. Runs without the cost have none.
fn figures_before(figures: &[EarlierFigure], days_before: f64) -> usize {
    figures.partition_point(|figure| figure.days_before > days_before)
}

/// The section of the watch: what changed, and the costs that did from run to run. `None` if too few runs are kept.
fn watched(store: &Store, own: &Head, histories: &CostHistories, privacy: Privacy) -> Option<Section> {
    let document = crate::verbs::watch::document(store, own, &[], None, LEAST).ok()?;
    let mut value = serde_json::to_value(&document).ok()?;
    let changes = &document.changes;
    let costs: Vec<&str> = changes.iter().flat_map(|change| &change.costs).map(|cost| cost.cost.as_str()).collect();
    let series = |cost: &&str| -> Option<Value> {
        let figures = histories.get(*cost)?;
        let point = |figure: &EarlierFigure| json!({ "value": figure.value, "low": figure.low, "high": figure.high });
        let begins = changes.iter().filter(|change| change.costs.iter().any(|changed| changed.cost == *cost));
        let places = begins.filter_map(|change| Some(figures_before(figures, days_before(own, &change.started)?)));
        let places: Vec<usize> = places.collect();
        Some(json!({ "cost": cost, "figures": figures.iter().map(point).collect::<Vec<_>>(), "changes": places }))
    };
    value["series"] = costs.iter().take(MOST_CHARTS).filter_map(series).collect();
    let clean = if privacy == Privacy::Anonymous { AnonymousDocument::of(&value) } else { value };
    Some(Section { id: "watch".into(), ..document_section(&clean, "Watch", 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_marked_by_the_figures_before_it_where_runs_lack_the_cost() {
        let figure = |days_before: f64| EarlierFigure { days_before, value: 1.0, low: 0.9, high: 1.1 };
        // Of fourteen daily runs, the eleventh began the change, and the next two lack the cost.
        let figures: Vec<EarlierFigure> = (3..=13).rev().map(|days| figure(f64::from(days))).collect();
        assert_eq!(figures_before(&figures, 3.0), 10);
        assert_eq!(figures_before(&figures, 0.0), figures.len(), "the run of the page has no earlier figure");
    }
}
