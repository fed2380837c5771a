//! Known work is counted exactly: 23 page faults are 23, 23 switches are 23, 23 forks are 23.

use std::cell::Cell;
use std::rc::Rc;

use operation::{Failure, Loop, repeat};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use system::guard::children::{Reaped, wait_for};

use crate::support::{Failed, Trial, cost_of, equal};

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
    let faults = cost_of(|_| {
        // SAFETY: a new private mapping touches nobody's memory.
        let memory = unsafe {
            mmap_anonymous(std::ptr::null_mut(), 23 * PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
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
    })?
    .faults;
    equal((faults.minor.round(), faults.major), (23.0, 0.0), "faults per iteration")?;
    // The accounting itself may fault occasionally.
    if (faults.minor - 23.0).abs() > 0.01 { Err(format!("{} faults", faults.minor).into()) } else { Ok(()) }
}

fn switches() -> Result<(), Failed> {
    let cost = cost_of(|_| {
        Ok(repeat(|| {
            for _ in 0..23 {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
            Ok(())
        }))
    })?;
    // On a busy machine a sleep may be over before the task has given up its CPU.
    equal(cost.switches.voluntary.round(), 23.0, "voluntary switches per iteration")?;
    if cost.wait_ns.0 < 1_000_000.0 { Err(format!("waits only {}", cost.wait_ns).into()) } else { Ok(()) }
}

fn forks() -> Result<(), Failed> {
    let cost = cost_of(|_| {
        let reaped = Rc::new(Cell::new(0_u64));
        let counted = Rc::clone(&reaped);
        let looped = Loop::new(move |times| {
            for _ in 0..times * 23 {
                // SAFETY: the child leaves at once.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    // SAFETY: ends the child without touching what it shares with the parent.
                    unsafe { libc::_exit(7) };
                }
                if wait_for(child) != Reaped::Exit(7) {
                    return Err(Failure::wrong("a child was lost"));
                }
                reaped.set(reaped.get() + 1);
            }
            Ok(())
        });
        Ok(looped.verify(move |times| match counted.replace(0) {
            found if found == 23 * times => Ok(()),
            found => Err(Failure::wrong(format!("{found} forks in {times} iterations"))),
        }))
    })?;
    // Every child writes at least to its stack: one fault each, which is counted too.
    if cost.faults.minor < 23.0 { Err(format!("{} faults in 23 children", cost.faults.minor).into()) } else { Ok(()) }
}

fn children() -> Result<(), Failed> {
    let cost = cost_of(|setting| {
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
    })?;
    let processor = cost.cpu_ns.user.0 + cost.cpu_ns.system.0;
    if processor < 290_000.0 {
        Err(format!("the partner's 300 µs are missing: {processor} ns").into())
    } else {
        Ok(())
    }
}
