//! Calls on named queues, semaphores and shared memory, all in a namespace that ends with the round.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use operation::{Failure, Operation, repeat, term};

use super::{BLOCK, CALL, PAIR};
use crate::kit::{Null, back_and_forth, call, exactly, invoke, namespaces, owned, steady, steady_with, tried};

/// A new object that its owner may read and write.
const MINE: i32 = libc::IPC_CREAT | 0o600;

/// Bytes of a segment.
const SEGMENT: usize = 64 << 10;

/// The structure sembuf: the semaphore's number, the change, no flags.
const RAISE: [i16; 3] = [0, 1, 0];
const LOWER: [i16; 3] = [0, -1, 0];

/// The queue's name as the kernel takes it: without the slash. Emulators of the kernel's calls expect to find a slash before
/// it, because every C library passes a pointer behind the slash.
const NAME: &CStr = match CStr::from_bytes_with_nul(c"/howslow".to_bytes_with_nul().split_at(1).1) {
    Ok(name) => name,
    Err(_) => panic!("a text ends with a zero"),
};

pub(crate) const OPERATIONS: &[Operation] = &[
    PAIR.named("call.msgget", "create a message queue, and remove it").calls(&["msgget", "msgctl"]).prepare(|_| {
        namespaces(libc::CLONE_NEWIPC)?;
        tried(repeat(|| {
            let queue = call::msgget(libc::IPC_PRIVATE, MINE)?;
            exactly(0, call::msgctl(queue, libc::IPC_RMID, Null)?)
        }))
    }),
    PAIR.named("call.msgsnd", "put 512 bytes into a message queue, and take them out")
        .calls(&["msgsnd", "msgrcv"])
        .moves(|_| BLOCK as u64)
        .prepare(|_| {
            namespaces(libc::CLONE_NEWIPC)?;
            let queue = call::msgget(libc::IPC_PRIVATE, MINE)?;
            let mut message = [1_u64; 1 + BLOCK / 8];
            tried(repeat(move || {
                // SAFETY: the message has a block behind its first word.
                exactly(0, unsafe { invoke!(msgsnd, queue, &message, BLOCK, libc::IPC_NOWAIT) }?)?;
                // SAFETY: the message has room for a block behind its first word.
                exactly(BLOCK, unsafe { invoke!(msgrcv, queue, &mut message, BLOCK, 0, libc::IPC_NOWAIT) }?)
            }))
        }),
    CALL.named("call.msgctl", "ask for the state of a message queue").prepare(|_| {
        namespaces(libc::CLONE_NEWIPC)?;
        let queue = call::msgget(libc::IPC_PRIVATE, MINE)?;
        let mut state = [0_u64; 32];
        steady(move || call::msgctl(queue, libc::IPC_STAT, &mut state))
    }),
    PAIR.named("call.semget", "create a semaphore, and remove it").calls(&["semget", "semctl"]).prepare(|_| {
        namespaces(libc::CLONE_NEWIPC)?;
        tried(repeat(|| {
            let set = call::semget(libc::IPC_PRIVATE, 1, MINE)?;
            exactly(0, call::semctl(set, 0, libc::IPC_RMID, Null)?)
        }))
    }),
    CALL.named("call.semctl", "ask for the value of a semaphore")
        .prepare(|_| steady_with(semaphore()?, |set| call::semctl(*set, 0, libc::GETVAL, Null))),
    CALL.named("call.semop", "raise a semaphore, and lower it: one of the two calls").prepare(|_| {
        let set = semaphore()?;
        back_and_forth(move || {
            exactly(0, call::semop(set, &RAISE)?)?;
            exactly(0, call::semop(set, &LOWER)?)
        })
    }),
    CALL.named("call.semtimedop", "raise a semaphore, and lower it within a second: one of the two calls").prepare(
        |_| {
            let set = semaphore()?;
            back_and_forth(move || {
                exactly(0, call::semtimedop(set, &RAISE, &[1_u64, 0])?)?;
                exactly(0, call::semtimedop(set, &LOWER, &[1_u64, 0])?)
            })
        },
    ),
    PAIR.named("call.shmget", "create a segment of shared memory, and remove it").calls(&["shmget", "shmctl"]).prepare(
        |_| {
            namespaces(libc::CLONE_NEWIPC)?;
            tried(repeat(|| {
                let segment = call::shmget(libc::IPC_PRIVATE, SEGMENT, MINE)?;
                exactly(0, call::shmctl(segment, libc::IPC_RMID, Null)?)
            }))
        },
    ),
    PAIR.named("call.shmat", "map a segment of shared memory, and unmap it").calls(&["shmat", "shmdt"]).prepare(|_| {
        let segment = segment()?;
        tried(repeat(move || {
            let address = call::shmat(segment, Null, 0)?;
            // SAFETY: it was just attached there, and nothing refers to it.
            exactly(0, unsafe { invoke!(shmdt, address) }?)
        }))
    }),
    CALL.named("call.shmctl", "ask for the state of a segment of shared memory").prepare(|_| {
        steady_with((segment()?, [0_u64; 32]), |(segment, state)| call::shmctl(*segment, libc::IPC_STAT, state))
    }),
    PAIR.named("call.mq_open", "create a named message queue, close and remove it")
        .per("queue")
        .calls(&["mq_open", "close", "mq_unlink"])
        .explained_by(&[term(3.0, "syscall.getppid")])
        .prepare(|_| {
            namespaces(libc::CLONE_NEWIPC)?;
            tried(repeat(|| {
                drop(named_queue()?);
                exactly(0, call::mq_unlink(NAME)?)
            }))
        }),
    PAIR.named("call.mq_timedsend", "put 512 bytes into a named message queue, and take them out")
        .calls(&["mq_timedsend", "mq_timedreceive"])
        .moves(|_| BLOCK as u64)
        .prepare(|_| {
            namespaces(libc::CLONE_NEWIPC)?;
            let queue = named_queue()?;
            let mut message = [1_u8; BLOCK];
            tried(repeat(move || {
                exactly(0, call::mq_timedsend(&queue, &message, 0, Null)?)?;
                exactly(BLOCK, call::mq_timedreceive(&queue, &mut message, Null, Null)?)
            }))
        }),
    PAIR.named("call.mq_notify", "register for notification of messages, and unregister")
        .calls(&["mq_notify", "mq_notify"])
        .prepare(|_| {
            namespaces(libc::CLONE_NEWIPC)?;
            let queue = named_queue()?;
            // The structure sigevent: a value, no signal, `SIGEV_NONE` in the upper half of the second word.
            let nothing = [0_u64, 1 << 32, 0, 0, 0, 0, 0, 0];
            tried(repeat(move || {
                // SAFETY: this kind of event contains no address.
                exactly(0, unsafe { invoke!(mq_notify, &queue, &nothing) }?)?;
                exactly(0, call::mq_notify(&queue, Null)?)
            }))
        }),
    CALL.named("call.mq_getsetattr", "ask for the state of a named message queue").prepare(|_| {
        namespaces(libc::CLONE_NEWIPC)?;
        let queue = named_queue()?;
        let mut state = [0_u64; 8];
        steady(move || call::mq_getsetattr(&queue, Null, &mut state))
    }),
];

/// A semaphore at zero.
fn semaphore() -> Result<usize, Failure> {
    namespaces(libc::CLONE_NEWIPC)?;
    call::semget(libc::IPC_PRIVATE, 1, MINE)
}

fn segment() -> Result<usize, Failure> {
    namespaces(libc::CLONE_NEWIPC)?;
    call::shmget(libc::IPC_PRIVATE, SEGMENT, MINE)
}

/// A new queue of up to 8 messages of one block each, nonblocking.
fn named_queue() -> Result<OwnedFd, Failure> {
    let attributes = [0_i64, 8, BLOCK as i64, 0, 0, 0, 0, 0];
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NONBLOCK | libc::O_CLOEXEC;
    Ok(owned(call::mq_open(NAME, flags, 0o600, &attributes)?))
}
