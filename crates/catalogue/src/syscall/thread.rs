//! Calls that threads are built on: waiting on words of memory, and the kernel's state of each thread.

use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Failure, Loop, Operation, Setting, repeat, term};

use super::CALL;
use super::process::{EACH, MANY_IN_CHILD};
use crate::kit::{Null, OURS, Shared, THEIRS, call, exactly, handles, in_child, invoke, steady, steady_with, tried};

/// Two tasks that wake each other in turn.
const ROUNDTRIP: Operation = CALL.per("roundtrip").explained_by(&[term(4.0, "syscall.getppid")]);

/// A word of 32 bits that is shared with other processes: `FUTEX2_SIZE_U32` of linux/futex.h.
const SHARED_U32: u32 = 2;

/// A word to wait on: the structure `futex_waitv` of linux/futex.h.
#[repr(C)]
struct Waiter {
    value: u64,
    address: u64,
    flags: u32,
    zero: u32,
}

/// Memory for restartable sequences: the structure `rseq` of linux/rseq.h, with the alignment it requires.
#[repr(C, align(32))]
struct SequenceArea([u32; 8]);

/// The signature before the restart addresses of a sequence. Any number will do if there is no sequence.
const SIGNATURE: u32 = 0x5305_3053;

/// Bytes of `robust_list_head`.
const LIST: usize = 24;

pub(crate) const OPERATIONS: &[Operation] = &[
    ROUNDTRIP
        .id("call.futex")
        .summary("wake a partner on the same CPU and wait until it wakes us, through a word of shared memory")
        .calls(&["futex", "futex", "futex", "futex"])
        .prepare(|setting| to_and_fro(setting, wait, wake)),
    ROUNDTRIP
        .named("call.futex_wait", "wake a partner on the same CPU and wait until it wakes us, by the newer calls")
        .calls(&["futex_wait", "futex_wake", "futex_wait", "futex_wake"])
        .prepare(|setting| to_and_fro(setting, wait_newer, wake_newer)),
    ROUNDTRIP
        .named("call.futex_waitv", "wake a partner on the same CPU and wait for two words until it wakes us")
        .calls(&["futex_waitv", "futex", "futex_waitv", "futex"])
        .prepare(|setting| to_and_fro(setting, wait_for_many, wake)),
    CALL.named("call.futex_requeue", "move a waiting task from one word to another").prepare(|setting| {
        let [words, waiting] = handles(Shared::new([AtomicU32::new(0), AtomicU32::new(0)])?);
        let partner = setting.repeating_partner(setting.cpu(), move || wait(&waiting[0], 0))?;
        let [first, second] = &**words;
        let (there, back) = ([waiter(first, 0), waiter(second, 0)], [waiter(second, 0), waiter(first, 0)]);
        // SAFETY: the waiters refer to words that the loop keeps.
        let moved = |waiters: &[Waiter; 2]| unsafe { invoke!(futex_requeue, waiters, 0, 0, 1) };
        let there_and_back = move || {
            // There is nothing to move until the partner waits, and nothing to move back if it was woken for another reason
            // meanwhile: the kernel then queues it at its first word again.
            while moved(&there)? == 0 || moved(&back)? == 0 {
                call::sched_yield()?;
            }
            Ok(())
        };
        there_and_back()?;
        Ok(repeat(move || {
            let _alive = (&partner, &words);
            there_and_back()
        })
        .unrolled(2))
    }),
    CALL.named("call.get_robust_list", "get the list of locks that are released when this thread ends")
        .prepare(|_| steady_with(([0_usize], [0_usize]), |(head, length)| call::get_robust_list(0, head, length))),
    CALL.named("call.set_robust_list", "set the list of locks that are released when this thread ends").prepare(|_| {
        let (mut head, mut length) = ([0_usize], [0_usize]);
        exactly(0, call::get_robust_list(0, &mut head, &mut length)?)?;
        if head[0] == 0 {
            head[0] = empty_list();
            length[0] = LIST;
        }
        // SAFETY: the list is the C library's own, or one that is never freed.
        steady(move || unsafe { invoke!(set_robust_list, head[0], length[0]) })
    }),
    MANY_IN_CHILD
        .named("call.rseq", "register and unregister memory for restartable sequences, in a child that has none")
        .calls(&["rseq", "rseq"])
        .explained_by(&[term(2.0, "syscall.getppid")])
        .per("pair")
        .prepare(|_| {
            const UNREGISTER: i32 = 1;
            let mut area = Box::new(SequenceArea([0; 8]));
            let pairs = move || {
                (0..EACH).try_for_each(|_| {
                    // SAFETY: the memory is aligned, and has 32 bytes; the child unregisters it before it ends.
                    exactly(0, unsafe { invoke!(rseq, &mut area.0, 32, 0, SIGNATURE) }?)?;
                    // SAFETY: the memory is the registered one.
                    exactly(0, unsafe { invoke!(rseq, &mut area.0, 32, UNREGISTER, SIGNATURE) }?)
                })
            };
            Ok(tried(in_child(0, pairs))?.unrolled(EACH))
        }),
];

/// An empty list of locks (it points to itself) that lives as long as the thread.
fn empty_list() -> usize {
    let head: &'static mut [usize; 3] = Box::leak(Box::default());
    let address = head.as_ptr() as usize;
    head[0] = address;
    address
}

type Wait = fn(&AtomicU32, u32) -> Result<(), Failure>;
type Wake = fn(&AtomicU32) -> Result<(), Failure>;

/// A loop that passes the turn to a partner on the same CPU and waits until it is passed back.
fn to_and_fro(setting: &Setting, wait: Wait, wake: Wake) -> Result<Loop, Failure> {
    let [word, known] = handles(Shared::new(AtomicU32::new(OURS))?);
    // A first call that does not wait, so that a kernel without the calls is detected before the partner starts.
    wait(&word, THEIRS)?;
    wake(&word)?;
    let partner = setting.repeating_partner(setting.cpu(), move || {
        while known.load(Ordering::Acquire) == OURS {
            wait(&known, OURS)?;
        }
        known.store(OURS, Ordering::Release);
        wake(&known)
    })?;
    tried(repeat(move || {
        let _alive = &partner;
        word.store(THEIRS, Ordering::Release);
        wake(&word)?;
        while word.load(Ordering::Acquire) == THEIRS {
            wait(&word, THEIRS)?;
        }
        Ok(())
    }))
}

/// It is not an error if the word has changed meanwhile.
fn unless_changed(result: Result<usize, Failure>) -> Result<(), Failure> {
    match result {
        Ok(_) | Err(Failure::Errno { errno: libc::EAGAIN | libc::EINTR }) => Ok(()),
        Err(failure) => Err(failure),
    }
}

fn wait(word: &AtomicU32, value: u32) -> Result<(), Failure> {
    unless_changed(call::futex(word, libc::FUTEX_WAIT, value, Null))
}

fn wake(word: &AtomicU32) -> Result<(), Failure> {
    call::futex(word, libc::FUTEX_WAKE, 1, Null).map(drop)
}

fn wait_newer(word: &AtomicU32, value: u32) -> Result<(), Failure> {
    // SAFETY: this kind of word is one of 32 bits.
    unless_changed(unsafe { invoke!(futex_wait, word.as_ptr(), value, u32::MAX, SHARED_U32, 0, 0) })
}

fn wake_newer(word: &AtomicU32) -> Result<(), Failure> {
    // SAFETY: this kind of word is one of 32 bits.
    unsafe { invoke!(futex_wake, word.as_ptr(), u32::MAX, 1, SHARED_U32) }.map(drop)
}

fn wait_for_many(word: &AtomicU32, value: u32) -> Result<(), Failure> {
    let never = AtomicU32::new(0);
    // SAFETY: both waiters refer to words that live until the call has returned.
    unless_changed(unsafe { invoke!(futex_waitv, &[waiter(word, value), waiter(&never, 0)], 2, 0, 0, 0) })
}

#[inline(always)]
fn waiter(word: &AtomicU32, value: u32) -> Waiter {
    Waiter { value: value.into(), address: word.as_ptr() as u64, flags: SHARED_U32, zero: 0 }
}
