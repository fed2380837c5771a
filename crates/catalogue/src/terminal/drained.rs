//! A terminal, or a pipe for comparison, whose other end a partner drains as an emulator does: as much as there is, at
//! once.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use operation::{Failure, Partner, Setting};
use rustix::io::Errno;

use crate::kit::Shared;
use crate::kit::library::{self, read, write};

/// The bytes that emulators read at once.
const ROOM: usize = 64 << 10;

/// The writer's end of the drained terminal or pipe.
pub struct Drained {
    pub output: OwnedFd,
    drain: Shared<Drain>,
    /// Written once per batch, when all bytes have arrived.
    come: OwnedFd,
    expected: u64,
    partner: Partner,
}

/// What both sides share.
#[derive(Default)]
struct Drain {
    /// Bytes that have arrived.
    come: AtomicU64,
    /// The number of bytes at which the partner must report.
    goal: AtomicU64,
}

impl Drained {
    /// `output` belongs to this process. The partner reads `drained` until it ends.
    pub fn new(setting: &Setting, output: OwnedFd, drained: OwnedFd) -> Result<Drained, Failure> {
        let drain = Shared::new(Drain::default())?;
        let (come, reported) = library::pipe()?;
        let partner = setting.partner(setting.partner_cpu()?, || {
            let mut room = vec![0; ROOM];
            loop {
                let length = match read(&drained, &mut room) {
                    // A terminal whose other end is closed, and a pipe's end of data.
                    Err(Errno::IO) | Ok(0) => return Ok(()),
                    length => length?,
                };
                let before = drain.come.fetch_add(length as u64, Ordering::AcqRel);
                let goal = drain.goal.load(Ordering::Acquire);
                if (before + 1..=before + length as u64).contains(&goal) {
                    write(&reported, &[1])?;
                }
            }
        })?;
        Ok(Drained { output, drain, come, expected: 0, partner })
    }

    pub fn reader(&self) -> i32 {
        self.partner.pid()
    }

    /// Does work that makes `bytes` come out, and waits for none of them: a later [`Drained::until_come`] does.
    pub fn meanwhile(&mut self, work: impl FnOnce(&OwnedFd) -> Result<u64, Failure>) -> Result<(), Failure> {
        self.expected += work(&self.output)?;
        Ok(())
    }

    /// Does work that makes `bytes` arrive at the other end, and waits until they have.
    #[inline(always)]
    pub fn until_come(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&OwnedFd) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.expected += bytes;
        self.drain.goal.store(self.expected, Ordering::Release);
        work(&self.output)?;
        let mut reported = [0];
        match read(&self.come, &mut reported)? {
            1 if self.drain.come.load(Ordering::Acquire) == self.expected => Ok(()),
            _ => Err(Failure::wrong("the terminal's output does not have the length of what was written")),
        }
    }
}
