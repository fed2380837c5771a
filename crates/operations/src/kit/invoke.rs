//! System calls by number, without a wrapper around them. The result of each is checked.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use operation::Failure;
use syscalls::Sysno;

/// `call!(name, arguments...)` makes the system call of that name: `Result<usize, Failure>`.
macro_rules! call {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        // A match, so that memory named in the arguments alone is there until the call is done.
        match [$($crate::kit::invoke::Argument::word($argument)),*] {
            // SAFETY: a block hands over memory of its own, by the types that `Argument` allows, and the lengths of it.
            arguments => unsafe { $crate::kit::invoke::system_call(syscalls::Sysno::$name, arguments) },
        }
    };
}
pub(crate) use call;

/// What a register holds for an argument. Memory is handed over as an array, a string or a raw pointer that the
/// operation's block owns; the lengths beside it are the block's to get right.
pub(crate) trait Argument {
    /// The register's content.
    fn word(self) -> usize;
}

macro_rules! number_arguments {
    ($($number:ty)*) => {$(
        impl Argument for $number {
            #[inline(always)]
            fn word(self) -> usize {
                self as usize
            }
        }
    )*};
}
number_arguments!(i32 u32 i64 u64 isize usize);

impl<T> Argument for *const T {
    #[inline(always)]
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Argument for *mut T {
    #[inline(always)]
    fn word(self) -> usize {
        self as usize
    }
}

impl<T, const N: usize> Argument for &[T; N] {
    #[inline(always)]
    fn word(self) -> usize {
        self.as_ptr() as usize
    }
}

impl<T, const N: usize> Argument for &mut [T; N] {
    #[inline(always)]
    fn word(self) -> usize {
        self.as_mut_ptr() as usize
    }
}

impl Argument for &CStr {
    #[inline(always)]
    fn word(self) -> usize {
        self.as_ptr() as usize
    }
}

impl Argument for &CString {
    #[inline(always)]
    fn word(self) -> usize {
        self.as_ptr() as usize
    }
}

impl Argument for &OwnedFd {
    #[inline(always)]
    fn word(self) -> usize {
        self.as_raw_fd() as usize
    }
}

/// Makes one system call; use it through [`call!`].
///
/// # Errors
/// The error the kernel answers.
///
/// # Safety
/// Arguments that the call takes for addresses must be of memory that it may read or write as it does.
#[inline(always)]
pub(crate) unsafe fn system_call<const N: usize>(number: Sysno, arguments: [usize; N]) -> Result<usize, Failure> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let [first, second, third, fourth, fifth, sixth] = all;
    // SAFETY: as the caller warrants.
    let returned = unsafe { syscalls::raw::syscall6(number as usize, first, second, third, fourth, fifth, sixth) };
    // The kernel returns errors as the last page of numbers.
    if returned > usize::MAX - 4096 { Err(failed(returned)) } else { Ok(returned) }
}

#[cold]
fn failed(returned: usize) -> Failure {
    Failure::Errno { errno: returned.wrapping_neg() as i32 }
}

/// The descriptor that a call returned, closed when dropped.
#[inline(always)]
pub(crate) fn owned(descriptor: usize) -> OwnedFd {
    // SAFETY: a call just returned it, and nothing else knows of it.
    unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }
}
