//! Message queues: POSIX and System V. A queue to the same task, and a pair of them to a partner.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;

use libc::{c_int, c_long};
use operation::{Failure, Operation, Setting, term};
use rustix::param::page_size;

use super::{EXOTIC, NEAR_OR_FAR, SIZE, SIZE_OF_TWO, TO_ITSELF, itself, namespace, roundtrip, there_and_back};
use crate::kit::block::Block;
use crate::kit::channel::Channel;

pub(crate) const OPERATIONS: &[Operation] = &[
    // A POSIX queue to the same task.
    Operation {
        id: "mq.posix.self",
        summary: "send a message to a POSIX queue and receive it, one task",
        calls: &["mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive"],
        axes: &[SIZE],
        prepare: |setting| {
            enter_for_posix(setting)?;
            let queue = Rc::new(posix_queue(setting, 0)?);
            itself(setting, PosixEnd { receiver: Rc::clone(&queue), sender: queue })
        },
        ..TO_ITSELF
    },
    // A pair of POSIX queues to a partner.
    Operation {
        id: "mq.posix.roundtrip",
        summary: "a message to a partner process through a POSIX queue, and the answer through another",
        axes: &[NEAR_OR_FAR, SIZE_OF_TWO],
        moves: there_and_back,
        explained_by: &[term(2.0, "mq.posix.self").same(&["size"])],
        prepare: |setting| {
            enter_for_posix(setting)?;
            let messages = Rc::new(posix_queue(setting, 0)?);
            let answers = Rc::new(posix_queue(setting, 1)?);
            let ours = PosixEnd { receiver: Rc::clone(&answers), sender: Rc::clone(&messages) };
            roundtrip(setting, ours, PosixEnd { receiver: messages, sender: answers })
        },
        ..EXOTIC
    },
    // A System V queue to the same task.
    Operation {
        id: "mq.systemv.self",
        summary: "send a message to a System V queue and receive it, one task",
        calls: &["msgget", "msgsnd", "msgrcv"],
        axes: &[SIZE],
        prepare: |setting| {
            enter_for_system_v(setting)?;
            let queue = Rc::new(SystemVQueue::new()?);
            itself(setting, SystemVEnd { receiver: Rc::clone(&queue), sender: queue })
        },
        ..TO_ITSELF
    },
    // A pair of System V queues to a partner.
    Operation {
        id: "mq.systemv.roundtrip",
        summary: "a message to a partner process through a System V queue, and the answer through another",
        axes: &[NEAR_OR_FAR, SIZE_OF_TWO],
        moves: there_and_back,
        explained_by: &[term(2.0, "mq.systemv.self").same(&["size"])],
        prepare: |setting| {
            enter_for_system_v(setting)?;
            let messages = Rc::new(SystemVQueue::new()?);
            let answers = Rc::new(SystemVQueue::new()?);
            let ours = SystemVEnd { receiver: Rc::clone(&answers), sender: Rc::clone(&messages) };
            roundtrip(setting, ours, SystemVEnd { receiver: messages, sender: answers })
        },
        ..EXOTIC
    },
];

/// The longest message that a queue accepts with the default limits (`msgsize_max`, `msgmax`).
const USUAL: usize = 8192;

/// POSIX queues lose their name at once. The namespace is needed only for longer messages, and for the case that this
/// process is killed between creating and removing the name.
fn enter_for_posix(setting: &Setting) -> Result<(), Failure> {
    match namespace::enter() {
        Ok(()) if setting.size() > USUAL => namespace::raise("fs/mqueue/msgsize_max", setting.size()),
        Err(skip) if setting.size() > USUAL => Err(skip),
        _ => Ok(()),
    }
}

/// System V queues do not end with a process; only the end of the namespace removes them in every case.
fn enter_for_system_v(setting: &Setting) -> Result<(), Failure> {
    namespace::enter()?;
    if setting.size() > USUAL {
        namespace::raise("kernel/msgmax", setting.size())?;
        namespace::raise("kernel/msgmnb", setting.size())?;
    }
    Ok(())
}

/// A POSIX queue without a name. On Linux its descriptor is a file descriptor.
fn posix_queue(setting: &Setting, number: u64) -> Result<OwnedFd, Failure> {
    let name = format!("/howslow.{}.{:x}.{number}", std::process::id(), setting.seed());
    let name = CString::new(name).map_err(|_| Failure::wrong("a queue's name holds a zero"))?;
    // SAFETY: zero is a valid value of every field.
    let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = setting.size() as _;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: the name ends in a zero, and with O_CREAT a mode and attributes follow.
    let queue = unsafe { libc::mq_open(name.as_ptr(), flags, 0o600 as libc::mode_t, &mut attributes) };
    if queue < 0 {
        let failure = Failure::last_os_error();
        return Err(match failure {
            Failure::Errno { errno: libc::EMFILE } => {
                Failure::skip("POSIX queues of this user are full", "ulimit -q unlimited")
            }
            other => other,
        });
    }
    // SAFETY: the name ends in a zero.
    unsafe { libc::mq_unlink(name.as_ptr()) };
    // SAFETY: the descriptor is new and owned by nothing else.
    Ok(unsafe { OwnedFd::from_raw_fd(queue) })
}

/// One task's end of POSIX queues. Both tasks hold both queues, which therefore stay open when a partner dies; a partner's
/// death is detected by the round's time limit.
struct PosixEnd {
    receiver: Rc<OwnedFd>,
    sender: Rc<OwnedFd>,
}

impl Channel for PosixEnd {
    #[inline]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        // SAFETY: the block is valid for this number of bytes.
        match unsafe { libc::mq_send(self.sender.as_raw_fd(), block.as_ptr().cast(), block.len(), 0) } {
            0 => Ok(()),
            _ => Err(Failure::last_os_error()),
        }
    }

    #[inline]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        let (queue, room) = (self.receiver.as_raw_fd(), block.len());
        // SAFETY: the block is valid to write for this number of bytes; the priority is not requested.
        let length = unsafe { libc::mq_receive(queue, block.as_mut_ptr().cast(), room, std::ptr::null_mut()) };
        whole(length, room)
    }
}

/// A System V queue, removed when dropped.
struct SystemVQueue {
    id: c_int,
}

impl SystemVQueue {
    fn new() -> Result<SystemVQueue, Failure> {
        // SAFETY: passes no memory.
        match unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) } {
            -1 => Err(Failure::last_os_error()),
            id => Ok(SystemVQueue { id }),
        }
    }
}

impl Drop for SystemVQueue {
    fn drop(&mut self) {
        // SAFETY: removing takes no buffer.
        unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// One task's end of System V queues. The kernel requires the message's type, a positive number, before its bytes.
struct SystemVEnd {
    receiver: Rc<SystemVQueue>,
    sender: Rc<SystemVQueue>,
}

impl SystemVEnd {
    const KIND: c_long = 1;
    const HEADER: usize = size_of::<c_long>();
}

impl Channel for SystemVEnd {
    /// The bytes behind the type begin at a page boundary, as those of other mechanisms do.
    fn block(&self, size: usize) -> Block {
        let mut block = Block::behind(page_size() - Self::HEADER, Self::HEADER + size);
        block[..Self::HEADER].copy_from_slice(&Self::KIND.to_ne_bytes());
        block
    }

    #[inline]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        let size = block.len() - Self::HEADER;
        // SAFETY: the block holds a type and this number of bytes.
        match unsafe { libc::msgsnd(self.sender.id, block.as_ptr().cast(), size, 0) } {
            0 => Ok(()),
            _ => Err(Failure::last_os_error()),
        }
    }

    #[inline]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        let size = block.len() - Self::HEADER;
        // SAFETY: the block has space for a type and this number of bytes.
        let length = unsafe { libc::msgrcv(self.receiver.id, block.as_mut_ptr().cast(), size, Self::KIND, 0) };
        whole(length, size)
    }
}

/// The result of receiving `length` bytes of `size`.
#[inline]
fn whole(length: isize, size: usize) -> Result<(), Failure> {
    match usize::try_from(length) {
        Ok(length) if length == size => Ok(()),
        Ok(_) => Err(Failure::wrong("only a part of a message was received")),
        Err(_) => Err(Failure::last_os_error()),
    }
}
