//! Operations that fail in every way a child can fail.

use operation::{Failure, Need, Operation, Prepare, repeat};
use record::Doubt;

use crate::support::{Failed, HARMLESS, Trial, contains, cost_of, equal, lost, measured, never, sleep, spin, taken};

pub fn tests() -> Vec<Trial> {
    vec![
        ("a crash loses its rounds and nothing else", || {
            // SAFETY: nothing holds: the crash is what is tested.
            loses(
                |_| Ok(never(|| unsafe { std::ptr::null_mut::<u8>().write_volatile(1) })),
                "crashed: killed by SIGSEGV",
            )
        }),
        ("a crash in some rounds is a doubt", sometimes),
        ("a hang is ended", || {
            is_lost(Operation { prepare: |_| Ok(never(spin)), patience: 0.5, ..HARMLESS }, "it hung")
        }),
        ("a memory bomb is bounded", memory_bomb),
        ("a fork bomb is ended", fork_bomb),
        ("daemons are found and ended", daemons),
        ("a descriptor leak ends its round", descriptor_leak),
        ("a panic is reported, not printed", || loses(|_| Ok(never(|| panic!("no more"))), "it panicked: no more")),
        ("being killed is reported", || {
            // SAFETY: ends this process, which is what is tested.
            loses(|_| Ok(never(|| _ = unsafe { libc::raise(libc::SIGKILL) })), "killed by SIGKILL")
        }),
        ("leaving early is reported", || loses(|_| Ok(never(|| std::process::exit(3))), "exit status 3")),
        ("a call the kernel lacks is a skip", || {
            loses(|_| Err(Failure::Errno { errno: libc::ENOSYS }), "this kernel has no such call")
        }),
        ("an unmet need is a skip with its remedy", unmet),
        ("wrong results lose the round", || {
            let prepare: Prepare = |_| Ok(repeat(|| Ok(())).verify(|_| Err(Failure::wrong("the sum differs"))));
            loses(prepare, "the sum differs")
        }),
    ]
}

/// An operation is lost, with all of its rounds, for this reason. A harmless one beside it is not.
fn is_lost(operation: Operation, why: &str) -> Result<(), Failed> {
    let taken = taken(vec![HARMLESS, Operation { id: "test.lost", ..operation }].leak())?;
    measured(&taken, HARMLESS.id)?;
    contains(&lost(&taken, "test.lost")?, why)
}

fn loses(prepare: Prepare, why: &str) -> Result<(), Failed> {
    is_lost(Operation { prepare, ..HARMLESS }, why)
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
    is_lost(Operation { prepare, memory: 256 << 20, ..HARMLESS }, "memory allocation failed")
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
    loses(prepare, "processes without end")
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
    loses(prepare, "Too many open files")
}

fn unmet() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.unmet", needs: &[Need::Program("/no/such/program")], ..HARMLESS }];
    let taken = taken(OPERATIONS)?;
    equal(taken.run.skipped[0].reason.as_str(), "there is no /no/such/program", "reason")?;
    equal(taken.run.skipped[0].remedy.as_str(), "install it", "remedy")
}
