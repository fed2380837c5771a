//! The exact solutions against published examples and against each other.

use super::closed::{Serves, Station, convolution};
use super::figures;
use crate::model::solve::solved_exactly;
use crate::model::{
    FaultCurve, PageSource, SteadyState, System, bounds, predict, predict_by_hierarchy, predict_exactly,
};

fn four_digits(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} is not {expected}");
}

#[test]
fn convolution_gives_the_published_figures() {
    let exact = convolution(20, 15.0, &[5.0, 4.0, 3.0].map(|demand_s| Station { demand_s, serves: Serves::One }));
    four_digits(exact.throughput, 0.198401);
    four_digits(exact.response_s, 85.8059);
}

/// A system with every part.
fn system() -> System {
    System {
        users: 12,
        think_s: 5.0.into(),
        cpus: 2,
        memory_bytes: Some(1 << 26),
        user_s: 0.4.into(),
        system_s: 0.1.into(),
        other_wait_s: 0.3.into(),
        faults: FaultCurve::PerInteraction(20.0.into()),
        handling_s: 0.002.into(),
        page_device: PageSource { service_s: 0.012.into(), channels: Some(2), ..PageSource::default() },
        ..System::default()
    }
}

fn alike(one: &SteadyState, other: &SteadyState) {
    for (a, b) in figures(one).into_iter().zip(figures(other)) {
        assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{one:?}\n{other:?}");
    }
}

#[test]
fn without_a_limit_chain_hierarchy_and_convolution_agree() {
    let system = system();
    let chain = predict_exactly(&system).expect("a system");
    alike(&chain, &predict_by_hierarchy(&system).expect("a system"));
    let cpu = Station { demand_s: 0.5 + 20.0 * 0.002, serves: Serves::Several(2) };
    let pages = Station { demand_s: 20.0 * 0.012, serves: Serves::Several(2) };
    let other = Station { demand_s: 0.3, serves: Serves::All };
    let network = convolution(12, 5.0, &[cpu, pages, other]);
    assert!((chain.throughput / network.throughput - 1.0).abs() < 1e-9);
    assert!((chain.response_s / network.response_s - 1.0).abs() < 1e-9);
    assert!((chain.pages_waited_for - network.lengths[1]).abs() < 1e-9);
    assert!((chain.faults - 20.0).abs() < 1e-9);
}

#[test]
fn the_laws_hold_in_every_system() {
    let mut numbers = fastrand::Rng::with_seed(7);
    let mut between = |low: f64, high: f64| low * (high / low).powf(numbers.f64());
    for _ in 0..60 {
        let base = System {
            users: between(1.0, 30.0) as u32,
            think_s: between(0.1, 30.0).into(),
            cpus: between(1.0, 4.0) as u32,
            user_s: between(0.01, 2.0).into(),
            system_s: between(0.01, 0.5).into(),
            other_wait_s: between(0.001, 1.0).into(),
            handling_s: between(1e-5, 0.01).into(),
            memory_bytes: Some(1 << 26),
            faults: FaultCurve::Saltzer { s_per_byte: (between(0.001, 0.1) / f64::from(1 << 26)).into() },
            ..System::default()
        };
        let (service_s, channels) = (between(1e-4, 0.05).into(), Some(between(1.0, 5.0) as u32));
        let page_device = PageSource { service_s, channels, ..PageSource::default() };
        let system = System { eligible: Some(between(1.0, 8.0) as u32), page_device, ..base };
        let found = predict(&system).expect("a system");
        let busy = found.cpu.user + found.cpu.system + found.cpu.faults;
        assert!((busy + found.cpu.idle() - 1.0).abs() < 1e-9, "{system:?} {found:?}");
        let users = f64::from(system.users);
        let response = users / found.throughput - system.think_s.value;
        let least = 1e-6 * (response + system.think_s.value);
        assert!((found.response_s - response).abs() < least, "response: {system:?} {found:?}");
        let work = found.throughput * (system.user_s.value + system.system_s.value) / f64::from(system.cpus);
        assert!((found.cpu.user + found.cpu.system - work).abs() < 1e-9, "utilization law");
        let handling = found.throughput * found.faults * system.handling_s.value / f64::from(system.cpus);
        assert!((found.cpu.faults - handling).abs() < 1e-9, "handling");
        let pages = found.throughput * found.faults * system.page_device.service_s.value;
        let channels = f64::from(system.page_device.channels.expect("channels"));
        assert!((found.page_device - pages / channels).abs() < 1e-9, "page device");
        let bound = bounds(&system).expect("bounds");
        assert!(found.throughput <= bound.throughput * (1.0 + 1e-9), "{bound:?} {found:?}");
        assert!(found.response_s >= bound.response_s * (1.0 - 1e-9), "{bound:?} {found:?}");
        let near = predict_by_hierarchy(&system).expect("a system");
        assert!((near.throughput / found.throughput - 1.0).abs() < 0.1, "{system:?} {found:?} {near:?}");
    }
}

#[test]
fn a_page_on_zram_costs_cpu_and_no_idle() {
    let on = |device: PageSource| {
        let faults = FaultCurve::PerInteraction(60.0.into());
        let system =
            System { other_wait_s: 0.0.into(), cpus: 1, eligible: Some(3), page_device: device, faults, ..system() };
        predict(&system).expect("a system")
    };
    let disk = on(PageSource { service_s: 0.010.into(), ..PageSource::default() });
    let zram = on(PageSource { cpu_s: 0.010.into(), ..PageSource::default() });
    assert!(disk.cpu.multiprogramming_idle > 0.01 && disk.page_wait_s > 0.0);
    assert_eq!((zram.cpu.multiprogramming_idle, zram.page_wait_s, zram.page_device), (0.0, 0.0, 0.0));
    assert!((disk.faults - zram.faults).abs() < 1e-9, "as many faults");
    assert!(zram.cpu.faults > 2.0 * disk.cpu.faults, "paid in CPU time");
}

#[test]
fn users_who_never_think_are_always_there() {
    for eligible in [None, Some(4)] {
        let system = System { think_s: 0.0.into(), eligible, ..system() };
        let exact = predict_exactly(&system).expect("a system");
        alike(&exact, &predict_by_hierarchy(&system).expect("a system"));
        assert_eq!(
            (exact.cpu.zero_idle, exact.cpu.non_multiprogramming_idle),
            (0.0, 0.0),
            "as many as may be are there"
        );
        let nearly = predict_exactly(&System { think_s: 1e-7.into(), ..system }).expect("a system");
        assert!((nearly.throughput / exact.throughput - 1.0).abs() < 1e-5);
    }
}

#[test]
fn what_is_wrong_is_reported_with_its_name() {
    let wrong = |change: fn(&mut System)| {
        let mut system = system();
        change(&mut system);
        predict(&system).expect_err("a wrong parameter").to_string()
    };
    assert_eq!(wrong(|system| system.users = 0), "users: at least 1");
    assert_eq!(wrong(|system| system.cpus = 0), "cpus: at least 1");
    assert_eq!(wrong(|system| system.eligible = Some(0)), "eligible: at least 1");
    assert!(wrong(|system| system.users = 1_000_000).contains("up to 10000"));
    assert!(wrong(|system| system.think_s = f64::NAN.into()).starts_with("think_s"));
    assert!(wrong(|system| (system.user_s, system.system_s) = (0.0.into(), 0.0.into())).starts_with("user_s"));
    assert!(wrong(|system| system.page_device.channels = Some(0)).starts_with("page_device.channels"));
    let without_memory = wrong(|system| {
        system.memory_bytes = None;
        system.faults = FaultCurve::Saltzer { s_per_byte: 1.0.into() };
    });
    assert!(without_memory.starts_with("memory_bytes"));
    // With both kinds of waiting a level has many places.
    let waiting = System { users: 60, eligible: Some(60), other_wait_s: 0.1.into(), ..system() };
    let refusal = predict_exactly(&waiting).expect_err("too many places").to_string();
    let most: Option<u32> =
        refusal.strip_suffix(" eligible of so many users").and_then(|rest| rest.rsplit(' ').next()?.parse().ok());
    let most = most.filter(|most| *most < 60).unwrap_or_else(|| panic!("{refusal}"));
    // To solve as many as that takes 15 s here.
    assert!(predict_exactly(&System { eligible: Some(most / 3), ..waiting.clone() }).is_ok(), "{refusal}");
    assert!(solved_exactly(&System { eligible: Some(most), ..waiting.clone() }).is_ok(), "{refusal}");
    assert!(solved_exactly(&System { eligible: Some(most + 1), ..waiting }).is_err(), "{refusal}");
}
