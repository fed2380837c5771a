//! The verdict in one line for each run beside the base, and the costs that the page only counts.

use analysis::compare::{Comparison, ComparisonRow, Settling, Verdict, settling};
use analysis::longer::TIMES;
use record::units::{counted, percent};

use super::view::{ComparisonView, Shown};
use crate::text::Style;

/// How often each verdict was given to the run in this column: `3 slower, 1 faster, 74 the same within 5.0 %, 5 inconclusive`.
pub(crate) fn counts(comparison: &Comparison<'_>, column: usize) -> String {
    let verdicts = || comparison.rows.iter().filter_map(|row| Some(row.others[column].as_ref()?.1.verdict));
    let count = |wanted: Verdict| verdicts().filter(|verdict| *verdict == wanted).count();
    let [slower, faster, same] = [Verdict::Slower, Verdict::Faster, Verdict::Same].map(count);
    let open = match count(Verdict::Inconclusive) + count(Verdict::Unknown) {
        0 => String::new(),
        open => format!(", {open} inconclusive"),
    };
    let margin = percent(comparison.noise[column].margin);
    format!("{slower} slower, {faster} faster, {same} the same within {margin}{open}")
}

/// The page's first lines.
pub(super) fn lines(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    for column in 0..comparison.noise.len() {
        let counts = counts(comparison, column);
        let pair = format!("{} beside {}", view.label(column + 1), view.label(0));
        text += &format!("{}   {}\n", style.bold(&counts), style.dim(&pair));
        text += &style.paragraphs("  ", settled(&settling(comparison, column)));
    }
    text
}

/// What would settle the costs that are open: the budgets of both runs, computed from their rounds. `None` without an open cost.
fn settled(settling: &Settling<'_>) -> Option<String> {
    /// More names than that are a run of all.
    const NAMED: usize = 5;
    /// A run of a few costs need not be shorter.
    const SHORTEST: f64 = 5.0;
    let most = *TIMES.last()?;
    let open = match settling.open.as_slice() {
        [] => return None,
        some if some.len() <= NAMED => some.iter().map(|open| open.cost.typed()).collect::<Vec<_>>().join(", "),
        some => format!("{} inconclusive costs", some.len()),
    };
    if settling.settled_by(most) == 0 {
        return Some(format!(
            "{open}: runs {most} times as long settle none if they differ as much; run again when the host is less loaded"
        ));
    }
    let budget = |seconds: f64| format!("--budget {:.0}s", (seconds / SHORTEST).ceil() * SHORTEST);
    if settling.open.len() <= NAMED {
        let able: Vec<String> =
            settling.open.iter().filter(|open| open.times.is_some()).map(|open| open.cost.typed()).collect();
        let budget = budget(settling.seconds_alone());
        return Some(format!("to settle {}, in both: howslow run {} {budget}", able.join(", "), able.join(" ")));
    }
    // A longer budget that settles no more is no advice.
    let steps = TIMES.into_iter().filter(|times| listed(settling, *times).next().is_some()).map(|times| {
        let (count, names) = (settling.settled_by(times), listed(settling, times).take(NAMED).collect::<Vec<_>>());
        let more = if names.len() < listed(settling, times).count() { ", ..." } else { "" };
        format!("{} would settle {count} ({}{more})", budget(settling.budget_s * f64::from(times)), names.join(", "))
    });
    Some(format!("of the {open}, in both runs {}", steps.collect::<Vec<_>>().join(", ")))
}

/// The costs that need runs so many times as long, and no less.
fn listed<'a>(settling: &'a Settling<'_>, times: u32) -> impl Iterator<Item = String> + 'a {
    settling.open.iter().filter(move |open| open.times == Some(times)).map(|open| open.cost.typed())
}

/// What the page does not show.
pub(super) fn tail(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let hidden = comparison.rows.iter().filter(|row| view.shown == Shown::Changed && !row.changed());
    let is_same = |row: &ComparisonRow<'_>| row.others.iter().flatten().all(|(_, of)| of.verdict == Verdict::Same);
    let (same, open): (Vec<_>, Vec<_>) = hidden.partition(|row| is_same(row));
    let (same, open) = (same.len(), open.len());
    let costs = counted((same + open) as u64, "cost");
    let text = format!("{costs} not shown: {same} the same, {open} inconclusive (--all shows them)");
    style.asides("", (same + open > 0).then_some(text))
}
