//! How long processors were busy: elapsed time without the kernel's own account of idle time, which root may read; without
//! that, the time that a spinner of the lowest class did not get.

use std::fs;
use std::time::Duration;

use operation::{Clock, Failure, Scheduling, pin};
use system::guard::{Crew, Post};

/// The kernel's list of timers, with the idle time of each CPU in ns.
const TIMERS: &str = "/proc/timer_list";

/// What shows how long processors were busy.
pub(super) enum Busy {
    /// The kernel's account of idle time. Nothing else runs, so that the work costs what it always costs.
    Idle(IdleTime),
    /// Spinners. They keep CPUs from going idle, and a switch from one costs more than one from an idle CPU.
    Spinners(Spinners, Clock),
}

impl Busy {
    /// Skips if no spinner can run where one is needed.
    pub(super) fn open(cpus: &[u32], home: u32) -> Result<Busy, Failure> {
        let idle = IdleTime { cpus: cpus.to_vec(), home, clock: Clock::plain() };
        match idle.now() {
            Ok(_) => Ok(Busy::Idle(idle)),
            Err(_) => Ok(Busy::Spinners(Spinners::start(cpus)?, idle.clock)),
        }
    }

    /// The busy time of all CPUs so far, in ns from some moment on. Fails if it can no longer be known.
    pub(super) fn now(&self) -> Result<f64, Failure> {
        match self {
            Busy::Idle(idle) => idle.now(),
            Busy::Spinners(spinners, clock) => Ok(clock.now() * spinners.0.count() as f64 - spinners.spun()),
        }
    }

    /// Fails if a spinner ended.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self {
            Busy::Idle(_) => Ok(()),
            Busy::Spinners(spinners, _) => spinners.check(),
        }
    }
}

/// The kernel's account of idle time.
pub(super) struct IdleTime {
    cpus: Vec<u32>,
    /// The CPU that this process runs on.
    home: u32,
    clock: Clock,
}

impl IdleTime {
    /// The time that these CPUs were not idle so far. A CPU counts its idle time only when it ends, so this process visits each
    /// of them. Fails if a CPU cannot be visited, or the kernel does not report its idle time.
    fn now(&self) -> Result<f64, Failure> {
        let mut elapsed = 0.0;
        for &cpu in self.cpus.iter().filter(|cpu| **cpu != self.home).chain([&self.home]) {
            pin(cpu)?;
            elapsed += self.clock.now();
        }
        let timers = fs::read_to_string(TIMERS).map_err(|error| Failure::wrong(format!("{TIMERS}: {error}")))?;
        let idle = idle_times(&timers);
        let mut busy = elapsed;
        for cpu in &self.cpus {
            let (_, time) = idle
                .iter()
                .find(|(number, _)| number == cpu)
                .ok_or_else(|| Failure::wrong(format!("{TIMERS} does not tell the idle time of CPU {cpu}")))?;
            busy -= time;
        }
        Ok(busy)
    }
}

/// The idle time of each CPU, in ns, with and without a device that is waited for.
fn idle_times(timers: &str) -> Vec<(u32, f64)> {
    let mut idle: Vec<(u32, f64)> = Vec::new();
    let mut cpu = None;
    for line in timers.lines() {
        let Some((name, value)) = line.trim_start().split_once(':') else { continue };
        let value = value.split_whitespace().next().unwrap_or_default();
        match name.trim_end() {
            "cpu" => cpu = value.parse().ok(),
            ".idle_sleeptime" => idle.extend(cpu.zip(value.parse().ok())),
            ".iowait_sleeptime" => {
                if let (Some((_, idle)), Ok(waited)) = (idle.last_mut(), value.parse::<f64>()) {
                    *idle += waited;
                }
            }
            _ => {}
        }
    }
    idle
}

pub(super) struct Spinners(Crew);

/// The number on a spinner's post: how long it really ran, in ns.
const SPUN: usize = 0;
/// How long a spinner may take to begin.
const PATIENCE: Duration = Duration::from_secs(5);

impl Spinners {
    fn start(cpus: &[u32]) -> Result<Spinners, Failure> {
        let crew = Crew::start(cpus.len(), |number, post| spin(cpus[number], post), || ())
            .map_err(|lost| Failure::wrong(lost.to_string()))?;
        for (number, cpu) in cpus.iter().enumerate() {
            if crew.post(number).wait_for_answer(0, PATIENCE) == 0 {
                let why = crew.ended(number).unwrap_or_else(|| "it never got its CPU".into());
                return Err(Failure::skip(format!("no idle task can spin on CPU {cpu}: {why}"), ""));
            }
        }
        Ok(Spinners(crew))
    }

    /// How long all of them really ran so far, in ns. One that does not run now has counted all that it ran.
    fn spun(&self) -> f64 {
        (0..self.0.count()).map(|number| self.0.post(number).number(SPUN)).sum()
    }

    fn check(&self) -> Result<(), Failure> {
        match (0..self.0.count()).find_map(|number| self.0.ended(number)) {
            Some(why) => Err(Failure::wrong(format!("a spinner ended: {why}"))),
            None => Ok(()),
        }
    }
}

/// Spins on a CPU for ever, in the class that gives way to every other, and counts the time that it runs. An interrupt takes
/// at least a microsecond, so two readings of the clock that are further apart than that were interrupted.
fn spin(cpu: u32, post: &Post) -> String {
    const GAP: f64 = 500.0;
    if let Err(failure) = pin(cpu).and_then(|()| give_way()) {
        return failure.to_string();
    }
    let clock = Clock::plain();
    let gap = GAP.max(4.0 * clock.cost);
    let (mut last, mut spun) = (clock.now(), 0.0);
    post.reply(1);
    loop {
        let now = clock.now();
        if now - last <= gap {
            spun += now - last;
            post.put(SPUN, spun);
        }
        last = now;
    }
}

/// Puts this process into the class that runs only if nobody else wants the CPU, with the shortest turn. Within its
/// group of tasks (a session, a container) it gives way at once; to tasks of other groups, such as the kernel's
/// threads, after a turn at most.
fn give_way() -> Result<(), Failure> {
    const SHORTEST_TURN: u64 = 100_000;
    Scheduling { policy: libc::SCHED_IDLE as u32, runtime: SHORTEST_TURN, ..Scheduling::default() }.set()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_time_of_each_cpu_is_read() {
        let timers = "now at 5 nsecs\n\ncpu: 0\n clock 0:\n  .base: 1\n  .idle_sleeptime : 700 nsecs\n  .iowait_sleeptime: 50 nsecs\n\n\
                      cpu: 3\n  .idle_sleeptime : 20 nsecs\n  .iowait_sleeptime: 0 nsecs\nTick Device: mode: 1\n";
        assert_eq!(idle_times(timers), [(0, 750.0), (3, 20.0)]);
        assert_eq!(idle_times("Timer List Version: v0.10\n"), []);
    }

    /// Both ways agree on a CPU that works for a known time, within what a machine does beside.
    #[test]
    fn a_process_that_works_keeps_its_cpu_busy() {
        let cpus: Vec<u32> = system::machine::describe().cpu.usable;
        let ways = [
            ("the kernel's idle time", Busy::open(&cpus, cpus[0])),
            ("spinners", Spinners::start(&cpus).map(|spinners| Busy::Spinners(spinners, Clock::plain()))),
        ];
        for (name, busy) in ways {
            let Ok(busy) = busy else {
                testing::left_out!("{name}: not possible here");
                continue;
            };
            let clock = Clock::plain();
            let mut tries = Vec::new();
            // Other programs may add to it, and delay a reading of clock and idle times in between.
            let is_seen = (0..20).any(|_| {
                let (before, start) = (busy.now().expect("known"), clock.now());
                while clock.now() - start < 30e6 {}
                let took = busy.now().expect("known") - before;
                tries.push(took);
                took > 25e6 && took < 1.2 * (clock.now() - start) * cpus.len() as f64
            });
            assert!(is_seen, "{name}: {tries:?}");
            busy.check().expect("it still runs");
        }
    }
}
