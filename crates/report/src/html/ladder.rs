//! The ladder: what every programmer should know, and every other cost, on one logarithmic scale from 0.1 ns to 1 s.

use std::fmt::Write;

use analysis::by_key;
use maud::{Markup, PreEscaped, html};
use record::units::counted;
use record::{Cost, Nanoseconds, Run, printable, smallest_first};

use super::form::{HtmlPage, anchor};
use crate::glance;

/// The scale: so many decades from 0.1 ns on.
const DECADES: i32 = 10;
/// More single marks than this become one drawing without links.
const MOST_LINKS: usize = 250;

pub(super) fn ladder(page: &HtmlPage<'_>) -> Markup {
    let [first, rest @ ..] = page.runs else { return html! {} };
    let second =
        rest.first().map(|other| (other.name.as_str(), other.run)).or(page.compared.map(|run| (run.id.as_str(), run)));
    let mut costs = rungs(first.run);
    smallest_first(&mut costs, |one| one.quoted().0);
    let left_out = first.run.costs.iter().filter(|cost| !is_shown(cost)).count();
    html! {
        @if !costs.is_empty() {
            section id="ladder" {
                h2 { "The ladder" }
                p.note {
                    "Numbers every programmer should know, as measured here. Each step is ten times dearer than the one before; "
                    span.k0 { "●" } " " (printable(&first.name)) " with its interval"
                    @if let Some((name, _)) = second { ", " span.k1 { "◆" } " " (printable(name)) }
                    ". Follow a cost to all that is known of it."
                }
                div.scale aria-hidden="true" { @for decade in 0..=DECADES { span class={ "t" (decade) } { (tick(decade)) } } span.v { (printable(&first.name)) } @if let Some((name, _)) = second { span.w { (printable(name)) } } }
                ol.rungs { @for cost in costs { (rung(cost, second.map(|(_, run)| run))) } }
                (all_costs(first.run))
                @if left_out > 0 { p.note { "Not on the scale: " (counted(left_out as u64, "cost")) " that cannot be distinguished from zero." } }
            }
        }
    }
}

/// The costs that have a step; without one, the page has no ladder.
pub(super) fn rungs(run: &Run) -> Vec<&Cost> {
    glance::wanted(run).into_iter().filter(|cost| is_shown(cost)).collect()
}

fn is_shown(cost: &Cost) -> bool {
    let ns = cost.quoted().0;
    ns.is_finite() && ns > 0.0 && !cost.holds_zero()
}

/// The name of a decade: `0.1 ns`, `100 µs`.
fn tick(decade: i32) -> String {
    let time = Nanoseconds(10_f64.powi(decade - 1)).to_string();
    let (number, unit) = time.split_once(' ').unwrap_or((&time, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

/// Where a time lies on the scale, in percent.
fn place(ns: f64) -> f64 {
    ((ns.max(1e-9).log10() + 1.0) / f64::from(DECADES) * 100.0).clamp(0.0, 100.0)
}

fn rung(cost: &Cost, other: Option<&Run>) -> Markup {
    let there = other
        .and_then(|run| run.costs.iter().find(|there| there.operation == cost.operation && there.at == cost.at))
        .filter(|there| is_shown(there));
    html! {
        li {
            a href={ "#" (anchor(cost)) } {
                span.n { (printable(&cost.operation)) @if !cost.at.0.is_empty() { " " small { (printable(&cost.at.values())) } } }
                (PreEscaped(track(cost, there)))
                span.v { (cost.quoted().to_string()) }
                @if let Some(there) = there { span.w { (there.quoted().to_string()) } }
                @else if other.is_some() { span.w { "-" } }
            }
        }
    }
}

/// The interval as a line, the figure as a dot, the other machine's as a diamond.
fn track(cost: &Cost, there: Option<&Cost>) -> String {
    let (low, high) = (place(cost.net_ns.low.0.max(0.0)), place(cost.net_ns.high.0));
    let mut svg = String::from("<svg class=\"track\" aria-hidden=\"true\">");
    if let Some(there) = there {
        let _ = write!(
            svg,
            "<svg x=\"{:.2}%\" y=\"50%\" class=\"o\"><path class=\"k1\" d=\"M-6 0L0 -6L6 0L0 6z\"/></svg>",
            place(there.quoted().0)
        );
    }
    if cost.has_interval() {
        let _ = write!(svg, "<line class=\"k0\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"50%\" y2=\"50%\"/>");
    }
    let _ = write!(svg, "<circle class=\"k0\" cx=\"{:.2}%\" cy=\"50%\" r=\"4\"/></svg>", place(cost.quoted().0));
    svg
}

/// Every cost of the run as a mark on the scale, a line for each group.
fn all_costs(run: &Run) -> Markup {
    let groups = by_key(run.costs.iter().filter(|cost| is_shown(cost)).map(|cost| (cost.heading(), cost)));
    let shown: usize = groups.iter().map(|(_, costs)| costs.len()).sum();
    let linked = run.costs.len() <= MOST_LINKS;
    html! {
        details.all {
            summary { "All " (counted(shown as u64, "cost")) " on this scale, by group" }
            ul.rungs { @for (group, costs) in groups { li { div.rung { span.n { (printable(group)) } (PreEscaped(marks(&costs, linked))) span.v { (costs.len()) } } } } }
        }
    }
}

fn marks(costs: &[&Cost], linked: bool) -> String {
    let mut svg = String::from("<svg class=\"track\"");
    if !linked {
        svg += " aria-hidden=\"true\" viewBox=\"0 0 1000 24\" preserveAspectRatio=\"none\"><path class=\"m\" d=\"";
        for cost in costs {
            let _ = write!(svg, "M{:.0} 5v14", place(cost.quoted().0) * 10.0);
        }
        return svg + "\"/></svg>";
    }
    svg.push('>');
    for cost in costs {
        let _ = write!(
            svg,
            "<a href=\"#{0}\" aria-label=\"{0} {1}\"><circle class=\"k0\" cx=\"{2:.2}%\" cy=\"50%\" r=\"5\"/></a>",
            crate::chart::xml::escaped(&anchor(cost)),
            cost.quoted(),
            place(cost.quoted().0)
        );
    }
    svg + "</svg>"
}
