//! Messages to oneself and to a partner on the same CPU, and waiting for one of many descriptors.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::calls::{made, pipe};
use super::entry::{Entry, Group, entry};
use super::harness::{Made, Work};
use super::kernel::done;
use super::partner::{Partner, partner};

pub(super) const GROUP: Group = Group { title: "messages, queues, waiting for many", entries: ENTRIES };

const SIZE: usize = 26;

const ENTRIES: &[Entry] = &[
    entry("pipe.self", "size=26B", || pipe().and_then(|[reader, writer]| to_oneself(reader, writer, SIZE))),
    entry("pipe.self", "size=4KiB", || pipe().and_then(|[reader, writer]| to_oneself(reader, writer, 4096))),
    entry("unix.self", "size=26B", || {
        pair(libc::AF_UNIX, libc::SOCK_STREAM).and_then(|[one, other]| to_oneself(other, one, SIZE))
    }),
    entry("socketpair.datagram.self", "size=26B", || {
        pair(libc::AF_UNIX, libc::SOCK_DGRAM).and_then(|[one, other]| to_oneself(other, one, SIZE))
    }),
    entry("tcp.self", "size=26B", || tcp().and_then(|[one, other]| to_oneself(other, one, SIZE))),
    entry("eventfd.self", "", || {
        let (event, one, mut found) = (event()?, 1_u64, 0_u64);
        Ok(Work::calls(move || {
            call!(libc::SYS_write, event.as_raw_fd(), &raw const one, 8) == 8
                && call!(libc::SYS_read, event.as_raw_fd(), &raw mut found, 8) == 8
                && found == 1
        }))
    }),
    entry("flag.read", "", || {
        let (event, one, at_once) = (event()?, 1_u64, [0_i64; 2]);
        done("write", call!(libc::SYS_write, event.as_raw_fd(), &raw const one, 8))?;
        Ok(Work::calls(move || {
            let mut asked = libc::pollfd { fd: event.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let mut time = at_once;
            call!(libc::SYS_ppoll, &raw mut asked, 1, time.as_mut_ptr(), 0, 8) == 1
        }))
    }),
    entry("pipe.roundtrip", "size=26B,distance=same", || {
        let ([from_us, to_them], [from_them, to_us]) = (pipe()?, pipe()?);
        round_trip((from_us, to_us), (from_them, to_them))
    }),
    entry("unix.roundtrip", "size=26B,distance=same", || {
        let [ours, theirs] = pair(libc::AF_UNIX, libc::SOCK_STREAM)?;
        round_trip((copy(&theirs)?, theirs), (copy(&ours)?, ours))
    }),
    entry("tcp.roundtrip", "size=26B,distance=same", || {
        let [ours, theirs] = tcp()?;
        round_trip((copy(&theirs)?, theirs), (copy(&ours)?, ours))
    }),
    entry("eventfd.roundtrip", "distance=same", || {
        let (to_them, to_us) = (event()?, event()?);
        let (mut found, one) = (0_u64, 1_u64);
        let answers = partner({
            let (to_them, to_us) = (copy(&to_them)?, copy(&to_us)?);
            let mut found = 0_u64;
            move || {
                call!(libc::SYS_read, to_them.as_raw_fd(), &raw mut found, 8) == 8
                    && call!(libc::SYS_write, to_us.as_raw_fd(), &raw const found, 8) == 8
            }
        })?;
        Ok(Work::calls(move || {
            let _keep = &answers;
            call!(libc::SYS_write, to_them.as_raw_fd(), &raw const one, 8) == 8
                && call!(libc::SYS_read, to_us.as_raw_fd(), &raw mut found, 8) == 8
                && found == 1
        }))
    }),
    entry("futex.roundtrip", "distance=same", futexes),
    entry("vm.read", "offset=0,size=4KiB", from_partner),
    entry("mq.systemv.self", "size=26B", || {
        let queue = done("msgget", call!(libc::SYS_msgget, libc::IPC_PRIVATE, 0o600))?;
        let queue = Queue(queue);
        let mut message = [1_u64; 5];
        Ok(Work::calls(move || {
            let queue = &queue;
            call!(libc::SYS_msgsnd, queue.0, message.as_ptr(), SIZE, 0) == 0
                && call!(libc::SYS_msgrcv, queue.0, message.as_mut_ptr(), SIZE, 0, 0) == SIZE as isize
        }))
    }),
    entry("mq.posix.self", "size=26B", || {
        let name = std::ffi::CString::new(format!("independent-{}", std::process::id())).map_err(|e| e.to_string())?;
        let most = [0_i64, 8, 26, 0, 0, 0, 0, 0];
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let queue = made(call!(libc::SYS_mq_open, name.as_ptr(), flags, 0o600, most.as_ptr()))?;
        done("mq_unlink", call!(libc::SYS_mq_unlink, name.as_ptr()))?;
        let mut message = [7_u8; SIZE];
        Ok(Work::calls(move || {
            call!(libc::SYS_mq_timedsend, queue.as_raw_fd(), message.as_ptr(), SIZE, 0, 0) == 0
                && call!(libc::SYS_mq_timedreceive, queue.as_raw_fd(), message.as_mut_ptr(), SIZE, 0, 0)
                    == SIZE as isize
        }))
    }),
    entry("call.semop", "", || {
        let set = done("semget", call!(libc::SYS_semget, libc::IPC_PRIVATE, 1, 0o600))?;
        let set = Semaphore(set);
        let mut step = [0_i16, 1, 0];
        Ok(Work::calls(move || {
            let set = &set;
            let done = call!(libc::SYS_semop, set.0, step.as_ptr(), 1) == 0;
            step[1] = -step[1];
            done
        }))
    }),
    #[cfg(target_arch = "x86_64")]
    entry("poll.poll", "descriptors=10", || {
        let (ready, mut asked) = many(10)?;
        Ok(Work::calls(move || {
            let _keep = &ready;
            call!(libc::SYS_poll, asked.as_mut_ptr(), 10, -1) == 1
        }))
    }),
    entry("poll.epoll", "descriptors=10", || {
        let (ready, asked) = many(10)?;
        let set = made(call!(libc::SYS_epoll_create1, 0))?;
        for one in asked {
            add(&set, one.fd)?;
        }
        let mut found = [libc::epoll_event { events: 0, u64: 0 }; 16];
        Ok(Work::calls(move || {
            let _keep = &ready;
            call!(libc::SYS_epoll_pwait, set.as_raw_fd(), found.as_mut_ptr(), 16, -1, 0, 8) == 1
        }))
    }),
    entry("poll.epoll.add.delete", "", || {
        let (set, [reader, writer]) = (made(call!(libc::SYS_epoll_create1, 0))?, pipe()?);
        let wanted = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 1 };
        Ok(Work::calls(move || {
            let (set, reader, _keep) = (set.as_raw_fd(), reader.as_raw_fd(), &writer);
            call!(libc::SYS_epoll_ctl, set, libc::EPOLL_CTL_ADD, reader, &raw const wanted) == 0
                && call!(libc::SYS_epoll_ctl, set, libc::EPOLL_CTL_DEL, reader, 0) == 0
        }))
    }),
    entry("async.read.plain", "", || {
        let (file, mut byte) = (File::open("/dev/zero").map_err(|error| error.to_string())?, 1_u8);
        Ok(Work::calls(move || call!(libc::SYS_read, file.as_raw_fd(), &raw mut byte, 1) == 1))
    }),
    entry("async.read.linux", "", linux_aio),
];

/// A page of a partner that sleeps into a page of this process. The partner has its page where this process had it.
fn from_partner() -> Made {
    const PAGE: usize = 4096;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let place = done("mmap", call!(libc::SYS_mmap, 0_usize, 2 * PAGE, access, kind, -1, 0))?;
    let ours = std::ptr::with_exposed_provenance_mut::<u64>(place);
    let theirs = ours.wrapping_byte_add(PAGE);
    // SAFETY: both pages were just mapped.
    unsafe { theirs.write_volatile(17) };
    let sleeper = partner(|| call!(libc::SYS_ppoll, 0, 0, 0, 0, 0) != 0)?;
    // SAFETY: as above.
    unsafe { theirs.write_volatile(0) };
    let [to, from] = [[ours as usize, PAGE], [theirs as usize, PAGE]];
    let read = move || {
        let (to, from, other) = (to.as_ptr(), from.as_ptr(), sleeper.id());
        call!(libc::SYS_process_vm_readv, other, to, 1, from, 1, 0) == PAGE as isize
    };
    // SAFETY: as above; the kernel has written it.
    if !read() || unsafe { ours.read_volatile() } != 17 {
        return Err("the partner's page did not come".into());
    }
    Ok(Work::calls(read))
}

/// A System V queue, gone when this is dropped and, where the process has such objects of its own, with the process.
struct Queue(usize);

impl Drop for Queue {
    fn drop(&mut self) {
        call!(libc::SYS_msgctl, self.0, libc::IPC_RMID, 0);
    }
}

/// A System V semaphore, as the queue.
struct Semaphore(usize);

impl Drop for Semaphore {
    fn drop(&mut self) {
        call!(libc::SYS_semctl, self.0, 0, libc::IPC_RMID, 0);
    }
}

fn copy(file: &File) -> Result<File, String> {
    file.try_clone().map_err(|error| error.to_string())
}

fn event() -> Result<File, String> {
    made(call!(libc::SYS_eventfd2, 0, libc::EFD_CLOEXEC))
}

fn pair(family: i32, kind: i32) -> Result<[File; 2], String> {
    let mut ends = [0_i32; 2];
    done("socketpair", call!(libc::SYS_socketpair, family, kind, 0, ends.as_mut_ptr()))?;
    Ok([made(ends[0] as isize)?, made(ends[1] as isize)?])
}

pub(super) fn tcp() -> Result<[File; 2], String> {
    let connected = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let one = std::net::TcpStream::connect(listener.local_addr()?)?;
        let (other, _) = listener.accept()?;
        one.set_nodelay(true)?;
        other.set_nodelay(true)?;
        Ok([one.into(), other.into()].map(|socket: std::os::fd::OwnedFd| File::from(socket)))
    };
    connected().map_err(|error: std::io::Error| error.to_string())
}

fn to_oneself(reader: File, writer: File, size: usize) -> Made {
    let mut message = vec![7_u8; size];
    let wanted = size as isize;
    Ok(Work::calls(move || {
        call!(libc::SYS_write, writer.as_raw_fd(), message.as_ptr(), size) == wanted
            && call!(libc::SYS_read, reader.as_raw_fd(), message.as_mut_ptr(), size) == wanted
    }))
}

/// The partner reads from and writes to its two; this process writes and waits for the answer.
fn round_trip(theirs: (File, File), ours: (File, File)) -> Made {
    let mut message = [7_u8; SIZE];
    let answers = partner(move || {
        call!(libc::SYS_read, theirs.0.as_raw_fd(), message.as_mut_ptr(), SIZE) == SIZE as isize
            && call!(libc::SYS_write, theirs.1.as_raw_fd(), message.as_ptr(), SIZE) == SIZE as isize
    })?;
    Ok(Work::calls(move || {
        let _keep = &answers;
        call!(libc::SYS_write, ours.1.as_raw_fd(), message.as_ptr(), SIZE) == SIZE as isize
            && call!(libc::SYS_read, ours.0.as_raw_fd(), message.as_mut_ptr(), SIZE) == SIZE as isize
    }))
}

/// A word that says whose turn it is; who finds it the other's sleeps at it.
fn futexes() -> Made {
    let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    let place = done("mmap", call!(libc::SYS_mmap, 0_usize, 4096, libc::PROT_READ | libc::PROT_WRITE, kind, -1, 0))?;
    let word = std::ptr::with_exposed_provenance::<std::sync::atomic::AtomicU32>(place);
    // SAFETY: the mapping stays as long as the process, and both processes use the word as an atomic alone.
    let turn = unsafe { &*word };
    let hand = move |to: u32| {
        turn.store(to, std::sync::atomic::Ordering::Release);
        call!(libc::SYS_futex, word, libc::FUTEX_WAKE, 1, 0, 0, 0) >= 0
    };
    let wait = move |mine: u32| {
        while turn.load(std::sync::atomic::Ordering::Acquire) != mine {
            call!(libc::SYS_futex, word, libc::FUTEX_WAIT, 1 - mine, 0, 0, 0);
        }
        true
    };
    let answers: Partner = partner(move || wait(1) && hand(0))?;
    Ok(Work::calls(move || {
        let _keep = &answers;
        hand(1) && wait(0)
    }))
}

/// Pipes of which the last can be read from.
fn many(count: usize) -> Result<(Vec<File>, Vec<libc::pollfd>), String> {
    let (mut kept, mut asked) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let [reader, writer] = pipe()?;
        asked.push(libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        kept.extend([reader, writer]);
    }
    let last = kept.last().map_or(-1, AsRawFd::as_raw_fd);
    done("write", call!(libc::SYS_write, last, [1_u8].as_ptr(), 1))?;
    Ok((kept, asked))
}

fn add(set: &File, descriptor: i32) -> Result<(), String> {
    let wanted = libc::epoll_event { events: libc::EPOLLIN as u32, u64: descriptor as u64 };
    let added = call!(libc::SYS_epoll_ctl, set.as_raw_fd(), libc::EPOLL_CTL_ADD, descriptor, &raw const wanted);
    done("epoll_ctl", added).map(drop)
}

/// One byte of /dev/zero, asked for and taken by a call each.
fn linux_aio() -> Made {
    let file = File::open("/dev/zero").map_err(|error| error.to_string())?;
    let mut context = 0_usize;
    done("io_setup", call!(libc::SYS_io_setup, 1, &raw mut context))?;
    let mut byte = Box::new(1_u8);
    // The kernel's struct iocb: data, key and flags, opcode with priority and descriptor, buffer, length, offset, and three
    // words more.
    let descriptor = file.as_raw_fd() as u64;
    let request = Box::new([0_u64, 0, descriptor << 32, &raw mut *byte as u64, 1, 0, 0, 0]);
    let list = Box::new(&raw const *request);
    let mut event = [0_u64; 4];
    Ok(Work::calls(move || {
        let _keep = (&file, &byte, &request);
        call!(libc::SYS_io_submit, context, 1, &raw const *list) == 1
            && call!(libc::SYS_io_getevents, context, 1, 1, event.as_mut_ptr(), 0) == 1
            && event[2] == 1
    }))
}
