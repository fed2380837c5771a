//! Rates of terminals beside a loop of this bench that shares no code with the operation: a terminal and a reader of its own,
//! in turns of a few milliseconds. The kernel moves the thread that carries the bytes between CPUs, for both alike.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use analysis::statistics::median;
use analysis::tails::median_interval;
use anyhow::{Context, anyhow, ensure};
use operation::{Loop, Setting};
use record::{Point, Value};

use crate::Extent;
use crate::tool;

/// How often both sides are set up anew.
const TIMES: u32 = 6;
/// Pairs of a turn of each, and the length of a turn.
const PAIRS: usize = 50;
const TURN: Duration = Duration::from_millis(3);
const PATHS: [&str; 3] = ["raw", "processed", "pipe"];
const SIZES: [usize; 5] = [1, 64, 1024, 4096, 64 << 10];
/// How far a rate may be off.
const GOAL: f64 = 0.05;

pub(crate) fn terminals(extent: &Extent) -> anyhow::Result<()> {
    let times = extent.times(TIMES);
    let cpu = *system::machine::describe().cpu.usable.last().unwrap_or(&0);
    println!("{times} times {PAIRS} pairs of {} ms on CPU {cpu}: bytes a second", TURN.as_millis());
    let (mut within, mut all) = (0, 0);
    for path in PATHS {
        for size in SIZES {
            let name = format!("terminal.write@distance=same,path={path},size={size}");
            if extent.only.as_ref().is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let mut turns = Vec::new();
            for _ in 0..times {
                // A thread of its own keeps the pinning from what comes after.
                let one = std::thread::scope(|scope| scope.spawn(|| alternated(path, size, cpu)).join());
                match one.map_err(|_| anyhow!("the bench panicked"))?? {
                    Ok(pairs) => turns.extend(pairs),
                    Err(why) => tool::skip(&name, &why),
                }
            }
            let Some(ratio) = median_interval(turns.iter().map(|(ours, own)| own / ours)) else { continue };
            let rate =
                |ns: fn(&(f64, f64)) -> f64| size as f64 / median(turns.iter().map(ns)).unwrap_or(f64::NAN) * 1e3;
            println!(
                "  {path:<10} {size:>6} B   howslow {:>9.3} MB/s   loop {:>9.3} MB/s   howslow over loop {:.3} [{:.3}, {:.3}]",
                rate(|turn| turn.0),
                rate(|turn| turn.1),
                ratio.value,
                ratio.low,
                ratio.high,
            );
            all += 1;
            within += u32::from((ratio.value - 1.0).abs() <= GOAL);
        }
    }
    println!("{within} of {all} within {:.0} %", GOAL * 100.0);
    Ok(())
}

/// Pairs of ns per write, howslow's operation and the loop here; or why there are none.
fn alternated(path: &str, size: usize, cpu: u32) -> anyhow::Result<Result<Vec<(f64, f64)>, String>> {
    operation::pin(cpu).map_err(|failure| anyhow!("{failure}"))?;
    let words = [("distance", "same"), ("path", path)].map(|(axis, word)| (axis, Value::Word(word.into())));
    let values = words.into_iter().chain([("size", Value::Number(size as u64))]);
    let point = values.fold(Point::default(), |point, (axis, value)| point.with(axis, value));
    let write = catalogue::find("terminal.write").context("there is no terminal.write")?;
    let setting = Setting::new(point, std::env::temp_dir(), cpu, None, 1);
    let mut ours = match write.set_up(&setting) {
        Ok(work) => work,
        Err(failure) => return Ok(Err(failure.to_string())),
    };
    let mut own = Own::start(path, size)?;
    let mut times = 1;
    while timed(&mut ours, times)? < TURN {
        times *= 2;
    }
    own.timed(times)?;
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        // Who comes first changes, so that neither always finds what the other left behind.
        let (one, other) = match pair % 2 {
            0 => (timed(&mut ours, times)?, own.timed(times)?),
            _ => {
                let own = own.timed(times)?;
                (timed(&mut ours, times)?, own)
            }
        };
        let each = |time: Duration| time.as_nanos() as f64 / times as f64;
        pairs.push((each(one), each(other)));
    }
    Ok(Ok(pairs))
}

fn timed(work: &mut Loop, times: u64) -> anyhow::Result<Duration> {
    work.timed(times).map_err(|failure| anyhow!("terminal.write: {failure}"))
}

/// The loop here: a terminal or a pipe, and a process that reads what comes out of it.
struct Own {
    output: File,
    text: Vec<u8>,
    /// Bytes that come out for each write.
    shown: u64,
    /// Tells the reader how many bytes to wait for, and is told when they have come.
    goal: File,
    reached: File,
    reader: libc::pid_t,
}

impl Own {
    fn start(path: &str, size: usize) -> anyhow::Result<Own> {
        let text: Vec<u8> = (0..size).map(|place| if place % 64 == 63 { b'\n' } else { b'x' }).collect();
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        let shown = (size + if path == "processed" { lines } else { 0 }) as u64;
        let (input, output) = if path == "pipe" { pipe()? } else { terminal(path == "processed")? };
        let ((goals, goal), (reached, reaches)) = (pipe()?, pipe()?);
        // SAFETY: the child uses nothing but descriptors and memory of its own, and leaves without running destructors.
        let reader = unsafe { libc::fork() };
        ensure!(reader >= 0, "cannot fork");
        if reader == 0 {
            // SAFETY: concerns this process alone: it ends with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let end = read_all(&input, &goals, &reaches);
            // SAFETY: ends this process at once.
            unsafe { libc::_exit(i32::from(end.is_none())) };
        }
        Ok(Own { output, text, shown, goal, reached, reader })
    }

    /// How long so many writes take until all has come out.
    fn timed(&mut self, times: u64) -> anyhow::Result<Duration> {
        let start = Instant::now();
        self.goal.write_all(&(times * self.shown).to_ne_bytes())?;
        let output = self.output.as_raw_fd();
        for _ in 0..times {
            let mut left = self.text.as_slice();
            while !left.is_empty() {
                let written = call!(libc::SYS_write, output, left.as_ptr(), left.len());
                left = usize::try_from(written).ok().and_then(|written| left.get(written..)).context("write failed")?;
            }
        }
        self.reached.read_exact(&mut [0])?;
        Ok(start.elapsed())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: a child of this process that nobody has waited for.
        unsafe { libc::kill(self.reader, libc::SIGKILL) };
        // SAFETY: the same child; no status is asked for.
        unsafe { libc::waitpid(self.reader, std::ptr::null_mut(), 0) };
    }
}

/// In the reader: for each goal, reads until so many bytes have come, and says so.
fn read_all(input: &File, mut goals: &File, mut reaches: &File) -> Option<()> {
    let mut room = vec![0_u8; 64 << 10];
    let mut goal = [0; 8];
    while goals.read_exact(&mut goal).is_ok() {
        let mut left = u64::from_ne_bytes(goal);
        while left > 0 {
            let come = call!(libc::SYS_read, input.as_raw_fd(), room.as_mut_ptr(), room.len());
            left = left.checked_sub(u64::try_from(come).ok()?)?;
        }
        reaches.write_all(&[1]).ok()?;
    }
    Some(())
}

fn pipe() -> anyhow::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the pointer is to two numbers.
    ensure!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == 0, "no pipe");
    // SAFETY: the descriptors were just made and are nobody else's.
    Ok(ends.map(|end| unsafe { File::from_raw_fd(end) }).into())
}

/// The emulator's end and the program's end of a terminal that changes nothing, or makes two characters of a newline.
fn terminal(processed: bool) -> anyhow::Result<(File, File)> {
    let open = |path: &str| OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
    let master = open("/dev/ptmx").context("/dev/ptmx")?;
    let mut name = [0_u8; 64];
    let descriptor = master.as_raw_fd();
    // SAFETY: the descriptor is open.
    ensure!(unsafe { libc::grantpt(descriptor) } == 0, "no pseudo-terminal");
    // SAFETY: the descriptor is open.
    ensure!(unsafe { libc::unlockpt(descriptor) } == 0, "no pseudo-terminal");
    // SAFETY: the descriptor is open; the pointer is to as many bytes as are told.
    let named = unsafe { libc::ptsname_r(descriptor, name.as_mut_ptr().cast(), name.len()) };
    ensure!(named == 0, "no pseudo-terminal");
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let slave = open(std::str::from_utf8(&name[..length])?)?;
    // SAFETY: zeros are a valid value of this structure of numbers.
    let mut modes: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the pointer is to a whole structure.
    let got = unsafe { libc::tcgetattr(slave.as_raw_fd(), &raw mut modes) };
    ensure!(got == 0, "the terminal tells no settings");
    // SAFETY: the pointer is to a whole structure.
    unsafe { libc::cfmakeraw(&raw mut modes) };
    if processed {
        modes.c_oflag |= libc::OPOST | libc::ONLCR;
    }
    // SAFETY: the descriptor is open, and the pointer is to a whole structure.
    let set = unsafe { libc::tcsetattr(slave.as_raw_fd(), libc::TCSANOW, &raw const modes) };
    ensure!(set == 0, "the terminal takes no settings");
    Ok((master, slave))
}
