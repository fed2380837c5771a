//! Demands and predictions from made-up configurations whose answers are known.

use super::super::configuration::{PageDevice as Device, Relief};
use super::super::measured::Finished;
use super::alone as alone_of;
use super::*;
use crate::model::System;

const MIB: u64 = 1 << 20;

fn usual() -> Usual {
    Usual { names: vec!["a".into(), "b".into()], weights: vec![3.0, 1.0], think_s: 0.5, stays: true, pages_bytes: 0 }
}

fn configuration(users: u32, memory: u64) -> Configuration {
    let (memory, eligible) = (Some(memory * MIB), Some(3));
    Configuration { users, memory, eligible, device: Device::Swap, ..Configuration::default() }
}

/// One user alone: 10 and 90 ms of work, so many faults on average, each of 0.1 ms of the processor and 0.2 ms of waiting.
fn one_user(memory: u64, faults: f64) -> Measured {
    let one = |interaction: usize, work: f64, faults: f64| Finished {
        interaction,
        response_s: work + faults * 3e-4,
        user_s: work,
        system_s: faults * 1e-4,
        major_faults: faults,
        ..Finished::default()
    };
    // The mix that ended differs from that of the script.
    let finished: Vec<Finished> = (0..40).map(|n| one(n % 2, [0.01, 0.09][n % 2], faults)).collect();
    Measured { configuration: configuration(1, memory), elapsed_s: 10.0, finished, ..Measured::default() }
}

/// One user alone with each of these limits of memory, with faults in inverse proportion.
fn runs<const N: usize>(memory: [u64; N]) -> [Measured; N] {
    memory.map(|memory| one_user(memory, 800.0 / memory as f64))
}

fn demands_of(runs: &[Measured], flushed: &[&Measured], usual: &Usual) -> Demands {
    Demands::of(&runs.iter().collect::<Vec<_>>(), flushed, usual).expect("demands")
}

fn demands() -> Demands {
    let runs = [(2, 400.0), (4, 200.0), (8, 50.0), (16, 0.0)].map(|(memory, faults)| one_user(memory, faults));
    demands_of(&runs, &[&one_user(16, 120.0)], &usual())
}

#[test]
fn demands_are_those_of_the_script_and_not_of_the_mix_that_ended() {
    let demands = demands();
    assert!((demands.user_s.value - 0.03).abs() < 1e-9, "{:?}", demands.user_s);
    let paged = &demands.paged[0];
    assert!((paged.handling_s - 1e-4).abs() < 1e-9 && (paged.wait_s - 2e-4).abs() < 1e-9, "{paged:?}");
    assert!(demands.system_s.value < 1e-9 && paged.reload.is_some_and(|reload| reload.value == 120.0));
    // Between 4 and 8 MiB, on logarithms.
    let between = faults(&demands, &configuration(1, 6));
    assert!(between > 50.0 && between < 200.0, "{between}");
    // Three of four interactions take 10 ms, one 90.
    let kinds: Vec<_> = demands.kinds().into_iter().map(|kind| (kind.name, kind.weight, kind.size)).collect();
    let wanted = [("a", 3.0, 1.0 / 3.0), ("b", 1.0, 3.0)];
    for (kind, wanted) in kinds.iter().zip(wanted) {
        assert!((kind.0.as_str(), kind.1) == (wanted.0, wanted.1) && (kind.2 - wanted.2).abs() < 1e-9, "{kinds:?}");
    }
}

/// Faults of an interaction by the model.
fn faults(demands: &Demands, configuration: &Configuration) -> f64 {
    crate::model::predict(&system(demands, configuration)).expect("a system").faults
}

#[test]
fn users_that_keep_their_pages_share_all_memory() {
    let demands = demands();
    let faults_of = |users, memory| faults(&demands, &configuration(users, memory));
    assert!(faults_of(2, 32) < 1e-3, "16 MiB for each");
    assert!((faults_of(4, 32) - 50.0).abs() < 1e-6, "8 MiB for each");
    // 2 MiB for each would be 400 faults, but the three that are eligible have 16 MiB, so no page is missed twice.
    assert!((faults_of(24, 48) - 120.0).abs() < 1e-6);
    // 4 MiB for each of three, so pages are missed within an interaction too; fewer have more, and miss those that left.
    let crowded = faults_of(12, 12);
    assert!(crowded > 125.0 && crowded < 200.0, "{crowded}");
    let leaves = Demands { usual: Usual { stays: false, ..usual() }, ..demands.clone() };
    assert!(faults(&leaves, &configuration(24, 48)) < 1e-3, "pages go with their process");
    let unlimited = Configuration { memory: None, ..configuration(24, 48) };
    assert_eq!(faults(&demands, &unlimited), 0.0, "as with the most that was measured");
}

#[test]
fn a_page_of_compressed_memory_costs_the_processor_and_no_waiting() {
    let mut runs = runs([2, 4, 8]);
    for measured in &mut runs {
        measured.configuration.device = Device::Zram;
        measured.fault.minor_s = 1e-6;
    }
    let demands = demands_of(&runs, &[], &usual());
    let on_zram = system(&demands, &Configuration { device: Device::Zram, ..configuration(1, 4) });
    assert!(on_zram.page_device.service_s.value == 0.0, "{on_zram:?}");
    assert!((on_zram.page_device.cpu_s.value - 99e-6).abs() < 1e-9, "{on_zram:?}");
    assert!((on_zram.handling_s.value - 1e-6).abs() < 1e-9, "{on_zram:?}");
}

#[test]
fn a_share_that_holds_all_pages_has_no_faults_though_it_was_not_measured() {
    let runs = runs([2, 4]);
    let faults_with = |pages_bytes| {
        let usual = Usual { pages_bytes, ..usual() };
        let demands = demands_of(&runs, &[], &usual);
        [6, 10, 12].map(|memory| faults(&demands, &configuration(1, memory)))
    };
    let stay = |faults: [f64; 3]| faults.iter().all(|faults| (faults - 200.0).abs() < 1e-6);
    assert!(stay(faults_with(0)), "nothing is known of more than 4 MiB: {:?}", faults_with(0));
    let [some, few, none] = faults_with(10 * MIB);
    assert!((20.0..190.0).contains(&some) && few < some && none < 1e-3, "{:?}", faults_with(10 * MIB));
    assert!(stay(faults_with(3 * MIB)), "what was measured counts");
}

#[test]
fn figures_that_are_only_bounds_are_neither_demands_nor_compared() {
    use super::super::measured::Unfinished;
    let [mut sound, mut stuck] = runs([4, 8]);
    let one = |age_s| Unfinished { age_s, ..Unfinished::default() };
    // One is under way as usual; another hangs, and what ended is no sample of its interaction.
    (sound.unfinished, stuck.unfinished) = (vec![one(0.01)], vec![one(9.0)]);
    let all = [sound.clone(), stuck.clone()];
    let found = demands_of(&all, &[], &usual());
    assert_eq!(found.user_s, demands_of(&[sound.clone()], &[], &usual()).user_s);
    assert!(judged(&sound, &usual()).is_some() && judged(&stuck, &usual()).is_none());
    assert!(Demands::of(&[&stuck], &[], &usual()).is_none());
    let file = super::super::for_model::model_file(&found, &[configuration(1, 8)], &all);
    assert_eq!(file.measured.len(), 1);
}

#[test]
fn waiting_for_files_is_distinguished_from_waiting_for_pages() {
    let mut runs = runs([2, 4, 8, 16]);
    for one in runs.iter_mut().flat_map(|run| &mut run.finished) {
        one.response_s += 0.02;
    }
    let demands = demands_of(&runs, &[], &usual());
    assert!((demands.other_wait_s.value - 0.02).abs() < 1e-9, "{:?}", demands.other_wait_s);
    assert!((demands.paged[0].wait_s - 2e-4).abs() < 1e-9, "{:?}", demands.paged);
}

#[test]
fn a_forecast_is_held_against_what_was_measured() {
    let forecast = forecast(&demands(), &configuration(1, 8), None);
    let predicted = forecast.predicted.clone().expect("a prediction");
    // One user alone never queues: 30 ms of work, 50 faults of 0.3 ms, and half a second to think.
    assert!((predicted.value.response_s - 0.045).abs() < 1e-6, "{predicted:?}");
    assert!((predicted.value.throughput - 1.0 / 0.545).abs() < 1e-6);
    assert!((predicted.value.cpu_s - 0.035).abs() < 1e-6);
    assert!((predicted.value.idle.iter().sum::<f64>() - (1.0 - 0.035 / 0.545)).abs() < 1e-6);
    let mut measured = one_user(8, 50.0);
    measured.elapsed_s = 40.0 * 0.545;
    let missed = missed(&[forecast], &[measured.clone()], &usual(), Forecast::value).expect("errors");
    let Judged { faults, cpu_s, throughput, response_s, .. } = missed.largest;
    assert!(faults < 1e-9 && cpu_s < 1e-6 && throughput < 1e-6 && response_s < 1e-6, "{missed:?}");
    let truth = Judged { throughput: 1.0, ..Judged::default() };
    let off = error(&Judged { throughput: 1.2, idle: [0.3; 3], ..truth }, &truth);
    assert!((off.throughput - 0.2).abs() < 1e-9 && off.idle == [0.3; 3] && off.faults == 0.0);
    assert!(super::missed(&[], &[measured], &usual(), Forecast::value).is_none());
}

#[test]
fn the_other_half_is_not_among_what_was_fitted() {
    let runs = runs([2, 4, 8, 16]);
    let known = |flushed: Vec<Measured>| Forecasts { usual: usual(), flushed, ..Forecasts::default() };
    let half = by_half(&runs, &known(Vec::new()), &|_| None);
    let memory: Vec<_> = half.iter().map(|forecast| forecast.configuration.memory).collect();
    assert_eq!(memory, [Some(4 * MIB), Some(16 * MIB)]);
    let faults = half[0].predicted.as_ref().expect("a prediction").value.faults;
    assert!(faults > 100.0 && faults < 400.0, "{faults}");
    // A twelfth of the memory for each, but the eligible fit.
    let many = [6, 12, 24, 48]
        .map(|memory| Measured { configuration: configuration(12, memory), ..one_user(memory, 800.0 / memory as f64) });
    let crowded = by_half(&many, &known(vec![one_user(16, 50.0)]), &|_| None);
    let faults = crowded[0].predicted.as_ref().expect("a prediction").value.faults;
    assert!((faults - 50.0).abs() < 1e-3, "no more pages are missed than left: {faults}");
}

#[test]
fn the_demands_are_requested_where_the_configurations_need_them() {
    let all = [2, 8, 16].map(|users| [24, 48].map(|memory| configuration(users, memory))).concat();
    let one = alone_of(&all, true);
    assert!(one.iter().all(|configuration| configuration.users == 1 && configuration.device == Device::Swap));
    let memory: Vec<u64> = one
        .iter()
        .filter(|configuration| configuration.relief == Relief::None)
        .filter_map(|configuration| configuration.memory)
        .collect();
    assert!(memory.len() <= 6 && memory.windows(2).all(|pair| pair[0] < pair[1]), "{memory:?}");
    assert_eq!((memory.first(), memory.last()), (Some(&(3 * MIB)), Some(&(24 * MIB))));
    let flushed = flushed(&all, true);
    assert_eq!(
        flushed.iter().map(|configuration| (configuration.users, configuration.memory)).collect::<Vec<_>>(),
        [(1, Some(24 * MIB))]
    );
    assert!(super::flushed(&all, false).is_empty());
    assert!(
        alone_of(&all, false)
            .iter()
            .all(|configuration| configuration.relief == Relief::None && configuration.memory >= Some(8 * MIB))
    );
}

#[test]
fn the_model_is_given_the_demands_and_what_was_measured() {
    use super::super::for_model::model_file;
    let on_zram = Configuration { device: Device::Zram, ..configuration(2, 8) };
    let all = [configuration(1, 8), on_zram, configuration(1, 4)];
    let mut measured = one_user(8, 50.0);
    measured.elapsed_s = 40.0 * 0.545;
    let mut relieved = one_user(8, 10.0);
    relieved.configuration.relief = Relief::Both;
    let file = model_file(&demands(), &all, &[measured, relieved]);
    assert_eq!(file.devices(), ["swap", "zram"]);
    assert_eq!(file.measured.len(), 1, "relief changes what the demands are");
    let system = file.system_with(None).expect("a system");
    assert!(system.faults.is_over_memory() && system.pages_stay && system.users == 1);
    let compared = &file.measured[0];
    assert_eq!(compared.configuration, system.configuration());
    assert!((compared.handling_s.expect("faults").value - 0.005).abs() < 1e-9 && compared.system_s.value < 1e-9);
    assert!(compared.throughput.is_some_and(|throughput| (throughput.value - 1.0 / 0.545).abs() < 1e-9));
    // A megabyte more is worth faults.
    let more = crate::model::questions::SystemChange::Memory(MIB).of(system).expect("faults over memory");
    let faults = |of: &System| crate::model::predict(of).expect("a system").faults;
    assert!(faults(&more) < faults(system));
}
