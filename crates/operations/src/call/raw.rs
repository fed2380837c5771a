//! How the files of this folder make their calls: by number, with nothing around them, and every result looked at.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::rc::Rc;

use operation::{Failure, Loop, Operation, Setting, TermOf, repeat, term};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Resource, getrlimit, setrlimit};
use syscalls::Sysno;

use crate::DEFAULT;
use crate::syscall::{exactly, new_file, scratch};

/// Entering the kernel and leaving it again, once.
pub(crate) const ENTRY: &[TermOf] = &[term(1.0, "syscall.getppid")];

/// One call, explained by its entry.
pub(crate) const CALL: Operation = Operation { explained_by: ENTRY, ..DEFAULT };

/// Two calls that programs make in pairs.
pub(crate) const PAIR: Operation = Operation { per: "pair", explained_by: &[term(2.0, "syscall.getppid")], ..DEFAULT };

/// Bytes that a call moves where nothing else is said: one block move.
pub(crate) const BLOCK: usize = 512;

/// How many descriptors, mappings and the like one batch makes or uses up: a quarter of the usual limit on open files.
pub(crate) const STOCK: u64 = 256;

/// Files made in one batch, and batches of them in a round, since some file systems make each dearer than the last.
pub(crate) const FILES: u64 = 16;

/// `call!(name, arguments...)` makes the system call of that name: `Result<usize, Failure>`.
macro_rules! call {
    ($name:ident $(, $argument:expr)* $(,)?) => {
        $crate::call::raw::system_call(
            syscalls::Sysno::$name,
            [$($crate::call::raw::Argument::word($argument)),*],
        )
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
#[inline(always)]
pub(crate) fn system_call<const N: usize>(number: Sysno, arguments: [usize; N]) -> Result<usize, Failure> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let [first, second, third, fourth, fifth, sixth] = all;
    // SAFETY: each block hands over memory of its own, by the types that `Argument` allows, and the right lengths.
    let returned = unsafe { syscalls::raw::syscall6(number as usize, first, second, third, fourth, fifth, sixth) };
    // The kernel returns errors as the last page of numbers.
    if returned > usize::MAX - 4096 { Err(failed(returned)) } else { Ok(returned) }
}

#[cold]
fn failed(returned: usize) -> Failure {
    Failure::Errno { errno: returned.wrapping_neg() as i32 }
}

/// Fails unless a call was answered by this error.
#[inline(always)]
pub(crate) fn answered(errno: i32, result: Result<usize, Failure>) -> Result<(), Failure> {
    match result {
        Err(Failure::Errno { errno: answer }) if answer == errno => Ok(()),
        Err(other) => Err(other),
        Ok(returned) => Err(let_through(returned)),
    }
}

#[cold]
fn let_through(returned: usize) -> Failure {
    Failure::wrong(format!("a call returned {returned} where it must be refused"))
}

/// The descriptor that a call returned, closed when dropped.
#[inline(always)]
pub(crate) fn owned(descriptor: usize) -> OwnedFd {
    // SAFETY: a call just returned it, and nothing else knows of it.
    unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) }
}

/// The file `file` in the scratch folder, of so many bytes.
pub(crate) fn file_of(setting: &Setting, length: usize) -> Result<OwnedFd, Failure> {
    let file = new_file(&scratch(setting)?)?;
    exactly(length, rustix::io::pwrite(&file, &vec![1; length], 0)?)?;
    Ok(file)
}

/// File systems that keep everything in memory, by the number `statfs` gives them: tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];

/// A skip where this file has no device to wait for.
pub(crate) fn on_a_device(file: &OwnedFd) -> Result<(), Failure> {
    if IN_MEMORY.contains(&(rustix::fs::fstatfs(file)?.f_type as u32)) {
        return Err(Failure::skip("the scratch folder is in memory", "set TMPDIR to a folder on a disk"));
    }
    Ok(())
}

/// A device that every system has, for reading and writing.
pub(crate) fn device(path: &CStr) -> Result<OwnedFd, Failure> {
    Ok(open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Makes the scratch folder the working one, so that names are single components; returned open.
pub(crate) fn enter(setting: &Setting) -> Result<OwnedFd, Failure> {
    let folder = scratch(setting)?;
    rustix::process::fchdir(&folder)?;
    Ok(folder)
}

/// Names of files: one for each iteration of a batch of at most `count`.
pub(crate) fn names(prefix: &str, count: u64) -> Result<Vec<CString>, Failure> {
    let name = |number| CString::new(format!("{prefix}{number}")).map_err(|_| Failure::wrong("a name holds a zero"));
    (0..count).map(name).collect()
}

/// A loop, once it has been found that the kernel lets its calls through: a refusal from then on is a fault.
pub(crate) fn tried(mut looped: Loop) -> Result<Loop, Failure> {
    looped.perform(1)?;
    Ok(looped)
}

/// A loop of a call that must return zero, with one of two values and with the other in turn: what is set to the value
/// it has already, the kernel may leave alone.
///
/// # Errors
/// Whatever the first call meets.
#[inline(always)]
pub(crate) fn turning<V: Copy + 'static>(
    values: [V; 2],
    mut set: impl FnMut(V) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let mut next = false;
    tried(repeat(move || {
        exactly(0, set(values[usize::from(next)])?)?;
        next = !next;
        Ok(())
    }))
}

/// How many things one batch makes or uses up, each of two descriptors at most; the limit on these is raised to what
/// this process may have.
fn at_once() -> u64 {
    const OTHERS: u64 = 64;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < 2 * STOCK + OTHERS) {
        limit.current = limit.maximum;
        // Where it is not raised, the batches are shorter.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (current.saturating_sub(OTHERS) / 2).clamp(1, STOCK)
}

/// A loop that is told the number of each iteration within its batch.
#[inline(always)]
pub(crate) fn numbered(mut body: impl FnMut(usize) -> Result<(), Failure> + 'static) -> Loop {
    Loop::new(move |times| (0..times as usize).try_for_each(&mut body))
}

/// Does `body` for each iteration of a batch, before or after it.
pub(crate) fn for_each(
    mut body: impl FnMut(usize) -> Result<(), Failure> + 'static,
) -> impl FnMut(u64) -> Result<(), Failure> + 'static {
    move |times| (0..times as usize).try_for_each(&mut body)
}

/// A loop that makes one thing per iteration; they are dropped after the batch, outside the timing.
#[inline(always)]
pub(crate) fn producing<T: 'static>(mut produce: impl FnMut() -> Result<T, Failure> + 'static) -> Loop {
    let stock = Rc::new(RefCell::new(Vec::with_capacity(STOCK as usize)));
    let made = Rc::clone(&stock);
    Loop::new(move |times| {
        let mut stock = stock.borrow_mut();
        for _ in 0..times {
            stock.push(produce()?);
        }
        Ok(())
    })
    .at_most(at_once())
    .verify(move |times| {
        let made: Vec<T> = made.borrow_mut().drain(..).collect();
        exactly(times as usize, made.len())
    })
}

/// A loop that uses up one thing per iteration, or makes another of it; they are made before the batch and what became
/// of them is dropped after it, both outside the timing.
#[inline(always)]
pub(crate) fn consuming<T: 'static, U: 'static>(
    mut make: impl FnMut() -> Result<T, Failure> + 'static,
    mut consume: impl FnMut(T) -> Result<U, Failure> + 'static,
) -> Loop {
    let stock = Rc::new(RefCell::new(Vec::with_capacity(STOCK as usize)));
    let results = Rc::new(RefCell::new(Vec::with_capacity(STOCK as usize)));
    let (made, finished) = (Rc::clone(&stock), Rc::clone(&results));
    Loop::new(move |times| {
        let mut results = results.borrow_mut();
        for thing in stock.borrow_mut().drain(..times as usize) {
            results.push(consume(thing)?);
        }
        Ok(())
    })
    .at_most(at_once())
    .before(move |times| {
        let mut stock = made.borrow_mut();
        stock.clear();
        for _ in 0..times {
            stock.push(make()?);
        }
        Ok(())
    })
    .verify(move |times| {
        let finished: Vec<U> = finished.borrow_mut().drain(..).collect();
        exactly(times as usize, finished.len())
    })
}
