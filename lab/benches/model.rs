//! How long the model takes: `cargo bench --manifest-path lab/Cargo.toml --bench model`. Prints; a slow machine is no failure.

use std::hint::black_box;
use std::time::Instant;

use analysis::model::{
    FaultCurve, PageSource, SimulationSettings, System, predict, predict_by_hierarchy, predict_exactly, simulate,
};

fn system(eligible: u32, other_wait_s: f64) -> System {
    System {
        users: 100,
        think_s: 10.0.into(),
        eligible: Some(eligible),
        cpus: 2,
        memory_bytes: Some(512 << 20),
        user_s: 0.15.into(),
        system_s: 0.05.into(),
        other_wait_s: other_wait_s.into(),
        faults: FaultCurve::Saltzer { s_per_byte: (0.020 / f64::from(128 << 20)).into() },
        handling_s: 0.0005.into(),
        page_device: PageSource { service_s: 0.005.into(), channels: Some(1), ..PageSource::default() },
        ..System::default()
    }
}

/// The least milliseconds of some tries.
fn least_ms<T>(mut work: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let begin = Instant::now();
        black_box(work());
        begin.elapsed().as_secs_f64() * 1e3
    };
    (0..20).map(once).fold(f64::INFINITY, f64::min)
}

/// By how much the flow-equivalent server misses the mean response of the chain, over many systems: the median and the largest share.
fn hierarchy_misses() -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(7);
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.f64());
    let mut missed: Vec<f64> = Vec::new();
    for _ in 0..500 {
        let other_wait_s = between(0.001, 1.0);
        let base = system(between(1.0, 9.0) as u32, other_wait_s);
        let system = System {
            users: between(1.0, 60.0) as u32,
            think_s: between(0.1, 30.0).into(),
            user_s: between(0.01, 2.0).into(),
            memory_bytes: Some(between(1e7, 1e9) as u64),
            ..base
        };
        let both = predict_exactly(&system).and_then(|exact| Ok((exact, predict_by_hierarchy(&system)?)));
        missed.extend(both.ok().map(|(exact, near)| (near.response_s / exact.response_s - 1.0).abs()));
    }
    missed.sort_by(f64::total_cmp);
    (missed.get(missed.len() / 2).copied().unwrap_or(f64::NAN), missed.last().copied().unwrap_or(f64::NAN))
}

fn main() {
    println!("100 users, 2 CPUs, one page device           chosen, ms    chain, ms    hierarchy, ms");
    for (eligible, other_wait_s) in [(3, 0.0), (10, 0.0), (30, 0.0), (100, 0.0), (3, 0.1), (10, 0.1)] {
        let system = system(eligible, other_wait_s);
        let exactly = if eligible < 100 { least_ms(|| predict_exactly(&system)) } else { f64::NAN };
        println!(
            "{eligible:4} eligible, {other_wait_s:3} s of other waiting      {:12.3} {exactly:12.3} {:12.3}",
            least_ms(|| predict(&system)),
            least_ms(|| predict_by_hierarchy(&system)),
        );
    }
    for eligible in [3, 10, 100] {
        let settings = SimulationSettings::default();
        let begin = Instant::now();
        let simulated = simulate(&system(eligible, 0.0), &settings);
        let seconds = begin.elapsed().as_secs_f64();
        let events = simulated.map_or(0, |simulated| simulated.events);
        println!("{eligible:4} eligible: {:.2} million events a second", events as f64 / seconds / 1e6);
    }
    let (median, largest) = hierarchy_misses();
    println!(
        "by server, 500 systems: mean response off by {:.2} % in the median, {:.1} % at most",
        median * 100.0,
        largest * 100.0
    );
}
