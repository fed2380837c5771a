//! `howslow study`: a paper's tables and sentences, tested on this machine or on any run.

use analysis::study::{Cell, Compared, Figure, Finding, STUDIES, Study, StudyAnswer, TableAnswer, Test};
use anyhow::Context;
use operation::Item;
use serde_json::{Value, json};
use store::Store;

use crate::cli::{How, StudyAsked};
use crate::explain::{figure_json, ratio_json};
use crate::measuring::{self, Measured, Wanted};
use crate::output::{self, Misuse, Outcome, say};
use crate::prefetch;

/// Asks for every study.
const ALL: &str = "all";

pub(crate) fn study(asked: &StudyAsked) -> anyhow::Result<Outcome> {
    if let Some(path) = &asked.prefetch {
        if asked.paper != "mpe" {
            return Err(
                Misuse(format!("--prefetch: the paper {} does not prefetch; only mpe does", asked.paper)).into()
            );
        }
        return prefetch::asked::study(path.as_deref(), asked.how.budget, asked.how.json);
    }
    let studies = asked_for(&asked.paper)?;
    if asked.full && studies.iter().all(|study| study.more.is_none()) {
        return Err(Misuse(format!("--full: the study {} has no more than it measures without", asked.paper)).into());
    }
    let (run, outcome) = match &asked.run {
        Some(name) => (Store::open_any(name)?, Outcome::Done),
        None => measured(&studies, asked.full, &asked.how)?,
    };
    let answers = studies.iter().map(|study| answer(study, &run)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut each = studies.iter().zip(&answers);
    if !asked.how.json {
        let pages: Vec<String> = answers.iter().map(|it| report::study(it, &run, output::style())).collect();
        output::print(&pages.join("\n"))?;
    } else if asked.paper == ALL {
        let studies = each.map(|(study, answer)| as_json(study, answer)).collect::<Vec<_>>();
        output::print_json(&json!({ "studies": studies }))?;
    } else if let Some((study, answer)) = each.next() {
        output::print_json(&as_json(study, answer))?;
    }
    Ok(outcome)
}

/// The study of this name, or all of them.
fn asked_for(name: &str) -> Result<Vec<&'static Study>, Misuse> {
    if name == ALL {
        return Ok(STUDIES.to_vec());
    }
    let unknown = || Misuse(format!("there is no study of '{}'", record::printable(name)));
    Ok(vec![analysis::study::study(name).ok_or_else(unknown)?])
}

/// The study beside this run.
fn answer(study: &Study, run: &record::Run) -> anyhow::Result<StudyAnswer> {
    let books = study.books.iter().map(|name| book(name)).collect::<anyhow::Result<Vec<_>>>()?;
    study.follow(&books, run).context("the study has no book")
}

fn book(name: &str) -> anyhow::Result<record::Book> {
    Ok(store::book(name).with_context(|| format!("the book {name} is missing"))??)
}

/// Measures what the studies need, keeps the run, writes it where asked for.
fn measured(studies: &[&Study], full: bool, how: &How) -> anyhow::Result<(record::Run, Outcome)> {
    let items = items(studies, full);
    let patterns = items.iter().map(|item| format!("{}{}", item.operation.id, item.point)).collect();
    let seconds = |study: &&Study| study.more.as_ref().filter(|_| full).map_or(study.seconds, |more| more.seconds);
    let wanted = Wanted { items, patterns, full, budget_s: studies.iter().map(seconds).sum() };
    let Measured { run, interrupted, width } = measuring::measure(wanted, how)?;
    if let Some(path) = &how.output {
        store::write_run(&run, path)?;
    }
    let Some(signal) = interrupted else {
        if !run.costs.is_empty() {
            measuring::keep(&run, width);
        }
        return Ok((run, Outcome::Done));
    };
    say("interrupted: this is what was measured until then; it is not kept (-o FILE writes it)");
    Ok((run, Outcome::Interrupted(signal)))
}

/// What this version can measure of what the studies need; their pages tell what is missing.
fn items(studies: &[&Study], full: bool) -> Vec<Item> {
    let needs: Vec<_> = studies.iter().flat_map(|study| study.needs(full)).collect();
    let all = operations::all().flat_map(|operation| {
        let points = operation.points(false).into_iter();
        let wanted = points.filter(|point| needs.iter().any(|(id, at)| *id == operation.id && at == point));
        wanted.map(move |point| Item { operation, point }).collect::<Vec<_>>()
    });
    all.collect()
}

fn as_json(study: &Study, answer: &StudyAnswer) -> Value {
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
        Cell::Time(time) => json!(time.0),
        Cell::Share(share) => json!(share),
        Cell::Cost(figure) => figure_json(figure),
        Cell::Width(ratio) | Cell::Ratio(ratio) => ratio_json(ratio),
        Cell::Payload(bytes) => json!(bytes.0),
        Cell::Rate(bytes, time) if bytes.0 > 0 && time.0 > 0.0 => json!(bytes.0 as f64 * 8e6 / time.0),
        Cell::Rate(..) => Value::Null,
        Cell::Doubts(doubts) => json!(doubts),
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
            "holds": compared.holds(),
            "answer": compared.answer.word(),
            "doubts": compared.doubts,
        })
    };
    let there = std::iter::once(figures("paper", &finding.there));
    let here = finding.here.iter().map(|compared| figures("here", compared));
    json!({
        "claim": finding.claim,
        "holds": finding.holds(),
        "answer": finding.answer().word(),
        "holds_in_the_paper": finding.there.holds(),
        "answer_in_the_paper": finding.there.answer.word(),
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
