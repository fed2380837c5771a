//! Questions to the model.

use crate::model::questions::{Resource, SystemChange, bottleneck, users_within, users_within_p95, worth};
use crate::model::{FaultCurve, Figure, PageSource, SimulationSettings, System, predict, simulate};

fn system() -> System {
    System {
        users: 20,
        think_s: 10.0.into(),
        eligible: Some(4),
        memory_bytes: Some(256 << 20),
        user_s: 0.3.into(),
        system_s: 0.1.into(),
        faults: FaultCurve::Saltzer { s_per_byte: (0.020 / f64::from(64 << 20)).into() },
        handling_s: 0.001.into(),
        page_device: PageSource { service_s: 0.010.into(), channels: Some(1), ..PageSource::default() },
        ..System::default()
    }
}

#[test]
fn the_users_within_a_bound_are_the_last_within_it() {
    let base = system();
    let response = |users| predict(&System { users, ..base.clone() }).expect("a system").response_s;
    for bound in [0.6, 2.0, 20.0] {
        let found = users_within(&base, bound).expect("users");
        let users = found.users.value as u32;
        assert!(response(users) <= bound && response(users + 1) > bound, "{bound}: {found:?}");
        assert_eq!((found.users.low, found.users.high), (found.users.value, found.users.value));
    }
    assert_eq!(users_within(&base, 0.01).expect("none").users.value, 0.0);
    let uncertain = System { user_s: Figure { value: 0.3, interval: Some((0.25, 0.36)) }, ..base };
    let found = users_within(&uncertain, 2.0).expect("users").users;
    assert!(found.low < found.value && found.value < found.high, "{found:?}");
}

#[test]
fn the_interval_about_no_user_at_all_holds_those_that_may_be() {
    let alone = System { users: 1, user_s: Figure { value: 1.02, interval: Some((0.5, 1.5)) }, ..System::default() };
    let alone = System { think_s: 1.0.into(), ..alone };
    let found = users_within(&alone, 1.0).expect("users").users;
    assert!(found.value == 0.0 && found.low == 0.0 && found.high >= 1.0, "{found:?}");
}

#[test]
fn draws_that_are_no_system_are_left_out() {
    let uncertain = System {
        system_s: 0.0.into(),
        faults: FaultCurve::None,
        user_s: Figure { value: 0.1, interval: Some((0.0, 0.2)) },
        ..system()
    };
    let users = users_within(&uncertain, 2.0).expect("users").users;
    assert!(users.low < users.value && users.value < users.high, "{users:?}");
    let worth = worth(&uncertain, SystemChange::Cpu, None).expect("a prediction").expect("a CPU");
    assert!(worth.response.low < worth.response.high, "{:?}", worth.response);
}

#[test]
fn a_percentile_is_passed_by_fewer_users_than_the_mean() {
    let base = system();
    let settings = SimulationSettings { events: 150_000, seed: 2 };
    let found = users_within_p95(&base, 4.0, &settings).expect("users").users;
    let mean = users_within(&base, 4.0).expect("users").users;
    assert!(found.value < mean.value && found.low <= found.value && found.value <= found.high, "{found:?} {mean:?}");
    let p95 = |users| simulate(&System { users, ..base.clone() }, &settings).expect("simulated").percentiles.p95.value;
    assert!(p95(found.value as u32) <= 4.0 && p95(found.value as u32 + 1) > 4.0);
}

#[test]
fn a_bound_that_no_number_of_users_exceeds_is_an_answer() {
    let base = System { faults: FaultCurve::None, ..system() };
    let found = users_within_p95(&base, 1e6, &SimulationSettings { events: 2_000, seed: 2 }).expect("users");
    assert!(found.at_least && found.users.value == 5000.0, "{found:?}");
    // Each user adds 50 faults to every interaction: sixteen would take too long to simulate.
    let growing = FaultCurve::Saltzer { s_per_byte: (0.002 / f64::from(64 << 20)).into() };
    let base = System { faults: growing, eligible: None, ..base };
    let found = users_within_p95(&base, 1e6, &SimulationSettings { events: 2_000, seed: 2 }).expect("users");
    assert!(found.at_least && (1.0..16.0).contains(&found.users.value), "{found:?}");
}

#[test]
fn half_the_handling_leaves_the_execution_between_faults() {
    let by_depth = FaultCurve::ByDepth([0.022, 0.021, 0.016].map(Into::into).to_vec());
    let base = System {
        users: 3,
        eligible: Some(3),
        user_s: 0.5.into(),
        handling_s: 0.008.into(),
        faults: by_depth,
        ..system()
    };
    let changed = SystemChange::Handling.of(&base).expect("a system");
    let FaultCurve::ByDepth(times) = &changed.faults else { panic!("{changed:?}") };
    let expected = [0.018, 0.017, 0.012];
    assert!(times.iter().zip(expected).all(|(time, expected)| (time.value - expected).abs() < 1e-12), "{times:?}");
    let faults = |system| predict(system).expect("a system").faults;
    assert!((faults(&changed) / faults(&base) - 1.0).abs() < 0.05, "faults for an interaction hardly change");
}

#[test]
fn a_change_that_leads_to_no_system_is_left_out() {
    // With four eligible, the time between faults would be less than their handling.
    let faults = FaultCurve::ByDepth([0.022, 0.021, 0.015].map(Into::into).to_vec());
    let base = System {
        users: 20,
        eligible: Some(3),
        handling_s: Figure::from(0.008),
        handling_crowding: 0.3.into(),
        faults,
        ..system()
    };
    assert_eq!(worth(&base, SystemChange::Eligible, None).expect("an answer"), None);
    let found = bottleneck(&base).expect("an answer");
    assert!(found.gains.len() >= 3, "{found:?}");
}

#[test]
fn a_curve_without_end_is_refused() {
    let faults = FaultCurve::Power { at_bytes: 1 << 30, every_s: 1.0.into(), exponent: 300.0.into() };
    let error = predict(&System { faults, memory_bytes: Some(64 << 20), ..system() }).expect_err("refused");
    assert!(error.to_string().starts_with("faults: "), "{error}");
}

#[test]
fn what_is_short_is_worth_most() {
    let ratio =
        |system: &System, change| worth(system, change, None).expect("a prediction").map(|gain| gain.response.value);
    let paging = System { memory_bytes: Some(64 << 20), ..system() };
    let memory = ratio(&paging, SystemChange::Memory(64 << 20)).expect("memory");
    let cpu = ratio(&paging, SystemChange::Cpu).expect("a CPU");
    assert!(memory < 0.8 && cpu > memory, "memory {memory}, CPU {cpu}");
    assert_eq!(bottleneck(&paging).expect("a bottleneck").resource, Some(Resource::Memory));
    let computing = System { faults: FaultCurve::None, users: 60, ..system() };
    assert!(ratio(&computing, SystemChange::Cpu).expect("a CPU") < 0.6);
    assert_eq!(ratio(&computing, SystemChange::Memory(64 << 20)), None, "no faults, nothing to gain");
    assert_eq!(bottleneck(&computing).expect("a bottleneck").resource, Some(Resource::Cpu));
    let after = worth(&paging, SystemChange::PageDevice, Some(3.0)).expect("a prediction").expect("a device");
    assert!(after.response.value < 1.0 && after.users.expect("users").users.value >= 1.0);
}
