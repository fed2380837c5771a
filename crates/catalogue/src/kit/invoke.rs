//! System calls by number: what an argument may be, and the call itself, in a function that returns. The result of each call is
//! checked. The calls that safe code makes are in [`call`](super::call).

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU32;

use libc::iovec;
use operation::Failure;
use syscalls::Sysno;

/// `invoke!(name, arguments...)` makes the system call with that name: `Result<usize, Failure>`. It is for calls whose
/// arguments no type can check: addresses by nature, addresses within structures, and arguments whose meaning depends on
/// another argument.
///
/// # Safety
/// The kernel may read and write what the arguments refer to, for as long as the call lets it.
macro_rules! invoke {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        // One expression, so that temporary memory in the arguments lives until the call has returned.
        $crate::kit::invoke::system_call(
            syscalls::Sysno::$name,
            $crate::kit::invoke::Registers::default()$(.with::<$crate::kit::invoke::Anything>($argument))*,
        )
    };
}
pub(crate) use invoke;

/// A value that a call takes at a place of this kind. Only [`Number`] takes integers: an address is that of a borrow, or
/// [`Null`].
///
/// # Safety
/// [`load`](Self::load) must put into the registers what the kind says.
pub(crate) unsafe trait Argument<Kind> {
    /// Puts it into the next register, or into the next two.
    fn load(self, registers: &mut Registers);
}

/// An integer or a descriptor.
pub(crate) enum Number {}

/// A text that ends with a zero.
pub(crate) enum Text {}

/// Memory of at least one `S` that the kernel reads.
pub(crate) struct Reads<S>(PhantomData<S>);

/// Memory of at least one `S` that the kernel writes.
pub(crate) struct Writes<S>(PhantomData<S>);

/// Memory that the kernel reads, and then the number of `U` in it.
pub(crate) struct ReadsAll<U>(PhantomData<U>);

/// Memory that the kernel writes, and then the number of `U` in it.
pub(crate) struct WritesAll<U>(PhantomData<U>);

/// The number of `U` in memory, and then the memory, which the kernel reads.
pub(crate) struct CountReadsAll<U>(PhantomData<U>);

/// The number of `U` in memory, and then the memory, which the kernel writes.
pub(crate) struct CountWritesAll<U>(PhantomData<U>);

/// A word that tasks wait on.
pub(crate) enum Word {}

/// A page that something owns: its address, and then its size.
pub(crate) enum OnePage {}

/// A list of [`Buffers`], and then its length.
pub(crate) enum BufferList {}

/// An argument of a call that is not checked.
pub(crate) enum Anything {}

/// No memory. The kernel refuses a null pointer where it needs memory.
pub(crate) struct Null;

/// Parts of memory that the kernel reads or writes.
pub(crate) struct Buffers<'a>(&'a [iovec]);

impl<'a> Buffers<'a> {
    /// # Safety
    /// Each must be memory that stays valid, and that nothing else refers to, for this lifetime.
    #[inline(always)]
    pub(crate) unsafe fn new(vectors: &'a [iovec]) -> Self {
        Buffers(vectors)
    }
}

/// Types of which every content of memory is a valid value.
///
/// # Safety
/// It must be so.
pub(crate) unsafe trait Plain {}

// SAFETY: every content of an array of such values is valid.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: it consists of integers.
unsafe impl Plain for libc::pollfd {}

macro_rules! arguments {
    ($($({$($generics:tt)*})? $kind:ty: $argument:ty, |$value:ident| $($word:expr),+;)*) => {$(
        // SAFETY: the address and the length are those of the argument, and `room` checks its size.
        unsafe impl$(<$($generics)*>)? Argument<$kind> for $argument {
            #[inline(always)]
            fn load(self, registers: &mut Registers) {
                let $value = self;
                $(registers.add($word as usize);)+
            }
        }
    )*};
}
macro_rules! integers {
    ($($number:ty)*) => {$(
        // SAFETY: every content is an integer.
        unsafe impl Plain for $number {}

        arguments! {
            Number: $number, |number| number;
            Anything: $number, |number| number;
        }
    )*};
}
integers!(u8 i32 u32 i64 u64 isize usize);

arguments! {
    Number: &OwnedFd, |file| file.as_raw_fd();
    Text: &CStr, |text| text.as_ptr();
    Text: &CString, |text| text.as_ptr();
    {S, T, const N: usize} Reads<S>: &[T; N], |memory| room::<S, [T; N]>(memory.as_ptr());
    {S, T: Plain, const N: usize} Writes<S>: &mut [T; N], |memory| room::<S, [T; N]>(memory.as_mut_ptr());
    {U, T, const N: usize} ReadsAll<U>: &[T; N], |memory| memory.as_ptr(), count::<U, T>(N);
    {U, T} ReadsAll<U>: &[T], |memory| memory.as_ptr(), count::<U, T>(memory.len());
    {U, T: Plain, const N: usize} WritesAll<U>: &mut [T; N], |memory| memory.as_mut_ptr(), count::<U, T>(N);
    {U, T, const N: usize} CountReadsAll<U>: &[T; N], |memory| count::<U, T>(N), memory.as_ptr();
    {U, T} CountReadsAll<U>: &[T], |memory| count::<U, T>(memory.len()), memory.as_ptr();
    {U, T: Plain} WritesAll<U>: &mut [T], |memory| memory.as_mut_ptr(), count::<U, T>(memory.len());
    {U, T: Plain, const N: usize} CountWritesAll<U>: &mut [T; N], |memory| count::<U, T>(N), memory.as_mut_ptr();
    Word: &AtomicU32, |word| word.as_ptr();
    BufferList: Buffers<'_>, |buffers| buffers.0.as_ptr(), buffers.0.len();
    OwnedFd: OwnedFd, |file| file.into_raw_fd();

    Null: Null, |_null| 0;
    Text: Null, |_null| 0;
    {S} Reads<S>: Null, |_null| 0;
    {S} Writes<S>: Null, |_null| 0;
    {U} ReadsAll<U>: Null, |_null| 0, 0;
    {U} WritesAll<U>: Null, |_null| 0, 0;
    {U} CountReadsAll<U>: Null, |_null| 0, 0;

    Anything: &OwnedFd, |file| file.as_raw_fd();
    Anything: &CStr, |text| text.as_ptr();
    {T, const N: usize} Anything: &[T; N], |memory| memory.as_ptr();
    {T, const N: usize} Anything: &mut [T; N], |memory| memory.as_mut_ptr();
    {T} Anything: *const T, |address| address;
    {T} Anything: *mut T, |address| address;
}

/// The address, of memory that is checked to have room for an `S`.
#[inline(always)]
fn room<S, T>(memory: *const impl Sized) -> usize {
    const { assert!(size_of::<T>() >= size_of::<S>(), "the memory is too small for what the call reads or writes") };
    memory as usize
}

/// The number of whole `U` in this number of `T`.
#[inline(always)]
fn count<U, T>(number: usize) -> usize {
    number * size_of::<T>() / size_of::<U>()
}

/// The registers of a call's arguments.
#[derive(Default)]
pub(crate) struct Registers {
    words: [usize; 6],
    used: usize,
}

impl Registers {
    #[inline(always)]
    pub(crate) fn with<Kind>(mut self, argument: impl Argument<Kind>) -> Registers {
        argument.load(&mut self);
        self
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, word: usize) {
        self.words[self.used] = word;
        self.used += 1;
    }
}

/// Makes one system call. Use it through [`call`](super::call) or [`invoke!`]. Fails with the kernel's error.
///
/// # Safety
/// The kernel may read and write what the arguments refer to, for as long as the call lets it.
#[inline(always)]
pub(crate) unsafe fn system_call(number: Sysno, registers: Registers) -> Result<usize, Failure> {
    let [first, second, third, fourth, fifth, sixth] = registers.words;
    // SAFETY: the caller guarantees it.
    let returned = unsafe { enter(first, second, third, fourth, fifth, sixth, number) };
    // The kernel returns errors as the last page of numbers.
    if returned > usize::MAX - 4096 { Err(failed(returned)) } else { Ok(returned) }
}

/// Makes the call and returns, as a function of a C library does. The arguments come in the registers that the kernel takes them from.
///
/// # Safety
/// As of [`system_call`].
#[inline(never)]
unsafe fn enter(
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
    number: Sysno,
) -> usize {
    // SAFETY: the caller guarantees it.
    unsafe { syscalls::raw::syscall6(number as usize, first, second, third, fourth, fifth, sixth) }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile if the type may stand at a place of the kind: two functions would then have this name.
    macro_rules! no_argument {
        ($($kind:ty: $argument:ty;)*) => {$({
            trait Either<Which> {
                fn one() {}
            }
            impl<T> Either<()> for T {}
            struct Accepted;
            impl<T: Argument<$kind>> Either<Accepted> for T {}
            <$argument as Either<_>>::one();
        })*};
    }

    #[test]
    fn integers_and_pointers_are_no_memory() {
        no_argument! {
            Text: usize;
            Text: *const u8;
            Reads<u64>: usize;
            Reads<u64>: i32;
            Reads<u64>: *const [u64; 1];
            Writes<u64>: usize;
            Writes<u64>: *mut [u64; 1];
            Writes<u64>: &'static [u64; 1];
            Writes<u64>: &'static mut [&'static u8; 1];
            ReadsAll<u8>: usize;
            WritesAll<u8>: usize;
            WritesAll<u8>: &'static [u8; 8];
            CountReadsAll<u8>: usize;
            CountWritesAll<u8>: usize;
            Word: usize;
            BufferList: usize;
            OnePage: usize;
            Null: i32;
        }
    }

    #[test]
    fn lengths_are_those_of_the_memory() {
        let words = |registers: Registers| registers.words;
        let (mut bytes, numbers) = ([0_u8; 24], [1_u64, 2, 3]);
        let written = words(Registers::default().with::<WritesAll<[u64; 2]>>(&mut bytes));
        assert_eq!(written[1], 1, "what does not fit whole does not count");
        let place = numbers.as_ptr() as usize;
        let read = words(Registers::default().with::<CountReadsAll<u8>>(&numbers).with::<ReadsAll<u64>>(&numbers[..2]));
        assert_eq!(read, [24, place, place, 2, 0, 0]);
        assert_eq!(
            words(Registers::default().with::<WritesAll<u8>>(Null).with::<Number>(-1)),
            [0, 0, usize::MAX, 0, 0, 0]
        );
    }
}
