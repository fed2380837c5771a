//! A task of a real-time class that takes the CPU at known moments for a known time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analysis::noise::account;
use howslow_instruments::noise::{Options, record};
use operation::Scheduling;

const PERIOD: Duration = Duration::from_millis(5);
const LENGTH: Duration = Duration::from_micros(200);

/// Disturbs CPU 0 until it has to end. Returns false where it may not.
fn disturb(end: &AtomicBool) -> bool {
    let first = Scheduling { policy: libc::SCHED_FIFO as u32, priority: 50, ..Scheduling::default() };
    if operation::pin(0).and_then(|()| first.set()).is_err() {
        return false;
    }
    let mut due = Instant::now();
    while !end.load(Ordering::Relaxed) {
        due += PERIOD;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        while start.elapsed() < LENGTH {}
    }
    true
}

#[test]
fn a_disturbance_is_found_with_its_period_and_length() {
    // The host may take the CPU away during a try, for longer than the disturbance.
    const TRIES: u32 = 20;
    let mut reported = Vec::new();
    for _ in 0..TRIES {
        let end = Arc::new(AtomicBool::new(false));
        let ending = Arc::clone(&end);
        let disturbing = std::thread::spawn(move || disturb(&ending));
        let options = Options { time: Duration::from_secs(1), ..Options::default() };
        let recording = record(&[0], &options).expect("CPU 0 may be used").remove(0);
        end.store(true, Ordering::Relaxed);
        if !disturbing.join().expect("it ends") {
            return testing::not_tested!("a real-time class is refused; run as root, or with ulimit -r 50");
        }
        let found = account(&recording).repeated;
        let near = |value: f64, wanted: Duration, off: f64| (value / wanted.as_nanos() as f64 - 1.0).abs() < off;
        // Switching to the task and back belongs to the gap.
        let right = found
            .iter()
            .find(|found| near(found.series.period, PERIOD, 0.05) && near(found.series.length, LENGTH, 0.15));
        if let Some(right) = right {
            let share = right.series.members.len() as f64 / right.series.slots as f64;
            assert!(share > 0.5, "{share}");
            return;
        }
        reported.push(found.iter().map(|found| (found.series.period, found.series.length)).collect::<Vec<_>>());
    }
    testing::left_out!("in {TRIES} tries the machine was too busy to find a task that runs every 5 ms: {reported:?}");
}
