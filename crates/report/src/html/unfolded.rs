//! What unfolds below a cost: the sentence on it, its samples, its parts, its doubts in full, its curve and its history.

use analysis::explain::{Explanation, explain};
use maud::{Markup, PreEscaped, html};
use record::units::{counted, percent, significant};
use record::{Cost, Doubt, Nanoseconds, Origin, Round, Run, Term, printable};

use super::curves::Curve;
use super::form::{HtmlPage, PageDetail, anchor, anchor_of};
use crate::chart::strip::{self, Mark};
use crate::interval::value_or_bound;
use crate::text::number;

/// More doubts than a reader takes in.
const MOST_DOUBTS: usize = 12;

pub(super) fn unfolded(page: &HtmlPage<'_>, run: &Run, cost: &Cost, curves: &[Curve]) -> Markup {
    let strip = (page.detail == PageDetail::Samples).then(|| samples(cost, run.origin)).flatten();
    let curve = curves.iter().find(|curve| curve.holds(cost));
    let history = page.histories.get(&cost.name()).and_then(|figures| history(cost, figures));
    html! {
        @if !cost.summary.is_empty() || !cost.like.is_empty() {
            p { (printable(&cost.summary)) @if !cost.like.is_empty() { " (like " (printable(&cost.like.join(", "))) ")" } }
        }
        p.facts { (printable(&facts(run, cost).join(" · "))) }
        @if let Some(strip) = strip { (strip) }
        @if !cost.terms.is_empty() { p { "Subtracted: " @for (place, term) in cost.terms.iter().enumerate() { @if place > 0 { ", " } (named(term)) } "." } }
        @if let Some(explanation) = explain(run, cost) { (parts(&explanation)) }
        @if let Some(curve) = curve { (PreEscaped(curve.chart.figure_again(&curve.id))) }
        @if let Some(history) = history { (history) }
        @if !cost.doubts.is_empty() {
            ul.doubts {
                @for doubt in cost.doubts.iter().take(MOST_DOUBTS) { li { (printable(&doubt.to_string())) } }
                @if cost.doubts.len() > MOST_DOUBTS { li { "and " (cost.doubts.len() - MOST_DOUBTS) " more" } }
            }
        }
        a href={ "#" (anchor(cost)) } { "link" }
    }
}

/// A term as its number and a link to its cost.
fn named(term: &Term) -> Markup {
    let times = if term.times == 1.0 { String::new() } else { format!("{} × ", number(term.times)) };
    let typed = printable(&term.typed());
    html! { (times) a href={ "#" (anchor_of(&typed)) } { (typed) } }
}

/// What is known of the cost beside its headline figure.
fn facts(run: &Run, cost: &Cost) -> Vec<String> {
    let net = &cost.net_ns;
    let positive = |time: Nanoseconds| (time.0.is_finite() && time.0 > 0.0).then(|| time.to_string());
    let mut facts = vec![format!("{} figure for one {}", cost.headline.word(), cost.per)];
    if cost.has_interval() {
        facts.push(format!("95 % interval {} to {}", net.low, net.high));
    }
    let timed = cost.gross_ns.get(cost.headline);
    let several = net.best != net.quiet || net.quiet != net.typical;
    facts.extend(positive(net.best).filter(|_| several).map(|best| format!("best {best}, typical {}", net.typical)));
    facts.extend(positive(timed).filter(|_| timed != cost.quoted()).map(|gross| format!("as timed {gross}")));
    if cost.cpu_ns.user.0 > 0.0 || cost.cpu_ns.system.0 > 0.0 {
        facts.push(format!("CPU time {} user, {} system", cost.cpu_ns.user, cost.cpu_ns.system));
    }
    facts.extend(positive(cost.wait_ns).map(|wait| format!("waits {wait}")));
    let counts = [
        (cost.faults.minor, "minor faults"),
        (cost.faults.major, "major faults"),
        (cost.switches.voluntary, "voluntary switches"),
        (cost.switches.involuntary, "involuntary switches"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count >= 0.01);
    facts.extend(counts.map(|(count, what)| format!("{} {what}", significant(*count))));
    if cost.bytes.0 > 0 {
        facts.push(format!("moves {}", cost.bytes));
    }
    facts.extend(crate::levels::sentence(cost));
    facts.extend(crate::prices::of_device(run, cost));
    facts
}

/// The samples: for each round the span and the median of its undisturbed batches and of its disturbed ones.
fn samples(cost: &Cost, origin: Origin) -> Option<Markup> {
    let rounds: Vec<&Round> = cost.rounds.iter().filter(|round| !round.ns.is_empty()).collect();
    let count = rounds.len().max(1) as f64;
    let mut marks = Vec::new();
    for (place, round) in rounds.iter().enumerate() {
        for (series, quiet) in [(0, true), (1, false)] {
            let times =
                round.ns.iter().zip(&round.quiet).filter(|(ns, is)| **is == quiet && ns.is_finite()).map(|(ns, _)| *ns);
            let all = analysis::statistics::sorted(times);
            let (Some(low), Some(high), Some(value)) =
                (all.first(), all.last(), analysis::statistics::median(all.iter().copied()))
            else {
                continue;
            };
            let at = (place as f64 + if quiet { 0.4 } else { 0.6 }) / count;
            marks.push(Mark { at, value, low: *low, high: *high, series });
        }
    }
    let batches: usize = rounds.iter().map(|round| round.ns.len()).sum();
    let quiet = rounds.iter().flat_map(|round| &round.quiet).filter(|quiet| **quiet).count();
    let mut caption =
        format!("{} in the order taken, {}", counted(rounds.len() as u64, "round"), counted(batches as u64, "batch"));
    // What disturbed the samples of another tool is not known.
    if origin != Origin::Imported {
        caption += &format!(": {quiet} undisturbed (blue), {} disturbed (orange)", batches - quiet);
    }
    strip(&marks, &caption)
}

/// A strip with its ends and what it shows.
fn strip(marks: &[Mark], caption: &str) -> Option<Markup> {
    let (low, high) = strip::ends(marks)?;
    Some(html! {
        figure.strip {
            figcaption { (caption) }
            p { (Nanoseconds(high).to_string()) br; (Nanoseconds(low).to_string()) }
            (PreEscaped(strip::figure(marks, (low, high))))
        }
    })
}

/// The figures of earlier runs, and this one's.
fn history(cost: &Cost, figures: &[super::form::EarlierFigure]) -> Option<Markup> {
    let first = figures.iter().map(|figure| figure.days_before).fold(0.0, f64::max);
    let count = figures.len() as f64 + 1.0;
    let own = Mark {
        at: (count - 0.5) / count,
        value: cost.quoted().0,
        low: cost.net_ns.low.0,
        high: cost.net_ns.high.0,
        series: 0,
    };
    let earlier = figures.iter().enumerate().map(|(place, figure)| Mark {
        at: (place as f64 + 0.5) / count,
        value: figure.value,
        low: figure.low,
        high: figure.high,
        series: 2,
    });
    let marks: Vec<Mark> = earlier.chain([own]).collect();
    let span = if first >= 1.0 {
        format!("over {}", counted(first.round() as u64, "day"))
    } else {
        "of the last day".to_string()
    };
    strip(&marks, &format!("{} {span}, this one last", counted(figures.len() as u64, "earlier run")))
}

/// What the cost consists of, and the residual.
fn parts(explanation: &Explanation) -> Markup {
    html! {
        p {
            "Consists of "
            @for (place, part) in explanation.parts.iter().enumerate() {
                @if place > 0 { " + " }
                (named(&part.term))
                @match &part.total { Some(total) => { " (" (value_or_bound(total)) ")" } None => { " (not in this run)" } }
            }
            "; residual " (value_or_bound(&explanation.residual))
            @if let Some(share) = explanation.residual_share { ", " (percent(share)) " of it" }
            "."
            @if explanation.residual_doubts.iter().any(Doubt::is_serious) { " The residual carries the doubts of its parts." }
        }
    }
}
