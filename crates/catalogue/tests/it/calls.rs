//! Every operation that times one system call or a pair of them, or a program in a mode, does its work. Each runs in a separate process,
//! because many change the state of their process. Those that cannot run here are named.

use std::path::Path;

use operation::{Failure, Operation, Setting};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::support::{give_up_after, in_a_process, other_cpu};

/// Seconds after which a process counts as hung.
const PATIENCE: u32 = 60;

#[test]
fn every_call_does_its_work() {
    let (mut done, mut refused, mut skipped, mut failed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for operation in howslow_catalogue::all().filter(|operation| matches!(operation.family(), "call" | "pair" | "mode"))
    {
        if operation.opt_in {
            // It also writes out data of other processes, hangs with them, or fills the kernel's log.
            skipped.push(format!("{}: only who names it runs it", operation.id));
            continue;
        }
        // In a forked process.
        let scratch = tempfile::tempdir().expect("a folder");
        let ended = in_a_process(|| perform(operation, scratch.path()));
        match ended.unwrap_or_else(|why| Err(Failure::wrong(why))) {
            Ok(()) if operation.refused => refused.push(operation.id),
            Ok(()) => done.push(operation.id),
            Err(Failure::Skip { reason, remedy }) => skipped.push(format!("{}: {reason}; {remedy}", operation.id)),
            Err(failure) => failed.push(format!("{}: {failure}", operation.id)),
        }
    }
    skipped.iter().for_each(|line| eprintln!("skipped {line}"));
    eprintln!("{} did their work, {} were refused, {} skipped", done.len(), refused.len(), skipped.len());
    assert!(failed.is_empty(), "failed:\n{}", failed.join("\n"));
    assert!(done.len() > 100, "only {} operations did their work", done.len());
}

fn perform(operation: &Operation, scratch: &Path) -> Result<(), Failure> {
    give_up_after(PATIENCE);
    // As a round does.
    let _ = setrlimit(Resource::As, Rlimit { current: Some(operation.memory), maximum: None });
    for (number, point) in operation.points(false).into_iter().enumerate() {
        let folder = scratch.join(number.to_string());
        std::fs::create_dir(&folder)?;
        let setting = Setting::new(point, folder, 0, other_cpu(), 1);
        // A refusal during set-up is a skip; a refusal while it runs is a failure.
        let mut work = operation.set_up(&setting).map_err(Failure::into_skip)?;
        [3, 1, 40].into_iter().try_for_each(|times| work.perform(times))?;
        // Where single iterations are timed, they come one after another and are checked together.
        if !work.has_step_before() && work.most_batches() == u32::MAX {
            let times = work.most_iterations().min(3);
            (0..times).try_for_each(|_| work.run_batch(1).map(drop))?;
            work.verify_batch(times)?;
        }
    }
    Ok(())
}
