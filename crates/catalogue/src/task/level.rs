//! The multiprogramming level: how much work several tasks get done together, on one CPU and on all CPUs.

use std::time::Duration;

use operation::{Axis, Failure, Loop, ONE_CPU, Operation, Setting, count, cpus, numbers, words};
use record::Estimate;

use crate::kit::{BASE, Memory, Passing, Seat, Seats, Work, together};

/// How many tasks there are, ours included.
const TASKS: Axis = count("tasks", numbers![1, 2, 4, 8, 16]);

/// Whether all of them share our CPU, or are spread over all CPUs in turn.
const ON: Axis = cpus("on", words![ONE_CPU, "all"]);

/// The working set of each task: the core's own cache holds some of them, not all.
const SET: usize = 256 << 10;

/// Passes over the working set in a unit of computing: about 10 ms, some time slices.
const PASSES: u64 = 4096;

/// Passes in a unit of mixed work: about 1 ms.
const SHORT: u64 = 512;

/// How long a task sleeps after each unit of mixed work.
const SLEEP: Duration = Duration::from_millis(4);

/// Units of mixed work in an iteration of each task.
const MIXED: u64 = 4;

pub(crate) const OPERATIONS: &[Operation] = &[
    MULTIPROGRAMMING
        .id("multiprogramming.compute")
        .summary("a unit of work of one of several tasks that compute: 4096 passes over a working set of 256 KiB")
        .prepare(|setting| level(setting, |_| Ok(Passing::new(SET, PASSES)), 1)),
    MULTIPROGRAMMING
        .named(
            "multiprogramming.mixed",
            "a unit of work of one of several tasks that compute and wait: 512 passes over 256 KiB, and 4 ms of sleep",
        )
        .waits(|_| true)
        .prepare(|setting| level(setting, |_| Ok(Mixed(Passing::new(SET, SHORT))), MIXED)),
];

/// Time per unit that any of the tasks completes. A batch with many tasks takes a tenth of a second or more.
const MULTIPROGRAMMING: Operation =
    BASE.per("unit of any task").axes(&[TASKS, ON]).opt_in().quoted(Estimate::Typical).terms(&[]);

/// Work with a sleep after each unit.
struct Mixed(Passing);

impl Work for Mixed {
    fn work(&mut self, times: u64) {
        for _ in 0..times * MIXED {
            self.0.work(1);
            std::thread::sleep(SLEEP);
        }
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.0.check(times * MIXED)
    }
}

/// The loop of all tasks at once. An iteration is this number of units of each task.
fn level<W: Work>(setting: &Setting, make: fn(Seat) -> Result<W, Failure>, units: u64) -> Result<Loop, Failure> {
    let tasks = setting.number("tasks")?;
    let mut places = vec![setting.cpu()];
    if setting.word("on")? == "all" {
        places.extend(setting.all_other_cpus());
        if places.len() == 1 {
            return Err(Failure::skip("only one CPU may be used", "allow a second CPU (taskset, cpuset)"));
        }
    }
    let cpus = (1..tasks as usize).map(|task| places[task % places.len()]).collect();
    Ok(together(setting, &Seats { cpus, memory: Memory::Own }, make)?.unrolled(tasks * units))
}
