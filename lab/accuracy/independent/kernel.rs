//! System calls without the C library, whose own work would be part of what is timed.

use std::arch::asm;

/// A system call by its number and up to six words, in a function that returns, as a C library makes it; the answer is negative where it
/// failed.
///
/// # Safety
/// The kernel may read and write what the words point to, and do whatever else the call does.
#[inline(never)]
pub(super) unsafe fn enter(number: libc::c_long, words: [usize; 6]) -> isize {
    // SAFETY: as the caller promises.
    unsafe { instruction(number, words) }
}

/// What fits into a register of a system call.
pub(super) trait Argument {
    fn word(self) -> usize;
}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl Argument for $number {
        fn word(self) -> usize { self as usize }
    })* };
}

numbers!(i32, u32, i64, u64, usize, isize);

impl<T> Argument for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Argument for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn instruction(number: libc::c_long, words: [usize; 6]) -> isize {
    let answer;
    // SAFETY: what the kernel's entry overwrites is declared; the rest is promised by the caller.
    unsafe {
        asm!(
            "syscall", inlateout("rax") number as isize => answer,
            in("rdi") words[0], in("rsi") words[1], in("rdx") words[2],
            in("r10") words[3], in("r8") words[4], in("r9") words[5],
            lateout("rcx") _, lateout("r11") _, options(nostack)
        );
    }
    answer
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn instruction(number: libc::c_long, words: [usize; 6]) -> isize {
    let answer;
    // SAFETY: the kernel keeps every register but the answer's; the rest is promised by the caller.
    unsafe {
        asm!(
            "svc #0", in("x8") number, inlateout("x0") words[0] => answer,
            in("x1") words[1], in("x2") words[2], in("x3") words[3], in("x4") words[4], in("x5") words[5],
            options(nostack)
        );
    }
    answer
}

/// `call!(number, words...)`: the entries of this bench pass numbers, and pointers to what they own and keep.
macro_rules! call {
    ($number:expr $(, $word:expr)* $(,)?) => {{
        #[allow(unused_mut, unused_assignments, reason = "a call may have no words")]
        let words = {
            let mut words = [0_usize; 6];
            let mut place = 0;
            $( words[place] = $crate::independent::kernel::Argument::word($word); place += 1; )*
            let _ = place;
            words
        };
        // SAFETY: every pointer is to a buffer that the entry owns, and every length is that buffer's.
        unsafe { $crate::independent::kernel::enter($number, words) }
    }};
}

/// The answer, or which call failed and why.
pub(super) fn done(what: &str, answer: isize) -> Result<usize, String> {
    if answer >= 0 {
        Ok(answer as usize)
    } else {
        Err(format!("{what}: {}", std::io::Error::from_raw_os_error(-answer as i32)))
    }
}
