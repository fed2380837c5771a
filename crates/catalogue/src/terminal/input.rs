//! Input from a terminal: text that is typed, pasted or sent as a file, on its way to the program that reads it.

use operation::{Axis, Failure, Operation, numbers, repeat, size, word, words};

use super::TERMINAL;
use super::pair::{Features, LINE, Pty, as_shown, lines, write_all};
use crate::kit::library::read;
use crate::kit::{ensure, read_whole};

/// Whether the program receives edited lines, or bytes as they arrive.
const READ: Axis = word("input", words!["canonical", "raw"]);

/// Whether the line discipline echoes. The emulator reads the echo.
const ECHO: Axis = word("echo", words!["on", "off"]);

/// Bytes that the program requests at once: a short read, a line, more than there is.
const ROOM: Axis = size(numbers![1, LINE as u64, 4096]);

/// Bytes of a piece of bulk input: half of what a terminal buffers for a slow program.
const BULK: usize = 2048;

pub(crate) const OPERATIONS: &[Operation] = &[
    TERMINAL
        .named(
            "terminal.input.line",
            "an emulator sends a line of 64 characters, the program reads it, and the emulator reads the echo if \
            there is one",
        )
        .per("line")
        .calls(&["read", "write"])
        .axes(&[ECHO, READ])
        .moves(|_| LINE as u64)
        .prepare(|setting| {
            let mut typed = Typed::new(setting.word("input")?, setting.word("echo")?, LINE, LINE)?;
            Ok(repeat(move || typed.pass()))
        }),
    TERMINAL
        .named(
            "terminal.input.bulk",
            "an emulator sends 2 KiB of lines at once, as if it pasted or sent a file, and the program reads this \
            many bytes at a time",
        )
        .per("2 KiB")
        .calls(&["read", "write"])
        .axes(&[ECHO, READ, ROOM])
        .moves(|_| BULK as u64)
        .prepare(|setting| {
            let mut typed = Typed::new(setting.word("input")?, setting.word("echo")?, BULK, setting.size()?)?;
            Ok(repeat(move || typed.pass()))
        }),
];

/// Text on its way from the emulator's end to the program's. One task has both ends.
struct Typed {
    pty: Pty,
    text: Vec<u8>,
    /// The bytes that the program requests at once.
    room: Vec<u8>,
    got: Vec<u8>,
    echo: Vec<u8>,
}

impl Typed {
    fn new(input: &str, echo: &str, bytes: usize, room: usize) -> Result<Typed, Failure> {
        let echoes = echo == "on";
        let features = Features { canonical: input == "canonical", echo: echoes, processing: true, ..Features::RAW };
        let text = lines(bytes);
        let echo = if echoes { vec![0; as_shown(&text, features).len()] } else { Vec::new() };
        Ok(Typed { pty: Pty::new(features)?, got: Vec::with_capacity(bytes), text, room: vec![0; room], echo })
    }

    /// All of it, to the program and, if it is echoed, back.
    fn pass(&mut self) -> Result<(), Failure> {
        write_all(&self.pty.master, &self.text)?;
        self.got.clear();
        while self.got.len() < self.text.len() {
            let length = read(&self.pty.slave, &mut self.room[..])?;
            self.got.extend_from_slice(&self.room[..length]);
        }
        read_whole(&self.pty.master, &mut self.echo)?;
        ensure(self.got == self.text, || "the program did not read what was typed")
    }
}
