//! Message queues: POSIX and System V. A queue to the same task, and a pair of them to a partner.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use libc::c_long;
use operation::{Failure, Operation, Setting, term};
use rustix::param::page_size;

use super::{NEAR_OR_FAR, SELF, SIZE, SIZE_OF_TWO, TRIP, itself, roundtrip, there_and_back};
use crate::kit::{Block, Channel, Null, call, exactly, invoke, namespaces, owned};

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.named("mq.posix.self", "send a message to a POSIX queue and receive it, one task")
        .version(3)
        .calls(&["mq_timedsend", "mq_timedreceive"])
        .axes(&[SIZE])
        .prepare(|setting| {
            enter_for_posix(setting)?;
            let queue = Rc::new(posix_queue(setting)?);
            itself(setting, PosixEnd { receiver: Rc::clone(&queue), sender: queue })
        }),
    TRIP.id("mq.posix.roundtrip")
        .summary("a message to a partner process through a POSIX queue, and the answer through another")
        .version(3)
        .axes(&[NEAR_OR_FAR, SIZE_OF_TWO])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "mq.posix.self").same(&["size"])])
        .prepare(|setting| {
            enter_for_posix(setting)?;
            let (messages, answers) = (Rc::new(posix_queue(setting)?), Rc::new(posix_queue(setting)?));
            let ours = PosixEnd { receiver: Rc::clone(&answers), sender: Rc::clone(&messages) };
            roundtrip(setting, (ours, PosixEnd { receiver: messages, sender: answers }))
        }),
    SELF.named("mq.systemv.self", "send a message to a System V queue and receive it, one task")
        .version(3)
        .calls(&["msgsnd", "msgrcv"])
        .axes(&[SIZE])
        .prepare(|setting| {
            enter_for_system_v(setting)?;
            let queue = Rc::new(SystemVQueue::new()?);
            itself(setting, SystemVEnd { receiver: Rc::clone(&queue), sender: queue })
        }),
    TRIP.id("mq.systemv.roundtrip")
        .summary("a message to a partner process through a System V queue, and the answer through another")
        .version(3)
        .axes(&[NEAR_OR_FAR, SIZE_OF_TWO])
        .moves(there_and_back)
        .explained_by(&[term(2.0, "mq.systemv.self").same(&["size"])])
        .prepare(|setting| {
            enter_for_system_v(setting)?;
            let (messages, answers) = (Rc::new(SystemVQueue::new()?), Rc::new(SystemVQueue::new()?));
            let ours = SystemVEnd { receiver: Rc::clone(&answers), sender: Rc::clone(&messages) };
            roundtrip(setting, (ours, SystemVEnd { receiver: messages, sender: answers }))
        }),
];

/// The longest message that a queue accepts with the default limits (`msgsize_max`, `msgmax`).
const USUAL: usize = 8192;

/// POSIX queues lose their name at once. The namespace is needed only for longer messages, and for the case that this
/// process is killed between creating and removing the name.
fn enter_for_posix(setting: &Setting) -> Result<(), Failure> {
    match namespaces(libc::CLONE_NEWIPC) {
        Ok(()) if setting.size()? > USUAL => raise("fs/mqueue/msgsize_max", setting.size()?),
        Err(skip) if setting.size()? > USUAL => Err(skip),
        _ => Ok(()),
    }
}

/// System V queues do not end with a process; only the end of the namespace removes them in every case.
fn enter_for_system_v(setting: &Setting) -> Result<(), Failure> {
    namespaces(libc::CLONE_NEWIPC)?;
    if setting.size()? > USUAL {
        raise("kernel/msgmax", setting.size()?)?;
        raise("kernel/msgmnb", setting.size()?)?;
    }
    Ok(())
}

/// Raises a limit of the private namespace; before this process entered it, the limit would be the machine's. A skip if that is
/// not allowed.
fn raise(limit: &str, to: usize) -> Result<(), Failure> {
    let file = format!("/proc/sys/{limit}");
    let now = std::fs::read_to_string(&file)?.trim().parse::<usize>().unwrap_or(0);
    if now >= to {
        return Ok(());
    }
    std::fs::write(&file, to.to_string()).map_err(|_| {
        Failure::skip(format!("a message may have only {now} bytes"), format!("run as root, or raise {file}"))
    })
}

/// A POSIX queue without a name. On Linux its descriptor is a file descriptor.
fn posix_queue(setting: &Setting) -> Result<OwnedFd, Failure> {
    let name = format!("howslow.{}.{:x}", std::process::id(), setting.seed());
    let name = CString::new(name).map_err(|_| Failure::wrong("a queue's name holds a zero"))?;
    let attributes = [0, 1, setting.size()? as i64, 0, 0, 0, 0, 0];
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
    let queue = call::mq_open(&name, flags, 0o600, &attributes).map_err(|failure| {
        failure.skip_on(&[libc::EMFILE], "POSIX queues of this user are full", "ulimit -q unlimited")
    })?;
    call::mq_unlink(&name)?;
    Ok(owned(queue))
}

/// One task's end of POSIX queues. Both tasks hold both queues, which therefore stay open when a partner dies; a partner's
/// death is detected by the round's time limit.
struct PosixEnd {
    receiver: Rc<OwnedFd>,
    sender: Rc<OwnedFd>,
}

impl Channel for PosixEnd {
    #[inline(always)]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        exactly(0, call::mq_timedsend(&*self.sender, block, 0, Null)?)
    }

    #[inline(always)]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        let room = block.len();
        exactly(room, call::mq_timedreceive(&*self.receiver, block, Null, Null)?)
    }
}

/// A System V queue, removed when dropped.
struct SystemVQueue {
    id: usize,
}

impl SystemVQueue {
    fn new() -> Result<SystemVQueue, Failure> {
        Ok(SystemVQueue { id: call::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600)? })
    }
}

impl Drop for SystemVQueue {
    fn drop(&mut self) {
        let _ = call::msgctl(self.id, libc::IPC_RMID, Null);
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

    #[inline(always)]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        let size = block.len() - Self::HEADER;
        // SAFETY: the block holds a type and this number of bytes.
        exactly(0, unsafe { invoke!(msgsnd, self.sender.id, block.as_ptr(), size, 0) }?)
    }

    #[inline(always)]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        let size = block.len() - Self::HEADER;
        // SAFETY: the block has space for a type and this number of bytes.
        exactly(size, unsafe { invoke!(msgrcv, self.receiver.id, block.as_mut_ptr(), size, Self::KIND, 0) }?)
    }
}
