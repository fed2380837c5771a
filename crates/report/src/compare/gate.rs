//! What a gate found, as one sentence.

use analysis::compare::{FailOn, Failed, Gated, RatioToBase, Unjudged};
use record::units::{counted, percent};
use record::{printable, typed_name};

use super::rows::ratio_words;
use super::view::ComparisonView;
use crate::text::and_more;

/// Names that the sentence shows before it only counts.
const NAMED: usize = 8;

/// `gate failed: 2 of 79 costs are slower: syscall.read 1.250 times, pipe.self 1.120 times; 4 inconclusive costs do not fail`.
pub fn gate_sentence(gated: &Gated<'_>, view: &ComparisonView<'_>) -> String {
    let mut parts = vec![format!("{}: {}", verdict(gated), found(gated, view))];
    if !gated.unjudged.is_empty() {
        let names = gated.unjudged.iter().map(|one| unjudged(one, view));
        parts.push(format!("no verdict on {}", and_more(names, NAMED)));
    }
    if gated.inconclusive > 0 {
        let costs = if gated.inconclusive == 1 { "cost does" } else { "costs do" };
        parts.push(format!("{} inconclusive {costs} not fail", gated.inconclusive));
    }
    if gated.left_out > 0 {
        let costs = counted(gated.left_out as u64, "cost");
        parts.push(format!("{costs} without a verdict (--only names those that must have one)"));
    }
    parts.join("; ")
}

/// `gate failed`, or what else it came to.
pub(super) fn verdict(gated: &Gated<'_>) -> &'static str {
    match (gated.failed.is_empty(), !gated.is_complete()) {
        (false, _) => "gate failed",
        (true, true) => "gate incomplete",
        (true, false) => "gate passed",
    }
}

/// `2 of 79 costs are slower by more than 5 %: syscall.read 1.250 times, ...`.
fn found(gated: &Gated<'_>, view: &ComparisonView<'_>) -> String {
    let by = match gated.gate.at_least {
        0.0 => String::new(),
        least => format!(" by more than {}", percent(least)),
    };
    let count = gated.failed.len();
    let costs = counted(gated.judged as u64, "cost");
    if count == 0 {
        let what = if gated.gate.fail_on == FailOn::Slower { "is slower" } else { "changed" };
        return format!("none of {costs} {what}{by}");
    }
    let what = match (gated.gate.fail_on, count) {
        (FailOn::Changed, _) => "changed",
        (FailOn::Slower, 1) => "is slower",
        (FailOn::Slower, _) => "are slower",
    };
    let names = and_more(gated.failed.iter().map(|failed| named(failed, view)), NAMED);
    format!("{count} of {costs} {what}{by}: {names}")
}

/// `syscall.read 1.250 times`, with the run's name if there are several.
fn named(failed: &Failed<'_>, view: &ComparisonView<'_>) -> String {
    let ratio = match &failed.against.ratio {
        RatioToBase::Unknown(_) => String::new(),
        ratio => format!("{} times", ratio_words(ratio).0),
    };
    let place = if view.names.len() > 2 { format!(" in {}", view.label(failed.run)) } else { String::new() };
    format!("{}{place} {ratio}", printable(&failed.base.typed()))
}

fn unjudged(one: &Unjudged, view: &ComparisonView<'_>) -> String {
    format!("{} in {} ({})", printable(&typed_name(&one.name)), view.label(one.run), printable(&one.why))
}
