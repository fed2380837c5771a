//! Known work is counted exactly: 23 page faults are 23, 23 switches are 23, 23 forks are 23.

use std::cell::Cell;
use std::rc::Rc;

use operation::{Failure, Loop, Operation, repeat};

use crate::support::{Failed, HARMLESS, Trial, equal, measured, taken};

pub fn tests() -> Vec<Trial> {
    vec![
        ("23 page faults are counted as 23", faults),
        ("23 waits are counted as 23 switches", switches),
        ("23 forks are 23 forks", forks),
        ("processor time of children and partners counts", children),
    ]
}

const PAGE: usize = 4096;

fn faults() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.faults",
        prepare: |_| {
            // SAFETY: a new private mapping touches nobody's memory.
            let memory = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    23 * PAGE,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if memory == libc::MAP_FAILED {
                return Err(Failure::last_os_error());
            }
            // SAFETY: the advice concerns our own mapping; without huge pages every page faults by itself.
            unsafe { libc::madvise(memory, 23 * PAGE, libc::MADV_NOHUGEPAGE) };
            Ok(repeat(move || {
                // SAFETY: our own mapping, of which nothing is referenced.
                unsafe { libc::madvise(memory, 23 * PAGE, libc::MADV_DONTNEED) };
                for page in 0..23 {
                    // SAFETY: within our own mapping.
                    let byte = unsafe { memory.cast::<u8>().add(page * PAGE) };
                    // SAFETY: as above, and writable.
                    unsafe { byte.write_volatile(1) };
                }
                Ok(())
            }))
        },
        ..HARMLESS
    }];
    let taken = taken(OPERATIONS)?;
    let faults = measured(&taken, "test.faults")?.faults;
    equal((faults.minor.round(), faults.major), (23.0, 0.0), "faults per iteration")?;
    // The accounting itself may fault occasionally.
    if (faults.minor - 23.0).abs() > 0.01 { Err(format!("{} faults", faults.minor).into()) } else { Ok(()) }
}

fn switches() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.switches",
        prepare: |_| {
            Ok(repeat(|| {
                for _ in 0..23 {
                    std::thread::sleep(std::time::Duration::from_micros(50));
                }
                Ok(())
            }))
        },
        ..HARMLESS
    }];
    let taken = taken(OPERATIONS)?;
    let cost = measured(&taken, "test.switches")?;
    // On a busy machine a sleep may be over before the task has given up its CPU.
    equal(cost.switches.voluntary.round(), 23.0, "voluntary switches per iteration")?;
    if cost.wait_ns.0 < 1_000_000.0 { Err(format!("waits only {}", cost.wait_ns).into()) } else { Ok(()) }
}

fn forks() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.forks",
        prepare: |_| {
            let reaped = Rc::new(Cell::new(0_u64));
            let counted = Rc::clone(&reaped);
            let work = Loop::new(move |times| {
                for _ in 0..times * 23 {
                    // SAFETY: the child leaves at once.
                    let child = unsafe { libc::fork() };
                    if child == 0 {
                        // SAFETY: ends the child without touching what it shares with the parent.
                        unsafe { libc::_exit(7) };
                    }
                    let mut status = 0;
                    // SAFETY: the pointer is to an int.
                    let pid = unsafe { libc::waitpid(child, &mut status, 0) };
                    if pid != child || libc::WEXITSTATUS(status) != 7 {
                        return Err(Failure::wrong("a child was lost"));
                    }
                    reaped.set(reaped.get() + 1);
                }
                Ok(())
            });
            Ok(work
                .before({
                    let counted = Rc::clone(&counted);
                    move |_| {
                        counted.set(0);
                        Ok(())
                    }
                })
                .verify(move |times| match counted.get() {
                    found if found == 23 * times => Ok(()),
                    found => Err(Failure::wrong(format!("{found} forks in {times} iterations"))),
                }))
        },
        ..HARMLESS
    }];
    let taken = taken(OPERATIONS)?;
    let cost = measured(&taken, "test.forks")?;
    // Every child writes at least to its stack: one fault each, which is counted too.
    if cost.faults.minor < 23.0 { Err(format!("{} faults in 23 children", cost.faults.minor).into()) } else { Ok(()) }
}

fn children() -> Result<(), Failed> {
    const OPERATIONS: &[Operation] = &[Operation {
        id: "test.partner",
        prepare: |setting| {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let partner = setting.partner(setting.cpu(), move || {
                use std::io::{Read, Write};
                let mut byte = [0];
                loop {
                    (&theirs).read_exact(&mut byte)?;
                    // By its own processor time: on a busy machine others run in between.
                    let spent = || rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_nsec;
                    let start = spent();
                    while (spent() - start).rem_euclid(1_000_000_000) < 300_000 {}
                    (&theirs).write_all(&byte)?;
                }
            })?;
            Ok(repeat(move || {
                use std::io::{Read, Write};
                let _alive = &partner;
                let mut byte = [0];
                (&ours).write_all(&byte)?;
                (&ours).read_exact(&mut byte)?;
                Ok(())
            }))
        },
        ..HARMLESS
    }];
    let taken = taken(OPERATIONS)?;
    let cost = measured(&taken, "test.partner")?;
    let processor = cost.cpu_ns.user.0 + cost.cpu_ns.system.0;
    if processor < 290_000.0 {
        Err(format!("the partner's 300 µs are missing: {processor} ns").into())
    } else {
        Ok(())
    }
}
