//! `howslow study`: a paper's tables and sentences, tested on this machine or on any run.

use analysis::study::{Answer, Cell, Compared, Figure, Finding, Study, TableAnswer, Test};
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

pub(crate) fn study(asked: &StudyAsked) -> anyhow::Result<Outcome> {
    let unknown = || Misuse(format!("there is no study of '{}'", record::printable(&asked.paper)));
    let study = analysis::study::study(&asked.paper).ok_or_else(unknown)?;
    let books = study.books.iter().map(|name| book(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let (run, outcome) = match &asked.run {
        Some(name) => (Store::open_any(name)?, Outcome::Done),
        None => measured(study, &asked.how)?,
    };
    let answer = study.follow(&books, &run).context("the study has no book")?;
    if asked.how.json {
        output::print_json(&as_json(study, &answer))?;
    } else {
        output::print(&report::study(&answer, &run, output::style()))?;
    }
    Ok(outcome)
}

fn book(name: &str) -> anyhow::Result<record::Book> {
    Ok(store::book(name).with_context(|| format!("the book {name} is missing"))??)
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
    let kept: Vec<usize> = (0..table.columns.len()).filter(|&at| !table.columns[at].key.is_empty()).collect();
    let row = |row: &Vec<Cell>| kept.iter().map(|&at| cell_json(&row[at])).collect::<Vec<_>>();
    json!({
        "title": table.title,
        "columns": kept.iter().map(|&at| table.columns[at].key).collect::<Vec<_>>(),
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": table.notes,
    })
}

/// What is not known is null; why stands in a column of its own.
fn cell_json(cell: &Cell) -> Value {
    match cell {
        Cell::Empty | Cell::Unknown | Cell::Missing(_) => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Printed(text) => text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number)),
        Cell::Number(value) => json!(value),
        Cell::Share(share) => json!(share),
        Cell::Cost(figure) => figure_json(figure),
        Cell::Width(ratio) | Cell::Ratio(ratio) => ratio_json(ratio),
        Cell::Payload(bytes) => json!(bytes.0),
        Cell::Rate(bytes, time) if bytes.0 > 0 && time.0 > 0.0 => json!(bytes.0 as f64 * 8e6 / time.0),
        Cell::Rate(..) => Value::Null,
    }
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
