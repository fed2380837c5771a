//! A paper's tables beside this machine's figures, and the test of its sentences here.

use analysis::answer::Answer;
use analysis::study::{Cell, ClaimFigure, Compared, Curve, Curves, StudyAnswer, TableAnswer, Test, TestedClaim};
use analysis::{by_key, distinct};
use record::units::{counted, grouped, payload_rate, percent, significant};
use record::{Departure, Machine, Run};

use crate::chart::{Axis, Chart, Series, Unit};
use crate::footnotes::Footnotes;
use crate::grid::{Grid, NOTHING, RowKind, in_turns};
use crate::head::{head_line, machine_parts};
use crate::interval::value_or_bound;
use crate::prices::blocks;
use crate::text::Style;

/// A whole study: the paper, its machines and this one, how many of its sentences hold, the tables in the paper's order, its
/// errors, its sentences.
pub fn study(answer: &StudyAnswer, run: &Run, style: Style) -> String {
    let mut page = style.headline(answer.title);
    page += &style.paragraph("  ", &answer.source);
    page += &style.paragraph("  then: ", &machines(&answer.machines));
    page += &style.paragraph("  now:  ", &head_line(run));
    let mut words = Grid::new("<<", NOTHING);
    for (word, means) in answer.legend {
        words.add(RowKind::Aside, [&format!("  {word}"), means]);
    }
    page += &words.render(style);
    if !answer.findings.is_empty() {
        page += &format!("\n{}", style.headline(&held(answer)));
    }
    let mut notes = Footnotes::of(style);
    for table in &answer.tables {
        page += &format!("\n{}", tabled(table, &mut notes, style));
    }
    page += &departures(&answer.departures, style);
    page += &format!("\n{}", sentences(answer, &mut notes, style));
    let notes = notes.render();
    if notes.is_empty() { page } else { format!("{page}\n{notes}") }
}

/// `14 of 20 sentences still hold; 3 do not, 2 are inconclusive, 1 was not measured`.
pub(crate) fn held(answer: &StudyAnswer) -> String {
    let count_of = |wanted: Answer| answer.findings.iter().filter(|finding| finding.answer() == wanted).count() as u64;
    let verb = |count: u64, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let all = answer.findings.len() as u64;
    let others = [
        (count_of(Answer::No), "does not", "do not"),
        (count_of(Answer::Inconclusive), "is inconclusive", "are inconclusive"),
        (count_of(Answer::NotMeasured), "was not measured", "were not measured"),
    ];
    let others = others.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, more)| verb(count, one, more));
    let others: Vec<String> = others.collect();
    let held = count_of(Answer::Yes);
    let still = format!("{held} of {} still {}", counted(all, "sentence"), if held == 1 { "holds" } else { "hold" });
    if others.is_empty() { still } else { format!("{still}; {}", others.join(", ")) }
}

/// The sentences, each with what follows from the paper's figures and from this run's. In full, also the costs that each rests on.
fn sentences(answer: &StudyAnswer, notes: &mut Footnotes, style: Style) -> String {
    let title = "the paper's sentences, tested here";
    if style.is_full() {
        let each = answer.findings.iter().map(|finding| sentence(finding, notes, style));
        return format!("{}\n{}", style.bold(title), each.collect::<String>());
    }
    let mut grid = Grid::new("<<<", NOTHING);
    grid.heading(["then", "now", title]);
    for finding in &answer.findings {
        let now = outcome_here(finding);
        let doubts = finding.here.first().map_or_else(String::new, |here| notes.doubts(&here.doubts));
        let claim = format!("{} {doubts}", finding.claim);
        let kind = if finding.answer() == Answer::NotMeasured { RowKind::Aside } else { RowKind::Row };
        grid.add(kind, [&outcome(&finding.there, finding.test), &now, claim.trim_end()]);
    }
    grid.render(style) + &style.aside("  ", "--all shows the costs that each sentence rests on")
}

/// `yes, 1.02 times`; `no, 0.0117 %` of a CPU; `not measured`.
pub(crate) fn outcome(compared: &Compared, test: Test) -> String {
    let word = compared.answer.word();
    match (test, compared.value) {
        (_, None) => word.into(),
        (Test::Load { .. }, Some(value)) => format!("{word}, {}", percent(value.value)),
        (_, Some(value)) => format!("{word}, {} times", significant(value.value)),
    }
}

/// The outcome here, where the answer rests on all that is compared.
pub(crate) fn outcome_here(finding: &TestedClaim) -> String {
    match finding.here.first() {
        Some(first) if first.answer == finding.answer() => outcome(first, finding.test),
        _ => finding.answer().word().into(),
    }
}

/// The figures of a study, each with a short name for a file.
pub fn study_charts(answer: &StudyAnswer) -> Vec<(&'static str, Chart)> {
    let series = |curve: &Curve| {
        let points = curve.points.iter().map(|(size, rate)| (*size as f64, rate.value)).collect();
        Series::new(curve.name, points)
            .with_intervals(curve.points.iter().map(|(_, rate)| (rate.low, rate.high)).collect())
    };
    let chart = |curves: &Curves| Chart {
        title: curves.title.clone(),
        x: Axis::log("size", Unit::Bytes),
        y: Axis::log("rate", Unit::BytesPerSecond),
        series: curves.curves.iter().filter(|curve| !curve.points.is_empty()).map(series).collect(),
    };
    let drawn = answer.curves.iter().map(|curves| (curves.name, chart(curves)));
    drawn.filter(|(_, chart)| !chart.series.is_empty()).collect()
}

/// The machines of a paper: a single one in full, of several the models.
fn machines(machines: &[Machine]) -> String {
    if let [machine] = machines {
        return machine_parts(machine).join("   ");
    }
    distinct(machines.iter().map(|machine| machine.cpu.model.as_str())).collect::<Vec<_>>().join(", ")
}

fn tabled(table: &TableAnswer, notes: &mut Footnotes, style: Style) -> String {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&at| table.columns[at].heading.is_some()).collect();
    let side = |at: &usize| if table.columns[*at].right { '>' } else { '<' };
    let turns = shown.iter().map(|&at| table.columns[at].gives_way).enumerate().skip(1);
    let mut grid = Grid::new(&shown.iter().map(side).collect::<String>(), in_turns(turns));
    let heading = |(place, at): (usize, &usize)| {
        if place == 0 { table.title.clone() } else { table.columns[*at].heading.unwrap_or_default().into() }
    };
    grid.heading(shown.iter().enumerate().map(heading));
    let mut reasons = Vec::new();
    for row in &table.rows {
        let cell = |(place, at): (usize, &usize)| {
            let text = cell(&row[*at], notes);
            if place == 0 && !text.is_empty() { format!("  {text}") } else { text }
        };
        grid.row(shown.iter().enumerate().map(cell));
        reasons.extend(row.iter().filter_map(|cell| match cell {
            Cell::Missing(why) if !why.is_empty() => Some(why.as_str()),
            _ => None,
        }));
    }
    let reasons = (!reasons.is_empty()).then(|| gathered(&reasons));
    grid.render(style) + &style.asides("  ", reasons) + &style.asides("  ", &table.notes)
}

pub(crate) fn cell(cell: &Cell, notes: &mut Footnotes) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Unknown | Cell::Missing(_) => "-".into(),
        Cell::Text(text) | Cell::Printed(text) => text.clone(),
        Cell::Number(value) => grouped(*value),
        Cell::Cost(figure) => value_or_bound(figure),
        Cell::Time(time) => time.to_string(),
        Cell::Width(figure) => percent(figure.half() / figure.value),
        Cell::Ratio(ratio) => blocks(ratio.value),
        Cell::Share(share) => percent(*share),
        Cell::Payload(bytes) => bytes.to_string(),
        Cell::Rate(bytes, time) => payload_rate(*bytes, *time),
        Cell::Doubts(doubts) => notes.doubts(doubts),
    }
}

const ABSENT: &str = "not in this run";

/// With more names than this, a reason names operations without their points.
const FEW: usize = 3;

/// Each reason once, after the names of everything that it concerns.
fn gathered(reasons: &[&str]) -> String {
    let names = reasons.iter().flat_map(|reason| reason.split("; ")).map(|reason| {
        let name = reason.strip_suffix(" is not in this run").map(|name| (name, ABSENT));
        let (name, why) = name.or_else(|| reason.split_once(": ")).unwrap_or(("", reason));
        (why, name)
    });
    let reason = |(why, names): (&str, Vec<&str>)| {
        let names: Vec<&str> = distinct(names.into_iter().filter(|name| !name.is_empty())).collect();
        match names.len() {
            0 => why.to_string(),
            // They can be run, so their whole names are shown.
            _ if why == ABSENT => format!("{why}: {}", names.join(", ")),
            1..=FEW => format!("{}: {why}", names.join(", ")),
            _ => {
                let operations = distinct(names.iter().map(|name| name.split('@').next().unwrap_or(name)));
                format!("{}: {why}", operations.collect::<Vec<_>>().join(", "))
            }
        }
    };
    by_key(names).into_iter().map(reason).collect::<Vec<_>>().join("; ")
}

fn departures(departures: &[Departure], style: Style) -> String {
    if departures.is_empty() {
        return String::new();
    }
    let each = departures.iter().map(Departure::text).collect::<Vec<_>>();
    let text = format!("printed, but not what the printed figures give: {}", each.join("; "));
    format!("\n{}", style.aside("  ", &text))
}

/// The width of an answer, and of the lead of a line below it.
const ANSWER: usize = 12;

fn sentence(finding: &TestedClaim, notes: &mut Footnotes, style: Style) -> String {
    let answer = finding.answer().word();
    let mut text = style.bold(&style.running(&format!("{answer:>ANSWER$}  "), finding.claim)) + "\n";
    let mut line = |place: &str, of: &Compared| {
        let lead = format!("{:ANSWER$}  {place} ", "");
        style.paragraph(&lead, &compared(of, finding.test, notes))
    };
    text += &line("there", &finding.there);
    for (index, here) in finding.here.iter().enumerate() {
        text += &line(if index == 0 { "here " } else { "also " }, here);
    }
    text + &style.asides(&" ".repeat(ANSWER + 8), Some(finding.note).filter(|note| !note.is_empty()))
}

fn compared(compared: &Compared, test: Test, notes: &mut Footnotes) -> String {
    let named = |figure: &ClaimFigure| match &figure.figure {
        Ok(value) => format!("{} {}", figure.name, value_or_bound(value)),
        Err(why) => format!("? ({why})"),
    };
    let doubts = notes.doubts(&compared.doubts);
    let verdict = format!("{} {doubts}", compared.answer.word());
    let verdict = verdict.trim_end();
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
            "{}, {}: {} times ({}): {verdict}",
            named(&compared.one),
            named(other),
            significant(value.value),
            match [value.low, value.high].map(significant) {
                [low, high] if value.is_bounded() => format!("{low} to {high}"),
                _ => "no interval".into(),
            },
        ),
        (_, None, Some(other)) => format!("{}, {}: {verdict}", named(&compared.one), named(other)),
        (_, _, None) => format!("{}: {verdict}", named(&compared.one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_once_after_all_it_is_the_reason_for() {
        let cold = |id: &str| format!("{id}@file=8,state=cold: in memory (set TMPDIR)");
        let reasons = ["a", "b", "c", "a"].map(cold);
        let reasons: Vec<&str> = reasons.iter().map(String::as_str).chain(["x@size=1 is not in this run"]).collect();
        assert_eq!(
            gathered(&reasons),
            "a@file=8,state=cold, b@file=8,state=cold, c@file=8,state=cold: in memory (set TMPDIR); not in this run: x@size=1"
        );
        let joined = ["a", "b", "c", "d"].map(cold).join("; ");
        assert_eq!(gathered(&[&joined]), "a, b, c, d: in memory (set TMPDIR)");
    }
}
