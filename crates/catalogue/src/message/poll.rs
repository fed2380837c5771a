//! The family `poll`: waiting for many descriptors of which one is ready. The ready one is the last, and the wait has no
//! time limit, so that the kernel prepares to sleep on all others too, as for a server.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use operation::{Axis, Failure, Operation, Setting, count, numbers, repeat, term};
use rustix::event::{
    EventfdFlags, FdSetElement, PollFd, PollFlags, epoll, eventfd, fd_set_insert, fd_set_num_elements,
};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::kit::library::{epoll_add, epoll_delete, epoll_wait, poll, select};
use crate::kit::{BASE, ENTRY, exactly};

/// The number of descriptors waited for. select is limited to descriptors below 1024.
const FEW: &[Axis] = &[count("descriptors", numbers![1, 10, 100]).headline(numbers![100]).within(1, 900)];
const MANY: &[Axis] = &[count("descriptors", numbers![1, 10, 100, 1000]).headline(numbers![100]).within(1, 100_000)];

/// The most descriptors of a process besides those waited for.
const OTHERS: u64 = 64;

const WAIT: Operation = BASE.aliases(&["WTLO"]).axes(MANY).headline().explained_by(ENTRY);

pub(crate) const OPERATIONS: &[Operation] = &[
    WAIT.id("poll.select")
        .summary("wait with pselect6 for many descriptors, the last one ready; the set is rewritten each time")
        .calls(&["pselect6"])
        .axes(FEW)
        .prepare(|setting| {
            let descriptors = one_ready(setting)?;
            let bound = descriptors.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(0) + 1;
            let mut wanted = vec![FdSetElement::default(); fd_set_num_elements(descriptors.len(), bound)];
            descriptors.iter().for_each(|descriptor| fd_set_insert(&mut wanted, descriptor.as_raw_fd()));
            let mut ready = wanted.clone();
            Ok(repeat(move || {
                let _open = &descriptors;
                ready.copy_from_slice(&wanted);
                // SAFETY: every descriptor in the set is open as long as this loop owns it.
                let returned = unsafe { select(bound, Some(&mut ready), None, None, None) }?;
                exactly(1, returned as usize)
            }))
        }),
    WAIT.named("poll.poll", "wait with ppoll for many descriptors, the last one ready").calls(&["ppoll"]).prepare(
        |setting| {
            let descriptors = one_ready(setting)?;
            let mut waits: Vec<PollFd<'static>> = descriptors
                .iter()
                .map(|descriptor| {
                    // SAFETY: the loop below owns the descriptors and what borrows them.
                    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor.as_raw_fd()) };
                    PollFd::from_borrowed_fd(borrowed, PollFlags::IN)
                })
                .collect();
            Ok(repeat(move || {
                let _open = &descriptors;
                exactly(1, poll(&mut waits, None)?)
            }))
        },
    ),
    WAIT.named("poll.epoll", "wait with epoll_pwait for many descriptors, the last one ready")
        .calls(&["epoll_pwait"])
        .prepare(|setting| {
            let descriptors = one_ready(setting)?;
            let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            for (number, descriptor) in (0..).zip(&descriptors) {
                epoll::add(&set, descriptor, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
            }
            // Space for as many events as the loop of a server would take at once.
            let nothing = epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
            let mut events = [nothing; 64];
            Ok(repeat(move || {
                let _open = &descriptors;
                exactly(1, epoll_wait(&set, &mut events, None)?)
            }))
        }),
    BASE.named("poll.epoll.add.delete", "add a descriptor to an epoll set, and remove it")
        .calls(&["epoll_ctl", "epoll_ctl"])
        .per("pair")
        .headline()
        .explained_by(&[term(2.0, "syscall.getppid")])
        .prepare(|_| {
            let descriptor = eventfd(0, EventfdFlags::CLOEXEC)?;
            let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            Ok(repeat(move || {
                epoll_add(&set, &descriptor)?;
                Ok(epoll_delete(&set, &descriptor)?)
            }))
        }),
];

/// A number of event counters that the axis `descriptors` says. Only the last is readable.
fn one_ready(setting: &Setting) -> Result<Vec<OwnedFd>, Failure> {
    let descriptors = setting.number("descriptors")?;
    allow(descriptors + OTHERS)?;
    (1..=descriptors).map(|number| Ok(eventfd(u32::from(number == descriptors), EventfdFlags::CLOEXEC)?)).collect()
}

/// Raises this process's own limit on open descriptors to `wanted`.
fn allow(wanted: u64) -> Result<(), Failure> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|maximum| maximum < wanted) {
        return Err(Failure::skip("the limit on open files is too low", format!("ulimit -Hn {wanted}")));
    }
    limit.current = Some(wanted);
    Ok(setrlimit(Resource::Nofile, limit)?)
}
