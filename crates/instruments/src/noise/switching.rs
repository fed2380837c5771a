//! What being taken away costs beyond the other task's work: a task of a real-time class wakes up on this CPU again and again
//! and works for a moment, while the caller spins and sees how long it was away.

use std::thread::JoinHandle;
use std::time::Duration;

use analysis::statistics::median;
use operation::{Clock, Scheduling, pin};

use crate::noise::options::TASK;

/// How often it wakes up, and how far apart. The distance is no multiple of a usual tick.
const TIMES: usize = 40;
const APART: Duration = Duration::from_micros(3_100);
/// How long it works, in ns. After a turn without work the kernel is done a microsecond sooner than after one with some.
const WORK: f64 = 20_000.0;
/// Fewer turns that took nobody else's time show nothing.
const FEWEST: usize = TIMES / 5;
/// The shortest turn that the scheduler gives a computing program, in ns (`sysctl_sched_base_slice` in kernel/sched/fair.c).
const SLICE: f64 = 700_000.0;

/// What a gap takes beyond another task's work, in ns; `None` if no task may have the class, or if too little was seen.
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
    let beyond = |(begin, done): (f64, f64)| {
        let (start, end) = gaps.iter().find(|(start, end)| (*start..=*end).contains(&begin))?;
        Some((end - start) - (done - begin))
    };
    typical(turns.into_iter().filter_map(beyond).collect())
}

/// The median of those that are like the shortest: in longer ones another program had its turn too. On a busy machine it had one in all
/// of them.
fn typical(mut beyond: Vec<f64>) -> Option<f64> {
    const ALIKE: f64 = 3.0;
    let shortest = beyond.iter().copied().min_by(f64::total_cmp)?;
    beyond.retain(|length| *length <= ALIKE * shortest && *length < SLICE);
    if beyond.len() >= FEWEST { median(beyond) } else { None }
}

/// Begin and end of each turn's work.
type Turns = Vec<(f64, f64)>;

/// Starts the task. It returns its turns; `None` if the class is refused.
fn start(cpu: u32, clock: Clock) -> Option<JoinHandle<Option<Turns>>> {
    const FIFO: u32 = 1;
    let work = move || {
        let class = Scheduling { policy: FIFO, priority: 1, ..Scheduling::default() };
        pin(cpu).and_then(|()| class.set()).ok()?;
        let mut turns = Vec::with_capacity(TIMES);
        let mut due = clock.now();
        for _ in 0..TIMES {
            due += APART.as_nanos() as f64;
            std::thread::sleep(Duration::from_nanos((due - clock.now()).max(0.0) as u64));
            let begin = clock.now();
            let mut now = begin;
            while now - begin < WORK {
                now = clock.now();
            }
            turns.push((begin, now));
        }
        Some(turns)
    };
    std::thread::Builder::new().name(TASK.into()).spawn(work).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_other_programs_do_not_count() {
        let mixed = |busy: usize| [vec![2e3; TIMES - busy], vec![4e6; busy]].concat();
        assert_eq!(typical(mixed(30)), Some(2e3));
        assert_eq!(typical(mixed(38)), None, "too few are left");
        assert_eq!(typical(mixed(TIMES)), None, "each had another program's turn");
        assert_eq!(typical(Vec::new()), None);
    }

    #[test]
    fn a_switch_and_back_takes_longer_than_nothing() {
        let cpu = system::machine::pinnable_cpus()[0];
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
            (false, seen) => assert!(seen.is_none_or(|ns| (500.0..SLICE).contains(&ns)), "{seen:?}"),
        }
    }
}
