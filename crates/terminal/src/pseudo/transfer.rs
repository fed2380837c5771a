//! A file sent through a terminal: an emulator types it, and a program reads it, by lines or as it comes, by short reads or by
//! long ones of a fixed length, with and without echo. What the program reads must be the file.

use std::os::fd::OwnedFd;
use std::time::Instant;

use analysis::terminal::pseudo::Transfer;
use catalogue::terminal::pair::{Features, Pty, lines};
use operation::{Failure, Setting};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use super::cells::Cells;
use super::used::Account;

/// Bytes of the file: whole lines.
const FILE: usize = 256 << 10;

/// What the program requests at once: a short read, a line, the longest that a terminal holds.
const READS: [usize; 3] = [1, 64, 2048];

pub(super) fn all(cells: &mut Cells<'_>) -> Vec<Transfer> {
    let mut all = Vec::new();
    for input in ["canonical", "raw"] {
        for echo in [true, false] {
            for length in READS {
                let what = format!("transfer, {input}, {} echo, reads of {length} B", if echo { "with" } else { "no" });
                all.extend(cells.take(&what, |setting| transfer(setting, input, echo, length)));
            }
        }
    }
    all
}

fn transfer(setting: &Setting, input: &str, echo: bool, length: usize) -> Result<Transfer, Failure> {
    let canonical = input == "canonical";
    let pty = Pty::new(Features { canonical, echo, processing: echo, ..Features::RAW })?;
    if !canonical {
        // A read returns once it has all that it requests: at most what this byte can hold.
        let mut modes = tcgetattr(&pty.slave)?;
        modes.special_codes[SpecialCodeIndex::VMIN] = length.min(255) as u8;
        tcsetattr(&pty.slave, OptionalActions::Now, &modes)?;
    }
    let file = lines(FILE);
    let (go, begun) = rustix::pipe::pipe()?;
    let emulator = setting.partner(setting.cpu(), || {
        read(&go, &mut [0])?;
        types(&pty.master, &file)
    })?;
    let account = Account::open(&[emulator.pid()]);
    let begin = Instant::now();
    write(&begun, &[1])?;
    let (mut room, mut got, mut reads) = (vec![0; length], Vec::with_capacity(FILE), 0);
    while got.len() < FILE {
        // The end of the file may be shorter than what a raw terminal waits for: a full buffer ends the wait too.
        let wanted = length.min(FILE - got.len());
        let count = read(&pty.slave, &mut room[..wanted])?;
        got.extend_from_slice(&room[..count]);
        reads += 1;
    }
    let elapsed_s = begin.elapsed().as_secs_f64();
    let used = account.close();
    if got != file {
        return Err(Failure::wrong("the program read something else than was typed"));
    }
    Ok(Transfer { input: input.into(), echo, read_bytes: length as u64, bytes: FILE as u64, reads, elapsed_s, used })
}

/// The emulator: types as the terminal takes it, shows what it echoes, and stays until it is ended.
fn types(terminal: &OwnedFd, mut file: &[u8]) -> Result<(), Failure> {
    fcntl_setfl(terminal, fcntl_getfl(terminal)? | OFlags::NONBLOCK)?;
    let mut room = vec![0; 64 << 10];
    loop {
        let wanted = if file.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        let mut polled = [PollFd::new(terminal, wanted)];
        poll(&mut polled, None)?;
        let events = polled[0].revents();
        if events.contains(PollFlags::IN) {
            read(terminal, &mut room)?;
        }
        if events.contains(PollFlags::OUT) {
            /// Less than a terminal keeps for a program that is late.
            const PIECE: usize = 1024;
            match write(terminal, &file[..file.len().min(PIECE)]) {
                Ok(length) => file = &file[length..],
                Err(Errno::AGAIN) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo::cells;

    #[test]
    fn a_file_arrives_whole_in_every_way() {
        for input in ["canonical", "raw"] {
            for (echo, length) in [(true, 64), (false, 2048), (false, 64)] {
                let done = cells::apart(|setting| transfer(setting, input, echo, length)).expect("measured");
                assert!(done.reads >= (FILE / length) as u64, "{done:?}");
                // By lines, a long read brings one line.
                assert!(input == "raw" || length < 2048 || done.reads == (FILE / 64) as u64, "{done:?}");
            }
        }
    }
}
