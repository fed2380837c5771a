//! A scripted clock and a made-up server: what is known of it comes out.

use std::cell::RefCell;
use std::rc::Rc;

use record::Arrivals;

use super::*;
use crate::watch::scripted::ScriptedWatch;

const READING: f64 = 20.0;

/// A server that takes 1,000 ns for each request and stands still once, from a moment on for so long.
fn server(script: &ScriptedWatch, stall_at: f64, stall: f64) -> Loop {
    let clock = Rc::clone(&script.0);
    let mut stalled = false;
    Loop::new(move |times| {
        let now = &mut clock.borrow_mut().now;
        for _ in 0..times {
            *now += 1_000.0 + READING;
            if !stalled && *now >= stall_at {
                *now += stall;
                stalled = true;
            }
        }
        Ok(())
    })
}

fn plan(time: f64, arrivals: Option<Arrivals>) -> TailPlan {
    TailPlan { time, tailing: Tailing { arrivals }, seed: 5 }
}

fn count(buckets: &[(f64, u64)], is_counted: impl Fn(f64) -> bool) -> u64 {
    buckets.iter().filter(|(ns, _)| is_counted(*ns)).map(|(_, count)| count).sum()
}

#[test]
fn iterations_in_sequence_are_each_timed_without_the_clock() {
    let script = ScriptedWatch::default();
    let mut work = server(&script, 5e6, 3e6);
    let samples = tails(&mut work, &mut script.clone(), &plan(1e7, None), READING).expect("samples");
    assert_eq!(count(&samples.service, |ns| ns == 1_000.0) + 1, count(&samples.service, |_| true));
    assert_eq!(count(&samples.service, |ns| ns > 3e6), 1, "{:?}", samples.service);
}

#[test]
fn who_comes_during_a_stall_waits_for_its_end_and_is_counted_once() {
    // 10,000 a second for 1 s, and a stall of 50 ms: 500 requests come during it.
    let script = ScriptedWatch::default();
    let mut work = server(&script, 4e8, 5e7);
    let arrivals = Arrivals { per_second: 10_000.0, poisson: false };
    let samples = tails(&mut work, &mut script.clone(), &plan(1e9, Some(arrivals)), READING).expect("samples");
    let response = samples.response.expect("a schedule");
    let all = count(&response, |_| true);
    assert!((9_990..=10_000).contains(&all), "{all}: nothing that came is left out, and nothing is counted twice");
    assert_eq!(count(&samples.service, |_| true), all);
    // Only one had to do with the stall itself.
    assert_eq!(count(&samples.service, |ns| ns > 2_000.0), 1);
    // One waits for 50 ms, the next 100 us less by what each service takes, and so on: half of them for over 25 ms.
    let waited = count(&response, |ns| ns > 2_000.0);
    assert!((500..=510).contains(&waited), "{waited}");
    let half = count(&response, |ns| ns > 2.5e7);
    assert!((248..=256).contains(&half), "{half}");
    let longest = response.last().expect("some").0;
    assert!((longest / 5e7 - 1.0).abs() < 0.01, "{longest}");
    assert_eq!(samples.unserved, 0);
}

#[test]
fn a_server_that_is_too_slow_leaves_requests_unserved() {
    let script = ScriptedWatch::default();
    let mut work = server(&script, f64::INFINITY, 0.0);
    let arrivals = Arrivals { per_second: 4e6, poisson: true };
    let samples = tails(&mut work, &mut script.clone(), &plan(1e7, Some(arrivals)), READING).expect("samples");
    // 40,000 come in 10 ms, and 20,000 are served in 20 ms.
    assert!(samples.unserved > 19_000, "{}", samples.unserved);
    let tails = together(std::iter::once(&samples), READING).expect("tails");
    let response = tails.response.expect("a schedule");
    assert!(response.percentiles.is_empty() && response.samples > 0);
    assert_eq!(tails.service.percentiles[0].ns, Some(1_000.0));
}

#[test]
fn nothing_arrives_while_an_operation_pauses() {
    const WAIT: std::time::Duration = std::time::Duration::from_micros(100);
    let script = ScriptedWatch::default();
    let pauses = operation::Pauses::calibrated();
    let (clock, waits) = (Rc::clone(&script.0), pauses.clone());
    let mut work = Loop::new(move |_| {
        // By the clock of pauses, which is the system's, and by the script's, which has no reading at the end.
        clock.borrow_mut().now += 1_000.0 + READING + waits.pause(|| std::thread::sleep(WAIT));
        Ok(())
    })
    .excluding(pauses);
    let arrivals = Arrivals { per_second: 1e5, poisson: false };
    let samples = tails(&mut work, &mut script.clone(), &plan(1e6, Some(arrivals)), READING).expect("samples");
    assert_eq!(samples.unserved, 0);
    let response = samples.response.expect("a schedule");
    assert_eq!(count(&response, |ns| ns <= 1_000.0), count(&response, |_| true), "{response:?}");
}

#[test]
fn what_cannot_be_timed_has_a_reason() {
    let script = ScriptedWatch::default();
    let unrolled = server(&script, f64::INFINITY, 0.0).unrolled(64);
    let with_step = server(&script, f64::INFINITY, 0.0).before(|_| Ok(()));
    let fast = Rc::clone(&script.0);
    let short = Loop::new(move |times| {
        fast.borrow_mut().now += times as f64 * (10.0 + READING);
        Ok(())
    });
    let limited = server(&script, f64::INFINITY, 0.0).batches(16);
    for (mut work, why) in [(unrolled, "64 times"), (with_step, "before"), (limited, "remembers"), (short, "10.0 ns")] {
        let samples = tails(&mut work, &mut script.clone(), &plan(1e7, None), READING).expect("a reason");
        let tails = samples.left_out.expect("a reason");
        assert!(tails.contains(why), "{tails}");
    }
}

#[test]
fn the_work_is_checked_also_when_little_may_be_done_at_a_time() {
    let script = ScriptedWatch::default();
    let checked = Rc::new(RefCell::new((0, 0)));
    let seen = Rc::clone(&checked);
    let mut work = server(&script, f64::INFINITY, 0.0).at_most(7).verify(move |done| {
        let mut seen = seen.borrow_mut();
        *seen = (seen.0 + done, seen.1.max(done));
        Ok(())
    });
    let samples = tails(&mut work, &mut script.clone(), &plan(1e6, None), READING).expect("samples");
    let (all, most) = *checked.borrow();
    assert_eq!(most, 7);
    // Those of the trial are checked as well.
    assert!(all > count(&samples.service, |_| true), "{all}");
}

#[test]
fn rounds_add_up() {
    let round = |ns: f64| TailSamples { service: vec![(ns, 2_000)], ..TailSamples::default() };
    let (one, other) = (round(1_000.0), round(3_000.0));
    let tails = together([&one, &other].into_iter(), READING).expect("tails");
    assert_eq!((tails.service.samples, tails.service.longest_ns), (4_000, 3_000.0));
    let p = |place: usize| tails.service.percentiles[place].ns;
    assert_eq!((p(1), p(3), p(4)), (Some(3_000.0), Some(3_000.0), None));
    assert_eq!(together(std::iter::empty(), READING), None);
}
