//! A scripted clock and scripted operations give exact batches.

use std::rc::Rc;

use operation::Took;

use super::*;
use crate::watch::scripted::ScriptedWatch;

/// Every iteration takes `cost` ns and one minor fault; the first ever takes a millisecond more.
fn scripted(watch: &ScriptedWatch, cost: f64) -> Loop {
    let script = Rc::clone(&watch.0);
    let mut cold = true;
    Loop::new(move |times| {
        let mut script = script.borrow_mut();
        script.now += times as f64 * cost + if cold { 1e6 } else { 0.0 };
        script.usage.minor_faults += times as f64;
        if let Some(reads) = &mut script.reads {
            reads.count += 3.0 * times as f64;
            reads.bytes += 4096.0 * times as f64;
        }
        cold = false;
        Ok(())
    })
}

const PLAN: RoundPlan = RoundPlan {
    batch: 500e3,
    count: None,
    hint: None,
    time: 10e6,
    most: 1000,
    quiet_below: None,
    leaves_queue_out: true,
    tails: None,
};

#[test]
fn a_batch_is_the_first_power_of_two_that_is_long_enough() {
    let watch = ScriptedWatch::default();
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
    // 8192 iterations take 819 µs; 4096 take 410, which is within a quarter of a batch only after the cold start.
    assert_eq!(harvest.times, 8192);
    assert!(harvest.samples.iter().all(|sample| sample.ns == 100.0));
    assert!(harvest.halves.iter().all(|ns| *ns == 100.0) && !harvest.halves.is_empty());
    assert_eq!(harvest.usage.minor_faults, harvest.operations);
    assert_eq!(harvest.elapsed, harvest.operations * 100.0);
}

#[test]
fn batches_keep_to_what_work_and_plan_allow() {
    let hinted = RoundPlan { hint: Some(1 << 30), ..PLAN };
    type Adapt = fn(Loop) -> Loop;
    for (what, cost, adapt, plan, times, batches) in [
        // 10 ms hold five of them with their checks.
        ("one iteration longer than a batch is a batch", 2e6, (|work| work) as Adapt, PLAN, 1, 5),
        ("a limit on iterations holds", 1.0, |work| work.at_most(100), RoundPlan { most: 3, ..PLAN }, 100, 3),
        ("warm work runs for its time alone", 80e6, Loop::skip_warmup, PLAN, 1, 1),
        ("a hint far too long is corrected", 100.0, |work| work, hinted, 5000, 19),
    ] {
        let watch = ScriptedWatch::default();
        let mut work = adapt(scripted(&watch, cost));
        let harvest = sample(&mut work, &mut watch.clone(), &plan, 0.0).expect(what);
        assert_eq!((harvest.times, harvest.samples.len()), (times, batches), "{what}");
        // The only batch of warm work is the first one, which is slower by a millisecond.
        let first = if batches == 1 { cost + 1e6 } else { cost };
        assert_eq!(harvest.samples[0].ns, first, "{what}");
    }
}

#[test]
fn a_batch_grows_no_further_than_what_is_not_timed_allows() {
    let watch = ScriptedWatch::default();
    let script = Rc::clone(&watch.0);
    let mut work = Loop::self_timed(move |times| {
        script.borrow_mut().now += times as f64 * 1e6;
        Ok(Took { elapsed: times as f64, usage: Usage::default() })
    });
    // An iteration of 1 ns has an input of 1 ms; a quarter of the round has room for 2.5 of them.
    let harvest = sample(&mut work, &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
    assert_eq!((harvest.times, harvest.samples[0].ns), (4, 1.0));
}

#[test]
fn the_reading_of_the_clock_is_subtracted_and_unrolled_work_divided() {
    let watch = ScriptedWatch::default();
    let plan = RoundPlan { count: Some(10), ..PLAN };
    let mut work = scripted(&watch, 280.0).unrolled(28);
    let harvest = sample(&mut work, &mut watch.clone(), &plan, 28.0).expect("a harvest");
    assert_eq!(harvest.times, 10);
    assert!(harvest.samples.iter().all(|sample| (sample.ns - 9.9).abs() < 1e-9));
}

#[test]
fn a_batch_done_elsewhere_took_what_is_reported_of_it() {
    let watch = ScriptedWatch::default();
    let with_own_clock = |own_ns: f64| {
        let script = Rc::clone(&watch.0);
        Loop::self_timed(move |times| {
            // The request takes 50 µs, and causes faults that do not belong to the batch.
            script.borrow_mut().now += 50e3 + times as f64 * 100.0;
            script.borrow_mut().usage.minor_faults += 7.0;
            let usage = Usage { user: times as f64 * 90.0, system: times as f64 * 10.0, ..Usage::default() };
            Ok(Took { elapsed: times as f64 * own_ns, usage })
        })
    };
    let harvest = sample(&mut with_own_clock(100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
    assert_eq!(harvest.times, 8192);
    assert!(harvest.samples.iter().all(|sample| sample.ns == 100.0));
    assert_eq!(harvest.elapsed, harvest.operations * 100.0);
    assert_eq!((harvest.usage.user, harvest.usage.minor_faults), (harvest.operations * 90.0, 0.0));
    let end = sample(&mut with_own_clock(1e6), &mut watch.clone(), &PLAN, 0.0);
    assert!(matches!(end, Err(Failure::Wrong(_))), "{end:?}");
}

#[test]
fn pauses_are_no_part_of_a_batch() {
    let watch = ScriptedWatch::default();
    let pauses = operation::Pauses::calibrated();
    let (script, waits) = (Rc::clone(&watch.0), pauses.clone());
    let mut work = Loop::new(move |times| {
        for _ in 0..times {
            // A pause of a millisecond by the clock of pauses, which is the system's. The script's clock advances by
            // the same time.
            let paused = waits.pause(|| std::thread::sleep(std::time::Duration::from_millis(1)));
            script.borrow_mut().now += 40e3 + paused;
        }
        Ok(())
    })
    .excluding(pauses);
    let plan = RoundPlan { count: Some(3), most: 4, ..PLAN };
    let harvest = sample(&mut work, &mut watch.clone(), &plan, 0.0).expect("a harvest");
    // The rest is the cost of a clock reading.
    assert!(harvest.samples.iter().all(|sample| (38e3..40.001e3).contains(&sample.ns)), "{:?}", harvest.samples);
}

#[test]
fn batches_wait_for_a_quiet_core_when_they_should() {
    let watch = ScriptedWatch::default();
    watch.0.borrow_mut().widths = vec![1.5, 1.0, 1.0, 1.5, 1.01, 1.02, 1.03, 1.4];
    let plan = RoundPlan { quiet_below: Some(1.05), most: 1, ..PLAN };
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
    assert_eq!(harvest.samples.len(), 1);
    assert_eq!(harvest.samples[0].around.0.width, 1.03);
    assert_eq!(harvest.samples[0].around.1.width, 1.4);
}

#[test]
fn a_search_ends_at_ten_undisturbed_batches() {
    let watch = ScriptedWatch::default();
    // The fourth batch ends on a disturbed core, and the next one waits for three quiet checks.
    let quiet = |checks: usize| std::iter::repeat_n(1.0, checks);
    watch.0.borrow_mut().widths = quiet(15).chain([1.4]).chain(quiet(1000)).collect();
    let plan = RoundPlan { quiet_below: Some(1.05), time: 1e9, ..PLAN };
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
    assert_eq!(harvest.samples.len(), 11);
    assert!(harvest.took < 12.0 * 830e3, "{}", harvest.took);
}

#[test]
fn a_core_that_never_is_quiet_gives_no_batch_and_ends_in_time() {
    let watch = ScriptedWatch::default();
    watch.0.borrow_mut().widths = vec![2.0; 100_000];
    let plan = RoundPlan { quiet_below: Some(1.05), ..PLAN };
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
    assert!(harvest.samples.is_empty());
    assert!(watch.0.borrow().checks < 6000);
}

#[test]
fn reads_of_the_device_are_those_of_the_full_batches() {
    let watch = ScriptedWatch::default();
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
    assert_eq!(harvest.reads, None);
    watch.0.borrow_mut().reads = Some(Reads { count: 1e9, bytes: 1e12, own_bytes: None });
    let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
    let reads = harvest.reads.expect("reads");
    assert_eq!((reads.count, reads.bytes), (3.0 * harvest.operations, 4096.0 * harvest.operations));
    assert_eq!(reads.own_bytes, None);
}

#[test]
fn a_failure_in_the_loop_ends_the_round() {
    let watch = ScriptedWatch::default();
    let mut work = Loop::new(|_| Err(Failure::wrong("read 0 bytes")));
    let end = sample(&mut work, &mut watch.clone(), &PLAN, 0.0);
    assert_eq!(end, Err(Failure::wrong("read 0 bytes")));
}

/// What `scripted` does, but the clock is set by this many ns in the batch with this number.
fn with_clock_set(watch: &ScriptedWatch, by: f64, in_batch: u32) -> Loop {
    let script = Rc::clone(&watch.0);
    let mut batch = 0;
    Loop::new(move |times| {
        let mut script = script.borrow_mut();
        script.usage.user += times as f64 * 100.0;
        script.now += times as f64 * 100.0 + if batch == in_batch { by } else { 0.0 };
        batch += 1;
        Ok(())
    })
}

#[test]
fn a_clock_that_goes_backwards_loses_the_round() {
    let watch = ScriptedWatch::default();
    let end = sample(&mut with_clock_set(&watch, -60e9, 20), &mut watch.clone(), &PLAN, 0.0);
    assert_eq!(end, Err(Failure::wrong("the clock went backwards in a batch")));
}

#[test]
fn a_clock_that_jumps_ahead_leaves_one_batch_that_counts_as_interrupted() {
    let watch = ScriptedWatch::default();
    let plan = RoundPlan { time: 120e9, most: 40, ..PLAN };
    let harvest = sample(&mut with_clock_set(&watch, 60e9, 20), &mut watch.clone(), &plan, 0.0).expect("a harvest");
    let guard = crate::quiet::Guard { usual_switches: 0.0, waits: false };
    let (jumped, others): (Vec<&Sample>, Vec<&Sample>) =
        harvest.samples.iter().partition(|sample| guard.interrupted(sample));
    assert_eq!(jumped.len(), 1);
    assert!(jumped[0].elapsed > 60e9 && others.len() > 20 && others.iter().all(|sample| sample.ns == 100.0));
}

#[test]
fn waits_for_a_busy_cpu_are_left_out_and_how_an_idle_cpu_wakes_is_not() {
    for (queued, own_clock, left_out) in [(3.6e6, false, 3.6e6), (80e3, false, 0.0), (3.6e6, true, 0.0)] {
        let watch = ScriptedWatch::default();
        watch.0.borrow_mut().queued = Some(7e9);
        let script = Rc::clone(&watch.0);
        let run = move |times: u64| {
            let mut script = script.borrow_mut();
            script.now += times as f64 * (200e3 + queued);
            script.queued = script.queued.map(|before| before + times as f64 * queued);
            times as f64 * (200e3 + queued)
        };
        let mut work = match own_clock {
            false => Loop::new(move |times| {
                run(times);
                Ok(())
            }),
            true => Loop::self_timed(move |times| Ok(Took { elapsed: run(times), usage: Usage::default() })),
        };
        let plan = RoundPlan { count: Some(2), time: 100e6, ..PLAN };
        let harvest = sample(&mut work, &mut watch.clone(), &plan, 0.0).expect("a harvest");
        let expected = 200e3 + queued - left_out;
        assert!(
            harvest.samples.iter().all(|sample| (sample.ns - expected).abs() < 1.0),
            "{queued}: {:?}",
            harvest.samples
        );
        assert!((harvest.queued / harvest.operations - left_out).abs() < 1.0, "{queued}");
    }
}
