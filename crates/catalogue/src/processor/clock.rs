//! Reading the time: as a program does, from the processor's counter, and by a real system call.

use operation::{Failure, Loop, Operation, opaque, term};

use crate::kit::{BASE, call, ensure};

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.id("clock.read")
        .summary("read the monotonic clock as the C library does: through the kernel's shared page where it can")
        .headline()
        .explained_by(&[term(1.0, "clock.read.counter")])
        .prepare(|_| readings(monotonic)),
    BASE.named("clock.read.counter", "read the processor's own time counter")
        .headline()
        .prepare(|_| readings(|| Ok(counter()))),
    BASE.named("clock.read.syscall", "read the monotonic clock by a real system call")
        .headline()
        .prepare(|_| readings(monotonic_by_syscall)),
];

/// The loop of a clock. The time at the end of a batch must not be earlier than at its beginning.
fn readings(read: impl Fn() -> Result<u64, Failure> + 'static) -> Result<Loop, Failure> {
    let mut latest = read()?;
    let run = move |times| {
        let before = latest;
        for _ in 0..times {
            // Every time is put together, also by an optimizer that sees that only the last one is looked at.
            latest = opaque(read()?);
        }
        ensure(latest >= before && latest > 0, || format!("the clock went back from {before} to {latest}"))
    };
    Ok(Loop::new(run))
}

/// The monotonic clock in nanoseconds.
#[inline(always)]
fn monotonic() -> Result<u64, Failure> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec, and receives a valid one.
    match unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) } {
        0 => Ok(nanoseconds([time.tv_sec as u64, time.tv_nsec as u64])),
        _ => Err(Failure::last_os_error()),
    }
}

/// The monotonic clock in nanoseconds, by a call into the kernel.
#[inline(always)]
fn monotonic_by_syscall() -> Result<u64, Failure> {
    let mut time = [0_u64; 2];
    call::clock_gettime(libc::CLOCK_MONOTONIC, &mut time)?;
    Ok(nanoseconds(time))
}

/// A time of the kernel, in nanoseconds.
#[inline(always)]
fn nanoseconds([seconds, rest]: [u64; 2]) -> u64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest)
}

/// The counter, in its own ticks. It is read without waiting for earlier instructions to finish.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: reads the counter, which user programs may do unless this process has forbidden it for itself.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The counter, in its own ticks. It is read without waiting for earlier instructions to finish.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn counter() -> u64 {
    let ticks;
    // SAFETY: reads the virtual counter, which Linux lets user programs read.
    unsafe { std::arch::asm!("mrs {ticks}, cntvct_el0", ticks = out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_and_the_kernel_give_the_same_time() {
        let first = monotonic().expect("a clock");
        let second = monotonic_by_syscall().expect("a clock");
        let third = monotonic().expect("a clock");
        assert!(first <= second && second <= third);
    }

    #[test]
    fn a_clock_that_goes_back_is_found_out() {
        let time = std::cell::Cell::new(1000);
        let mut wrong = readings(move || Ok(time.replace(time.get() - 1))).expect("a loop");
        assert!(matches!(wrong.perform(10), Err(Failure::Wrong(_))));
    }
}
