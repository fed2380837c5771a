//! Calls that open, copy, close and configure descriptors.

#[cfg(target_arch = "x86_64")]
use std::cell::RefCell;
use std::os::fd::{AsRawFd, IntoRawFd};

#[cfg(target_arch = "x86_64")]
use operation::Failure;
use operation::{Operation, repeat};

use super::{CALL, PAIR};
use crate::kit::library;
#[cfg(target_arch = "x86_64")]
use crate::kit::{FILES, Fresh, handles};
use crate::kit::{call, consuming, device, exactly, file_of, invoke, opening, owned, producing, tried, with_file};

const READ: i32 = libc::O_RDONLY | libc::O_CLOEXEC;

pub(crate) const OPERATIONS: &[Operation] = &[
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.open", "open a file by its name in the working folder").prepare(|setting| {
        with_file(setting)?;
        opening(move || call::open(c"file", READ, 0))
    }),
    CALL.named("call.openat", "open a file by its name in an open folder").prepare(|setting| {
        let folder = with_file(setting)?;
        opening(move || call::openat(&folder, c"file", READ, 0))
    }),
    CALL.named("call.openat2", "open a file by its name in an open folder, restricted to that folder").prepare(
        |setting| {
            let folder = with_file(setting)?;
            let how = [READ as u64, 0, libc::RESOLVE_BENEATH];
            opening(move || call::openat2(&folder, c"file", &how))
        },
    ),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.creat", "create a file and open it for writing").version(2).prepare(|setting| {
        let fresh = Fresh::entered(setting)?;
        let [names, named] = handles(RefCell::new(Vec::new()));
        let files = producing(move || {
            // The names of a batch are created before it, and the last one is used first.
            let name = names.borrow_mut().pop().ok_or_else(|| Failure::wrong("there are too few names"))?;
            let file = owned(call::creat(&name, 0o600)?);
            Ok((file, name))
        });
        tried(files.at_most(FILES).batches(FILES as u32).before(move |times| {
            named.replace(fresh.names(times)?);
            Ok(())
        }))
    }),
    CALL.named("call.close", "close a descriptor of a file that stays open through another").prepare(|_| {
        let null = device(c"/dev/null")?;
        tried(consuming(move || Ok(owned(call::dup(&null)?)), |copy| exactly(0, call::close(copy)?)))
    }),
    CALL.named("call.close_range", "close all descriptors of a range, of which one is open").prepare(|_| {
        let null = device(c"/dev/null")?;
        tried(consuming(
            move || Ok(owned(call::dup(&null)?)),
            |copy| {
                let number = copy.into_raw_fd();
                // SAFETY: this descriptor was given up just before.
                exactly(0, unsafe { invoke!(close_range, number, number, 0) }?)
            },
        ))
    }),
    CALL.named("call.dup", "copy a descriptor to the lowest free number").prepare(|_| {
        let null = device(c"/dev/null")?;
        opening(move || call::dup(&null))
    }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.dup2", "copy a descriptor to the number of another, which is closed").prepare(|_| {
        let (null, zero) = (device(c"/dev/null")?, device(c"/dev/zero")?);
        let number = zero.as_raw_fd() as usize;
        tried(repeat(move || exactly(number, call::dup2(&null, &zero)?)))
    }),
    CALL.named("call.dup3", "copy a descriptor to the number of another, which is closed; the copy is closed on exec")
        .prepare(|_| {
            let (null, zero) = (device(c"/dev/null")?, device(c"/dev/zero")?);
            let number = zero.as_raw_fd() as usize;
            tried(repeat(move || exactly(number, call::dup3(&null, &zero, libc::O_CLOEXEC)?)))
        }),
    CALL.named("call.fcntl", "ask for the flags of an open file").prepare(|_| {
        let null = device(c"/dev/null")?;
        let flags = call::fcntl(&null, libc::F_GETFL)?;
        tried(repeat(move || exactly(flags, call::fcntl(&null, libc::F_GETFL)?)))
    }),
    PAIR.named("pair.fcntl", "ask for the flags of an open file, and set them").calls(&["fcntl", "fcntl"]).prepare(
        |_| {
            let null = device(c"/dev/null")?;
            tried(repeat(move || {
                let flags = call::fcntl(&null, libc::F_GETFL)?;
                // SAFETY: this command takes flags.
                exactly(0, unsafe { invoke!(fcntl, &null, libc::F_SETFL, flags | libc::O_NONBLOCK as usize) }?)
            }))
        },
    ),
    CALL.named("call.ioctl", "ask how many bytes wait in a pipe").prepare(|_| {
        let (reader, writer) = library::pipe()?;
        exactly(1, library::write(&writer, &[0])?)?;
        let mut count = [0_i32];
        tried(repeat(move || {
            let _open = &writer;
            // SAFETY: this command writes one number.
            exactly(0, unsafe { invoke!(ioctl, &reader, libc::FIONREAD as u32, &mut count) }?)?;
            exactly(1, count[0] as usize)
        }))
    }),
    PAIR.named("call.flock", "lock a file that no other process uses, and unlock it")
        .calls(&["flock", "flock"])
        .prepare(|setting| {
            let file = file_of(setting, 0)?;
            tried(repeat(move || {
                exactly(0, call::flock(&file, libc::LOCK_EX)?)?;
                exactly(0, call::flock(&file, libc::LOCK_UN)?)
            }))
        }),
    #[cfg(target_arch = "x86_64")]
    CALL.named("call.pipe", "create a pipe").prepare(|_| {
        tried(producing(|| {
            let mut ends = [0_i32; 2];
            exactly(0, call::pipe(&mut ends)?)?;
            Ok(ends.map(|end| owned(end as usize)))
        }))
    }),
    CALL.named("call.pipe2", "create a pipe whose ends are closed on exec").prepare(|_| {
        tried(producing(|| {
            let mut ends = [0_i32; 2];
            exactly(0, call::pipe2(&mut ends, libc::O_CLOEXEC)?)?;
            Ok(ends.map(|end| owned(end as usize)))
        }))
    }),
    CALL.named("call.memfd_create", "create a file without a name, only in memory")
        .prepare(|_| opening(|| call::memfd_create(c"howslow", libc::MFD_CLOEXEC))),
    CALL.named("call.memfd_secret", "create a file in memory that the kernel itself does not map")
        .prepare(|_| opening(|| call::memfd_secret(libc::O_CLOEXEC))),
];
