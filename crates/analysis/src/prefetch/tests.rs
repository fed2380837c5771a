//! Figures of made-up windows.

use super::*;

/// The paper's page has 4096 bytes, its postscript's latency is 30 ms, its consumption 563,200 bytes in 181 ms.
#[test]
fn the_paper_s_own_numbers() {
    let consumption: f64 = 80.0 * 7040.0 / 0.181;
    let (latency_ns, taken) = THERE;
    assert_eq!((consumption / 1000.0).floor(), taken / 1000.0);
    assert_eq!(distance(latency_ns, taken), 93_330.0);
    let inputs = Inputs { latency_ns, consumption: taken, in_order: Vec::new(), most: Some(1 << 20), page: 4096 };
    // 22.8 pages: 23 whole ones; the paper took 24, which it calls 100,000 bytes.
    assert_eq!(inputs.by_the_paper(), Window { distance: 23 * 4096, quantity: 23 * 4096 });
    assert_eq!((24 * 4096_u32).div_ceil(1000), 99);
}

fn disk(latency_ns: f64, bandwidth: f64, consumption: f64) -> Inputs {
    let sizes = (14..=22).map(|power| 1_u64 << power);
    let in_order = sizes.map(|size| (size, latency_ns + size as f64 * 1e9 / bandwidth)).collect();
    Inputs { latency_ns, consumption, in_order, most: Some(2560 << 10), page: 4096 }
}

#[test]
fn requests_are_large_enough_and_never_larger_than_the_kernel_takes() {
    let fast = disk(20e3, 1.6e9, 8e9).by_saturation();
    // Of 512 KiB, 20 us are 5.8 %, of 1 MiB 3 %.
    assert_eq!(fast.quantity, 2 << 20);
    assert!(fast.distance >= fast.quantity + 6_400_000, "{fast:?}");
    // A disk arm: only the largest requests hide 10 ms.
    let slow = disk(10e6, 30e6, 8e9).by_saturation();
    assert_eq!(slow.quantity, 2560 << 10);
    let unknown = Inputs { most: None, ..disk(10e6, 30e6, 8e9) }.by_saturation();
    assert!(unknown.quantity > slow.quantity, "{unknown:?}");
    assert!(slow.distance > slow.quantity && slow.distance.is_multiple_of(slow.quantity));
}

/// Nothing waits if less is consumed during a request than the window holds.
#[test]
fn a_slow_program_needs_no_more_than_it_consumes() {
    let inputs = disk(100e3, 1e9, 10e6);
    let window = inputs.by_saturation();
    // With 16 KiB the device already delivers 141 MB/s. Larger requests would only delay the first byte.
    assert_eq!(window.quantity, 32 << 10);
    let needed = distance(100e3 + window.quantity as f64 + TICK_NS, inputs.consumption);
    assert!(window.distance as f64 >= needed, "{window:?}");
    assert!(window.distance as f64 <= needed + 3.0 * window.quantity as f64, "{window:?}");
}

#[test]
fn an_axis_goes_from_a_sixteenth_to_sixteen_times() {
    let values = axis(64 << 10, 2, &[70 << 10, 8 << 20], (4096, 1 << 30));
    let doubled: Vec<u64> = (12..=20).map(|power| 1 << power).chain([8 << 20]).collect();
    assert_eq!(values, doubled, "70 KiB is near 64 KiB, 8 MiB near nothing");
    assert_eq!(axis(64 << 10, 4, &[], (4096, 1 << 30)), [4096, 16384, 65536, 262_144, 1 << 20]);
    assert_eq!(axis(8192, 2, &[], (4096, 16384)), [4096, 8192, 16384], "whole pages, within the file");
}

#[test]
fn the_simplest_of_good_ones_is_recommended() {
    let tried = |of, rates: &[f64]| MeasuredRates { of, rates: rates.to_vec() };
    let all = [tried("slow", &[1.0, 2.0, 3.0]), tried("plain", &[96.0, 97.0]), tried("clever", &[100.0, 90.0, 101.0])];
    assert_eq!(best(&all).map(|one| one.of), Some("clever"));
    assert_eq!(simplest_good(&all, 0.05).map(|one| one.of), Some("plain"));
    assert_eq!(simplest_good(&all, 0.01).map(|one| one.of), Some("clever"));
    assert_eq!(best::<u8>(&[]).map(|one| one.of), None);
}

#[test]
fn neighbours_are_compared_in_pairs() {
    // The machine halves its speed from pair to pair. The ratio does not change.
    let others: Vec<f64> = (0..10).map(|pair| 1000.0 / f64::from(1 << pair)).collect();
    let rates: Vec<f64> = others.iter().map(|rate| rate * 0.97).collect();
    let relative = RelativeRate::of(&rates, &others).expect("pairs");
    assert!((relative.ratio - 0.97).abs() < 1e-9 && relative.low <= relative.ratio && relative.ratio <= relative.high);
    assert_eq!((relative.is_as_good(), relative.pairs), (Some(true), 10));
    let two_out_of_three = |pairs: usize| -> Vec<f64> { (0..pairs).map(|pair| [97.0, 93.0, 96.0][pair % 3]).collect() };
    let relative = |rates: &[f64]| RelativeRate::of(rates, &vec![100.0; rates.len()]).expect("pairs");
    assert_eq!(relative(&[90.0; 6]).is_as_good(), Some(false));
    assert_eq!(relative(&[90.0; 5]).is_as_good(), None, "five pairs have no interval");
    assert_eq!(relative(&two_out_of_three(12)).is_as_good(), None);
    assert!(relative(&two_out_of_three(12)).is_rather_as_good() && !relative(&[90.0]).is_rather_as_good());
    assert_eq!(RelativeRate::of(&[], &[]), None);
}
