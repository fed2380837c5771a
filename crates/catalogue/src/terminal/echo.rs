//! From a keystroke to its echo: by the line discipline, or by a program that reads it and writes it back, as an editor
//! does.

use operation::{Axis, Failure, Loop, Operation, Setting, partner, repeat, words};
use rustix::termios::{QueueSelector, tcflush};

use super::TERMINAL;
use super::pair::{Features, Pty};
use crate::kit::library::{read, write};

const DISTANCE: Axis = partner("distance", words!["same", "other", "awake"]).headline(words!["same"]);

/// The most keystrokes of a batch: nothing reads them, and a terminal buffers a limited number.
const KEPT: u64 = 2000;

pub(crate) const OPERATIONS: &[Operation] = &[
    TERMINAL
        .id("terminal.echo.driver")
        .summary("from a keystroke to its echo by the line discipline, both at the emulator's end")
        .per("keystroke")
        .calls(&["read", "write"])
        .moves(|_| 1)
        .prepare(|_| {
            let pty = Pty::new(Features { echo: true, ..Features::RAW })?;
            let program = pty.slave.try_clone()?;
            let mut key = b'a';
            let strokes = repeat(move || {
                key = after(key);
                stroke(&pty, key)
            });
            // The program that reads nothing discards its input between batches.
            Ok(strokes.at_most(KEPT).before(move |_| Ok(tcflush(&program, QueueSelector::IFlush)?)))
        }),
    TERMINAL
        .named(
            "terminal.echo.program",
            "from a keystroke to its echo by a partner process that reads it from a raw terminal and writes it back",
        )
        .per("keystroke")
        .calls(&["read", "write"])
        .axes(&[DISTANCE])
        .moves(|_| 1)
        .prepare(echoed_by_partner),
];

fn echoed_by_partner(setting: &Setting) -> Result<Loop, Failure> {
    let pty = Pty::new(Features::RAW)?;
    let program = pty.slave.try_clone()?;
    let partner = setting.partner(setting.partner_cpu()?, || {
        let mut key = [0];
        loop {
            match read(&program, &mut key)? {
                1 => write(&program, &key)?,
                _ => return Ok(()),
            };
        }
    })?;
    let mut key = b'a';
    Ok(repeat(move || {
        let _alive = &partner;
        key = after(key);
        stroke(&pty, key)
    }))
}

/// The next key: a different one each time, so that an echo can be assigned to its keystroke.
#[inline]
fn after(key: u8) -> u8 {
    if key == b'z' { b'a' } else { key + 1 }
}

/// One keystroke, and the wait for its echo.
#[inline]
fn stroke(pty: &Pty, key: u8) -> Result<(), Failure> {
    let mut echo = [0];
    write(&pty.master, &[key])?;
    match read(&pty.master, &mut echo)? {
        1 if echo[0] == key => Ok(()),
        _ => Err(Failure::wrong("the echo is not the key")),
    }
}
