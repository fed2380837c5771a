//! Where this process and one that it has started leave each other numbers: memory that both see, and a way to wait for
//! the other one. Nothing here is taken for granted of what stands in it: the other process may have died in the middle.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;

/// Numbers of a post.
pub const NUMBERS: usize = 12;
/// Bytes of its text.
const TEXT: usize = 512;

/// One worker's part of the memory: a command to it, its answer, numbers both ways, and why it has ended.
#[repr(C)]
pub struct Post {
    /// Written by the one that gives work.
    command: AtomicU32,
    /// Written by the worker.
    answer: AtomicU32,
    /// Not zero once it has ended.
    ended: AtomicU32,
    length: AtomicU32,
    numbers: [AtomicU64; NUMBERS],
    text: [AtomicU8; TEXT],
}

impl Post {
    pub fn command(&self) -> u32 {
        self.command.load(Ordering::Acquire)
    }

    /// Gives a command and wakes the worker.
    pub fn send(&self, command: u32) {
        wake(&self.command, command);
    }

    pub fn answer(&self) -> u32 {
        self.answer.load(Ordering::Acquire)
    }

    /// Answers, and wakes the one that waits for it.
    pub fn reply(&self, answer: u32) {
        wake(&self.answer, answer);
    }

    /// Sleeps until the command is another one than `known`, at most this long. Returns the command.
    pub fn wait_for_command(&self, known: u32, at_most: Option<Duration>) -> u32 {
        wait(&self.command, known, at_most);
        self.command()
    }

    /// Sleeps until the answer is another one than `known`, at most this long. Returns the answer.
    pub fn wait_for_answer(&self, known: u32, at_most: Duration) -> u32 {
        wait(&self.answer, known, Some(at_most));
        self.answer()
    }

    /// A number; 0 before anybody has written it.
    pub fn number(&self, place: usize) -> f64 {
        f64::from_bits(self.numbers[place].load(Ordering::Acquire))
    }

    /// Writes a number. Each has one writer.
    pub fn put(&self, place: usize, number: f64) {
        self.numbers[place].store(number.to_bits(), Ordering::Release);
    }

    /// Why the worker has ended, in one sentence; `None` while it lives.
    pub fn ended(&self) -> Option<String> {
        if self.ended.load(Ordering::Acquire) == 0 {
            return None;
        }
        let length = (self.length.load(Ordering::Relaxed) as usize).min(TEXT);
        let bytes: Vec<u8> = self.text[..length].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Notes why the worker has ended, if that is not known yet, and wakes the one that waits for it.
    pub(crate) fn end(&self, why: &str) {
        if self.ended.load(Ordering::Acquire) != 0 {
            return;
        }
        let bytes = &why.as_bytes()[..why.len().min(TEXT)];
        for (place, byte) in self.text.iter().zip(bytes) {
            place.store(*byte, Ordering::Relaxed);
        }
        self.length.store(bytes.len() as u32, Ordering::Relaxed);
        self.ended.store(1, Ordering::Release);
        let _ = futex::wake(&self.answer, futex::Flags::empty(), u32::MAX >> 1);
    }
}

fn wake(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    // The processes share the memory, not the address space, so the futex is no private one.
    let _ = futex::wake(word, futex::Flags::empty(), u32::MAX >> 1);
}

/// Sleeps while the word holds this value. Returns early for no reason now and then, as futexes do.
fn wait(word: &AtomicU32, known: u32, at_most: Option<Duration>) {
    let limit = at_most.and_then(|time| Timespec::try_from(time).ok());
    while word.load(Ordering::Acquire) == known {
        match futex::wait(word, futex::Flags::empty(), known, limit.as_ref()) {
            Err(Errno::INTR) if at_most.is_none() => continue,
            _ => return,
        }
    }
}
