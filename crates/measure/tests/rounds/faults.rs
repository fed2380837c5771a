//! Operations that fail in every way a child can fail.

use operation::{Failure, Need, Operation, Prepare, repeat};
use record::Doubt;

use crate::support::{Failed, HARMLESS, Trial, contains, cost_of, equal, lost, measured, never, sleep, spin, taken};

pub fn tests() -> Vec<Trial> {
    vec![
        ("a crash loses its rounds and nothing else", crash),
        ("a crash in some rounds is a doubt", sometimes),
        ("a hang is ended", hang),
        ("a memory bomb is bounded", memory_bomb),
        ("a fork bomb is ended", fork_bomb),
        ("daemons are found and ended", daemons),
        ("a descriptor leak ends its round", descriptor_leak),
        ("a panic is reported, not printed", panic),
        ("being killed is reported", killed),
        ("leaving early is reported", left),
        ("a call the kernel lacks is a skip", lacking),
        ("an unmet need is a skip with its remedy", unmet),
        ("wrong results lose the round", wrong),
    ]
}

/// Why an operation is lost, with all of its rounds. A harmless one beside it is not.
fn why_lost(operation: Operation) -> Result<String, Failed> {
    let taken = taken(vec![HARMLESS, Operation { id: "test.lost", ..operation }].leak())?;
    measured(&taken, HARMLESS.id)?;
    lost(&taken, "test.lost")
}

fn crash() -> Result<(), Failed> {
    // SAFETY: nothing holds: the crash is what is tested.
    let prepare: Prepare = |_| Ok(never(|| unsafe { std::ptr::null_mut::<u8>().write_volatile(1) }));
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "it crashed: killed by SIGSEGV")
}

fn sometimes() -> Result<(), Failed> {
    let cost = cost_of(|setting| {
        // The first round, beside whose folder those of all rounds lie.
        let mark = setting.scratch().with_file_name("mark");
        if !mark.exists() {
            std::fs::write(mark, "")?;
            std::process::abort();
        }
        Ok(repeat(|| Ok(())))
    })?;
    let lost = cost.doubts.iter().find_map(|doubt| match doubt {
        Doubt::RoundLost { reason } => Some(reason.clone()),
        _ => None,
    });
    contains(&lost.unwrap_or_default(), "SIGABRT")?;
    let in_rounds = cost.rounds.iter().filter(|round| round.lost.is_some()).count();
    if in_rounds == 0 { Err("no round says that it was lost".into()) } else { Ok(()) }
}

fn hang() -> Result<(), Failed> {
    contains(&why_lost(Operation { prepare: |_| Ok(never(spin)), patience: 0.5, ..HARMLESS })?, "it hung")
}

fn memory_bomb() -> Result<(), Failed> {
    let prepare: Prepare = |_| {
        let mut kept: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut block = Vec::new();
            let had = block.try_reserve_exact(16 << 20);
            had.map_err(|error| Failure::wrong(error.to_string()))?;
            block.resize(16 << 20, 1);
            kept.push(block);
        }
    };
    contains(&why_lost(Operation { prepare, memory: 256 << 20, ..HARMLESS })?, "memory allocation failed")
}

fn fork_bomb() -> Result<(), Failed> {
    let prepare: Prepare = |_| {
        // Many times as many as are a crowd, but not all that the system has, should nobody end them.
        for _ in 0..13 {
            // SAFETY: the processes do nothing but this; they are ended by the launcher.
            unsafe { libc::fork() };
        }
        // They leave the CPUs to those that still multiply.
        sleep()
    };
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "processes without end")
}

fn daemons() -> Result<(), Failed> {
    // `cost_of` checks that none is left.
    cost_of(|_| {
        // SAFETY: the child only leaves the group and sleeps.
        if unsafe { libc::fork() } == 0 {
            // SAFETY: concerns the child alone.
            unsafe { libc::setsid() };
            sleep();
        }
        Ok(repeat(|| Ok(())))
    })?;
    Ok(())
}

fn descriptor_leak() -> Result<(), Failed> {
    let prepare: Prepare = |_| {
        let mut kept = Vec::new();
        Ok(repeat(move || {
            // More than a round may have open at once: a round on a busy core may have time for few iterations.
            for _ in 0..5000 {
                kept.push(std::fs::File::open("/dev/null")?);
            }
            Ok(())
        }))
    };
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "Too many open files")
}

fn panic() -> Result<(), Failed> {
    let prepare: Prepare = |_| Ok(never(|| panic!("no more")));
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "it panicked: no more")
}

fn killed() -> Result<(), Failed> {
    // SAFETY: ends this process, which is what is tested.
    let prepare: Prepare = |_| Ok(never(|| _ = unsafe { libc::raise(libc::SIGKILL) }));
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "killed by SIGKILL")
}

fn left() -> Result<(), Failed> {
    let prepare: Prepare = |_| Ok(never(|| std::process::exit(3)));
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "exit status 3")
}

fn lacking() -> Result<(), Failed> {
    let prepare: Prepare = |_| Err(Failure::Errno { errno: libc::ENOSYS });
    equal(why_lost(Operation { prepare, ..HARMLESS })?.as_str(), "this kernel has no such call", "reason")
}

fn unmet() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.unmet", needs: &[Need::Program("/no/such/program")], ..HARMLESS }];
    let taken = taken(OPERATIONS)?;
    equal(taken.run.skipped[0].reason.as_str(), "there is no /no/such/program", "reason")?;
    equal(taken.run.skipped[0].remedy.as_str(), "install it", "remedy")
}

fn wrong() -> Result<(), Failed> {
    let prepare: Prepare = |_| Ok(repeat(|| Ok(())).verify(|_| Err(Failure::wrong("the sum differs"))));
    contains(&why_lost(Operation { prepare, ..HARMLESS })?, "the sum differs")
}
