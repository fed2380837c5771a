//! What a thread had used when it ended: the kernel's exit accounting (taskstats), which reports it for every task of the
//! system, however short its life.

use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use record::Usage;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netlink, recv, send, socket_with, sockopt,
};

use crate::usage::split;

/// The registry of generic families has this fixed number (include/uapi/linux/genetlink.h, `GENL_ID_CTRL`).
const REGISTRY: u16 = 0x10;
/// `CTRL_CMD_GETFAMILY`, and the attributes that name a family and hold its number.
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// `TASKSTATS_CMD_GET`, `TASKSTATS_CMD_NEW`, and the attributes (include/uapi/linux/taskstats.h).
const GET: u8 = 1;
const NEW: u8 = 2;
const REGISTER_CPUS: u16 = 3;
const OF_A_TASK: u16 = 4;
const STATISTICS: u16 = 3;
/// `NLMSG_ERROR`, `NLM_F_REQUEST`, `NLM_F_ACK`.
const ANSWER: u16 = 2;
const REQUEST: u16 = 1;
const WITH_ANSWER: u16 = 4;
/// Room for the ends of some 20,000 tasks between two readings.
const ROOM: usize = 16 << 20;
/// Ends of tasks that are nobody's yet: the source of counts reports them a little later.
const MOST_KEPT: usize = 1 << 16;

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TaskEnd {
    /// What it had used.
    pub usage: Usage,
    /// The signal that ended it; 0 if none did.
    pub signal: u16,
}

/// Listens for the ends of tasks.
#[derive(Debug)]
pub(crate) struct Exits {
    socket: OwnedFd,
    family: u16,
    known: HashMap<u32, TaskEnd>,
    /// Earlier ones, most of tasks that nobody watches.
    older: HashMap<u32, TaskEnd>,
    /// True if ends were lost because they came too fast.
    pub lost: bool,
}

impl Exits {
    /// Begins to listen.
    /// Fails if this process may not (it takes CAP_NET_ADMIN in the first namespaces), or the kernel keeps no such accounts.
    pub(crate) fn new() -> io::Result<Exits> {
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::GENERIC))?;
        bind(&socket, &netlink::SocketAddrNetlink::new(0, 0))?;
        // More than is usual needs a right that this process has if it may listen.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, ROOM);
        let mut exits = Exits { socket, family: 0, known: HashMap::new(), older: HashMap::new(), lost: false };
        let name = attribute(FAMILY_NAME, b"TASKSTATS\0");
        exits.send(REGISTRY, REQUEST, GET_FAMILY, &name)?;
        let answer = exits.receive(RecvFlags::empty())?;
        exits.family = family(&answer).ok_or(io::ErrorKind::Unsupported)?;
        let cpus = std::fs::read_to_string("/sys/devices/system/cpu/possible")?;
        let cpus = [cpus.trim().as_bytes(), b"\0"].concat();
        exits.send(exits.family, REQUEST | WITH_ANSWER, GET, &attribute(REGISTER_CPUS, &cpus))?;
        let answer = exits.receive(RecvFlags::empty())?;
        refusal(&answer).map_or(Ok(exits), Err)
    }

    fn send(&self, family: u16, flags: u16, command: u8, attributes: &[u8]) -> io::Result<()> {
        let length = 20 + attributes.len() as u32;
        let mut message = Vec::with_capacity(length as usize);
        message.extend(length.to_ne_bytes());
        message.extend(family.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        // A sequence number and the sender, whom the kernel knows.
        message.extend([0; 8]);
        message.extend([command, 1, 0, 0]);
        message.extend(attributes);
        send(&self.socket, &message, SendFlags::empty())?;
        Ok(())
    }

    fn receive(&self, flags: RecvFlags) -> Result<Vec<u8>, Errno> {
        let mut buffer = [MaybeUninit::uninit(); 1 << 14];
        let ((filled, _), _) = recv(&self.socket, &mut buffer, flags)?;
        Ok(filled.to_vec())
    }

    /// Reads what has come.
    pub(crate) fn drain(&mut self) {
        loop {
            match self.receive(RecvFlags::DONTWAIT) {
                Ok(text) => {
                    let family = self.family;
                    let ends = messages(&text).filter(|message| message.kind == family);
                    self.known.extend(ends.filter_map(|message| end(&message)));
                }
                Err(Errno::NOBUFS) => self.lost = true,
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if self.known.len() > MOST_KEPT {
            self.older = std::mem::take(&mut self.known);
        }
    }

    /// How a thread ended, once.
    pub(crate) fn take(&mut self, thread: u32) -> Option<TaskEnd> {
        let older = self.older.remove(&thread);
        self.known.remove(&thread).or(older)
    }
}

/// The number of the family that was requested of the registry.
fn family(answer: &[u8]) -> Option<u16> {
    let found = messages(answer).find(|message| message.kind == REGISTRY)?;
    part(find(found.attributes()?, FAMILY_ID)?, 0).map(u16::from_ne_bytes)
}

/// Why a request was refused, if it was.
fn refusal(answer: &[u8]) -> Option<io::Error> {
    let answered = messages(answer).find(|message| message.kind == ANSWER)?;
    let error = part(answered.body, 0).map(i32::from_ne_bytes)?;
    (error != 0).then(|| io::Error::from_raw_os_error(error.saturating_neg()))
}

/// Reads what could have come from the kernel, in every way in which this program reads it. Returns how many ends of tasks it reports.
#[cfg(feature = "fuzz")]
pub fn fuzz_taskstats(text: &[u8]) -> usize {
    let _ = (family(text), refusal(text));
    messages(text).filter_map(|message| end(&message)).count()
}

/// An attribute: its length, its kind, its bytes, padded to four.
fn attribute(kind: u16, bytes: &[u8]) -> Vec<u8> {
    let mut attribute = Vec::new();
    attribute.extend((4 + bytes.len() as u16).to_ne_bytes());
    attribute.extend(kind.to_ne_bytes());
    attribute.extend(bytes);
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    attribute
}

/// The bytes of a number at this place, if they are there.
fn part<const BYTES: usize>(text: &[u8], at: usize) -> Option<[u8; BYTES]> {
    text.get(at..)?.first_chunk().copied()
}

struct Message<'a> {
    kind: u16,
    body: &'a [u8],
}

impl<'a> Message<'a> {
    /// What follows the command.
    fn attributes(&self) -> Option<&'a [u8]> {
        self.body.get(4..)
    }
}

fn messages(mut text: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(part(text, 0)?) as usize;
        let kind = u16::from_ne_bytes(part(text, 4)?);
        let body = text.get(16..length)?;
        text = text.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message { kind, body })
    })
}

/// The bytes of the first attribute of this kind.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(part(attributes, 0)?));
        let kind = u16::from_ne_bytes(part(attributes, 2)?);
        // The highest bit means that it holds attributes.
        if kind & 0x7fff == wanted {
            return attributes.get(4..length);
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

/// The end of one task, with its id.
fn end(message: &Message) -> Option<(u32, TaskEnd)> {
    if message.body.first() != Some(&NEW) {
        return None;
    }
    let task = find(message.attributes()?, OF_A_TASK)?;
    statistics(find(task, STATISTICS)?)
}

/// From `struct taskstats`, whose fields keep their places: later versions append.
fn statistics(bytes: &[u8]) -> Option<(u32, TaskEnd)> {
    const STATUS: usize = 4;
    const RUN: usize = 72;
    const THREAD: usize = 128;
    const USER: usize = 152;
    const SYSTEM: usize = 160;
    const MINOR: usize = 168;
    const MAJOR: usize = 176;
    const VOLUNTARY: usize = 272;
    const INVOLUNTARY: usize = 280;
    let number = |at: usize| part(bytes, at).map(u64::from_ne_bytes);
    let thread = part(bytes, THREAD).map(u32::from_ne_bytes)?;
    let microseconds = |at: usize| number(at).map(|time| time as f64 * 1e3);
    let rest = Usage {
        minor_faults: number(MINOR),
        major_faults: number(MAJOR),
        voluntary_switches: number(VOLUNTARY),
        involuntary_switches: number(INVOLUNTARY),
        ..Usage::default()
    };
    // A kernel without delay accounting leaves the run time 0.
    let run = number(RUN).filter(|run| *run > 0).map(|run| run as f64);
    let usage = split(run, microseconds(USER).zip(microseconds(SYSTEM)).map(Into::into), rest);
    // The highest of these bits means that memory was dumped.
    let signal = (part(bytes, STATUS).map(u32::from_ne_bytes)? & 0x7f) as u16;
    Some((thread, TaskEnd { usage, signal }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_child_is_reported_with_its_faults() {
        let Some(mut exits) = crate::tested(Exits::new(), "the ends of tasks are not told") else { return };
        // The kernel brings a task's time up to date at ticks and switches, and reports its end before the last: a task that is over
        // between two ticks may be reported with none. This one lasts many.
        let work = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", work]).spawn().expect("sh starts");
        let id = child.id();
        assert!(child.wait().expect("it ends").success());
        exits.drain();
        let TaskEnd { usage, signal } = exits.take(id).expect("its end");
        assert_eq!(signal, 0);
        assert!(usage.minor_faults.is_some_and(|faults| faults > 10), "{usage:?}");
        assert!(usage.cpu_ns.is_some_and(|time| time > 1e6 && time < 1e11), "{usage:?}");
        assert_eq!(exits.take(id), None);
    }

    #[test]
    fn attributes_are_found_behind_others() {
        let bytes = [attribute(7, b"abc"), attribute(9, b"defgh")].concat();
        assert_eq!(find(&bytes, 9), Some(&b"defgh"[..]));
        assert_eq!(find(&bytes, 7), Some(&b"abc"[..]));
        assert_eq!(find(&bytes, 8), None);
        assert_eq!(find(&[1, 0, 0], 8), None);
    }

    #[test]
    fn a_refusal_is_an_error_whatever_its_number() {
        let answer =
            |error: i32| [&20_u32.to_ne_bytes()[..], &ANSWER.to_ne_bytes(), &[0; 10], &error.to_ne_bytes()].concat();
        assert!(refusal(&answer(0)).is_none());
        assert_eq!(refusal(&answer(-1)).and_then(|error| error.raw_os_error()), Some(1));
        assert_eq!(refusal(&answer(i32::MIN)).and_then(|error| error.raw_os_error()), Some(i32::MAX));
    }
}
