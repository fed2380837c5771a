//! System calls that need no more than a descriptor or a buffer.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};

use super::entry::{Entry, Group, entry};
use super::harness::{Made, Work};
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "system calls", entries: ENTRIES };

const ENTRIES: &[Entry] = &[
    entry("syscall.getppid", "", getppid),
    entry("syscall.read.null", "", || {
        let (file, mut byte) = (device("/dev/null")?, [0_u8; 512]);
        Ok(Work::calls(move || call!(libc::SYS_read, file.as_raw_fd(), byte.as_mut_ptr(), 512) == 0))
    }),
    entry("syscall.read.zero", "", || {
        let (file, mut byte) = (device("/dev/zero")?, [1_u8]);
        Ok(Work::calls(move || call!(libc::SYS_read, file.as_raw_fd(), byte.as_mut_ptr(), 1) == 1))
    }),
    entry("syscall.write.null", "", || {
        let (file, byte) = (device("/dev/null")?, [1_u8]);
        Ok(Work::calls(move || call!(libc::SYS_write, file.as_raw_fd(), byte.as_ptr(), 1) == 1))
    }),
    entry("call.pread64", "", || {
        let (file, mut bytes, mut at) = (filled_in_pieces()?, Box::new([0_u64; 64]), 0);
        Ok(Work::calls(move || {
            at = (at + 512) % LARGE;
            call!(libc::SYS_pread64, file.as_raw_fd(), bytes.as_mut_ptr(), 512, at) == 512
        }))
    }),
    entry("call.lseek", "", || {
        let file = filled(4096)?;
        Ok(Work::calls(move || call!(libc::SYS_lseek, file.as_raw_fd(), 0, libc::SEEK_END) == 4096))
    }),
    entry("call.dup", "", || makes(|| call!(libc::SYS_dup, 1))),
    entry("call.dup3", "", || {
        let (file, other) = (device("/dev/null")?, device("/dev/zero")?);
        let (from, to) = (file.as_raw_fd(), other.as_raw_fd());
        Ok(Work::calls(move || {
            let _keep = (&file, &other);
            call!(libc::SYS_dup3, from, to, 0) == to as isize
        }))
    }),
    entry("call.fcntl", "", || {
        let file = filled(1)?;
        Ok(Work::calls(move || call!(libc::SYS_fcntl, file.as_raw_fd(), libc::F_GETFL, 0) >= 0))
    }),
    entry("call.flock", "", || {
        let file = filled(1)?;
        Ok(Work::calls(move || {
            call!(libc::SYS_flock, file.as_raw_fd(), libc::LOCK_EX) == 0
                && call!(libc::SYS_flock, file.as_raw_fd(), libc::LOCK_UN) == 0
        }))
    }),
    entry("call.ioctl", "", || {
        let ([reader, writer], mut held) = (pipe()?, 0_i32);
        done("write", call!(libc::SYS_write, writer.as_raw_fd(), [7_u8; 3].as_ptr(), 3))?;
        Ok(Work::calls(move || {
            let _keep = &writer;
            call!(libc::SYS_ioctl, reader.as_raw_fd(), libc::FIONREAD, &raw mut held) == 0
        }))
    }),
    entry("call.eventfd2", "", || makes(|| call!(libc::SYS_eventfd2, 0, libc::EFD_CLOEXEC))),
    entry("call.epoll_create1", "", || makes(|| call!(libc::SYS_epoll_create1, libc::EPOLL_CLOEXEC))),
    entry("call.timerfd_create", "", || makes(|| call!(libc::SYS_timerfd_create, libc::CLOCK_MONOTONIC, 0))),
    entry("call.socket", "", || makes(|| call!(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0))),
    entry("pair.timerfd", "expiry=far", || {
        let timer = made(call!(libc::SYS_timerfd_create, libc::CLOCK_MONOTONIC, 0))?;
        let (set, stop) = ([0_i64, 0, 1000, 0], [0_i64; 4]);
        Ok(Work::calls(move || {
            call!(libc::SYS_timerfd_settime, timer.as_raw_fd(), 0, set.as_ptr(), 0) == 0
                && call!(libc::SYS_timerfd_settime, timer.as_raw_fd(), 0, stop.as_ptr(), 0) == 0
        }))
    }),
    entry("call.getuid", "", || Ok(Work::calls(|| call!(libc::SYS_getuid) >= 0))),
    entry("call.getresuid", "", || {
        let mut users = [u32::MAX; 3];
        Ok(Work::calls(move || {
            let [real, effective, saved] = &mut users;
            call!(libc::SYS_getresuid, &raw mut *real, &raw mut *effective, &raw mut *saved) == 0
        }))
    }),
    entry("call.getrandom", "", || {
        let mut bytes = [0_u8; 32];
        Ok(Work::calls(move || call!(libc::SYS_getrandom, bytes.as_mut_ptr(), 32, 0) == 32))
    }),
    entry("call.getpriority", "", || Ok(Work::calls(|| call!(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) > 0))),
    entry("call.getrusage", "", || {
        let mut usage = [0_u64; 32];
        Ok(Work::calls(move || call!(libc::SYS_getrusage, libc::RUSAGE_SELF, usage.as_mut_ptr()) == 0))
    }),
    entry("call.uname", "", || {
        let mut name = [0_u8; 512];
        Ok(Work::calls(move || call!(libc::SYS_uname, name.as_mut_ptr()) == 0))
    }),
    entry("call.prctl", "", || {
        let mut name = [0_u8; 16];
        Ok(Work::calls(move || call!(libc::SYS_prctl, libc::PR_GET_NAME, name.as_mut_ptr()) == 0))
    }),
    entry("call.set_robust_list", "", || {
        let mut list = [0_usize; 3];
        list[0] = list.as_ptr() as usize;
        Ok(Work::calls(move || call!(libc::SYS_set_robust_list, list.as_ptr(), size_of_val(&list)) == 0))
    }),
    entry("call.rt_sigprocmask", "", || {
        let mut mask = 0_u64;
        Ok(Work::calls(move || {
            call!(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, 0, &raw mut mask, size_of::<u64>()) == 0
        }))
    }),
    entry("call.clock_getres", "", || {
        let mut time = [0_i64; 2];
        Ok(Work::calls(move || {
            call!(libc::SYS_clock_getres, libc::CLOCK_MONOTONIC, time.as_mut_ptr()) == 0 && time[1] > 0
        }))
    }),
    entry("call.sched_yield", "", || Ok(Work::calls(|| call!(libc::SYS_sched_yield) == 0))),
    entry("call.sched_getaffinity", "", || {
        let mut mask = [0_u64; 128];
        Ok(Work::calls(move || call!(libc::SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr()) > 0))
    }),
    entry("call.get_mempolicy", "", || {
        // With the nodes, as one who wants to put the policy back asks for it.
        let (mut mode, mut nodes) = (-1_i32, [0_u64; 16]);
        Ok(Work::calls(move || call!(libc::SYS_get_mempolicy, &raw mut mode, nodes.as_mut_ptr(), 1024, 0, 0) == 0))
    }),
    entry("call.fsopen", "", || makes(|| call!(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0))),
    entry("call.landlock_create_ruleset", "", || {
        let rules = [1_u64 << 2];
        makes(move || call!(libc::SYS_landlock_create_ruleset, rules.as_ptr(), 8, 0))
    }),
    entry("call.inotify_init1", "", || makes_few(64, || call!(libc::SYS_inotify_init1, libc::IN_CLOEXEC))),
    entry("call.syslog", "", || Ok(Work::calls(|| call!(libc::SYS_syslog, 10, 0, 0) > 0))),
    entry("crossing.call", "arguments=6", || {
        // Of what a futex can be asked, this takes all six: add one to the second word, and wake one where it was zero.
        const ADD_ONE_IF_ZERO: i32 = (libc::FUTEX_OP_ADD << 28) | (libc::FUTEX_OP_CMP_EQ << 24) | (1 << 12);
        let (first, mut second) = (0_u32, 0_u32);
        let what = libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG;
        Ok(Work::calls(move || {
            call!(libc::SYS_futex, &raw const first, what, 1, 1, &raw mut second, ADD_ONE_IF_ZERO) == 0
        }))
    }),
    #[cfg(target_arch = "x86_64")]
    entry("call.time", "", || Ok(Work::calls(|| call!(libc::SYS_time, 0) > 0))),
];

/// The cheapest call there is.
fn getppid() -> Made {
    Ok(Work::calls(|| call!(libc::SYS_getppid) > 0))
}

fn device(path: &str) -> Result<File, String> {
    OpenOptions::new().read(true).write(true).open(path).map_err(|error| format!("{path}: {error}"))
}

/// A file of this many bytes in the folder of this process, which is one of its own.
pub(super) fn filled(bytes: usize) -> Result<File, String> {
    let path = format!("filled-{}-{bytes}", std::process::id());
    let all = || {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path)?;
        std::io::Write::write_all(&mut file, &vec![b'x'; bytes])?;
        Ok(file)
    };
    all().map_err(|error: std::io::Error| format!("{path}: {error}"))
}

/// Bytes of a file beyond the core's own caches.
pub(super) const LARGE: usize = 4 << 20;

/// Such a file, filled by writes of 128 KiB: how large the pieces of the page cache are follows from that.
pub(super) fn filled_in_pieces() -> Result<File, String> {
    let mut file = filled(0)?;
    let piece = vec![b'y'; 128 << 10];
    (0..LARGE / piece.len())
        .try_for_each(|_| std::io::Write::write_all(&mut file, &piece))
        .map_err(|e| e.to_string())?;
    Ok(file)
}

/// The descriptor that a call made.
pub(super) fn made(answer: isize) -> Result<File, String> {
    let number = done("a call that makes a descriptor", answer)?;
    // SAFETY: the descriptor was just made and is nobody else's.
    Ok(unsafe { File::from_raw_fd(number as i32) })
}

pub(super) fn pipe() -> Result<[File; 2], String> {
    let mut ends = [0_i32; 2];
    done("pipe2", call!(libc::SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC))?;
    Ok([made(ends[0] as isize)?, made(ends[1] as isize)?])
}

/// Calls that make a descriptor each; closing them does not count.
pub(super) fn makes(one: impl FnMut() -> isize + 'static) -> Made {
    makes_few(200, one)
}

/// The same where a user may have but few of them: this many in a batch.
fn makes_few(most: usize, mut one: impl FnMut() -> isize + 'static) -> Made {
    let mut made = Vec::with_capacity(most);
    // The table of descriptors grows once, before anything is timed.
    let mut all = move |times: u64| {
        let start = std::time::Instant::now();
        made.extend((0..times).map(|_| one()));
        let time = start.elapsed();
        for number in made.drain(..) {
            assert!(number >= 0, "a call that makes a descriptor failed: {number}");
            assert_eq!(call!(libc::SYS_close, number), 0, "close");
        }
        time
    };
    all(most as u64);
    Ok(Work::timed(all).at_most(most as u64))
}
