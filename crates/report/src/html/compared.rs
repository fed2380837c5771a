//! Several runs side by side: verdicts, a chart of the ratios, families, what differs between the machines.

use analysis::compare::{
    Against, CompareOptions, Comparison, ComparisonRow, DifferingFact, RatioToBase, Verdict, Versions, compare,
    differences, families,
};
use analysis::factors::{Factor, Factors};
use analysis::statistics::Interval;
use maud::{Markup, PreEscaped, html};
use record::units::counted;
use record::{Run, largest_first, printable};

use super::blocks;
use super::form::{Block, BlockTable, HtmlPage, Section, anchor};
use crate::compare::rows::{ends, figure, ratio_words, times};
use crate::compare::verdicts::counts;
use crate::text::in_table;

/// Rows that are shown; the others are counted.
const MOST_ROWS: usize = 400;
const MOST_FACTS: usize = 40;

pub(super) fn compared(page: &HtmlPage<'_>) -> Markup {
    let runs: Vec<Run> = page.runs.iter().map(|run| run.run.clone()).collect();
    let names: Vec<&str> = page.runs.iter().map(|run| run.name.as_str()).collect();
    section(&runs, &names, Links::ToCosts)
}

/// Whether the costs of the base are on the same page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They are: a row leads to its cost.
    ToCosts,
    /// They are not.
    None,
}

/// The section for these runs, the base first.
pub(super) fn section(runs: &[Run], names: &[&str], links: Links) -> Markup {
    let comparison =
        compare(runs, &CompareOptions { unit: None, threshold: 0.01, margin: 0.05, versions: Versions::Kept });
    html! {
        section id="compared" {
            h2 { "Compared" }
            ul.verdicts { @for column in 0..comparison.noise.len() {
                li { b { (counts(&comparison, column)) } " · " (printable(names[column + 1])) " beside " (printable(names[0])) }
            } }
            @if comparison.rows.is_empty() { p { "They have no cost in common." } }
            @else {
                p.note { "A ratio above 1 means slower than in the base. " span.slower { "▲ slower" } " and " span.faster { "▼ faster" } " exceed the noise; the line is the interval." }
                (Ratios { comparison: &comparison, names, reach: reach(&comparison), links }.html())
                (families_table(&comparison, names))
            }
            (machine_differences(runs, names))
        }
    }
}

/// How far from 1 the scale reaches, as a logarithm: to the farthest ratio, and at least to 1.25.
fn reach(comparison: &Comparison<'_>) -> f64 {
    comparison.rows.iter().map(farthest).filter(|far| far.is_finite()).fold(1.25_f64.ln(), f64::max).min(1000_f64.ln())
}

struct Ratios<'t, 'a> {
    comparison: &'t Comparison<'a>,
    names: &'t [&'t str],
    reach: f64,
    links: Links,
}

impl Ratios<'_, '_> {
    /// The rows that changed, then all others on request.
    fn html(&self) -> Markup {
        let (mut changed, same): (Vec<&ComparisonRow<'_>>, Vec<&ComparisonRow<'_>>) =
            self.comparison.rows.iter().partition(|row| row.changed());
        largest_first(&mut changed, |one| farthest(one));
        html! {
            @if changed.is_empty() { p { "No cost changed by more than the noise." } } @else { (self.table(&changed)) }
            @if !same.is_empty() { details { summary { (counted(same.len() as u64, "cost")) ": the same, or too uncertain to tell" } (self.table(&same)) } }
        }
    }

    fn is_pair(&self) -> bool {
        self.names.len() == 2
    }

    fn table(&self, rows: &[&ComparisonRow<'_>]) -> Markup {
        let end = scale_end(self.reach);
        html! {
            div.wide tabindex="0" role="region" aria-label="Ratios" {
                table.ratios {
                    thead { tr {
                        th scope="col" { "cost" }
                        th scope="col" class="r" { (printable(self.names[0])) }
                        @for name in &self.names[1..] {
                            @if self.is_pair() { th scope="col" class="r" { (printable(name)) } }
                            th scope="col" class="s" { @if self.is_pair() { "from 1/" (end) " to " (end) " times" } @else { (printable(name)) } }
                            th scope="col" class="r" { "times" }
                            th scope="col" class="r d" { "low – high" }
                            th scope="col" { "verdict" }
                        }
                    } }
                    tbody { @for row in rows.iter().take(MOST_ROWS) { (self.row(row)) } }
                }
            }
            @if rows.len() > MOST_ROWS { p.note { "… and " (rows.len() - MOST_ROWS) " more" } }
        }
    }

    fn row(&self, row: &ComparisonRow<'_>) -> Markup {
        let name = html! { (in_table(&row.base.operation)) " " small { (printable(&row.base.at.values())) } };
        html! {
            tr {
                th scope="row" { @if self.links == Links::ToCosts { a href={ "#" (anchor(row.base)) } { (name) } } @else { (name) } }
                td.r { (figure(self.comparison, 0, row.base, row.unit, None)) }
                @for (other, place) in row.others.iter().zip(1..) {
                    @match other {
                        Some((cost, against)) => {
                            @if self.is_pair() { td.r { (figure(self.comparison, place, cost, row.unit, None)) } }
                            td.s { (PreEscaped(track(against, self.reach))) }
                            (against_cells(against))
                        }
                        None => { @if self.is_pair() { td {} } td {} td.r { "-" } td.d {} td {} }
                    }
                }
            }
        }
    }
}

fn farthest(row: &ComparisonRow<'_>) -> f64 {
    let all = row.others.iter().flatten().map(|(_, against)| match &against.ratio {
        RatioToBase::Times(ratio) => ratio.value.ln().abs(),
        _ => 0.0,
    });
    all.fold(0.0, f64::max)
}

fn scale_end(reach: f64) -> String {
    let end = reach.exp();
    if end < 10.0 { format!("{end:.2}") } else { format!("{end:.0}") }
}

fn against_cells(against: &Against) -> Markup {
    let (value, between) = ratio_words(&against.ratio);
    html! { td.r { (value) } td class="r d" { (between) } td class=(class(against.verdict)) { (sign(against.verdict)) (against.verdict.word()) } }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Inconclusive | Verdict::Unknown => "open",
    }
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▲ ",
        Verdict::Faster => "▼ ",
        _ => "",
    }
}

/// The ratio with its interval around the middle, which is 1.
fn track(against: &Against, reach: f64) -> String {
    let place = |ratio: f64| (50.0 + ratio.max(1e-9).ln() / reach * 48.0).clamp(0.0, 100.0);
    let RatioToBase::Times(Interval { value, low, high }) = against.ratio else { return String::new() };
    let class = class(against.verdict);
    let [value, low, high] = [value, low, high].map(place);
    format!(
        "<svg class=\"track mid\" aria-hidden=\"true\"><line class=\"{class}\" x1=\"{low:.1}%\" x2=\"{high:.1}%\" y1=\"50%\" \
         y2=\"50%\"/><circle class=\"{class}\" cx=\"{value:.1}%\" cy=\"50%\" r=\"4\"/></svg>"
    )
}

fn families_table(comparison: &Comparison<'_>, names: &[&str]) -> Markup {
    let titles = [&["group (geometric mean of its ratios)"][..], &names[1..], &["pairs"]].concat();
    let rows = families(comparison).into_iter().map(|family| {
        let means = family.means.iter().map(|mean| {
            mean.ratio.map_or_else(|| "-".into(), |ratio| format!("{} ({})", times(ratio.value), ends(&ratio)))
        });
        let pairs = family.means.iter().map(|mean| mean.pairs).max().unwrap_or(0).to_string();
        [printable(family.name)].into_iter().chain(means).chain([pairs]).collect()
    });
    let table = BlockTable::new(&format!("<{}>", ">".repeat(names.len() - 1)), &titles, rows);
    html! { h3 { "By group" } (blocks::table(&table)) }
}

fn machine_differences(runs: &[Run], names: &[&str]) -> Markup {
    let facts = differences(runs);
    let titles = [&["what differs"], names].concat();
    let row = |fact: &DifferingFact| [fact.field.clone()].into_iter().chain(fact.values.iter().map(value)).collect();
    let table = BlockTable::new(&"<".repeat(titles.len()), &titles, facts.iter().take(MOST_FACTS).map(row));
    let more = facts.len().saturating_sub(MOST_FACTS);
    html! {
        h3 { "What differs between the machines" }
        @if facts.is_empty() { p { "Machine, mitigations and settings are the same." } } @else { (blocks::table(&table)) }
        @if more > 0 { p.note { "… and " (more) " more" } }
    }
}

/// A fact as a cell.
fn value(value: &serde_json::Value) -> String {
    const MOST: usize = 120;
    let text = match value {
        serde_json::Value::Null => "-".into(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(self::value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    if text.chars().count() > MOST { text.chars().take(MOST).chain(['…']).collect() } else { text }
}

/// The section of a ratio that is split into factors.
pub fn factors_section(id: &str, title: &str, factors: &Factors) -> Section {
    let row = |family: &Factor| {
        let factor = Some(family.factor.value).filter(|factor| factor.is_finite());
        vec![family.family.clone(), factor.map_or_else(|| "-".into(), times)]
    };
    let table = BlockTable::new("<>", &["family", "factor of the ratio"], factors.families.iter().map(row));
    Section::new(id, title).with(Block::Table(table))
}
