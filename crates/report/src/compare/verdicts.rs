//! The verdict in one line for each run beside the base, and the costs that the page only counts.

use analysis::compare::{Comparison, Verdict};
use record::units::counted;

use super::view::{ComparisonView, Shown};
use crate::text::Style;

/// If two unchanged runs differ by this much, hardly any change can be seen.
const HOPELESS: f64 = 0.2;

/// How often each verdict was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub slower: usize,
    pub faster: usize,
    pub same: usize,
    pub inconclusive: usize,
}

impl Counts {
    /// The verdicts of the run in this column.
    pub(super) fn of(it: &Comparison<'_>, column: usize) -> Counts {
        let mut counts = Counts::default();
        for (_, against) in it.rows.iter().filter_map(|row| row.others[column].as_ref()) {
            match against.verdict {
                Verdict::Slower => counts.slower += 1,
                Verdict::Faster => counts.faster += 1,
                Verdict::Same => counts.same += 1,
                Verdict::Inconclusive | Verdict::Unknown => counts.inconclusive += 1,
            }
        }
        counts
    }

    fn all(self) -> usize {
        self.slower + self.faster + self.same + self.inconclusive
    }

    /// `3 slower, 1 faster, 74 the same within the noise, 5 inconclusive`.
    pub(super) fn sentence(self) -> String {
        let Counts { slower, faster, same, inconclusive } = self;
        let open = if inconclusive == 0 { String::new() } else { format!(", {inconclusive} inconclusive") };
        format!("{slower} slower, {faster} faster, {same} the same within the noise{open}")
    }
}

/// The page's first lines.
pub(super) fn lines(it: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let mut text = String::new();
    for (column, joint) in it.noise.iter().enumerate() {
        let counts = Counts::of(it, column);
        let pair = format!("{} beside {}", view.label(column + 1), view.label(0));
        text += &format!("{}   {}\n", style.bold(&counts.sentence()), style.dim(&pair));
        let advice = if joint.band.unwrap_or(0.0) + joint.clock.unwrap_or(0.0) > HOPELESS {
            "the machine was too busy in one of these runs to tell changes; run again when it is less loaded"
        } else if counts.all() > 0 && 2 * counts.inconclusive > counts.all() {
            "most are inconclusive: the runs are too short or too noisy; measure both with a longer --budget"
        } else {
            continue;
        };
        text += &(style.paragraph("  ", advice) + "\n");
    }
    text
}

/// What the page does not show.
pub(super) fn tail(it: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let hidden = it.rows.iter().filter(|row| view.shown == Shown::Changed && !row.changed());
    let (mut count, mut same) = (0, 0);
    for row in hidden {
        count += 1;
        same += usize::from(row.others.iter().flatten().all(|(_, against)| against.verdict == Verdict::Same));
    }
    if count == 0 {
        return String::new();
    }
    let (costs, open) = (counted(count as u64, "cost"), count - same);
    let text = format!("{costs} not shown: {same} the same, {open} inconclusive (--all shows them)");
    style.dim(&style.paragraph("", &text)) + "\n"
}
