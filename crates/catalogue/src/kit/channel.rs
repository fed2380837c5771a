//! Messages between two tasks. Each end holds the descriptors that it receives from and sends to.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

use operation::Failure;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use crate::kit::block::Block;
use crate::kit::check::ensure;
use crate::kit::library;

/// One task's end of a channel that carries whole messages in both directions.
pub(crate) trait Channel {
    /// A buffer for a message of `size` bytes, behind the header that the channel needs, if any.
    fn block(&self, size: usize) -> Block {
        Block::new(size)
    }

    fn send(&self, block: &[u8]) -> Result<(), Failure>;

    /// Waits until a whole message has arrived.
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure>;

    /// Closes this process's copy of an end that belongs to the process it was forked from, if that matters.
    fn close_inherited(&self) {}
}

/// One task's end of a byte channel in both directions.
pub(crate) struct End {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl End {
    /// An end that receives from one descriptor and sends to another.
    pub(crate) fn new(receiver: OwnedFd, sender: OwnedFd) -> End {
        End { receiver, sender }
    }

    /// An end that reads and writes one socket, through two descriptors.
    pub(crate) fn socket(socket: OwnedFd) -> Result<End, Failure> {
        Ok(End { receiver: socket.try_clone()?, sender: socket })
    }

    pub(crate) fn pipes() -> Result<(End, End), Failure> {
        let (our_receiver, their_sender) = library::pipe()?;
        let (their_receiver, our_sender) = library::pipe()?;
        let ours = End { receiver: our_receiver, sender: our_sender };
        Ok((ours, End { receiver: their_receiver, sender: their_sender }))
    }

    pub(crate) fn to_itself() -> Result<End, Failure> {
        let (receiver, sender) = library::pipe()?;
        Ok(End { receiver, sender })
    }

    /// An end to itself: it receives what is sent to the partner of `ours`.
    pub(crate) fn joined(ours: End, theirs: End) -> End {
        End { receiver: theirs.receiver, sender: ours.sender }
    }

    pub(crate) fn receiver(&self) -> &OwnedFd {
        &self.receiver
    }

    pub(crate) fn sender(&self) -> &OwnedFd {
        &self.sender
    }

    /// Makes receiving nonblocking, for all descriptors that share the file: [`End::receive_now`] then returns whether there was a message.
    pub(crate) fn never_wait(&self) -> Result<(), Failure> {
        let flags = fcntl_getfl(&self.receiver)?;
        Ok(fcntl_setfl(&self.receiver, flags | OFlags::NONBLOCK)?)
    }

    /// Receives a block if one is there. Returns whether there was one. Only for blocks small enough to arrive whole.
    #[inline]
    pub(crate) fn receive_now(&self, block: &mut [u8]) -> Result<bool, Failure> {
        match library::read(&self.receiver, &mut *block) {
            Ok(0) => Err(Failure::wrong("the other task has ended")),
            Ok(length) if length == block.len() => Ok(true),
            Ok(_) => Err(Failure::wrong("only a part of a message was received")),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Both ends of a TCP connection over loopback.
pub(crate) fn tcp_pair() -> Result<(OwnedFd, OwnedFd), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let ours = TcpStream::connect(listener.local_addr()?)?;
    let (theirs, _) = listener.accept()?;
    Ok((ours.into(), theirs.into()))
}

/// Makes space in a pipe for `size` bytes. A message larger than the pipe would wait for a reader forever. The usual capacity is
/// 64 KiB, but a user with many pipes gets smaller ones.
pub(crate) fn hold(pipe: &OwnedFd, size: usize) -> Result<(), Failure> {
    if fcntl_getpipe_size(pipe)? < size {
        fcntl_setpipe_size(pipe, size).map_err(|_| {
            Failure::skip("the pipe is smaller than the message", "raise /proc/sys/fs/pipe-user-pages-soft")
        })?;
    }
    Ok(())
}

/// Widens a pipe for `size` bytes, which may begin and end within a page, as far as this user may.
pub(crate) fn widened(pipe: &OwnedFd, size: usize) -> Result<(), Failure> {
    /// What the kernel lets every user have (fs.pipe-max-size).
    const USUAL: usize = 1 << 20;
    let held = fcntl_getpipe_size(pipe)?;
    let mut tries = [size + 2 * rustix::param::page_size(), size, size.min(USUAL)].into_iter();
    // If none is allowed, a record takes several calls.
    let _ = tries.any(|wanted| held >= wanted || fcntl_setpipe_size(pipe, wanted).is_ok());
    Ok(())
}

/// Reads until the block is full. Fails also if the other end has been closed.
#[inline]
pub(crate) fn read_whole(from: &OwnedFd, block: &mut [u8]) -> Result<(), Failure> {
    let mut filled = 0;
    while filled < block.len() {
        match library::read(from, &mut block[filled..])? {
            0 => return Err(Failure::wrong("the other task has ended")),
            more => filled += more,
        }
    }
    Ok(())
}

impl Channel for End {
    /// Sends the whole block in one call.
    #[inline]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        let sent = library::write(&self.sender, block)?;
        ensure(sent == block.len(), || "only a part of a message was sent")
    }

    /// Fails also if the other end has been closed.
    #[inline]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        read_whole(&self.receiver, block)
    }

    /// Otherwise this process would not see the end of the data when the other process dies.
    fn close_inherited(&self) {
        for descriptor in [self.receiver.as_raw_fd(), self.sender.as_raw_fd()] {
            // SAFETY: this process never uses the end again, and leaves without running its destructor.
            unsafe { libc::close(descriptor) };
        }
    }
}
