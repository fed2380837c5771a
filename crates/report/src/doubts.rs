//! Doubts of one kind in one sentence: how many costs have it, the worst figure, and what to do about it.

use record::Doubt;
use record::units::{counted, percent, relative_width};

/// One sentence on doubts of one kind. A single doubt is shown in full.
pub(crate) fn together(doubts: &[Doubt]) -> String {
    let [first, _, ..] = doubts else { return doubts.first().map(Doubt::to_string).unwrap_or_default() };
    let count = doubts.len() as u64;
    let same = doubts.iter().all(|doubt| doubt == first);
    if same && !matches!(first, Doubt::Wide { .. }) {
        return format!("{}: {first}", counted(count, "cost"));
    }
    let worst = doubts.iter().filter_map(worst).max_by(|one, other| one.0.total_cmp(&other.0));
    let worst = worst.map(|(_, text)| format!(", {text}")).unwrap_or_default();
    let sentence = match first {
        Doubt::Wide { wanted, .. } => {
            format!("{} wider than the {} asked for{worst}", counted(count, "interval"), percent(*wanted))
        }
        doubt => format!("{}: {}{worst}", counted(count, "cost"), doubt.short()),
    };
    // The remedy is the same for all of them.
    let text = first.to_string();
    match text.rsplit_once("; ") {
        Some((_, remedy)) => format!("{sentence}; {remedy}"),
        None => sentence,
    }
}

/// How bad a doubt is among those of its kind, and the figure that shows it; `None` if all are alike.
fn worst(doubt: &Doubt) -> Option<(f64, String)> {
    let share = |share: f64, what: &str| Some((share, format!("{what} {}", percent(share))));
    match doubt {
        Doubt::Wide { half_width, .. } => Some((*half_width, format!("worst {}", relative_width(*half_width)))),
        Doubt::FewQuiet { batches, .. } => Some((-f64::from(*batches), format!("fewest {batches}"))),
        Doubt::FewRounds { rounds } => Some((-f64::from(*rounds), format!("fewest {rounds}"))),
        Doubt::AtMost { high } => Some((high.0, format!("at most {high}"))),
        Doubt::Bimodal { low, high } => {
            Some((high.0 / low.0.max(f64::MIN_POSITIVE), format!("farthest apart {low} and {high}")))
        }
        Doubt::Layout { at } => Some((at.0, format!("farthest {at}"))),
        Doubt::NonLinear { ratio } => Some((ratio.ln().abs(), format!("worst {ratio:.2} times"))),
        Doubt::FrequencyMoved { ratio } => share(ratio - 1.0, "by up to"),
        Doubt::Interrupted { share: of } => share(*of, "up to").map(|(of, text)| (of, format!("{text} of batches"))),
        Doubt::Queued { wait } => Some((wait.0, format!("up to {wait}"))),
        Doubt::NotCold { resident, .. } => share(*resident, "up to"),
        Doubt::CoarseClock { share: of } => share(*of, "worst"),
        Doubt::Drift { ratio } => share((ratio - 1.0).abs(), "by up to"),
        Doubt::OwnClock { ghz, run_ghz } => {
            Some(((ghz / run_ghz).ln().abs(), format!("farthest {ghz:.2} GHz beside {run_ghz:.2} GHz")))
        }
        Doubt::OneProcess { samples } => Some((-f64::from(*samples), format!("fewest samples {samples}"))),
        _ => None,
    }
}

/// The same kind of doubt, whatever its figures.
pub(crate) fn same_kind(one: &Doubt, other: &Doubt) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

#[cfg(test)]
mod tests {
    use record::Nanoseconds;

    use super::*;

    #[test]
    fn several_doubts_of_a_kind_have_a_count_and_the_worst_figure() {
        let wide = |half_width| Doubt::Wide { half_width, wanted: 0.01 };
        assert_eq!(together(&[wide(0.02)]), wide(0.02).to_string());
        let text = together(&[wide(0.02), wide(0.091), wide(0.03)]);
        assert!(text.starts_with("3 intervals wider than the 1.0 % asked for, worst 9.1 %; raise "), "{text}");
        let apart = |high| Doubt::Bimodal { low: Nanoseconds(100.0), high: Nanoseconds(high) };
        let text = together(&[apart(120.0), apart(300.0)]);
        assert!(text.starts_with("2 costs: two groups of samples, farthest apart 100 ns and 300 ns; "), "{text}");
        assert_eq!(together(&[Doubt::NeverQuiet, Doubt::NeverQuiet]).matches("undisturbed").count(), 1);
    }
}
