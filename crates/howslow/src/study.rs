//! `howslow study`: a paper's tables and sentences, tested on this machine or on any run.

use analysis::study::{Answer, Compared, Figure, Finding, RowAnswer, Study, TableAnswer, Test};
use anyhow::Context;
use measure::Item;
use serde_json::{Value, json};
use store::Store;

use crate::cli::{How, StudyAsked};
use crate::explain::{figure_json, ratio_json};
use crate::measuring::{self, Measured, Wanted};
use crate::output::{self, Misuse, Outcome, say};

/// Seconds that measuring what a study needs may take.
const BUDGET: f64 = 60.0;

/// What stands in each row of a table's JSON.
const COLUMNS: [&str; 15] = [
    "paper",
    "rate",
    "ms",
    "block_moves",
    "kbit_s",
    "recomputed_ms",
    "recomputed_block_moves",
    "recomputed_kbit_s",
    "here",
    "here_ns",
    "here_block_moves",
    "here_bytes",
    "here_kbit_s",
    "faster",
    "why_not",
];

pub(crate) fn study(asked: &StudyAsked) -> anyhow::Result<Outcome> {
    let unknown = || Misuse(format!("there is no study of '{}'", record::printable(&asked.paper)));
    let study = analysis::study::study(&asked.paper).ok_or_else(unknown)?;
    let book = store::book(study.book).with_context(|| format!("the book {} is missing", study.book))??;
    let (run, outcome) = match &asked.run {
        Some(name) => (Store::open_any(name)?, Outcome::Done),
        None => measured(study, &asked.how)?,
    };
    let answer = study.follow(&book, &run);
    if asked.how.json {
        output::print_json(&as_json(study, &answer))?;
    } else {
        output::print(&report::study(&answer, &book, &run, output::style()))?;
    }
    Ok(outcome)
}

/// Measures what the study needs, keeps the run, writes it where asked for.
fn measured(study: &Study, how: &How) -> anyhow::Result<(record::Run, Outcome)> {
    let items = items(study);
    let patterns = items.iter().map(|item| format!("{}{}", item.operation.id, item.point)).collect();
    let wanted = Wanted { items, patterns, full: false, budget_s: BUDGET };
    let Measured { run, interrupted } = measuring::measure(wanted, how)?;
    if let Some(path) = &how.output {
        store::write_run(&run, path)?;
    }
    let Some(signal) = interrupted else {
        if !run.costs.is_empty() {
            measuring::keep(&run);
        }
        return Ok((run, Outcome::Done));
    };
    say("interrupted: this is what was measured until then; it is not kept (-o FILE writes it)");
    Ok((run, Outcome::Interrupted(signal)))
}

/// What this version can measure of what the study needs; the study's page tells what is missing.
fn items(study: &Study) -> Vec<Item> {
    let needs = study.needs();
    let all = operations::all().flat_map(|operation| {
        let points = operation.points(false).into_iter();
        let wanted = points.filter(|point| needs.iter().any(|(id, at)| *id == operation.id && at == point));
        wanted.map(move |point| Item { operation, point }).collect::<Vec<_>>()
    });
    all.collect()
}

fn as_json(study: &Study, answer: &Answer) -> Value {
    json!({
        "paper": study.name,
        "title": answer.title,
        "tables": answer.tables.iter().map(table_json).collect::<Vec<_>>(),
        "findings": answer.findings.iter().map(finding_json).collect::<Vec<_>>(),
    })
}

fn table_json(table: &TableAnswer) -> Value {
    json!({
        "title": table.title,
        "columns": COLUMNS,
        "rows": table.rows.iter().map(row_json).collect::<Vec<_>>(),
    })
}

/// One row, in the order of [`COLUMNS`]; what is not known is null.
fn row_json(row: &RowAnswer) -> Value {
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let printed = row.printed.as_ref();
    let figure = row.figure.as_ref().ok();
    let payload = figure.filter(|figure| row.bytes > 0 && figure.value > 0.0);
    json!([
        printed.map(|it| &it.name),
        printed.and_then(|it| number(&it.rate)),
        printed.and_then(|it| number(&it.ms)),
        printed.and_then(|it| number(&it.block_moves)),
        printed.and_then(|it| number(&it.kbit_s)),
        printed.and_then(|it| it.recomputed_ms),
        printed.and_then(|it| it.recomputed_block_moves),
        printed.and_then(|it| it.recomputed_kbit_s),
        (!row.here.is_empty()).then_some(&row.here),
        figure.map(figure_json),
        row.block_moves.as_ref().map(ratio_json),
        (row.bytes > 0).then_some(row.bytes),
        payload.map(|figure| row.bytes as f64 * 8e6 / figure.value),
        row.faster.as_ref().map(ratio_json),
        row.figure.as_ref().err(),
    ])
}

fn finding_json(finding: &Finding) -> Value {
    let figures = |place: &'static str, compared: &Compared| {
        let reached = finding_share(finding.test);
        json!({
            "where": place,
            "one": named_json(&compared.one),
            "other": compared.other.as_ref().map(named_json),
            "value": compared.value.as_ref().map(ratio_json),
            "share": reached,
            "reached_at_per_second": compared.reached_at,
            "holds": compared.holds,
        })
    };
    let there = std::iter::once(figures("paper", &finding.there));
    let here = finding.here.iter().map(|compared| figures("here", compared));
    json!({
        "claim": finding.claim,
        "holds": finding.holds(),
        "holds_in_the_paper": finding.there.holds,
        "figures": there.chain(here).collect::<Vec<_>>(),
        "note": finding.note,
    })
}

fn finding_share(test: Test) -> Option<f64> {
    match test {
        Test::Load { share, .. } => Some(share),
        _ => None,
    }
}

fn named_json(figure: &Figure) -> Value {
    json!({
        "name": figure.name,
        "figure": figure.figure.as_ref().ok().map(figure_json),
        "why_not": figure.figure.as_ref().err(),
    })
}
