//! Accounts of made-up recordings.

use record::smallest_first;

use super::*;
use crate::noise::{Event, Mark, SpinWindow};

/// Ten windows of 50 ms, every other one traced; a tick of 2 us every 4 ms, 3 us where traced, and one stall of 1 ms
/// that no event explains; a disk interrupt of 5 us twice in each window.
fn made(traced: bool) -> Recording {
    let mut recording = Recording {
        step: 20.0,
        threshold: 100.0,
        lines: vec!["local timer".into(), "disk".into(), "never".into()],
        names: vec!["interrupt: local timer".into(), "interrupt: disk".into()],
        untraced: (!traced).then(|| "not allowed".into()),
        tick_hz: Some(250),
        steal: Some(4e5),
        waited: Some(0.0),
        ..Recording::default()
    };
    let count = 40_u32;
    for number in 0..count {
        let (start, counting) = (f64::from(number) * 5e7, 4.99e7);
        let (end, traced) = (start + counting, traced && number % 2 == 1);
        let counts = vec![12, 2 + u64::from(number % 3 == 0) * 2, 0];
        let chain = if number == 3 { 110.0 } else { 100.0 };
        recording.windows.push(SpinWindow { start, end, traced, counts, counting, chain });
    }
    let traced_at = |at: f64| traced && (at / 5e7) as u64 % 2 == 1;
    let mut gaps: Vec<(f64, f64, usize)> = Vec::new();
    for tick in 0..u64::from(count) * 25 / 2 {
        let at = tick as f64 * 4e6 + 1e5;
        gaps.push((at, if traced_at(at) { 3_000.0 } else { 2_000.0 }, 0));
    }
    for number in 0..count {
        let twice = if number % 3 == 0 { 4 } else { 2 };
        let begin = f64::from(number) * 5e7;
        (0..twice).for_each(|time| gaps.push((begin + 1.07e7 + 7.3e6 * f64::from(time), 5_000.0, 1)));
    }
    smallest_first(&mut gaps, |one| one.0);
    for (start, length, cause) in gaps {
        recording.gaps.push(Gap { start, length, switched: false });
        if traced_at(start) {
            recording.events.push(Event { at: start + 200.0, mark: Mark::Entered(cause) });
            recording.events.push(Event { at: start + length - 200.0, mark: Mark::Left(cause) });
        }
    }
    // In a traced window.
    recording.gaps.push(Gap { start: 5e7 + 2.5e6, length: 1e6, switched: false });
    smallest_first(&mut recording.gaps, |one| one.start);
    recording
}

fn cause<'a>(account: &'a CpuAccount, name: &str) -> &'a NoiseCause {
    let found = account.causes.iter().find(|cause| cause.name.contains(name));
    found.unwrap_or_else(|| panic!("{name}: {:?}", account.causes))
}

#[test]
fn traced_gaps_name_their_causes_and_the_rest_is_unexplained() {
    let account = account(&made(true));
    let tick = cause(&account, "local timer");
    assert_eq!(tick.each, Some(3_000.0));
    assert!((tick.per_second.expect("a rate") / 250.0 - 1.0).abs() < 0.05, "{tick:?}");
    assert_eq!(cause(&account, "disk").each, Some(5_000.0));
    // One stall of 1 ms in 1 s of traced windows, and 0.4 ms of steal in 2 s.
    let (stolen, rest) = (cause(&account, "steal").share, cause(&account, "unexplained").share);
    assert!((stolen / 2e-4 - 1.0).abs() < 0.05, "{stolen}");
    assert!(((stolen + rest) / 1e-3 - 1.0).abs() < 0.05, "{rest}");
    assert_eq!(account.longest[0].cause, NOTHING_KNOWN);
    assert_eq!(account.longest[0].length, 1e6);
}

#[test]
fn the_tick_is_named_and_tracing_does_not_lengthen_it() {
    let account = account(&made(true));
    assert_eq!(account.repeated[0].name.as_deref(), Some("the tick (CONFIG_HZ=250)"));
    assert_eq!(account.tracing_adds, Some(1_000.0));
    let tick = &account.repeated[0].series;
    assert_eq!((tick.length, tick.longer), (2_000.0, 2_000.0), "gaps of traced windows are longer");
    // The gaps of traced windows are longer, and are not in the histogram.
    let median = account.tail.percentile(0.5).expect("enough gaps");
    assert!((median.value / 2_000.0 - 1.0).abs() < 2e-3, "{median:?}");
    assert!(account.tail.longest() < 1e6, "the stall was in a traced window");
    let lost = (250.0 * 2_000.0 + 53.0 * 5_000.0) / 1e9;
    assert!((account.lost / lost - 1.0).abs() < 0.05, "{} {lost}", account.lost);
}

#[test]
fn tracepoints_take_nothing_off_a_gap() {
    let mut recording = made(true);
    recording.gaps.iter_mut().filter(|gap| gap.length == 3_000.0).for_each(|gap| gap.length = 1_900.0);
    assert_eq!(account(&recording).tracing_adds, None);
}

#[test]
fn without_tracepoints_interrupts_are_charged_by_their_counts() {
    let account = account(&made(false));
    assert_eq!(account.untraced.as_deref(), Some("not allowed"));
    let disk = cause(&account, "disk").each.expect("a cost");
    assert!((disk / 5_000.0 - 1.0).abs() < 0.1, "{:?}", account.causes);
    assert!(cause(&account, "unexplained").share > 0.0);
    assert_eq!(account.counted[0].name, "local timer");
    assert_eq!(account.counted.len(), 2, "a line that never came is not reported");
    // All that is charged is what was lost.
    let charged: f64 = account.causes.iter().map(|cause| cause.share).sum();
    let lost = (500.0 * 2_000.0 + 108.0 * 5_000.0 + 1e6) / (40.0 * 4.99e7);
    assert!((charged / lost - 1.0).abs() < 0.05, "{charged} {lost}");
}

#[test]
fn a_tick_in_which_other_tasks_now_and_then_get_the_cpu_is_the_tick() {
    for traced in [false, true] {
        let mut recording = made(traced);
        let ticks = recording.gaps.iter_mut().filter(|gap| gap.length <= 3_000.0);
        ticks.step_by(30).for_each(|gap| gap.switched = true);
        assert_eq!(account(&recording).repeated[0].name.as_deref(), Some("the tick (CONFIG_HZ=250)"), "{traced}");
    }
    let mut recording = made(false);
    recording.gaps.iter_mut().for_each(|gap| gap.switched = gap.length <= 3_000.0);
    assert_eq!(account(&recording).repeated[0].name.as_deref(), Some("another task"));
}

#[test]
fn lines_are_counted_between_windows_too() {
    let mut recording = made(false);
    recording.windows.iter_mut().for_each(|window| window.counting *= 2.0);
    let timer = &account(&recording).counted[0];
    assert!((timer.per_second - 12.0 / 2.0 / 4.99e-2).abs() < 1e-6, "{timer:?}");
}

#[test]
fn switches_and_the_clock_are_reported() {
    let mut recording = made(false);
    recording.gaps[5].switched = true;
    recording.gaps[5].length = 3e6;
    let account = account(&recording);
    let other = cause(&account, "other tasks");
    assert_eq!((other.each, other.longest), (Some(3e6), Some(3e6)));
    assert_eq!(account.longest[0].cause, "another task");
    let clock = account.clock.expect("it was measured");
    assert!((clock.lowest - 100.0 / 110.0).abs() < 1e-9 && clock.typical == 1.0, "{clock:?}");
}

#[test]
fn a_recording_without_gaps_is_an_account_of_nothing() {
    let recording = Recording {
        windows: vec![SpinWindow { end: 5e7, chain: 100.0, ..SpinWindow::default() }],
        untraced: Some("not allowed".into()),
        ..Recording::default()
    };
    let account = account(&recording);
    assert_eq!((account.per_second, account.lost, account.tail.samples()), (0.0, 0.0, 0));
    assert!(account.switched.is_sign_positive() && account.lost.is_sign_positive());
    assert!(account.repeated.is_empty() && account.longest.is_empty() && account.causes.is_empty());
}

#[test]
fn what_a_task_worked_is_reported_without_the_switches_and_of_tasks_alone() {
    let mut recording = made(false);
    recording.switching = Some(1_800.0);
    // A task works for 10 us every 30 ms; the tick is no task.
    for turn in 0..60 {
        let start = f64::from(turn) * 3e7 + 2.05e6;
        recording.gaps.push(Gap { start, length: 11_800.0, switched: true });
    }
    smallest_first(&mut recording.gaps, |one| one.start);
    let worked = |recording: &Recording, period: f64| {
        let repeated = account(recording).repeated;
        let near = |found: &&RepeatedSeries| (found.series.period / period - 1.0).abs() < 0.01;
        repeated.iter().find(near).unwrap_or_else(|| panic!("{repeated:?}")).worked
    };
    assert_eq!(worked(&recording, 3e7), Some(10_000.0));
    assert_eq!(worked(&recording, 4e6), None);
    recording.switching = None;
    assert_eq!(worked(&recording, 3e7), None);
}
