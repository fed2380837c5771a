//! The system calls of `rustix` that operations time, each made by a function that returns, as a C library makes them. Inlined into a
//! loop, the same call may cost 0.7 times as much or the same, by where the compiler places the loop.

use std::io::{IoSlice, IoSliceMut};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{FdSetElement, PollFd, Timespec, epoll};
use rustix::ffi::c_void;
use rustix::fs::{Access, Advice as FileAdvice, AtFlags, FallocateFlags, Mode, OFlags, SeekFrom, Stat};
use rustix::io::{ReadWriteFlags, Result};
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    AddressFamily, Protocol, RecvAncillaryBuffer, RecvFlags, RecvMsg, SendAncillaryBuffer, SendFlags, SocketFlags,
    SocketType,
};
use rustix::path::Arg;
use rustix::pipe::{IoSliceRaw, SpliceFlags};
use rustix::process::{Gid, Pid, Uid};
use rustix::system::Uname;
use rustix::thread::{ClockId, NanosleepRelativeResult};

macro_rules! library {
    ($($module:ident { $($name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?;)* })*) => {$($(
        #[inline(never)]
        pub(crate) fn $name($($argument: $kind),*) $(-> $result)? {
            rustix::$module::$name($($argument),*)
        }
    )*)*};
}

macro_rules! unsafe_library {
    ($($module:ident { $($name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)* })*) => {$($(
        /// # Safety
        /// As of the function of that name in `rustix`.
        #[inline(never)]
        pub(crate) unsafe fn $name($($argument: $kind),*) -> $result {
            // SAFETY: the caller guarantees it.
            unsafe { rustix::$module::$name($($argument),*) }
        }
    )*)*};
}

library! {
    io {
        dup(file: impl AsFd) -> Result<OwnedFd>;
        pread(file: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize>;
        preadv2(file: impl AsFd, buffers: &mut [IoSliceMut<'_>], offset: u64, flags: ReadWriteFlags) -> Result<usize>;
        pwrite(file: impl AsFd, buffer: &[u8], offset: u64) -> Result<usize>;
        read(file: impl AsFd, buffer: &mut [u8]) -> Result<usize>;
        write(file: impl AsFd, buffer: &[u8]) -> Result<usize>;
        writev(file: impl AsFd, buffers: &[IoSlice<'_>]) -> Result<usize>;
    }
    fs {
        access(path: impl Arg, access: Access) -> Result<()>;
        copy_file_range(
            source: impl AsFd, from: Option<&mut u64>, target: impl AsFd, to: Option<&mut u64>, length: usize,
        ) -> Result<usize>;
        fadvise(file: impl AsFd, offset: u64, length: Option<NonZeroU64>, advice: FileAdvice) -> Result<()>;
        fallocate(file: impl AsFd, mode: FallocateFlags, offset: u64, length: u64) -> Result<()>;
        fdatasync(file: impl AsFd) -> Result<()>;
        fstat(file: impl AsFd) -> Result<Stat>;
        fsync(file: impl AsFd) -> Result<()>;
        ftruncate(file: impl AsFd, length: u64) -> Result<()>;
        open(path: impl Arg, flags: OFlags, mode: Mode) -> Result<OwnedFd>;
        openat(folder: impl AsFd, path: impl Arg, flags: OFlags, mode: Mode) -> Result<OwnedFd>;
        renameat(folder: impl AsFd, old: impl Arg, other: impl AsFd, new: impl Arg) -> Result<()>;
        seek(file: impl AsFd, position: SeekFrom) -> Result<u64>;
        sendfile(target: impl AsFd, source: impl AsFd, offset: Option<&mut u64>, length: usize) -> Result<usize>;
        statat(folder: impl AsFd, path: impl Arg, flags: AtFlags) -> Result<Stat>;
        syncfs(file: impl AsFd) -> Result<()>;
        unlinkat(folder: impl AsFd, path: impl Arg, flags: AtFlags) -> Result<()>;
    }
    event {
        poll(descriptors: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> Result<usize>;
    }
    net {
        connect(socket: impl AsFd, address: &impl SocketAddrArg) -> Result<()>;
        recvmsg(
            socket: impl AsFd, buffers: &mut [IoSliceMut<'_>], control: &mut RecvAncillaryBuffer<'_>, flags: RecvFlags,
        ) -> Result<RecvMsg>;
        send(socket: impl AsFd, message: &[u8], flags: SendFlags) -> Result<usize>;
        sendmsg(
            socket: impl AsFd, buffers: &[IoSlice<'_>], control: &mut SendAncillaryBuffer<'_, '_, '_>, flags: SendFlags,
        ) -> Result<usize>;
        socket_with(
            family: AddressFamily, kind: SocketType, flags: SocketFlags, protocol: Option<Protocol>,
        ) -> Result<OwnedFd>;
    }
    pipe {
        pipe() -> Result<(OwnedFd, OwnedFd)>;
        splice(
            source: impl AsFd, from: Option<&mut u64>, target: impl AsFd, to: Option<&mut u64>, length: usize,
            flags: SpliceFlags,
        ) -> Result<usize>;
    }
    process {
        getegid() -> Gid;
        geteuid() -> Uid;
        getpid() -> Pid;
        getppid() -> Option<Pid>;
    }
    system {
        uname() -> Uname;
    }
    thread {
        clock_nanosleep_absolute(clock: ClockId, until: &Timespec) -> Result<()>;
        nanosleep(idle: &Timespec) -> NanosleepRelativeResult;
        sched_yield();
    }
}

/// Receives a message into the buffer. Returns the number of its bytes, those cut off included.
#[inline(never)]
pub(crate) fn recv(socket: impl AsFd, buffer: &mut [u8], flags: RecvFlags) -> Result<usize> {
    rustix::net::recv(socket, buffer, flags).map(|(_, bytes)| bytes)
}

/// Adds a descriptor to a set, to be told when it can be read.
#[inline(never)]
pub(crate) fn epoll_add(set: impl AsFd, descriptor: impl AsFd) -> Result<()> {
    epoll::add(set, descriptor, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
}

#[inline(never)]
pub(crate) fn epoll_delete(set: impl AsFd, descriptor: impl AsFd) -> Result<()> {
    epoll::delete(set, descriptor)
}

/// Waits for one of the events that a set is for. Returns how many have happened.
#[inline(never)]
pub(crate) fn epoll_wait(set: impl AsFd, events: &mut [epoll::Event], limit: Option<&Timespec>) -> Result<usize> {
    epoll::wait(set, events, limit)
}

/// Words that tasks wait on.
pub(crate) mod futex {
    use std::num::NonZeroU32;
    use std::sync::atomic::AtomicU32;

    use rustix::event::Timespec;
    use rustix::io::Result;
    pub(crate) use rustix::thread::futex::Flags;

    macro_rules! futex {
        ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
            #[inline(never)]
            pub(crate) fn $name(word: &AtomicU32, flags: Flags, $($argument: $kind),*) -> Result<$result> {
                rustix::thread::futex::$name(word, flags, $($argument),*)
            }
        )*};
    }

    futex! {
        wait(value: u32, limit: Option<&Timespec>) -> ();
        wait_bitset(value: u32, limit: Option<&Timespec>, bits: NonZeroU32) -> ();
        wake(count: u32) -> usize;
        wake_bitset(count: u32, bits: NonZeroU32) -> usize;
    }
}

unsafe_library! {
    event {
        select(
            descriptors: i32, readable: Option<&mut [FdSetElement]>, writable: Option<&mut [FdSetElement]>,
            exceptional: Option<&mut [FdSetElement]>, timeout: Option<&Timespec>,
        ) -> Result<i32>;
    }
    mm {
        madvise(first: *mut c_void, length: usize, advice: Advice) -> Result<()>;
        mmap(
            first: *mut c_void, length: usize, allowed: ProtFlags, flags: MapFlags, file: impl AsFd, offset: u64,
        ) -> Result<*mut c_void>;
        mmap_anonymous(first: *mut c_void, length: usize, allowed: ProtFlags, flags: MapFlags) -> Result<*mut c_void>;
        msync(first: *mut c_void, length: usize, flags: MsyncFlags) -> Result<()>;
        munmap(first: *mut c_void, length: usize) -> Result<()>;
    }
    pipe {
        vmsplice(pipe: impl AsFd, buffers: &[IoSliceRaw<'_>], flags: SpliceFlags) -> Result<usize>;
    }
}
