//! The simulation against the exact solution.

use super::figures;
use crate::model::{
    CurvePoint, FaultCurve, ModelError, PageSource, SimulationSettings, Spread, System, bounds, predict_exactly,
    simulate,
};

/// Systems with each part: fixed faults, faults over memory, by depth, zram, several CPUs, other waits, no limit, no thinking.
fn systems() -> Vec<System> {
    let base = System {
        users: 20,
        think_s: 8.0.into(),
        eligible: Some(3),
        user_s: 0.2.into(),
        system_s: 0.1.into(),
        memory_bytes: Some(1 << 26),
        faults: FaultCurve::PerInteraction(15.0.into()),
        handling_s: 0.002.into(),
        page_device: PageSource { service_s: 0.020.into(), ..PageSource::default() },
        ..System::default()
    };
    let one = PageSource { channels: Some(1), ..base.page_device.clone() };
    vec![
        base.clone(),
        System { page_device: one.clone(), ..base.clone() },
        System { cpus: 2, eligible: Some(5), other_wait_s: 0.2.into(), page_device: one, ..base.clone() },
        System { faults: FaultCurve::Saltzer { s_per_byte: (0.06 / f64::from(1 << 26)).into() }, ..base.clone() },
        System { faults: FaultCurve::ByDepth(vec![0.022.into(), 0.021.into(), 0.016.into()]), ..base.clone() },
        System { page_device: PageSource { cpu_s: 0.005.into(), ..PageSource::default() }, ..base.clone() },
        System { eligible: None, cpus: 3, users: 30, ..base.clone() },
        System { think_s: 0.0.into(), users: 6, ..base },
    ]
}

#[test]
fn intervals_hold_the_exact_figures() {
    let (mut held, mut all) = (0, 0);
    for (place, system) in systems().into_iter().enumerate() {
        let exact = figures(&predict_exactly(&system).expect("a system"));
        for seed in 1..=3 {
            let settings = SimulationSettings { events: 250_000, seed };
            let found = simulate(&system, &settings).expect("a simulation").prediction;
            let (low, high, value) = (figures(&found.low), figures(&found.high), figures(&found.value));
            for index in 0..exact.len() {
                let width = (high[index] - low[index]).max(1e-9);
                let (value, exact) = (value[index], exact[index]);
                let what = format!("system {place}, seed {seed}, figure {index}");
                assert!((value - exact).abs() < 2.5 * width, "{what}: {value} is not {exact}");
                all += 1;
                held += u32::from(low[index] - 1e-9 <= exact && exact <= high[index] + 1e-9);
            }
        }
    }
    // Of 95 % intervals; figures of one system stand and fall together.
    assert!(f64::from(held) > 0.9 * f64::from(all), "{held} of {all} intervals hold the exact figure");
}

#[test]
fn figures_of_page_faults_that_few_parts_of_the_simulation_hold_are_those_of_all_together() {
    // Only four users at once fault: with their pages 500 times a second, about every 20th part of the time.
    let point = |share_bytes, per_s: f64| CurvePoint { share_bytes, per_s: per_s.into() };
    let system = System {
        users: 4,
        think_s: 1.0.into(),
        user_s: 0.1.into(),
        memory_bytes: Some(64 << 20),
        faults: FaultCurve::Points(vec![point(16 << 20, 500.0), point(32 << 20, 0.0)]),
        page_device: PageSource { service_s: 0.001.into(), channels: Some(1), ..PageSource::default() },
        ..System::default()
    };
    let exact = predict_exactly(&system).expect("a system").between_faults_s;
    for seed in 1..=4 {
        let found = simulate(&system, &SimulationSettings { events: 100_000, seed }).expect("a simulation").prediction;
        let [value, low, high] = [&found.value, &found.low, &found.high].map(|state| state.between_faults_s);
        assert!(low < exact && exact < high, "seed {seed}: {exact} s is not within {low} to {high}");
        assert!((value / exact).ln().abs() < 0.25, "seed {seed}: {value} instead of {exact} s");
    }
}

#[test]
fn a_system_that_still_fills_up_is_not_counted() {
    let crowd = System { users: 1000, think_s: 1.0.into(), user_s: 0.01.into(), ..System::default() };
    let played = |events| simulate(&crowd, &SimulationSettings { events, seed: 1 });
    assert!(matches!(played(5_000), Err(ModelError::Undetermined { .. })));
    let response = played(200_000).expect("a simulation").prediction;
    assert!(response.low.response_s <= 9.0 && 9.0 <= response.high.response_s, "{response:?}");
}

#[test]
fn no_system_does_better_than_its_bounds() {
    let growing = [0.010, 0.050, 0.200, 0.5, 1.0].map(Into::into).to_vec();
    let depths = System { faults: FaultCurve::ByDepth(growing), users: 6, think_s: 0.0.into(), ..systems()[1].clone() };
    for system in systems().into_iter().chain([System { eligible: Some(5), ..depths }]) {
        let (bounds, exact) = (bounds(&system).expect("bounds"), predict_exactly(&system).expect("a system"));
        assert!(exact.throughput <= bounds.throughput * (1.0 + 1e-9), "{system:?}: {bounds:?} {exact:?}");
    }
}

#[test]
fn equal_seeds_give_equal_figures_and_others_do_not() {
    let system = &systems()[1];
    let run = |seed| simulate(system, &SimulationSettings { events: 50_000, seed }).expect("a simulation");
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).prediction.value, run(4).prediction.value);
}

#[test]
fn constant_work_has_shorter_tails_and_kinds_have_longer_ones() {
    let base = &systems()[0];
    let tail = |system: System| {
        let found = simulate(&system, &SimulationSettings { events: 400_000, seed: 5 }).expect("a simulation");
        let percentiles = found.percentiles;
        assert!(percentiles.p50.value < percentiles.p90.value && percentiles.p90.value < percentiles.p95.value);
        assert!(percentiles.p95.value < percentiles.p99.value);
        percentiles.p95.value / found.prediction.value.response_s
    };
    let exponential = tail(base.clone());
    let constant = tail(System { work_spread: Spread::Constant, think_spread: Spread::Constant, ..base.clone() });
    let kind = |weight, size| crate::model::Kind { name: "kind".into(), weight, size };
    let kinds = tail(System { kinds: vec![kind(9.0, 1.0), kind(1.0, 20.0)], ..base.clone() });
    assert!(constant < exponential * 0.9, "{constant} {exponential}");
    assert!(kinds > exponential * 1.1, "{kinds} {exponential}");
}

#[test]
fn a_simulation_too_short_for_an_interval_says_so() {
    let few = simulate(&systems()[0], &SimulationSettings { events: 1000, seed: 1 });
    assert!(few.is_err_and(|error| error.to_string().contains("simulate more events")));
}
