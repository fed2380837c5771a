//! A paper's tables beside this machine, and what becomes of its sentences here.

use analysis::statistics::Interval;
use analysis::study::{Answer, Compared, Figure, Finding, Printed, RowAnswer, TableAnswer, Test};
use record::units::{grouped, payload_rate, percent, significant};
use record::{Book, Bytes, Departure, Nanoseconds, Run};

use crate::explain::told;
use crate::grid::{Grid, Kind};
use crate::head::machine_parts;
use crate::prices::blocks;
use crate::{Style, head_line, paragraph};

/// A whole study: the paper's machine and this one, the tables in the paper's order, its errors, its sentences.
pub fn study(answer: &Answer, book: &Book, run: &Run, style: Style) -> String {
    let mut page = format!("{}: {}\n", style.bold(answer.title), machine_parts(&book.machine).join("   "));
    page += &(head_line(run) + "\n");
    for table in &answer.tables {
        page += &format!("\n{}", tabled(table, style));
    }
    page += &departures(&book.departures(), style);
    page += &format!("\n{}\n", style.bold("the paper's sentences, tested here"));
    for finding in &answer.findings {
        page += &sentence(finding, style);
    }
    page
}

fn tabled(table: &TableAnswer, style: Style) -> String {
    let mut grid = Grid::new(if table.payload { "<>>>><>>>>>" } else { "<>>><>>>>" });
    let payload = |cell: &'static str| table.payload.then_some(cell);
    let left = [table.title, "/s", "ms", "bm"].into_iter().chain(payload("kbit/s"));
    let right = ["here", "cost", "+-", "bm"].into_iter().chain(payload("payload")).chain(["cheaper"]);
    grid.add(Kind::Heading, left.chain(right).map(String::from).collect());
    let mut reasons = Vec::new();
    for row in &table.rows {
        let mut cells = paper(row.printed.as_ref(), table.payload);
        cells.extend(ours(row, table.payload));
        grid.add(Kind::Row, cells);
        match &row.figure {
            Err(why) if !row.here.is_empty() && !reasons.contains(&why.as_str()) => reasons.push(why),
            _ => {}
        }
    }
    let mut text = grid.render(style);
    if !reasons.is_empty() {
        text += &(style.dim(&paragraph("  ", &gathered(&reasons))) + "\n");
    }
    text
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

fn paper(printed: Option<&Printed>, payload: bool) -> Vec<String> {
    let text = |figure: Option<&Option<String>>| figure.cloned().flatten().unwrap_or_default();
    let mut cells = vec![
        printed.map(|it| format!("  {}", it.name)).unwrap_or_default(),
        text(printed.map(|it| &it.rate)),
        text(printed.map(|it| &it.ms)),
        text(printed.map(|it| &it.block_moves)),
    ];
    if payload {
        cells.push(text(printed.map(|it| &it.kbit_s)));
    }
    cells
}

fn ours(row: &RowAnswer, payload: bool) -> Vec<String> {
    let quoted = |value: Option<Interval>, text: fn(f64) -> String| {
        value.map_or_else(|| "-".to_string(), |value| text(value.value))
    };
    let none = || "-".to_string();
    let figure = row.figure.as_ref().ok();
    let width = figure.filter(|figure| !figure.holds_zero() && figure.value > 0.0);
    let here = if row.here.is_empty() { "nothing of the kind".into() } else { row.short.clone() };
    let mut cells = vec![
        here,
        figure.map_or_else(none, told),
        width.map_or_else(none, |figure| percent(figure.half() / figure.value)),
        quoted(row.block_moves, blocks),
    ];
    if payload {
        let moved = |figure: &Interval| payload_rate(Bytes(row.bytes), Nanoseconds(figure.value));
        cells.push(figure.map_or_else(none, moved));
    }
    cells.push(quoted(row.faster, blocks));
    cells
}

fn departures(departures: &[Departure], style: Style) -> String {
    if departures.is_empty() {
        return String::new();
    }
    let each = departures.iter().map(|it| {
        let recomputed = match it.unit {
            "kbit/s" => format!("{:.1}", it.recomputed),
            _ => format!("{:.3}", it.recomputed),
        };
        format!("{} {} {} is {recomputed}", it.name, it.printed, it.unit)
    });
    let text = format!("printed, but not what the printed rates give: {}", each.collect::<Vec<_>>().join("; "));
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
