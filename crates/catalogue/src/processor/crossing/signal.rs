//! A signal to the same task that carries words: its value is their address, the use that POSIX intends.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use operation::{Operation, Value, repeat, term};

use super::{CROSSING, FEW_ARGUMENTS, MOST, added_up, answer, words};
use crate::kit::{call, exactly, install_informed, tried};

pub(crate) const OPERATIONS: &[Operation] = &[
    // The kernel is entered twice: by the sender, and by the handler's return.
    CROSSING
        .named(
            "crossing.signal",
            "send this thread a signal with a value, and have its handler add up the words that the value points to",
        )
        .version(2)
        .axes(&[FEW_ARGUMENTS])
        .explained_by(&[
            term(2.0, "crossing.call").at(&[("arguments", Value::Number(0))]),
            term(1.0, "crossing.procedure").same(&["arguments"]),
        ])
        .at_least(&["crossing.call"])
        .prepare(|setting| {
            install_informed(libc::SIGUSR1, add_up)?;
            let parcel = Box::new(Parcel { count: setting.number("arguments")? as usize, words: words(setting) });
            let wanted = answer(&parcel.words, parcel.count);
            let (process, thread) = (call::getpid()?, call::gettid()?);
            let mut before = SUM.load(Ordering::Relaxed);
            let signals = repeat(move || {
                let information = information(std::ptr::from_ref(&*parcel) as u64);
                exactly(0, call::rt_tgsigqueueinfo(process, thread, libc::SIGUSR1, &information)?)
            });
            tried(signals.verify(move |times| {
                let sum = SUM.load(Ordering::Relaxed);
                added_up(wanted.wrapping_mul(times), sum.wrapping_sub(std::mem::replace(&mut before, sum)))
            }))
        }),
];

/// What the value of a signal points to.
struct Parcel {
    count: usize,
    words: [u64; MOST],
}

/// The sum of the handler's answers. A handler has no argument for it, so the sum is global.
static SUM: AtomicU64 = AtomicU64::new(0);

/// The information sent with the signal: the structure siginfo with the code `SI_QUEUE`, and the value after the sender's
/// ids.
#[inline(always)]
fn information(value: u64) -> [u64; 16] {
    let mut information = [0; 16];
    information[0] = libc::SIGUSR1 as u64;
    information[1] = u64::from(libc::SI_QUEUE as u32);
    information[3] = value;
    information
}

extern "C" fn add_up(_signal: c_int, information: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: a handler with SA_SIGINFO receives the information of its signal.
    let information = unsafe { &*information };
    // SAFETY: the signal was queued with a value, which this reads.
    let value = unsafe { information.si_value() };
    // SAFETY: only the loop above sends this signal to this thread, and its parcel outlives the sending.
    let parcel = unsafe { &*value.sival_ptr.cast::<Parcel>() };
    // The handlers run one after another in one thread, so no locked instruction is needed.
    let sum = SUM.load(Ordering::Relaxed).wrapping_add(answer(&parcel.words, parcel.count));
    SUM.store(sum, Ordering::Relaxed);
}
