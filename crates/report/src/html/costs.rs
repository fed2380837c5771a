//! The table of all costs. Its columns are those of the printed page.

use std::collections::BTreeMap;

use analysis::by_key;
use maud::{Markup, html};
use record::{Cost, Doubt, Run, printable};

use super::curves::Curve;
use super::form::{HtmlPage, anchor};
use super::unfolded;
use crate::doubts::same_kind;
use crate::prices;
use crate::text::in_table;

/// More words than these about a cost's doubts are for those who unfold it.
const DOUBTS: usize = 2;

pub(super) fn costs(page: &HtmlPage<'_>, curves: &[Curve]) -> Markup {
    let Some(first) = page.runs.first().filter(|first| !first.run.costs.is_empty()) else { return html! {} };
    let run = first.run;
    let block = run.block_move().map(|cost| cost.quoted().0).filter(|&block| block > 0.0);
    let groups = by_key(run.costs.iter().map(|cost| (cost.heading(), cost)));
    let names: BTreeMap<&str, usize> = groups.iter().map(|(name, costs)| (*name, costs.len())).collect();
    let brief = page.is_brief();
    let columns = 7 + usize::from(page.compared.is_some()) - if brief { 2 } else { 0 };
    html! {
        section id="costs" {
            h2 { "Every cost" }
            p.note {
                @if !brief { "Unfold a cost for its samples, its parts and its doubts. " }
                "A block move is copying 512 bytes. ± is half the interval in which the cost lies 95 times in 100."
                @if brief { " The run has so many costs that the page tells them in rows alone; it holds the rest: howslow explain PAGE.html." }
            }
            div.tools hidden data-js="" {
                label { "Search " input type="search" data-do="search" autocomplete="off"; }
                label { "Group " select data-do="group" { option value="" { "all" } @for (name, count) in &names { option value=(name) { (printable(name)) " (" (count) ")" } } } }
                label { "Doubts " select data-do="doubts" { option value="" { "any" } option value="no" { "none" } option value="yes" { "some" } } }
                @if !brief { button type="button" data-do="unfold" { "Unfold all" } }
                output data-do="count" {}
            }
            div.wide tabindex="0" role="region" aria-label="All costs" {
                table.costs.beside[page.compared.is_some()].brief[brief] {
                    thead { tr {
                        th scope="col" { "cost" }
                        th scope="col" { "time" }
                        th scope="col" { "±" }
                        @if let Some(other) = page.compared { th scope="col" { "times " (printable(&other.id)) } }
                        th scope="col" { "cycles" }
                        @if !brief { th scope="col" { "block moves" } th scope="col" { "neighbours" } }
                        th scope="col" { "doubts" }
                    } }
                    @for (name, costs) in &groups {
                        tbody.g { tr { th scope="rowgroup" colspan=(columns) { (printable(name)) } } }
                        @for cost in costs { (row(page, run, cost, block, curves, columns)) }
                    }
                }
            }
        }
    }
}

fn row(page: &HtmlPage<'_>, run: &Run, cost: &Cost, block: Option<f64>, curves: &[Curve], columns: usize) -> Markup {
    let [time, width, neighbours, cycles, blocks, ..] = prices::row(cost, block);
    let bound = if cost.holds_zero() { "at most " } else { "" };
    let values = printable(&cost.at.values());
    let name = html! { (in_table(&cost.operation)) @if !values.is_empty() { " " small { (values) } } };
    let anchor = anchor(cost);
    html! {
        tbody id=(anchor) {
            tr {
                th scope="row" { @if page.is_brief() { (name) } @else { details { summary { (name) } } } }
                td { (bound) (time) }
                td { (width) }
                @if let Some(other) = page.compared { td { (prices::times_reference(cost, other)) } }
                td { (cycles) }
                @if !page.is_brief() { td { (blocks) } td { (neighbours) } }
                td { (doubts(cost)) }
            }
            @if !page.is_brief() {
                tr.more { td colspan=(columns) { (unfolded::unfolded(page, run, cost, curves)) } }
            }
        }
    }
}

/// The doubts of a cost in few words.
fn doubts(cost: &Cost) -> String {
    let mut kinds: Vec<&Doubt> = Vec::new();
    for doubt in cost.doubts.iter().filter(|doubt| !matches!(doubt, Doubt::AtMost { .. })) {
        if !kinds.iter().any(|known| same_kind(known, doubt)) {
            kinds.push(doubt);
        }
    }
    let mut words: Vec<String> = kinds.iter().take(DOUBTS).map(|doubt| short(doubt).to_string()).collect();
    if kinds.len() > DOUBTS {
        words.push(format!("{} more", kinds.len() - DOUBTS));
    }
    words.join("; ")
}

/// A doubt as a column shows it.
fn short(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Wide { .. } => "wide interval",
        Doubt::Inherited { doubt, .. } => short(doubt),
        other => other.short(),
    }
}
