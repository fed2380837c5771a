//! A comparison as Markdown for a comment on a pull request: the verdict, a table of what changed, the rest folded.

use analysis::compare::{Against, Comparison, ComparisonRow, DifferingFact, Gated, Verdict};
use record::{Cost, largest_first};

use super::gate::{gate_sentence, verdict};
use super::rows::{figure, ratio_words, size};
use super::verdicts::counts;
use super::view::{ComparisonView, Sort};
use crate::head::machine_parts;
use crate::text::and_more;

/// A comparison as Markdown, as GitHub and GitLab show it. With a gate, its verdict is the title.
pub fn comparison_markdown(
    comparison: &Comparison<'_>,
    differing: &[DifferingFact],
    view: &ComparisonView<'_>,
    gated: Option<&Gated<'_>>,
) -> String {
    let mut text = String::new();
    if let Some(gated) = gated {
        let sentence = gate_sentence(gated, view);
        let rest = sentence.strip_prefix(verdict(gated)).unwrap_or(&sentence);
        text += &format!("### howslow: {}\n\n{}\n\n", verdict(gated), escaped(rest.trim_start_matches(": ")));
    }
    for column in 0..comparison.noise.len() {
        text += &against_base(comparison, view, column, gated.is_some());
    }
    text += &conditions(comparison, differing, view);
    text
}

/// Rows of a table in a comment, which GitHub takes up to 65,536 characters long.
pub(crate) const MOST_ROWS: usize = 150;

/// What follows a table of so many rows.
pub(crate) fn more(rows: usize) -> String {
    if rows > MOST_ROWS { format!("\n… and {} more\n", rows - MOST_ROWS) } else { String::new() }
}

/// One run beside the base.
fn against_base(comparison: &Comparison<'_>, view: &ComparisonView<'_>, column: usize, is_gated: bool) -> String {
    let counts = counts(comparison, column);
    let pair = format!("{} beside {}", code(&view.label(column + 1)), code(&view.label(0)));
    let mut text = match is_gated {
        true => format!("**{counts}** ({pair})\n\n"),
        false => format!("### howslow: {counts}\n\n{pair}\n\n"),
    };
    let others = comparison.rows.iter().filter_map(|row| Some((row, row.others[column].as_ref()?)));
    let mut rows: Vec<(&ComparisonRow<'_>, &Cost, &Against)> =
        others.map(|(row, (cost, against))| (row, *cost, against)).collect();
    let weight = |against: &Against| size(&against.ratio).unwrap_or(-1.0);
    match view.sort {
        Sort::Family => {}
        Sort::Name => rows.sort_by_key(|(row, ..)| (&row.base.operation, &row.base.at)),
        Sort::Ratio => largest_first(&mut rows, |one| weight(one.2)),
    }
    let (changed, rest): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(.., against)| against.verdict.is_change());
    let table = |rows: &[(&ComparisonRow<'_>, &Cost, &Against)]| {
        let [base, other] = [0, column + 1].map(|place| code(&view.label(place)));
        let mut table = format!(
            "| | cost | {base} | {other} | ratio | 95 % interval |\n| --- | --- | ---: | ---: | ---: | --- |\n"
        );
        for (row, cost, against) in rows.iter().take(MOST_ROWS) {
            table += &line(comparison, row, cost, against, column);
        }
        table + &more(rows.len()) + "\n"
    };
    if !changed.is_empty() {
        text += &table(&changed);
    }
    if !rest.is_empty() {
        let same = rest.iter().filter(|(.., against)| against.verdict == Verdict::Same).count();
        let summary = format!("{} more: {same} the same, {} inconclusive", rest.len(), rest.len() - same);
        text += &format!("<details><summary>{summary}</summary>\n\n{}</details>\n\n", table(&rest));
    }
    text
}

fn line(comparison: &Comparison<'_>, row: &ComparisonRow<'_>, cost: &Cost, against: &Against, column: usize) -> String {
    let verdict = against.verdict.word();
    let verdict = if against.verdict.is_change() { format!("**{verdict}**") } else { verdict.into() };
    let (ratio, interval) = ratio_words(&against.ratio);
    let [base, other] =
        [figure(comparison, 0, row.base, row.unit, None), figure(comparison, column + 1, cost, row.unit, None)]
            .map(|figure| escaped(&figure));
    format!("| {verdict} | {} | {base} | {other} | {ratio} | {interval} |\n", code(&row.base.typed()))
}

/// What the runs were taken on, in small print.
fn conditions(comparison: &Comparison<'_>, differing: &[DifferingFact], view: &ComparisonView<'_>) -> String {
    let machines = comparison.runs.iter().enumerate().map(|(place, run)| {
        let who = if run.is_published() { "published".into() } else { format!("howslow {}", run.howslow) };
        format!("{}: {}, {}", code(&view.label(place)), escaped(&who), escaped(&machine_parts(&run.machine).join(", ")))
    });
    let differ = match differing {
        [] => "Machine, mitigations and settings are the same.".into(),
        some => {
            const MOST: usize = 8;
            format!("The runs also differ in {}.", and_more(some.iter().map(|fact| code(&fact.field)), MOST))
        }
    };
    format!("<sub>{}. {differ}</sub>\n", machines.collect::<Vec<_>>().join("; "))
}

/// Text of a file or of the command line in a code span, in which nothing is markup, a mention or a new cell.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Every character that Markdown or HTML could read as markup becomes an entity, and a line end a space.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => escaped.push(' '),
            '&' | '<' | '>' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '@' | '!' | '$' => {
                escaped += &format!("&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(code("a|b`c\n<d>"), "<code>a&#124;b&#96;c &#60;d&#62;</code>");
        assert_eq!(escaped("1.5 ns, 2.40 % (@x)"), "1.5 ns, 2.40 % (&#64;x)");
    }
}
