//! Output to a terminal that a partner drains: by the size of a write, the path, the call, and the buffering of the C
//! library.

use std::os::fd::OwnedFd;

use operation::{Axis, Failure, Loop, Operation, Setting, numbers, partner, size, word, words};
use rustix::io::IoSlice;

use super::TERMINAL;
use super::drained::Drained;
use super::pair::{LINE, lines, write_all};
use super::path::Path;
use super::paths::laid;
use crate::file::stream::Stream;
use crate::kit::by_c_library;
use crate::kit::library::writev;

/// Where the drain runs: on this task's CPU, so that the time is the whole cost of the bytes, or on another one, as for an
/// emulator.
const DISTANCE: Axis = partner("distance", words!["same", "other"]).headline(words!["same"]);

/// What the bytes pass through: a terminal that changes nothing, one that processes output (a newline becomes two
/// characters), one that also expands tabs to spaces, and a pipe for comparison.
const PATH: Axis = word("path", words!["raw", "processed", "tabs", "pipe"]);

/// Programs between the terminal and its emulator: `script`, a login over TCP, one over SSH.
const THROUGH: Axis = word("path", words!["script", "tcp", "ssh"]).headline(words!["script", "tcp"]);

const SIZE: Axis = size(numbers![1, 64, 512, 1024, 4096, 16 << 10, 64 << 10]);

/// Lines that one call writes.
const LINES: usize = 16;

pub(crate) const OPERATIONS: &[Operation] = &[
    TERMINAL
        .id("terminal.write")
        .version(2)
        .summary("write lines of text to a terminal that a partner drains; the write counts once all has been read")
        .per("write")
        .calls(&["write"])
        .axes(&[DISTANCE, PATH, SIZE])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(|setting| {
            let text = lines_for(setting, setting.size()?)?;
            writes(setting, text, write_all)
        }),
    TERMINAL
        .named(
            "terminal.through",
            "write lines of text to a terminal behind another program, a login over TCP or over SSH on this \
            machine; it counts once it has come out of the emulator's terminal, all on one CPU",
        )
        .per("write")
        .calls(&["write"])
        .axes(&[THROUGH, size(numbers![1, 64, 4096, 64 << 10])])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(|setting| {
            let text = lines(setting.size()?);
            writes(setting, text, write_all)
        }),
    TERMINAL
        .named("terminal.writev", "write 16 lines of text to a terminal by one call (writev)")
        .version(2)
        .per("write")
        .calls(&["writev"])
        .axes(&[DISTANCE, PATH])
        .moves(|_| (LINES * LINE) as u64)
        .prepare(|setting| {
            writes(setting, lines_for(setting, LINES * LINE)?, |output, text| {
                let pieces: [IoSlice<'_>; LINES] =
                    std::array::from_fn(|line| IoSlice::new(&text[line * LINE..][..LINE]));
                match writev(output, &pieces)? {
                    length if length == text.len() => Ok(()),
                    // The terminal's buffer was full: the rest is written in the usual way.
                    length => write_all(output, &text[length..]),
                }
            })
        }),
    TERMINAL
        .named(
            "terminal.print",
            "print a line of 64 characters, one at a time, through the C library's stream, unbuffered, by lines or \
            fully buffered",
        )
        .version(by_c_library(TERMINAL.version))
        .per("line")
        .calls(&["write"])
        .axes(&[word("buffer", words!["none", "line", "full"]), DISTANCE, word("path", words!["processed"])])
        .moves(|_| LINE as u64)
        .prepare(|setting| {
            let (mut drained, path) = drained(setting)?;
            let stream = Stream::to_write(drained.output.try_clone()?.into())?;
            stream.buffer(setting.word("buffer")?)?;
            let text = lines(LINE);
            let come = path.shown(&text).len() as u64;
            Ok(Loop::new(move |times| {
                drained.until_come(times * come, |_| {
                    for _ in 0..times {
                        text.iter().try_for_each(|byte| stream.put(*byte))?;
                    }
                    Ok(stream.flush()?)
                })
            }))
        }),
];

/// What the setting's path leads through, with a partner that drains it.
fn drained(setting: &Setting) -> Result<(Drained, Path), Failure> {
    let mut path = laid(setting, setting.word("path")?)?;
    let drained = path.drained.take().ok_or_else(|| Failure::wrong("nothing comes out of a file"))?;
    // Their processor time belongs to the cost.
    setting.partners().borrow_mut().extend(path.others());
    Ok((Drained::new(setting, path.output.try_clone()?, drained)?, path))
}

/// Lines of text, with tabs where the path expands them. Until version 1 there were none.
fn lines_for(setting: &Setting, size: usize) -> Result<Vec<u8>, Failure> {
    const BETWEEN_TABS: usize = LINE / 4;
    let mut text = lines(size);
    if setting.word("path")? == "tabs" {
        text.iter_mut().skip(BETWEEN_TABS / 2).step_by(BETWEEN_TABS).for_each(|byte| *byte = b'\t');
    }
    Ok(text)
}

/// A loop of writes. Once per batch it waits until all bytes have arrived.
fn writes(
    setting: &Setting,
    text: Vec<u8>,
    mut write: impl FnMut(&OwnedFd, &[u8]) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let (mut drained, path) = drained(setting)?;
    let come = path.shown(&text).len() as u64;
    Ok(Loop::new(move |times| {
        let _between = &path;
        drained.until_come(times * come, |output| (0..times).try_for_each(|_| write(output, &text)))
    }))
}
