//! Predictions, suppositions and factors: on the figures of the memo that the method comes from, and as properties.

use howslow_analysis::factors::{Factors, NoFactors, factors};
use howslow_analysis::mix::Lack;
use howslow_analysis::predict::{MixPrediction, predict, whole_cost};
use howslow_analysis::statistics::Interval;
use howslow_analysis::whatif::{Assumption, Impossible, Supposed, changed_lines, difference, known_change, suppose};
use proptest::prelude::*;
use record::{Book, Cost, Cpu, Estimate, Mix, Nanoseconds, Origin, Point, Run, Skip, Term, Value};

use crate::support::{close, mix, places, priced, total};

/// Table I of the memo, in ns, in the form of a book.
fn machine(name: &str, figures: [f64; 4]) -> Run {
    let cost = |(id, ns): (&str, f64)| {
        format!("[[cost]]\noperation = \"{name}.{id}\"\nms = \"{:.6}\"\nlike = [\"{id}\"]\n", ns / 1e6)
    };
    let costs: String = ["ada", "eapbp", "eapbp*", "stpbp"].into_iter().zip(figures).map(cost).collect();
    let head = format!("name = \"{name}\"\ntitle = \"t\"\nsource = \"s\"\nmeasured = \"1973\"\n");
    Book::from_toml(&(head + &costs)).expect("a book").run()
}

fn multics() -> [Run; 2] {
    [machine("multics-645", [1920.0, 2970.0, 5320.0, 2870.0]), machine("multics-6180", [832.0, 1505.0, 2960.0, 2230.0])]
}

fn sequence() -> Mix {
    Mix::from_toml(include_str!("../../../../mixes/call-save-return.toml")).expect("a mix")
}

#[test]
fn the_call_save_return_sequence_of_the_memo() {
    let [old, new] = multics();
    let [mut old, mut new] = [priced(&sequence(), &old, 0), priced(&sequence(), &new, 1)];
    // 12 x 2870 + 13 x 5320 + 14 x 2970 + 12 x 1920, and the same with the prices of the 6180.
    assert!(close(total(&old), 168_220.0) && close(total(&new), 96_294.0), "{} {}", total(&old), total(&new));
    (old.measured, new.measured) = (Some(Interval::exactly(170e3)), Some(Interval::exactly(110e3)));
    assert!(close(new.residual().expect("measured").value, 13_706.0));
    let Factors { families, predicted, measured, unexplained } = factors(&old, &new).expect("factors");
    let product: f64 = families.iter().map(|family| family.factor.value).product();
    assert!(close(product, predicted.value) && close(predicted.value, 96_294.0 / 168_220.0));
    let (measured, unexplained) = (measured.expect("measured"), unexplained.expect("measured"));
    assert!(close(1.0 / measured.value, 170.0 / 110.0), "the memo's 1.54");
    assert!(close(product * unexplained.value, measured.value));
    assert_eq!(families[0].family, "indirect pointer loads");
    assert!(families.iter().all(|family| family.factor.low <= family.factor.value && family.counts.is_none()));
}

#[test]
fn a_buffer_memory_of_70_ns_as_the_memo_reckons_it() {
    let [_, new] = multics();
    let before = MixPrediction { measured: Some(Interval::exactly(110e3)), ..priced(&sequence(), &new, 0) };
    // Each inhibited overlap saves 590 ns, and each indirect address, of two memory cycles, twice as much.
    let saves = [("stpbp", -590.0), ("eapbp", -590.0), ("eapbp*", -3.0 * 590.0)];
    let supposed =
        saves.map(|(name, by)| Supposed { text: name.into(), rows: places(&before, name), change: Assumption::By(by) });
    let after = suppose(&before, &supposed).expect("possible");
    let saved = -difference(&after, &before).figure().value;
    assert!(close(saved, 65.0 * 590.0), "the memo's 38 us: {saved}");
    assert_eq!(difference(&after, &before).figure().half(), 0.0);
    let faster = 110e3 / (110e3 - saved);
    assert_eq!(format!("{faster:.1}"), "1.5");
}

#[test]
fn what_is_lacking_is_reported() {
    let [old, mut new] = multics();
    let wanted = mix(&[("ada", 1.0), ("sta", 2.0), ("lda", 0.0)]);
    let prediction = priced(&wanted, &old, 0);
    assert_eq!(prediction.lacking, [(wanted.lines[1].clone(), Lack::Missing(None))]);
    assert_eq!(factors(&prediction, &prediction), Err(NoFactors::Lacking(0, "sta".into())));
    // Two points, and the line names neither.
    let mut twice = new.costs[0].clone();
    twice.at = Point::default().with("size", Value::Number(1));
    new.costs.push(twice);
    assert!(matches!(&priced(&wanted, &new, 0).lacking[0].1, Lack::Several(names) if names.len() == 2));
    new.costs.pop();
    let (reason, remedy) = ("no store".into(), "buy one".into());
    new.skipped.push(Skip { operation: "sta".into(), at: Point::default(), reason, remedy });
    let lack = priced(&wanted, &new, 0).lacking[0].1.clone();
    assert_eq!(lack, Lack::Missing(Some("no store (buy one)".into())));
    new.costs[0].net_ns.typical = Nanoseconds(1e300);
    assert_eq!(priced(&wanted, &new, 0).lacking[0].1, Lack::Absurd);
}

#[test]
fn the_whole_is_one_cost_or_none() {
    let [old, mut new] = multics();
    let mut wanted = mix(&[("ada", 1.0)]);
    let whole = |wanted: &Mix, run: &Run| whole_cost(wanted, run).map(|cost| cost.map(Cost::typed));
    assert_eq!(whole(&wanted, &old), Ok(None));
    let id = new.costs[0].operation.clone();
    wanted.whole = Some(id.clone());
    assert_eq!(whole(&wanted, &new), Ok(Some(id.clone())));
    new.costs[0].at = Point::default().with("size", Value::Number(4096));
    assert_eq!(whole(&wanted, &new), Ok(Some(format!("{id}@size=4KiB"))));
    let mut twice = new.costs[0].clone();
    twice.at = Point::default().with("size", Value::Number(1));
    new.costs.push(twice);
    assert_eq!(whole(&wanted, &new).map_err(|several| several.len()), Err(2));
    for written in ["4KiB", "4096"] {
        wanted.whole = Some(format!("{id}@size={written}"));
        assert_eq!(whole(&wanted, &new), Ok(Some(format!("{id}@size=4KiB"))));
    }
}

#[test]
fn a_point_chooses_and_axes_left_out_are_free() {
    let [_, mut run] = multics();
    run.origin = Origin::Measured;
    let sized =
        |size: u64, word: &str| Point::default().with("size", Value::Number(size)).with("to", Value::Word(word.into()));
    for (cost, at) in run.costs.iter_mut().zip([sized(1, "a"), sized(4096, "a"), sized(4096, "b"), sized(8192, "b")]) {
        (cost.operation, cost.at) = ("pipe.x".into(), at);
    }
    let found = |name: &str| priced(&mix(&[(name, 1.0)]), &run, 0).rows[0].by.clone().map(|by| by.source.1);
    assert_eq!(found("pipe.x@size=4KiB,to=b").as_deref(), Some("pipe.x@size=4096,to=b"));
    assert_eq!(found("pipe.x@size=8192").as_deref(), Some("pipe.x@size=8192,to=b"));
    assert_eq!(found("pipe.x@size=4096"), None);
    assert_eq!(found("pipe.x@size=1,with=c"), None, "it has no such axis");
}

#[test]
fn published_costs_answer_to_the_registrys_names_and_measured_ones_do_not() {
    let [_, mut run] = multics();
    let wanted = mix(&[("instruction.add@unit=1", 2.0)]);
    let names = |id: &str| -> &'static [&'static str] { if id == "instruction.add" { &["ada"] } else { &[] } };
    assert!(close(total(&predict(&wanted, &run, 0, &names)), 2.0 * 832.0));
    run.origin = Origin::Measured;
    assert_eq!(predict(&wanted, &run, 0, &names).lacking.len(), 1, "another operation is no substitute");
}

#[test]
fn processor_time_and_waiting_add_up_to_the_total() {
    let [_, mut run] = multics();
    let wanted = mix(&[("ada", 10.0), ("eapbp", 1.0)]);
    assert_eq!(priced(&wanted, &run, 0).split(), None, "a book does not tell");
    for (cost, (cpu, wait)) in run.costs.iter_mut().zip([(800.0, 0.0), (600.0, 200.0)]) {
        cost.cpu_ns = Cpu { user: Nanoseconds(cpu / 4.0), system: Nanoseconds(cpu * 0.75) };
        cost.wait_ns = Nanoseconds(wait);
    }
    // An operation that keeps the CPU waited because of others.
    run.costs[0].wait_ns = Nanoseconds(50.0);
    run.costs[0].headline = Estimate::Quiet;
    run.costs[1].headline = Estimate::Quiet;
    run.costs[1].switches.voluntary = 1.0;
    let split = priced(&wanted, &run, 0).split().expect("known");
    assert!(close(split.cpu, 8320.0 + 1505.0 * 0.75) && close(split.wait, 1505.0 * 0.25), "{split:?}");
    // One that mostly sleeps works as long as it was charged for, whatever its usual time is.
    run.costs[1].wait_ns = Nanoseconds(60_000.0);
    let terms = |operation: &str| vec![Term { times: 1.0, operation: operation.into(), at: Point::default() }];
    run.costs[1].terms = terms("loop.empty");
    let split = priced(&wanted, &run, 0).split().expect("known");
    assert!(close(split.cpu, 8320.0 + 600.0) && close(split.wait, 1505.0 - 600.0), "{split:?}");
    run.costs[1].terms = terms("ada");
    let split = priced(&wanted, &run, 0).split().expect("known");
    assert!(split.cpu < 8320.0 + 16.0, "a part of what was charged: {split:?}");
}

#[test]
fn zero_and_negative_costs_never_make_nonsense() {
    let [mut old, new] = multics();
    let set = |run: &mut Run, place: usize, value: f64| {
        let net = &mut run.costs[place].net_ns;
        (net.typical, net.low, net.high) = (Nanoseconds(value), Nanoseconds(value - 5.0), Nanoseconds(value + 5.0));
    };
    for price in [0.0, -3.0] {
        set(&mut old, 0, price);
        let sides = [priced(&sequence(), &old, 0), priced(&sequence(), &new, 1)];
        let split = factors(&sides[0], &sides[1]).expect("the total is positive");
        let product: f64 = split.families.iter().map(|family| family.factor.value).product();
        assert!(close(product, total(&sides[1]) / total(&sides[0])));
        for factor in &split.families {
            assert!(factor.factor.low.is_finite() && factor.factor.high.is_finite(), "{factor:?}");
        }
        let fewer = mix(&[("ada", 3.0), ("eapbp", 1.0)]);
        let other = factors(&priced(&fewer, &old, 0), &priced(&sequence(), &new, 1));
        assert_eq!(other, Err(NoFactors::NoPrice("ada".into())), "a count differs");
    }
    let only = mix(&[("ada", 3.0)]);
    let nothing = factors(&priced(&only, &old, 0), &priced(&only, &new, 1));
    assert_eq!(nothing, Err(NoFactors::NoTotal(0)));
    assert_eq!(priced(&only, &old, 0).share(&priced(&only, &old, 0).total()), None);
}

#[test]
fn families_of_the_second_mix_alone_keep_their_factors() {
    let [old, new] = multics();
    let mut wanted = mix(&[("eapbp", 1.0), ("ada", 1.0), ("ada", 2.0)]);
    for (line, family) in wanted.lines.iter_mut().zip(["loads", "sums", "clocks"]) {
        line.family = family.into();
    }
    let sides = [priced(&mix(&[("eapbp", 1.0)]), &old, 0), priced(&wanted, &new, 1)];
    let split = factors(&sides[0], &sides[1]).expect("factors");
    let named = |family: &str| split.families.iter().any(|factor| factor.family == family && factor.factor.value > 1.0);
    assert!(named("sums") && named("clocks"), "{split:?}");
}

#[test]
fn a_supposition_that_cannot_be_is_refused() {
    let [old, new] = multics();
    let before = priced(&sequence(), &new, 0);
    let suppose_all = |change: Assumption| {
        let rows = (0..before.rows.len()).collect();
        suppose(&before, &[Supposed { text: String::new(), rows, change }])
    };
    assert_eq!(suppose_all(Assumption::By(-2000.0)), Err(Impossible::BelowNothing("eapbp".into())));
    let other = priced(&sequence(), &old, 1);
    let moved = suppose_all(Assumption::As(Box::new(other.clone()))).expect("both have everything");
    assert!(close(total(&moved), total(&other)));
    let short = Run { costs: new.costs[1..].to_vec(), ..new.clone() };
    let other = Assumption::As(Box::new(priced(&sequence(), &short, 1)));
    assert_eq!(suppose_all(other), Err(Impossible::Lacking("ada".into())));
    // A missing cost may be supposed.
    let lacking = priced(&sequence(), &short, 0);
    let supposed = |change| Supposed { text: String::new(), rows: places(&lacking, "ada"), change };
    for change in [Assumption::By(20.0), Assumption::Times(0.5)] {
        assert_eq!(suppose(&lacking, &[supposed(change)]), Err(Impossible::Unpriced("ada".into())));
    }
    let both = suppose(&lacking, &[supposed(Assumption::Time(832.0)), supposed(Assumption::Times(0.5))]);
    assert!(both.is_ok_and(|both| known_change(&both, &lacking).is_none()));
    let free = suppose(&lacking, &[supposed(Assumption::Time(0.0))]).expect("possible");
    assert!(known_change(&free, &lacking).is_none(), "what was not known is not nothing");
    assert!(changed_lines(&lacking, &free).all(|(line, _)| line.line.name() == "ada"));
    assert_eq!(changed_lines(&lacking, &free).count(), places(&lacking, "ada").len());
    let whole = suppose(&lacking, &[supposed(Assumption::Time(832.0))]).expect("possible");
    assert!(whole.lacking.is_empty() && close(total(&whole), 96_294.0));
}

const IDS: [&str; 4] = ["ada", "eapbp", "eapbp*", "stpbp"];

fn prices() -> impl Strategy<Value = [f64; 4]> {
    prop::array::uniform4(1.0..1e6_f64)
}

fn times() -> impl Strategy<Value = [f64; 4]> {
    prop::array::uniform4(prop_oneof![1 => Just(0.0), 6 => 1e-3..1e4_f64])
        .prop_filter("not all of nothing", |times| times.iter().any(|&times| times > 0.0))
}

fn mix_of(times: [f64; 4]) -> Mix {
    mix(&IDS.into_iter().zip(times).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn a_prediction_is_linear_in_times_and_in_prices(figures in prices(), one in times(), other in times(), by in 0.01..100.0_f64) {
        let run = machine("x", figures);
        let [a, b] = [one, other].map(|times| total(&priced(&mix_of(times), &run, 0)));
        let both: [f64; 4] = std::array::from_fn(|place| one[place] + other[place]);
        prop_assert!(close(total(&priced(&mix_of(both), &run, 0)), a + b));
        prop_assert!(close(total(&priced(&mix_of(one.map(|times| times * by)), &run, 0)), a * by));
        let mut scaled = run.clone();
        scaled.costs.iter_mut().for_each(|cost| cost.net_ns = cost.net_ns.times(by));
        let sides = [priced(&mix_of(one), &run, 0), priced(&mix_of(one), &scaled, 1)];
        prop_assert!(close(total(&sides[1]), a * by));
        let split = factors(&sides[0], &sides[1]).expect("positive");
        let product: f64 = split.families.iter().map(|family| family.factor.value).product();
        prop_assert!((product / by - 1.0).abs() < 1e-9);
        // If everything is faster by the same factor, the factors are the shares in the exponent.
        for family in sides[0].families() {
            let share = sides[0].share(&family.total).expect("positive");
            let found = split.families.iter().find(|factor| factor.family == family.family).expect("it is there");
            prop_assert!((found.factor.value / by.powf(share) - 1.0).abs() < 1e-6, "{:?}", found);
        }
    }

    #[test]
    fn factors_multiply_to_the_ratio(old in prices(), new in prices(), before in times(), after in times()) {
        let runs = [machine("old", old), machine("new", new)];
        for (first, second) in [(before, before), (before, after)] {
            let sides = [priced(&mix_of(first), &runs[0], 0), priced(&mix_of(second), &runs[1], 1)];
            let split = factors(&sides[0], &sides[1]).expect("positive");
            let ratio = total(&sides[1]) / total(&sides[0]);
            let product: f64 = split.families.iter().map(|family| family.factor.value).product();
            prop_assert!((product / ratio - 1.0).abs() < 1e-9 && (split.predicted.value / ratio - 1.0).abs() < 1e-9);
            for family in &split.families {
                let Interval { value, low, high } = family.factor;
                prop_assert!(low.is_finite() && high.is_finite() && low <= value && value <= high);
                if let (Some(counts), Some(prices)) = (family.counts, family.prices) {
                    prop_assert!((counts.value * prices.value / value - 1.0).abs() < 1e-9);
                }
            }
            // In the other direction every factor is inverted.
            let back = factors(&sides[1], &sides[0]).expect("positive");
            for family in &split.families {
                let turned = back.families.iter().find(|other| other.family == family.family).expect("it is there");
                prop_assert!((family.factor.value * turned.factor.value - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_if_nothing_changes_nothing_changes(figures in prices(), times in times(), by in 0.0..3.0_f64) {
        let run = machine("x", figures);
        let before = priced(&mix_of(times), &run, 0);
        let all: Vec<usize> = (0..4).collect();
        let change = |change: Assumption| {
            let supposed = [Supposed { text: String::new(), rows: all.clone(), change }];
            suppose(&before, &supposed).expect("possible")
        };
        for same in [Assumption::Times(1.0), Assumption::By(0.0), Assumption::As(Box::new(before.clone()))] {
            let after = change(same);
            let moved = difference(&after, &before).figure();
            prop_assert_eq!((moved.value, moved.low, moved.high), (0.0, 0.0, 0.0));
            prop_assert!(close(total(&after), total(&before)));
        }
        prop_assert!(close(total(&change(Assumption::Times(by))), by * total(&before)));
    }
}
