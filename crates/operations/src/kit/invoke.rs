//! System calls by number, without a wrapper around them. The result of each is checked.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use operation::Failure;
use syscalls::Sysno;

/// `call!(name, arguments...)` makes the system call with that name: `Result<usize, Failure>`. It is for blocks of operations
/// only, because the compiler cannot check its contract: at the place of an address stands memory of the block (or the
/// address of a mapping that it owns), and the length beside it does not exceed that memory.
macro_rules! call {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        // A match, so that temporary memory in the arguments lives until the call has returned.
        match [$($crate::kit::invoke::Argument::word($argument)),*] {
            // SAFETY: the block keeps the contract above.
            arguments => unsafe { $crate::kit::invoke::system_call(syscalls::Sysno::$name, arguments) },
        }
    };
}
pub(crate) use call;

/// What a register holds for an argument. Memory is passed as an array, a string or a raw pointer that the operation's block
/// owns, and the block is responsible for the lengths beside it.
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

/// Makes one system call. Use it through [`call!`].
///
/// # Errors
/// The kernel's error.
///
/// # Safety
/// Addresses among the arguments must be of memory that the call may read or write.
#[inline(always)]
pub(crate) unsafe fn system_call<const N: usize>(number: Sysno, arguments: [usize; N]) -> Result<usize, Failure> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let [first, second, third, fourth, fifth, sixth] = all;
    // SAFETY: the caller guarantees it.
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
