//! What being taken away costs by itself: a task of a real-time class wakes up on this CPU again and again and does nothing,
//! while the caller spins and sees how long it was away.

use std::thread::JoinHandle;
use std::time::Duration;

use analysis::statistics::median;
use operation::{Clock, Scheduling, pin};

use crate::options::TASK;

/// How often it wakes up, and how far apart. The distance is no multiple of a usual tick.
const TIMES: usize = 40;
const APART: Duration = Duration::from_micros(3_100);
/// Fewer turns that were seen tell nothing.
const FEWEST: usize = TIMES / 2;

/// What a gap takes in which another task does nothing, in ns; `None` if no task may have the class, or if too little was seen.
pub(crate) fn switching(cpu: u32, clock: &Clock) -> Option<f64> {
    let waking = start(cpu, *clock)?;
    let (mut gaps, mut last) = (Vec::new(), clock.now());
    while !waking.is_finished() {
        let now = clock.now();
        if now - last > 1_000.0 {
            gaps.push((last, now));
        }
        last = now;
    }
    let turns = waking.join().ok().flatten()?;
    let around = |turn: f64| gaps.iter().find(|(start, end)| (*start..=*end).contains(&turn));
    let away: Vec<f64> = turns.into_iter().filter_map(around).map(|(start, end)| end - start).collect();
    if away.len() >= FEWEST { median(away) } else { None }
}

/// Starts the task. It returns the moments at which it ran; `None` if the class is refused.
fn start(cpu: u32, clock: Clock) -> Option<JoinHandle<Option<Vec<f64>>>> {
    const FIFO: u32 = 1;
    let work = move || {
        let class = Scheduling { policy: FIFO, priority: 1, ..Scheduling::default() };
        pin(cpu).and_then(|()| class.set()).ok()?;
        let mut turns = Vec::with_capacity(TIMES);
        let mut due = clock.now();
        for _ in 0..TIMES {
            due += APART.as_nanos() as f64;
            std::thread::sleep(Duration::from_nanos((due - clock.now()).max(0.0) as u64));
            turns.push(clock.now());
        }
        Some(turns)
    };
    std::thread::Builder::new().name(TASK.into()).spawn(work).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_without_work_takes_longer_than_nothing() {
        let usable = |cpu: &u32| {
            let cpu = *cpu;
            std::thread::spawn(move || pin(cpu).is_ok()).join().expect("it ends")
        };
        let cpu = (0..1024).find(usable).expect("a CPU");
        let refused =
            std::thread::spawn(|| Scheduling { policy: 1, priority: 1, ..Scheduling::default() }.set().is_err());
        let refused = refused.join().expect("it ends");
        let seen = std::thread::spawn(move || {
            pin(cpu).expect("it may be used");
            switching(cpu, &Clock::calibrate())
        });
        match (refused, seen.join().expect("it ends")) {
            (true, seen) => {
                testing::left_out!("a real-time class is refused here; run as root");
                assert_eq!(seen, None);
            }
            // On a busy machine too few turns may be seen.
            (false, seen) => assert!(seen.is_none_or(|ns| (500.0..1e7).contains(&ns)), "{seen:?}"),
        }
    }
}
