//! What a server's calls do for a task on another CPU. The kernel carries a message over loopback to its receiver within the call that
//! sends it, whose caches hold the receiver's end of the connection; and whoever waits is woken by the call that gives it what it
//! waits for, which takes an interrupt of the other CPU if that one is idle.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use operation::{Axis, Failure, Loop, Operation, Pauses, Setting, word, words};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::CALLED;
use super::connection::{SIZES, Server};
use crate::kit::library::{futex, recv, send};
use crate::kit::{Block, OTHER, Shared, ensure, exactly, let_fall_asleep, pausing, tried};

/// How the receiver learns of a message: it looks for it all the time, or sleeps until it comes.
const RECEIVER: Axis = word("receiver", words!["awake", "asleep"]);

pub(crate) const OPERATIONS: &[Operation] = &[
    CALLED
        .named(
            "called.send.other",
            "send bytes over a TCP connection to a process on another CPU, which looks for them all the time or \
            sleeps until they come",
        )
        .calls(&["sendto"])
        .axes(&[OTHER, RECEIVER, SIZES])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(sending),
    CALLED
        .named("called.futex.waiting", "wake the thread that waits for a word, which sleeps on another CPU")
        .calls(&["futex"])
        .axes(&[OTHER])
        .prepare(waking),
];

/// Each message is sent after the one before has been received.
fn sending(setting: &Setting) -> Result<Loop, Failure> {
    let size = setting.size()?;
    let is_asleep = setting.word("receiver")? == "asleep";
    let [near, far] = Server::new()?.pair()?;
    let received = Shared::new(AtomicU64::new(0))?;
    let partner = setting.partner(setting.partner_cpu()?, || {
        let mut room = Block::new(size);
        loop {
            receive(&far, &mut room, is_asleep)?;
            received.fetch_add(1, Ordering::Release);
        }
    })?;
    let message = Block::new(size);
    let mut sent = 0_u64;
    tried(pausing(move |waits| {
        let _alive = &partner;
        await_partner(waits, || received.load(Ordering::Acquire) == sent)?;
        if is_asleep {
            let_fall_asleep(waits);
        }
        exactly(size, send(&near, &message, SendFlags::NOSIGNAL)?)?;
        sent += 1;
        Ok(())
    }))
}

/// Waits until the partner has done its part, outside the batch.
fn await_partner(waits: &Pauses, mut is_done: impl FnMut() -> bool) -> Result<(), Failure> {
    /// It needs some microseconds, unless its CPU is taken away.
    const PATIENCE: Duration = Duration::from_secs(2);
    let mut done = false;
    waits.pause(|| {
        let start = Instant::now();
        while !done && start.elapsed() < PATIENCE {
            done = is_done();
        }
    });
    ensure(done, || "the partner has ended, or its CPU was taken away for 2 s")
}

fn receive(socket: &OwnedFd, room: &mut [u8], is_asleep: bool) -> Result<(), Failure> {
    if is_asleep {
        return exactly(room.len(), recv(socket, room, RecvFlags::WAITALL)?);
    }
    let mut filled = 0;
    while filled < room.len() {
        match recv(socket, &mut room[filled..], RecvFlags::DONTWAIT) {
            Ok(0) => return Err(Failure::wrong("the sender has ended")),
            Ok(more) => filled += more,
            Err(Errno::AGAIN) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Each wake-up comes after the thread has gone to sleep again.
fn waking(setting: &Setting) -> Result<Loop, Failure> {
    let word = Shared::new(AtomicU32::new(0))?;
    let ready = Shared::new(AtomicU32::new(0))?;
    let partner = setting.repeating_partner(setting.partner_cpu()?, || {
        let now = word.load(Ordering::Acquire);
        ready.store(now, Ordering::Release);
        match futex::wait(&word, futex::Flags::empty(), now, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    })?;
    tried(pausing(move |waits| {
        let _alive = &partner;
        loop {
            let number = word.load(Ordering::Relaxed);
            await_partner(waits, || ready.load(Ordering::Acquire) == number)?;
            let_fall_asleep(waits);
            word.store(number.wrapping_add(1), Ordering::Release);
            // It does not sleep yet if its CPU was taken away from it.
            if waits.counts_if(|| futex::wake(&word, futex::Flags::empty(), 1).map(|woken| woken == 1))? {
                return Ok(());
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_is_gone_is_reported() {
        let Some(other) = crate::kit::trial::other_cpu() else {
            return testing::not_tested!("needs two CPUs");
        };
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let point = OPERATIONS[0].points(false).remove(0);
        let setting = Setting::new(point, scratch.path().into(), 0, Some(other), 1);
        let mut looped = OPERATIONS[0].set_up(&setting).expect("it prepares");
        looped.perform(1).expect("a message");
        let partner = setting.partners().borrow()[0];
        // SAFETY: the id is that of our child, which is not yet waited for.
        unsafe { libc::kill(partner, libc::SIGKILL) };
        assert!(looped.perform(100).is_err());
    }
}
