//! The fit on configurations that the model itself made: it must find their parameters again, and predict others.

use crate::model::{
    CurvePoint, FaultCurve, Figure, Fit, MeasuredConfiguration, MeasuredMeans, PageSource, SteadyState, System, fit,
    predict,
};

/// The system that is to be found.
fn hidden(configuration: &MeasuredConfiguration) -> System {
    let point = |mib: u64, per_s: f64| CurvePoint { share_bytes: mib << 20, per_s: per_s.into() };
    let device = match configuration.page_device.as_str() {
        "zram" => PageSource { name: "zram".into(), cpu_s: 12e-6.into(), ..PageSource::default() },
        name => PageSource { name: name.into(), service_s: 80e-6.into(), channels: Some(1), ..PageSource::default() },
    };
    System {
        users: configuration.users,
        think_s: configuration.think_s.into(),
        eligible: configuration.eligible,
        cpus: configuration.cpus,
        memory_bytes: configuration.memory_bytes,
        user_s: 0.150.into(),
        system_s: 0.050.into(),
        other_wait_s: 0.020.into(),
        faults: FaultCurve::Points(vec![point(8, 20_000.0), point(16, 5_000.0), point(32, 500.0), point(64, 10.0)]),
        handling_s: 8e-6.into(),
        page_device: device,
        ..System::default()
    }
}

/// What an experiment on it would measure.
fn measure(configuration: &MeasuredConfiguration) -> MeasuredMeans {
    let found = predict(&hidden(configuration)).expect("a system");
    let handling = hidden(configuration).handling_s.value + hidden(configuration).page_device.cpu_s.value;
    MeasuredMeans {
        configuration: configuration.clone(),
        interactions: 200,
        user_s: 0.150.into(),
        system_s: (0.050 + found.faults * handling).into(),
        faults: found.faults.into(),
        page_wait_s: (found.page_wait_s > 0.0).then(|| found.page_wait_s.into()),
        eligibility_wait_s: Some(found.eligibility_wait_s.into()),
        throughput: Some(found.throughput.into()),
        response_s: Some(found.response_s.into()),
        ..MeasuredMeans::default()
    }
}

fn configuration(users: u32, mib: u64, eligible: u32, device: &str) -> MeasuredConfiguration {
    MeasuredConfiguration {
        users,
        eligible: Some(eligible),
        cpus: 2,
        memory_bytes: Some(mib << 20),
        think_s: 1.0,
        pages_stay: false,
        page_device: device.into(),
    }
}

/// The true figures of a configuration, and those that a fit predicts.
fn compared(found: &Fit, configuration: &MeasuredConfiguration) -> [SteadyState; 2] {
    [hidden(configuration), found.system(configuration).expect("a system")]
        .map(|system| predict(&system).expect("a system"))
}

fn near(what: &str, found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() <= within, "{what}: {found} is not {expected}");
}

#[test]
fn one_user_alone_shows_the_demands_and_the_curve() {
    let sweep = [8, 12, 16, 24, 32, 48, 64].map(|mib| measure(&configuration(1, mib, 1, "swap file")));
    let found = fit(&sweep).expect("a fit");
    near("user", found.user_s.value, 0.150, 1e-6);
    near("system", found.system_s.value, 0.050, 1e-6);
    near("handling", found.handling_s.value, 8e-6, 1e-6);
    near("page", found.device("swap file").expect("a device").service_s.value, 80e-6, 1e-6);
    near("other", found.other_wait_s.value, 0.020, 1e-4);
    let other = configuration(20, 64, 3, "swap file");
    let [truth, predicted] = compared(&found, &other);
    // One channel cannot be seen with one user.
    near("faults", predicted.faults, truth.faults, 0.03);
    near("throughput", predicted.throughput, truth.throughput, 0.05);
    assert_eq!(found.formulas.len(), 2);
    assert!(found.formulas[1].misfit < found.formulas[0].misfit, "a power is nearer than a line: {:?}", found.formulas);
    assert!(found.system(&configuration(2, 64, 2, "zram")).is_err(), "a device that was not measured");
}

#[test]
fn half_of_the_configurations_predicts_the_other_half() {
    let fitted = [(4, 32, 2), (8, 64, 3), (16, 96, 4), (24, 48, 2), (1, 32, 1), (1, 64, 1)];
    let fitted = fitted.map(|(users, mib, eligible)| {
        ["swap file", "zram"].map(|device| measure(&configuration(users, mib, eligible, device)))
    });
    let found = fit(fitted.as_flattened()).expect("a fit");
    near("handling", found.handling_s.value, 8e-6, 0.02);
    near("zram", found.device("zram").expect("zram").cpu_s.value, 12e-6, 0.02);
    assert_eq!(found.device("zram").expect("zram").service_s.value, 0.0, "a page on zram is not waited for");
    assert_eq!(found.device("swap file").expect("a device").channels, Some(1));
    for device in ["swap file", "zram"] {
        for (users, mib, eligible) in [(6, 48, 2), (12, 64, 3), (20, 80, 4), (16, 40, 2)] {
            let other = configuration(users, mib, eligible, device);
            let [truth, predicted] = compared(&found, &other);
            let what = format!("{device} {users} users {mib} MiB");
            near(&format!("{what}: faults"), predicted.faults, truth.faults, 0.15);
            near(&format!("{what}: throughput"), predicted.throughput, truth.throughput, 0.10);
            near(&format!("{what}: response"), predicted.response_s, truth.response_s, 0.20);
            assert!((predicted.cpu.idle() - truth.cpu.idle()).abs() < 0.05, "{what}: idle");
        }
    }
}

#[test]
fn where_pages_stay_users_share_the_memory() {
    let stay = |users, mib| MeasuredConfiguration { pages_stay: true, ..configuration(users, mib, 2, "swap file") };
    let with = |configuration: &MeasuredConfiguration, reload: Option<f64>| System {
        pages_stay: true,
        reload_faults: reload.map(Figure::from),
        ..hidden(configuration)
    };
    // Four users in 64 MiB have 16 MiB each, though two are eligible at most: 5000 faults a second of execution.
    let faults =
        |configuration: &MeasuredConfiguration, reload| predict(&with(configuration, reload)).expect("a system").faults;
    near("all users", faults(&stay(4, 64), None), 5000.0 * 0.2, 1e-6);
    near("reloaded", faults(&stay(4, 64), Some(300.0)), 300.0, 1e-6);
    // Two eligible have 8 MiB each or one 16: more than pages that left.
    assert!(faults(&stay(16, 16), Some(300.0)) > 1000.0);
    let measured = [(1, 16), (1, 32), (2, 32), (4, 96)].map(|(users, mib)| {
        let configuration = stay(users, mib);
        MeasuredMeans {
            faults: faults(&configuration, None).into(),
            configuration: configuration.clone(),
            ..measure(&configuration)
        }
    });
    let found = fit(&measured).expect("a fit");
    let predicted = predict(&found.system(&stay(6, 128)).expect("a system")).expect("a system");
    near("other users", predicted.faults, faults(&stay(6, 128), None), 0.15);
}

#[test]
fn what_configurations_leave_open_is_said() {
    assert!(fit(&[]).is_err_and(|error| error.to_string().contains("measure")));
    let alone = measure(&configuration(1, 16, 1, "swap file"));
    let found = fit(std::slice::from_ref(&alone)).expect("a fit");
    assert!(found.notes.iter().any(|note| note.contains("taken as zero")), "{:?}", found.notes);
    let several = measure(&configuration(5, 64, 2, "swap file"));
    let found = fit(&[several]).expect("a fit");
    assert!(found.notes.iter().any(|note| note.contains("no user alone")), "{:?}", found.notes);
    let nothing = MeasuredMeans { user_s: 0.0.into(), system_s: 0.0.into(), ..alone };
    assert!(fit(&[nothing]).is_err());
}
