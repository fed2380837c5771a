//! Messages between two tasks: an end holds what it receives from and what it sends to.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use operation::Failure;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::kit::block::Block;

/// One task's end of whatever carries whole messages in both directions.
pub(crate) trait Channel {
    /// Room for a message of `size` bytes, after whatever header the channel wants before them.
    fn block(&self, size: usize) -> Block {
        Block::new(size)
    }

    /// Sends the whole message.
    fn send(&self, block: &[u8]) -> Result<(), Failure>;

    /// Waits until a whole message is there.
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure>;

    /// Closes this process's copy of an end that belongs to the process it was forked from, where that matters.
    fn close_inherited(&self) {}
}

/// One task's end of a channel of bytes in both directions.
pub(crate) struct End {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl End {
    /// An end that receives from one descriptor and sends to another.
    pub(crate) fn new(receiver: OwnedFd, sender: OwnedFd) -> End {
        End { receiver, sender }
    }

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

    /// An end to oneself: what goes to the partner of `ours` is received here.
    pub(crate) fn joined(ours: End, theirs: End) -> End {
        End { receiver: theirs.receiver, sender: ours.sender }
    }

    /// What it reads from.
    pub(crate) fn receiver(&self) -> &OwnedFd {
        &self.receiver
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
        read_whole(&self.receiver, block)
    }

    /// From now on receiving never waits: [`End::receive_now`] then tells whether there was a message.
    pub(crate) fn never_wait(&self) -> Result<(), Failure> {
        no_wait(&self.receiver)
    }

    /// Receives a block if one is there, and tells whether there was. Only for blocks small enough to come whole.
    #[inline]
    pub(crate) fn receive_now(&self, block: &mut [u8]) -> Result<bool, Failure> {
        match rustix::io::read(&self.receiver, &mut *block) {
            Ok(0) => Err(Failure::wrong("the other task is gone")),
            Ok(length) if length == block.len() => Ok(true),
            Ok(_) => Err(Failure::wrong("a message came in part")),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
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

/// Reads until the block is full.
///
/// # Errors
/// Also when the other end has been closed.
#[inline]
pub(crate) fn read_whole(from: &OwnedFd, block: &mut [u8]) -> Result<(), Failure> {
    let mut filled = 0;
    while filled < block.len() {
        match rustix::io::read(from, &mut block[filled..])? {
            0 => return Err(Failure::wrong("the other task is gone")),
            more => filled += more,
        }
    }
    Ok(())
}

impl Channel for End {
    #[inline]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        self.send(block)
    }

    #[inline]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        self.receive(block)
    }

    fn close_inherited(&self) {
        self.close_inherited();
    }
}

/// Makes reading an open file never wait, for all who share it.
fn no_wait(file: impl AsFd) -> Result<(), Failure> {
    let flags = fcntl_getfl(&file)?;
    Ok(fcntl_setfl(&file, flags | OFlags::NONBLOCK)?)
}
