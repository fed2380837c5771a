//! What a change of costs means to a program, in one sentence.

use analysis::mix_changes::{MixChange, MixChanges};
use analysis::statistics::Interval;
use record::units::{counted, percent, range};

use crate::text::in_table;

/// Changes beyond these are only counted.
const MOST: usize = 4;

/// `openat +6.0 % is git-status +1.4 % (1.2 % to 1.6 %); all lines together: +1.1 % (0.5 % to 1.7 %)`.
pub(super) fn sentence(mix: &str, changes: &MixChanges) -> String {
    let mix = in_table(mix);
    let one = |(place, change): (usize, &MixChange)| {
        let whose = if place == 0 { format!("{mix} ") } else { String::new() };
        let by = signed(change.ratio.value - 1.0);
        format!("{} {by} is {whose}{}", in_table(&change.what), with_range(&change.share))
    };
    let mut parts: Vec<String> = changes.lines.iter().take(MOST).enumerate().map(one).collect();
    match changes.lines.len() {
        0 => parts.push(format!("no line of {mix} differs by more than its interval")),
        many if many > MOST => parts.push(counted((many - MOST) as u64, "other")),
        _ => {}
    }
    parts.push(format!("all lines together: {mix} {}", with_range(&changes.all)));
    parts.join("; ") + "."
}

fn with_range(share: &Interval) -> String {
    let ends = [share.value, share.low, share.high].map(signed);
    // An interval that is narrower than what is shown is left out.
    let has_range = share.is_bounded() && ends.iter().any(|end| *end != ends[0]);
    format!("{}{}", ends[0], if has_range { format!(" ({})", range(&ends[1], &ends[2])) } else { String::new() })
}

fn signed(share: f64) -> String {
    if share > 0.0 { format!("+{}", percent(share)) } else { percent(share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_change_and_what_it_makes_of_the_program() {
        let interval = |value: f64| Interval { value, low: value - 0.002, high: value + 0.002 };
        let line = MixChange { what: "openat".into(), ratio: interval(1.06), share: interval(0.014) };
        let changes = MixChanges { lines: vec![line], all: interval(0.011) };
        let text = "openat +6.0 % is git-status +1.4 % (+1.2 % to +1.6 %); all lines together: git-status +1.1 % (+0.90 % to \
                    +1.3 %).";
        assert_eq!(sentence("git-status", &changes), text);
        let many = MixChanges { lines: vec![changes.lines[0].clone(); MOST + 1], all: interval(0.011) };
        assert!(sentence("m", &many).contains("; 1 other; all lines together"));
        let none = MixChanges { lines: Vec::new(), all: interval(-0.001) };
        let text = sentence("m", &none);
        assert!(
            text.starts_with("no line of m differs by more than its interval; all lines together: m -0.10 %"),
            "{text}"
        );
    }
}
