//! A paper's tables beside this machine, and what becomes of its sentences here.

use analysis::study::{Answer, Cell, Compared, Figure, Finding, TableAnswer, Test};
use record::units::{grouped, payload_rate, percent, significant};
use record::{Departure, Machine, Run};

use crate::explain::told;
use crate::grid::{Grid, Kind};
use crate::head::machine_parts;
use crate::prices::blocks;
use crate::{Style, head_line, paragraph};

/// A whole study: the paper's machines and this one, the tables in the paper's order, its errors, its sentences.
pub fn study(answer: &Answer, run: &Run, style: Style) -> String {
    let mut page = format!("{}: {}\n", style.bold(answer.title), machines(&answer.machines));
    page += &(head_line(run) + "\n");
    for table in &answer.tables {
        page += &format!("\n{}", tabled(table, style));
    }
    page += &departures(&answer.departures, style);
    page += &format!("\n{}\n", style.bold("the paper's sentences, tested here"));
    for finding in &answer.findings {
        page += &sentence(finding, style);
    }
    page
}

/// A paper's only machine in full, of several the models.
fn machines(machines: &[Machine]) -> String {
    if let [machine] = machines {
        return machine_parts(machine).join("   ");
    }
    let mut models: Vec<&str> = machines.iter().map(|machine| machine.cpu.model.as_str()).collect();
    models.dedup();
    models.join(", ")
}

fn tabled(table: &TableAnswer, style: Style) -> String {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&at| table.columns[at].heading.is_some()).collect();
    let side = |at: &usize| if table.columns[*at].right { '>' } else { '<' };
    let mut grid = Grid::new(&shown.iter().map(side).collect::<String>());
    let heading = |(place, at): (usize, &usize)| {
        if place == 0 { table.title.clone() } else { table.columns[*at].heading.unwrap_or_default().into() }
    };
    grid.add(Kind::Heading, shown.iter().enumerate().map(heading).collect());
    let mut reasons = Vec::new();
    for row in &table.rows {
        let cell = |(place, at): (usize, &usize)| {
            let text = cell(&row[*at]);
            if place == 0 && !text.is_empty() { format!("  {text}") } else { text }
        };
        grid.add(Kind::Row, shown.iter().enumerate().map(cell).collect());
        reasons.extend(row.iter().filter_map(|cell| match cell {
            Cell::Missing(why) if !why.is_empty() => Some(why.as_str()),
            _ => None,
        }));
    }
    let mut text = grid.render(style);
    if !reasons.is_empty() {
        text += &(style.dim(&paragraph("  ", &gathered(&reasons))) + "\n");
    }
    for note in &table.notes {
        text += &(style.dim(&paragraph("  ", note)) + "\n");
    }
    text
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Unknown | Cell::Missing(_) => "-".into(),
        Cell::Text(text) | Cell::Printed(text) => text.clone(),
        Cell::Number(value) => grouped(*value),
        Cell::Cost(figure) => told(figure),
        Cell::Time(time) => time.to_string(),
        Cell::Width(figure) => percent(figure.half() / figure.value),
        Cell::Ratio(ratio) => blocks(ratio.value),
        Cell::Share(share) => percent(*share),
        Cell::Payload(bytes) => bytes.to_string(),
        Cell::Rate(bytes, time) => payload_rate(*bytes, *time),
    }
}

/// Reasons told once each, those that only say what is missing as one list.
fn gathered(reasons: &[&str]) -> String {
    let (mut absent, mut others) = (Vec::new(), Vec::new());
    for reason in reasons.iter().flat_map(|reason| reason.split("; ")) {
        let (list, text) = match reason.strip_suffix(" is not in this run") {
            Some(name) => (&mut absent, name),
            None => (&mut others, reason),
        };
        if !list.contains(&text) {
            list.push(text);
        }
    }
    let absent = (!absent.is_empty()).then(|| format!("not in this run: {}", absent.join(", ")));
    absent.iter().map(String::as_str).chain(others).collect::<Vec<_>>().join("; ")
}

fn departures(departures: &[Departure], style: Style) -> String {
    if departures.is_empty() {
        return String::new();
    }
    let each = departures.iter().map(Departure::text).collect::<Vec<_>>();
    let text = format!("printed, but not what the printed figures give: {}", each.join("; "));
    format!("\n{}\n", style.dim(&paragraph("  ", &text)))
}

fn sentence(finding: &Finding, style: Style) -> String {
    let verdict = match finding.holds() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    let mut text = style.bold(&paragraph(&format!("{verdict:>5}  "), finding.claim)) + "\n";
    text += &(paragraph("       there ", &compared(&finding.there, finding.test)) + "\n");
    for (index, here) in finding.here.iter().enumerate() {
        let lead = if index == 0 { "       here  " } else { "       also  " };
        text += &(paragraph(lead, &compared(here, finding.test)) + "\n");
    }
    if !finding.note.is_empty() {
        text += &(style.dim(&paragraph("             ", finding.note)) + "\n");
    }
    text
}

fn compared(compared: &Compared, test: Test) -> String {
    let named = |figure: &Figure| match &figure.figure {
        Ok(value) => format!("{} {}", figure.name, told(value)),
        Err(why) => format!("? ({why})"),
    };
    let verdict = match compared.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "cannot be told",
    };
    match (test, compared.value, &compared.other) {
        (Test::Load { per_second, share }, Some(value), _) => format!(
            "{} x {} a second takes {} % of a CPU; {} is reached at {} a second: {verdict}",
            named(&compared.one),
            significant(per_second),
            significant(value.value * 100.0),
            percent(share),
            compared.reached_at.map_or_else(|| "no rate".into(), |rate| grouped(rate.round())),
        ),
        (_, Some(value), Some(other)) => format!(
            "{}, {}: {} times ({} to {}): {verdict}",
            named(&compared.one),
            named(other),
            significant(value.value),
            significant(value.low),
            significant(value.high),
        ),
        (_, None, Some(other)) => format!("{}, {}: {verdict}", named(&compared.one), named(other)),
        (_, _, None) => format!("{}: {verdict}", named(&compared.one)),
    }
}
