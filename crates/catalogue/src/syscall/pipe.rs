//! Pipes that calls fill and drain.

use std::os::fd::OwnedFd;

use operation::Failure;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use crate::kit::{PAGE, STOCK};

/// A pipe with space for a page from each iteration of a batch. Reading it never waits.
pub(super) fn roomy_pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    fcntl_setpipe_size(&writer, STOCK as usize * rustix::param::page_size())?;
    Ok((reader, writer))
}

pub(super) fn drain(reader: &OwnedFd) -> Result<(), Failure> {
    let mut bytes = vec![0; 16 * PAGE];
    loop {
        match rustix::io::read(reader, &mut bytes) {
            Ok(_) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}
