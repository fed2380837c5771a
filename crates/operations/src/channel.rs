//! Bytes between two tasks: an end holds what it reads from and what it writes to.

use std::os::fd::{AsRawFd, OwnedFd};

use measure::Failure;

/// One task's end of a channel in both directions.
pub(crate) struct End {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl End {
    /// An end that reads and writes one socket, which it holds twice.
    pub(crate) fn socket(socket: OwnedFd) -> Result<End, Failure> {
        Ok(End { receiver: socket.try_clone()?, sender: socket })
    }

    /// Both ends of a pair of pipes.
    pub(crate) fn pipes() -> Result<(End, End), Failure> {
        let (our_receiver, their_sender) = rustix::pipe::pipe()?;
        let (their_receiver, our_sender) = rustix::pipe::pipe()?;
        let ours = End { receiver: our_receiver, sender: our_sender };
        Ok((ours, End { receiver: their_receiver, sender: their_sender }))
    }

    /// A pipe to oneself.
    pub(crate) fn to_itself() -> Result<End, Failure> {
        let (receiver, sender) = rustix::pipe::pipe()?;
        Ok(End { receiver, sender })
    }

    /// What it writes to.
    pub(crate) fn sender(&self) -> &OwnedFd {
        &self.sender
    }

    /// Sends the whole block with one call.
    #[inline]
    pub(crate) fn send(&self, block: &[u8]) -> Result<(), Failure> {
        let sent = rustix::io::write(&self.sender, block)?;
        if sent == block.len() { Ok(()) } else { Err(Failure::wrong("a message was sent in part")) }
    }

    /// Waits until the whole block is there.
    ///
    /// # Errors
    /// Also when the other end has been closed.
    #[inline]
    pub(crate) fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        let mut filled = 0;
        while filled < block.len() {
            match rustix::io::read(&self.receiver, &mut block[filled..])? {
                0 => return Err(Failure::wrong("the other task is gone")),
                more => filled += more,
            }
        }
        Ok(())
    }

    /// Closes this process's copy of an end that belongs to the process it was forked from, which keeps its own:
    /// only then does the death of that process end this one's reading.
    pub(crate) fn close_inherited(&self) {
        for descriptor in [self.receiver.as_raw_fd(), self.sender.as_raw_fd()] {
            // SAFETY: this process never uses the end again, and leaves without running its destructor.
            unsafe { libc::close(descriptor) };
        }
    }
}
