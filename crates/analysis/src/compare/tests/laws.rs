//! Properties that hold for every comparison, whatever the costs.

use proptest::prelude::*;
use record::{Estimate, Run};

use super::super::*;
use super::{HOW, run};

fn any_figure() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        ((1e-3..1e9), (0.0..0.5)).prop_map(|(value, share): (f64, f64)| (value, value * share)),
        ((1e-3..1e3), (0.0..3.0)).prop_map(|(value, share): (f64, f64)| (value, value * share)),
        ((-1e3..1e3), (0.0..1e3)),
        Just((0.0, 0.0)),
    ]
}

fn any_runs() -> impl Strategy<Value = [Run; 2]> {
    proptest::collection::vec((any_figure(), any_figure(), 0_usize..10), 1..20).prop_map(|costs| {
        let ids: Vec<String> = (0..costs.len()).map(|index| format!("f{}.c{index}", index % 3)).collect();
        let side = |of: &dyn Fn(usize) -> (f64, f64)| {
            let costs: Vec<_> =
                ids.iter().enumerate().map(|(index, id)| (id.as_str(), of(index).0, of(index).1)).collect();
            run(&costs)
        };
        let (mut one, mut other) = (side(&|index| costs[index].0), side(&|index| costs[index].1));
        for (index, (.., rounds)) in costs.iter().enumerate() {
            one.costs[index].rounds.truncate(*rounds);
            other.costs[index].headline = if rounds % 2 == 0 { Estimate::Quiet } else { Estimate::Typical };
        }
        other.noise.others = if costs.len() % 2 == 0 { 0.5 } else { 0.0 };
        [one, other]
    })
}

fn mirrored(ratio: &RatioToBase) -> Option<[f64; 3]> {
    numbers(ratio).map(|[value, low, high]| [1.0 / value, 1.0 / high, 1.0 / low])
}

fn numbers(ratio: &RatioToBase) -> Option<[f64; 3]> {
    match ratio {
        RatioToBase::Times(interval) => Some([interval.value, interval.low, interval.high]),
        RatioToBase::AtMost(bound) | RatioToBase::AtLeast(bound) => Some([*bound; 3]),
        RatioToBase::Unknown(_) => None,
    }
}

proptest! {
    #[test]
    fn swapping_the_runs_inverts_every_ratio([one, other] in any_runs()) {
        let (straight, swapped) = ([one.clone(), other.clone()], [other, one]);
        let (straight, swapped) = (compare(&straight, &HOW), compare(&swapped, &HOW));
        prop_assert_eq!(straight.rows.len(), swapped.rows.len());
        for (row, mirror) in straight.rows.iter().zip(&swapped.rows) {
            let (Some((_, forth)), Some((_, back))) = (&row.others[0], &mirror.others[0]) else { panic!("two runs") };
            let turned = match forth.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            };
            prop_assert_eq!(turned, back.verdict, "{:?} {:?}", forth, back);
            let chances = (forth.chance.unwrap_or(-1.0), back.chance.unwrap_or(-1.0));
            prop_assert!((chances.0 - chances.1).abs() < 1e-9, "{:?} {:?}", forth, back);
            match (mirrored(&forth.ratio), numbers(&back.ratio)) {
                (Some(mirror), Some(back)) => {
                    for (mirror, back) in mirror.into_iter().zip(back) {
                        prop_assert!((mirror / back - 1.0).abs() < 1e-9, "{mirror} {back}");
                    }
                }
                (mirror, back) => prop_assert_eq!(mirror, back),
            }
        }
    }

    #[test]
    fn a_run_differs_in_nothing_from_itself([one, _] in any_runs()) {
        let runs = [one.clone(), one.clone(), one];
        let compared = compare(&runs, &HOW);
        prop_assert_eq!(compared.rows.len(), runs[0].costs.len());
        prop_assert!(compared.only.iter().all(Vec::is_empty));
        for (_, against) in compared.rows.iter().flat_map(|row| row.others.iter().flatten()) {
            prop_assert!(!against.verdict.is_change(), "{:?}", against);
            let is_one = matches!(&against.ratio, RatioToBase::Times(ratio) if ratio.value == 1.0);
            prop_assert!(is_one != (against.verdict == Verdict::Unknown));
        }
        prop_assert!(differences(&runs).is_empty());
    }

    #[test]
    fn no_figure_is_endless_or_outside_its_interval(runs in any_runs()) {
        let compared = compare(&runs, &HOW);
        for (_, against) in compared.rows.iter().flat_map(|row| row.others.iter().flatten()) {
            if let Some(numbers) = numbers(&against.ratio) {
                prop_assert!(numbers.iter().all(|number| number.is_finite() && *number > 0.0), "{numbers:?}");
                prop_assert!(numbers[1] <= numbers[0] && numbers[0] <= numbers[2], "{numbers:?}");
            }
            prop_assert!(against.chance.is_none_or(|chance| (0.0..=1.0).contains(&chance)), "{:?}", against);
        }
        for mean in overall(&compared).iter().chain(families(&compared).iter().flat_map(|family| &family.means)) {
            let ends = mean.ratio.map(|ratio| [ratio.value, ratio.low, ratio.high]);
            prop_assert!(ends.is_none_or(|ends| ends.iter().all(|end| end.is_finite())));
        }
    }
}
