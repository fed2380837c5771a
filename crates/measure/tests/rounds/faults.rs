//! Operations that fail in every way a child can fail.

use operation::{Failure, Need, Operation, repeat};
use record::Doubt;

use crate::support::{Failed, HARMLESS, Trial, contains, equal, lost, measured, never, taken};

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

fn crash() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[
        HARMLESS,
        Operation {
            id: "test.crash",
            // SAFETY: nothing holds: the crash is what is tested.
            prepare: |_| Ok(never(|| unsafe { std::ptr::null_mut::<u8>().write_volatile(1) })),
            ..HARMLESS
        },
    ];
    let taken = taken(OPERATIONS)?;
    measured(&taken, "test.harmless")?;
    contains(&lost(&taken, "test.crash")?, "it crashed: killed by SIGSEGV")
}

fn sometimes() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.sometimes",
        prepare: |setting| {
            // The first round, beside whose folder those of all rounds lie.
            let mark = setting.scratch().with_file_name("mark");
            if !mark.exists() {
                std::fs::write(mark, "")?;
                std::process::abort();
            }
            Ok(repeat(|| Ok(())))
        },
        ..HARMLESS
    }];
    let taken = taken(OPERATIONS)?;
    let cost = measured(&taken, "test.sometimes")?;
    let lost = cost.doubts.iter().find_map(|doubt| match doubt {
        Doubt::RoundLost { reason } => Some(reason.clone()),
        _ => None,
    });
    contains(&lost.unwrap_or_default(), "SIGABRT")?;
    let in_rounds = cost.rounds.iter().filter(|round| round.lost.is_some()).count();
    if in_rounds == 0 { Err("no round says that it was lost".into()) } else { Ok(()) }
}

fn hang() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[
        HARMLESS,
        Operation {
            id: "test.hang",
            prepare: |_| {
                Ok(never(|| {
                    loop {
                        std::hint::spin_loop()
                    }
                }))
            },
            patience: 0.5,
            ..HARMLESS
        },
    ];
    let taken = taken(OPERATIONS)?;
    measured(&taken, "test.harmless")?;
    contains(&lost(&taken, "test.hang")?, "it hung")
}

fn memory_bomb() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[
        HARMLESS,
        Operation {
            id: "test.memory",
            prepare: |_| {
                let mut kept: Vec<Vec<u8>> = Vec::new();
                loop {
                    let mut block = Vec::new();
                    let had = block.try_reserve_exact(16 << 20);
                    had.map_err(|error| Failure::wrong(error.to_string()))?;
                    block.resize(16 << 20, 1);
                    kept.push(block);
                }
            },
            memory: 256 << 20,
            ..HARMLESS
        },
    ];
    let taken = taken(OPERATIONS)?;
    measured(&taken, "test.harmless")?;
    contains(&lost(&taken, "test.memory")?, "memory allocation failed")
}

fn fork_bomb() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[
        HARMLESS,
        Operation {
            id: "test.forks",
            prepare: |_| {
                // Many times as many as are a crowd, but not all that the system has, should nobody end them.
                for _ in 0..13 {
                    // SAFETY: the processes do nothing but this; they are ended by the launcher.
                    unsafe { libc::fork() };
                }
                // They leave the CPUs to those that still multiply.
                loop {
                    std::thread::sleep(std::time::Duration::from_secs(60));
                }
            },
            ..HARMLESS
        },
    ];
    let taken = taken(OPERATIONS)?;
    measured(&taken, "test.harmless")?;
    contains(&lost(&taken, "test.forks")?, "processes without end")
}

fn daemons() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.daemon",
        prepare: |_| {
            // SAFETY: the child only leaves the group and sleeps.
            if unsafe { libc::fork() } == 0 {
                // SAFETY: concerns the child alone.
                unsafe { libc::setsid() };
                loop {
                    std::thread::sleep(std::time::Duration::from_secs(60));
                }
            }
            Ok(repeat(|| Ok(())))
        },
        ..HARMLESS
    }];
    // `taken` checks that none is left.
    measured(&taken(OPERATIONS)?, "test.daemon").map(|_| ())
}

fn descriptor_leak() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.leak",
        prepare: |_| {
            let mut kept = Vec::new();
            Ok(repeat(move || {
                // More than a round may have open at once: a round on a busy core may have time for few iterations.
                for _ in 0..5000 {
                    kept.push(std::fs::File::open("/dev/null")?);
                }
                Ok(())
            }))
        },
        ..HARMLESS
    }];
    contains(&lost(&taken(OPERATIONS)?, "test.leak")?, "Too many open files")
}

fn panic() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.panic", prepare: |_| Ok(never(|| panic!("no more"))), ..HARMLESS }];
    contains(&lost(&taken(OPERATIONS)?, "test.panic")?, "it panicked: no more")
}

fn killed() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.killed",
        prepare: |_| {
            Ok(never(|| {
                // SAFETY: ends this process, which is what is tested.
                unsafe { libc::raise(libc::SIGKILL) };
            }))
        },
        ..HARMLESS
    }];
    contains(&lost(&taken(OPERATIONS)?, "test.killed")?, "killed by SIGKILL")
}

fn left() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.left", prepare: |_| Ok(never(|| std::process::exit(3))), ..HARMLESS }];
    contains(&lost(&taken(OPERATIONS)?, "test.left")?, "exit status 3")
}

fn lacking() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.lacking", prepare: |_| Err(Failure::Errno { errno: libc::ENOSYS }), ..HARMLESS }];
    let taken = taken(OPERATIONS)?;
    equal(lost(&taken, "test.lacking")?.as_str(), "this kernel has no such call", "reason")
}

fn unmet() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] =
        &[Operation { id: "test.unmet", needs: &[Need::Program("/no/such/program")], ..HARMLESS }];
    let taken = taken(OPERATIONS)?;
    equal(taken.run.skipped[0].reason.as_str(), "there is no /no/such/program", "reason")?;
    equal(taken.run.skipped[0].remedy.as_str(), "install it", "remedy")
}

fn wrong() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.wrong",
        prepare: |_| Ok(repeat(|| Ok(())).verify(|_| Err(Failure::wrong("the sum differs")))),
        ..HARMLESS
    }];
    contains(&lost(&taken(OPERATIONS)?, "test.wrong")?, "the sum differs")
}
