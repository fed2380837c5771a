//! A login without encryption: one process between a terminal and a TCP connection, as a server of remote logins, and one
//! between the connection and the emulator's terminal, as its client.

use std::os::fd::OwnedFd;

use operation::{Failure, Setting};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;

use super::{Helper, Path};
use crate::kit::library::{poll, read};
use crate::kit::tcp_pair;
use crate::terminal::pair::{Features, Pty, write_all};

/// What such programs read at once.
const ROOM: usize = 16 << 10;

pub(in crate::terminal) fn over_tcp(setting: &Setting) -> Result<Path, Failure> {
    let program = Pty::new(Features::RAW)?;
    let emulator = Pty::new(Features::RAW)?;
    let (client, server) = tcp_pair()?;
    for end in [&client, &server] {
        set_tcp_nodelay(end, true)?;
    }
    let cpu = setting.cpu();
    // Each process has its own two ends; copies of the others are closed, so that an end is seen as one.
    let serving = {
        let (ours, connection) = (program.master.try_clone()?, server.try_clone()?);
        setting.partner(cpu, || relay(&ours, &connection))?
    };
    let showing = {
        let (connection, ours) = (client.try_clone()?, emulator.slave.try_clone()?);
        setting.partner(cpu, || relay(&connection, &ours))?
    };
    Ok(Path {
        output: program.slave,
        drained: Some(emulator.master),
        features: Features::RAW,
        helpers: vec![Helper::Partner(serving), Helper::Partner(showing)],
    })
}

/// Carries bytes both ways until one side ends.
fn relay(one: &OwnedFd, other: &OwnedFd) -> Result<(), Failure> {
    let mut room = vec![0; ROOM];
    loop {
        let mut ends = [PollFd::new(one, PollFlags::IN), PollFd::new(other, PollFlags::IN)];
        poll(&mut ends, None)?;
        let events = ends.map(|end| end.revents());
        for ((from, to), events) in [(one, other), (other, one)].into_iter().zip(events) {
            if events.is_empty() {
                continue;
            }
            let length = match read(from, &mut room) {
                // A terminal whose other end is closed, and a connection's end.
                Err(Errno::IO) | Ok(0) => return Ok(()),
                length => length?,
            };
            write_all(to, &room[..length])?;
        }
    }
}
