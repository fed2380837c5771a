//! The first screen: which machine, the verdict in three sentences, how sure it is, the machine beside it, the command.

use analysis::Surroundings;
use analysis::reference::{Facts, Place, ReferenceVerdict, hold, judge, sentences};
use maud::{Markup, html};
use record::units::{counted, percent};
use record::{Doubt, Origin, Run, printable};

use super::form::{HtmlPage, anchor};
use crate::glance;
use crate::head::{beside, conditions, machine_parts, short_model};
use crate::text::capitalized;

/// Costs compared with another machine's.
const MOST_COMPARED: usize = 8;

pub(super) fn first(page: &HtmlPage<'_>) -> Markup {
    let [first, ..] = page.runs else { return html! {} };
    let run = first.run;
    let parts = machine_parts(&run.machine);
    let (title, rest) = parts.split_first().map_or(("", &[][..]), |(title, rest)| (title.as_str(), rest));
    let title = if run.is_published() && run.machine.cpu.model.is_empty() { &run.id } else { title };
    html! {
        header {
            p.brand {
                @if let Some(index) = page.index { a href=(index) { "All machines" } " · " }
                "howslow" @if !run.howslow.is_empty() { " " (printable(&run.howslow)) } " · " (when(run))
            }
            h1 { (printable(title)) }
            p.sub { (printable(&rest.join(" · "))) @if page.runs.len() > 1 { " · " (printable(&first.name)) ", the base" } }
        }
        div.first {
            section.verdict aria-labelledby="verdict" {
                h2 id="verdict" { "Verdict" }
                @if run.is_book() { (of_book(run)) } @else { (verdict(run, page.references)) }
                (certainty(run))
                @if !page.command.is_empty() {
                    p.label { "Measured with" }
                    pre tabindex="0" { code { (printable(&page.command)) } }
                    button type="button" class="js" data-do="copy" hidden { "Copy" }
                }
            }
            @if let Some(other) = page.compared { (comparison_card(run, other)) }
        }
    }
}

fn when(run: &Run) -> String {
    let day = printable(run.started.get(..10).unwrap_or(&run.started));
    match run.origin {
        Origin::Published => format!("published, {day}"),
        Origin::Imported => format!("imported from {}, {day}", printable(&run.tool)),
        Origin::Measured => format!("measured {day}"),
        Origin::Reference => format!("reference machine {}, {day}", printable(&run.id)),
    }
}

/// What is normal, what is odd and its likely cause, what to do; then what else was found.
fn verdict(run: &Run, references: &[Run]) -> Markup {
    let facts = Facts { machine: &run.machine, noise: &run.noise, present: None };
    let place = Place::of(&run.machine);
    let verdict = judge(run, references, &facts);
    let sentences = sentences(&verdict, place);
    let findings = analysis::findings(run, Surroundings { references, present: None });
    let others: Vec<&String> = findings.iter().filter(|sentence| !sentences.contains(sentence)).collect();
    let unknown = "No reference machine has these costs, so what is usual is not known.";
    let normal = sentences.first().map_or(unknown, String::as_str);
    let likely = others.iter().find(|text| text.contains("Likely: ")).map(|text| (*text).clone());
    let shown = verdict.odd.first().map(|oddity| oddity.sentence(place)).or_else(|| likely.clone());
    let odd = odd(&verdict).or(likely);
    let none = match verdict.references.is_empty() {
        true => "Not known, for the same reason.",
        false => "Nothing: no cost is out of the ordinary by a clear factor.",
    };
    let rest: Vec<&String> =
        sentences.iter().skip(1).chain(others).filter(|sentence| Some(*sentence) != shown.as_ref()).collect();
    html! {
        dl.three {
            dt { "Normal" } dd { (printable(normal)) }
            dt { "Odd" } dd { (printable(odd.as_deref().unwrap_or(none))) }
            dt { "Do" } dd { (printable(&what_to_do(&verdict, run, place))) }
        }
        @if !rest.is_empty() {
            details { summary { (counted(rest.len() as u64, "more finding")) } ul { @for sentence in rest { li { (printable(sentence)) } } } }
        }
    }
}

/// The oddity that matters most, with its likely cause.
fn odd(verdict: &ReferenceVerdict<'_>) -> Option<String> {
    let first = verdict.odd.first()?;
    let more = match verdict.odd.len() - 1 {
        0 => String::new(),
        1 => " One more is below.".into(),
        more => format!(" {more} more are below."),
    };
    let cause = match &first.reason {
        Some(reason) => format!(" Likely cause: {reason}."),
        None => " No setting of this machine explains it.".into(),
    };
    Some(format!("{}.{cause}{more}", first.claim()))
}

fn what_to_do(verdict: &ReferenceVerdict<'_>, run: &Run, place: Place) -> String {
    if let Some(oddity) = verdict.odd.first() {
        let Some(remedy) = oddity.remedy else {
            return "See what the cost consists of: `howslow explain RUN`.".into();
        };
        return capitalized(&remedy.text(place)) + ".";
    }
    if verdict.open.len() > 2 {
        return format!(
            "Measure longer (`--budget {:.0}s`): {} of the costs are too uncertain to be held against a reference.",
            (run.settings.budget_s * 4.0).max(30.0),
            verdict.open.len()
        );
    }
    if run.noise.others > 0.2 {
        let others = percent(run.noise.others);
        return format!("Run again on a quiet machine: other programs took {others} of its CPU time.");
    }
    "Nothing: keep this page as the state to compare with.".into()
}

fn of_book(run: &Run) -> Markup {
    html! {
        @for source in &run.settings.patterns { p { (printable(source)) } }
        @if run.settings.patterns.is_empty() { p { "A machine to hold others against." } }
    }
}

fn certainty(run: &Run) -> Markup {
    let rounds: usize = run.costs.iter().map(|cost| cost.rounds.len()).sum();
    let rounds = if rounds > 0 { format!(" from {}", counted(rounds as u64, "round")) } else { String::new() };
    let sound = run.costs.iter().filter(|cost| !cost.doubts.iter().any(Doubt::is_serious)).count();
    let undisturbed = run.noise.undisturbed().map(|share| format!("cores undisturbed {} of the time", percent(share)));
    let twice = run.noise.band.as_ref().map(|band| percent(band.difference));
    let twice = twice.map(|by| format!("the same operation measured twice differs by {by} at most, nine times in ten"));
    let facts = [
        format!("{}{rounds}; {sound} without a serious doubt", counted(run.costs.len() as u64, "cost")),
        undisturbed.unwrap_or_default(),
        conditions(run),
        twice.unwrap_or_default(),
        beside(run),
    ];
    let facts = facts.iter().flat_map(|fact| fact.split("   ")).filter(|fact| !fact.is_empty());
    html! { p.label { "How sure" } ul.facts { @for fact in facts { li { (printable(fact)) } } } }
}

/// The costs that are wanted most, compared with another machine's.
fn comparison_card(run: &Run, other: &Run) -> Markup {
    let wanted = glance::wanted(run);
    let held = wanted.into_iter().filter_map(|cost| Some((cost, hold(cost, other).ok()?)));
    let rows: Vec<_> = held.take(MOST_COMPARED).collect();
    let machine = short_model(&other.machine.cpu.model);
    let machine = if machine.is_empty() { String::new() } else { format!(" ({machine})") };
    html! {
        @if !rows.is_empty() {
            section.beside aria-labelledby="beside" {
                h2 id="beside" { "Beside " (printable(&other.id)) (printable(&machine)) }
                div.wide { table.plain {
                    thead { tr { th scope="col" { "cost" } th scope="col" class="r" { "here" } th scope="col" class="r" { "there" } th scope="col" class="r" { "times" } } }
                    tbody {
                        @for (cost, held) in rows {
                            tr {
                                th scope="row" { a href={ "#" (anchor(cost)) } { (cost.operation) } " " (cost.at.values()) }
                                td.r { (cost.quoted().to_string()) }
                                td.r { (held.cost.quoted().to_string()) }
                                td.r { (held.text().unwrap_or_else(|| "-".into())) }
                            }
                        }
                    }
                } }
            }
        }
    }
}
