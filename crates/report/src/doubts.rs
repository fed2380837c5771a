//! Doubts of one kind in one sentence: how many costs have it, the worst figure, and what to do about it.

use record::Doubt;
use record::units::{counted, percent, relative_width};

/// One sentence on doubts of one kind that this number of costs has. Those of a single cost are shown in full.
pub(crate) fn together(doubts: &[Doubt], costs: usize) -> String {
    let [first, ..] = doubts else { return String::new() };
    let count = costs as u64;
    let same = doubts.iter().all(|doubt| doubt == first);
    if costs == 1 {
        let shown = if same { &doubts[..1] } else { doubts };
        return shown.iter().map(Doubt::to_string).collect::<Vec<_>>().join("; ");
    }
    if same && !matches!(first, Doubt::Wide { .. }) {
        return format!("{}: {first}", counted(count, "cost"));
    }
    let figures = doubts.iter().filter_map(|doubt| Some((doubt, worst(doubt)?)));
    let worst = figures.max_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
    let (shown, worst) = worst.map_or((first, String::new()), |(doubt, (_, text))| (doubt, format!(", {text}")));
    let sentence = match first {
        Doubt::Wide { wanted, .. } => {
            format!("{} wider than the {} asked for{worst}", counted(count, "interval"), percent(*wanted))
        }
        doubt => format!("{}: {}{worst}", counted(count, "cost"), doubt.short()),
    };
    // What helps the worst of them helps the others.
    let text = shown.to_string();
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
        assert_eq!(together(&[wide(0.02)], 1), wide(0.02).to_string());
        let text = together(&[wide(0.02), wide(0.041), wide(0.03)], 3);
        assert!(text.starts_with("3 intervals wider than the 1.0 % asked for, worst 4.1 %; raise "), "{text}");
        let text = together(&[wide(0.02), wide(0.091)], 2);
        assert!(text.ends_with(", worst 9.1 %; run again when the machine is quieter"), "{text}");
        let apart = |high| Doubt::Bimodal { low: Nanoseconds(100.0), high: Nanoseconds(high) };
        let text = together(&[apart(120.0), apart(300.0)], 2);
        assert!(text.starts_with("2 costs: two groups of samples, farthest apart 100 ns and 300 ns; "), "{text}");
        assert_eq!(together(&[Doubt::NeverQuiet, Doubt::NeverQuiet], 2).matches("undisturbed").count(), 1);
        let text = together(&[1.2, 1.5].map(|ratio| Doubt::NonLinear { ratio }), 2);
        assert!(text.matches("builds up").count() == 1 && text.contains(", worst 1.50 times; state "), "{text}");
        let lost = ["killed", "too long"].map(|reason| Doubt::RoundLost { reason: reason.into() });
        assert_eq!(together(&lost, 1), "a round was lost: killed; a round was lost: too long");
    }
}
