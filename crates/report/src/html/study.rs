//! A study in a page: the printed tables beside the run's, the paper's sentences tested, its figures.

use analysis::answer::Answer;
use analysis::study::{StudyAnswer, TableAnswer, TestedClaim};
use record::Departure;

use super::form::{Block, BlockColumn, BlockTable, Section};
use crate::footnotes::Footnotes;
use crate::study::{cell, held, outcome, outcome_here, study_charts};
use crate::text::Style;

/// The section of a study; `None` if the run has too little of what it needs for any answer.
pub fn study_section(name: &str, answer: &StudyAnswer) -> Option<Section> {
    let tested = answer.findings.iter().filter(|finding| finding.answer() != Answer::NotMeasured).count();
    if tested == 0 && !answer.findings.is_empty() || answer.tables.is_empty() {
        return None;
    }
    let mut section = Section::new(format!("study-{name}"), format!("Study: {}", answer.title))
        .with(Block::Text(answer.source.clone()))
        .with(Block::Text(if answer.findings.is_empty() { String::new() } else { held(answer) + "." }));
    for (_, chart) in study_charts(answer) {
        section = section.with(Block::Chart(chart));
    }
    let tables = answer.tables.iter().map(|table| Block::Folded(table.title.clone(), tabled(table))).collect();
    section = section.with(Block::Folded("The paper's sentences, tested here".into(), vec![claims(answer)]));
    section = section.with(Block::Folded("The paper's tables beside this run's".into(), tables));
    let departures = answer.departures.iter().map(Departure::text).collect();
    let printed = "Printed, but not what the printed figures give".into();
    Some(section.with(Block::Folded(printed, vec![Block::List(departures)])))
}

fn claims(answer: &StudyAnswer) -> Block {
    let row = |finding: &TestedClaim| {
        vec![finding.claim.into(), outcome(&finding.there, finding.test), outcome_here(finding)]
    };
    Block::Table(BlockTable::new("<<<", &["sentence", "then", "now"], answer.findings.iter().map(row)))
}

fn tabled(table: &TableAnswer) -> Vec<Block> {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&at| table.columns[at].heading.is_some()).collect();
    let mut notes = Footnotes::of(Style::PLAIN);
    let column = |at: &usize| BlockColumn {
        title: table.columns[*at].heading.unwrap_or_default().into(),
        right: table.columns[*at].right,
    };
    let rows = table.rows.iter().map(|row| shown.iter().map(|at| cell(&row[*at], &mut notes)).collect());
    let block = BlockTable { columns: shown.iter().map(column).collect(), rows: rows.collect() };
    let notes: Vec<String> = notes.render().lines().map(|line| line.trim().to_string()).collect();
    vec![Block::Table(block), Block::List(table.notes.clone()), Block::Text(notes.join(" "))]
}
