//! A batch on one CPU counts as interrupted if it took longer than the processor time of its tasks. So this account must contain all
//! tasks of every operation between tasks on one CPU (this process, its reaped children and its partners), or the operation must say
//! that it waits.

use std::time::{Duration, Instant};

use operation::{Operation, Setting, Usage};
use record::{Estimate, Point};

use crate::support::in_a_process;

const FAMILIES: [&str; 8] = [
    "messages", "asynchronous completion", "signals", "switches", "threads", "processes", "event flags",
    "waiting for many",
];

/// The share of a batch that may belong to none of the tasks: clock readings, ticks of the system.
const NOBODYS: f64 = 0.1;
/// The most batches tried until one is undisturbed by the rest of the system.
const MOST: u32 = 2000;
/// Points whose iteration takes more processor time, in ns, are omitted, because on a busy system each of their batches is interrupted.
/// A smaller point shows the same.
const LONG: f64 = 2e6;

#[test]
fn operations_on_one_cpu_account_for_their_time_or_declare_that_they_wait() {
    let scratch = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("accounted");
    std::fs::create_dir_all(&scratch).expect("the target folder can be written");
    let mut wrong = Vec::new();
    for title in FAMILIES {
        let family = howslow_catalogue::FAMILIES.iter().find(|family| family.title == title).expect(title);
        for operation in family.operations() {
            let judged = |point: &Point| {
                operation.cpus(point) == 1 && !(operation.waits)(point) && operation.quoted != Estimate::Typical
            };
            for point in operation.points(false).into_iter().filter(judged) {
                let part = in_a_process(|| nobodys(operation, &point, &scratch, MOST));
                if part.as_ref().map_or(true, |part| *part > NOBODYS) {
                    wrong.push(format!("{}{point}: {part:?}", operation.id));
                }
            }
        }
    }
    std::fs::remove_dir_all(&scratch).expect("the test's own folder can be removed");
    assert!(wrong.is_empty(), "nobody had the CPU for this part of a batch: {wrong:#?}");
}

/// The test above detects what it looks for.
#[test]
fn an_operation_that_sleeps_is_found() {
    /// None of them is without the sleep.
    const FEW: u32 = 300;
    const SLEEP: Operation = Operation {
        id: "test.sleep",
        prepare: |_| {
            Ok(operation::repeat(|| {
                // Long compared with the cost of a timer that a hypervisor sets.
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            }))
        },
        ..Operation::DEFAULT
    };
    let part = in_a_process(|| nobodys(&SLEEP, &Point::default(), std::path::Path::new("/nowhere"), FEW));
    assert!(part.as_ref().is_ok_and(|part| *part > NOBODYS), "{part:?}");
}

/// The smallest share of at most so many batches in which none of the operation's tasks had the CPU; 0 if it cannot be measured here.
fn nobodys(operation: &Operation, point: &Point, scratch: &std::path::Path, most: u32) -> f64 {
    operation::pin(0).expect("CPU 0 may be used");
    let setting = Setting::new(point.clone(), scratch.into(), 0, None, 1);
    let Ok(mut work) = operation.set_up(&setting) else { return 0.0 };
    let mut times = 1;
    loop {
        let (used, start) = (processor_time(), Instant::now());
        if work.perform(times).is_err() {
            return 0.0;
        }
        let (elapsed, used) = (start.elapsed(), processor_time() - used);
        if times == 4 && used > 4.0 * LONG {
            return 0.0;
        }
        if times >= 4 && elapsed > Duration::from_micros(300) || times > 1 << 20 {
            break;
        }
        times *= 2;
    }
    let mut least = 1.0_f64;
    for batch in 0..most {
        if batch > 20 {
            // Other tasks run now, so that the scheduler owes time to this one.
            std::thread::sleep(Duration::from_millis(2));
        }
        let (used, start) = (processor_time(), Instant::now());
        if work.perform(times).is_err() {
            continue;
        }
        let (elapsed, used) = (start.elapsed().as_nanos() as f64, processor_time() - used);
        least = least.min(1.0 - used / elapsed);
        if least < NOBODYS {
            break;
        }
    }
    least
}

/// Processor time of this process, its reaped children and its live children, in ns.
fn processor_time() -> f64 {
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    let partners: f64 =
        children.split_whitespace().filter_map(|pid| operation::processor_time(pid.parse().ok()?)).sum();
    let own = Usage::of_this_process().plus(Usage::of_reaped_children());
    own.user + own.system + partners
}
