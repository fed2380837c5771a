//! From a keystroke to its echo: by the line discipline, by a program, by a program behind other programs; in a row, or after
//! pauses in which the CPU idles, as when a person types.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use analysis::terminal::Latency;
use analysis::terminal::pseudo::Keystrokes;
use catalogue::terminal::pair::{Features, Pty};
use catalogue::terminal::paths::laid;
use operation::{Failure, Setting};
use rustix::io::{read, write};
use rustix::termios::{QueueSelector, tcflush};

use super::cells::Cells;

/// What echoes: its name, the path to it, and whether it has a CPU of its own.
const ECHOES: [(&str, Option<&str>, bool); 6] = [
    ("line discipline", None, false),
    ("program", Some("raw"), false),
    ("program, another CPU", Some("raw"), true),
    ("program behind script", Some("script"), false),
    ("program behind tcp", Some("tcp"), false),
    ("program behind ssh", Some("ssh"), false),
];

/// In a row, and with a pause between two keystrokes.
const PAUSES: [Duration; 2] = [Duration::ZERO, Duration::from_millis(2)];

/// Samples are kept one by one: no more than this.
const MOST: usize = 50_000;

pub(super) fn all(cells: &mut Cells<'_>, time: Duration) -> Vec<Keystrokes> {
    let each = time / (ECHOES.len() * PAUSES.len()) as u32;
    let mut all = Vec::new();
    for (echo, path, apart) in ECHOES {
        for pause in PAUSES {
            if path.is_some_and(|path| cells.is_missing(path)) {
                continue;
            }
            let ns = cells.take(echo, |setting| match path {
                None => line_discipline(pause, each),
                Some(path) => program(setting, (path, apart), pause, each),
            });
            let keystrokes =
                |ns| Keystrokes { echo: echo.into(), pause_s: pause.as_secs_f64(), latency: Latency::new(ns) };
            all.extend(ns.map(keystrokes));
        }
    }
    all
}

fn line_discipline(pause: Duration, time: Duration) -> Result<Vec<f64>, Failure> {
    /// Keystrokes that nobody reads pile up, and are dropped before there are too many.
    const KEPT: usize = 1000;
    let pty = Pty::new(Features { echo: true, ..Features::RAW })?;
    let mut count = 0;
    strokes(&pty.master, pause, time, || {
        count += 1;
        if count % KEPT == 0 {
            tcflush(&pty.slave, QueueSelector::IFlush)?;
        }
        Ok(())
    })
}

fn program(
    setting: &Setting,
    (path, apart): (&str, bool),
    pause: Duration,
    time: Duration,
) -> Result<Vec<f64>, Failure> {
    let mut path = laid(setting, path)?;
    let emulator = path.drained.take().ok_or_else(|| Failure::wrong("nothing comes out of a file"))?;
    let cpu = if apart { setting.other_cpu()? } else { setting.cpu() };
    let _program = setting.partner(cpu, || {
        let mut key = [0];
        while read(&path.output, &mut key)? == 1 {
            write(&path.output, &key)?;
        }
        Ok(())
    })?;
    strokes(&emulator, pause, time, || Ok(()))
}

/// Keystrokes for so long, each after the echo of the one before.
fn strokes(
    emulator: &OwnedFd,
    pause: Duration,
    time: Duration,
    mut between: impl FnMut() -> Result<(), Failure>,
) -> Result<Vec<f64>, Failure> {
    let mut times = Vec::new();
    let begin = Instant::now();
    let mut key = b'a';
    while begin.elapsed() < time && times.len() < MOST {
        between()?;
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        key = if key == b'z' { b'a' } else { key + 1 };
        let mut echo = [0];
        let pressed = Instant::now();
        write(emulator, &[key])?;
        let length = read(emulator, &mut echo)?;
        times.push(pressed.elapsed().as_secs_f64() * 1e9);
        if length != 1 || echo[0] != key {
            return Err(Failure::wrong("the echo is not the key"));
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudo::cells;

    #[test]
    fn every_stroke_is_echoed_by_all() {
        let time = Duration::from_millis(50);
        for pause in PAUSES {
            for path in [None, Some("raw"), Some("tcp")] {
                let times = cells::apart(|setting| match path {
                    None => line_discipline(pause, time),
                    Some(path) => program(setting, (path, false), pause, time),
                });
                let times = times.expect("measured");
                assert!(times.iter().all(|&ns| ns > 0.0) && !times.is_empty(), "{path:?}: {times:?}");
            }
        }
    }
}
