//! What the kernel reports of sends with `MSG_ZEROCOPY`, in the error queue of their socket.

use std::mem::{MaybeUninit, zeroed};
use std::os::fd::OwnedFd;

use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, cmsghdr, msghdr, sock_extended_err};
use operation::Failure;

use crate::kit::invoke;

/// The origin of completions, and the bit of their code that says that the bytes were copied (`linux/errqueue.h`).
const ORIGIN: u8 = 5;
const COPIED: u8 = 1;

/// Sends that are done with their bytes.
pub(super) struct Completed {
    pub sends: u32,
    /// True if the kernel copied the bytes after all.
    pub copied: bool,
}

/// Room for the messages beside a completion, aligned as their headers are.
#[repr(align(8))]
struct Room([u8; 256]);

/// The next completion, if there is one. Fails on something else in the error queue.
#[inline(always)]
pub(super) fn completed(socket: &OwnedFd) -> Result<Option<Completed>, Failure> {
    let mut room = Room([0; 256]);
    // SAFETY: all bits zero are a message header without a name, vectors and control data.
    let mut header: msghdr = unsafe { zeroed() };
    header.msg_control = room.0.as_mut_ptr().cast();
    header.msg_controllen = room.0.len() as _;
    // SAFETY: the header names room of the length that it says.
    match unsafe { invoke!(recvmsg, socket, &raw mut header, MSG_ERRQUEUE | MSG_DONTWAIT) } {
        Err(Failure::Errno { errno: libc::EAGAIN }) => return Ok(None),
        got => got?,
    };
    // SAFETY: the kernel filled in the header's control data.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
    let error =
        extended(first).ok_or_else(|| Failure::wrong("an error without its reason came instead of a completion"))?;
    if error.ee_origin != ORIGIN || error.ee_errno != 0 {
        return Err(Failure::Errno { errno: error.ee_errno as i32 });
    }
    let sends = error.ee_data.wrapping_sub(error.ee_info).wrapping_add(1);
    Ok(Some(Completed { sends, copied: error.ee_code & COPIED != 0 }))
}

/// The error that a control message holds, if it holds one.
fn extended(message: *const cmsghdr) -> Option<sock_extended_err> {
    // SAFETY: null, or a header within the room that the kernel filled.
    let head = unsafe { message.as_ref() }?;
    let is_error = (head.cmsg_level, head.cmsg_type) == (libc::SOL_IP, libc::IP_RECVERR);
    // SAFETY: only arithmetic on an address.
    let needed = unsafe { libc::CMSG_LEN(size_of::<sock_extended_err>() as u32) } as u64;
    if !is_error || (head.cmsg_len as u64) < needed {
        return None;
    }
    let mut error = MaybeUninit::<sock_extended_err>::uninit();
    // SAFETY: only arithmetic on an address.
    let data = unsafe { libc::CMSG_DATA(message) };
    // SAFETY: the message is long enough for the error behind its header.
    unsafe { std::ptr::copy_nonoverlapping(data, error.as_mut_ptr().cast::<u8>(), size_of::<sock_extended_err>()) };
    // SAFETY: every byte was just written, and any bytes are such an error.
    Some(unsafe { error.assume_init() })
}
