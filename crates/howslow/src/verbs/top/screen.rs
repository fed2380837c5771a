//! The terminal while it shows frames. It is restored however this ends: by dropping, by a panic's hook before its message, before the
//! process stops, and by the guardian of the crate `terminal` if it is killed. Nothing waits for good: a terminal that takes no output ends with the next signal.

use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::OwnedFd;
use std::panic::{set_hook, take_hook};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::terminal::own::Guardian;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;
use ratatui_termion::TermionBackend;
use ratatui_termion::termion::cursor::{Hide, Show};
use ratatui_termion::termion::screen::{ToAlternateScreen, ToMainScreen};
use ratatui_termion::termion::style::Reset;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGTSTP};
use signal_hook::low_level::emulate_default_handler;

use super::signals::Signals;
use crate::screen::{Key, Keys, State};

/// The longest time that restoring may take where the terminal takes nothing.
const LAST: Duration = Duration::from_millis(700);

/// How often a signal is looked for while the terminal takes nothing.
const LOOK: Duration = Duration::from_millis(50);

/// The terminal that this process belongs to, opened anew: that it does not block concerns no other descriptor.
struct Tty {
    descriptor: OwnedFd,
    before: Termios,
    /// True while it shows frames.
    held: AtomicBool,
    /// Restores it if this process is killed; `None` where no process can be started.
    guardian: Option<Guardian>,
}

impl Tty {
    fn open() -> Result<Tty> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = open("/dev/tty", flags, Mode::empty())?;
        let before = tcgetattr(&descriptor)?;
        let guardian = Guardian::start(&descriptor).ok();
        Ok(Tty { descriptor, before, held: AtomicBool::new(false), guardian })
    }

    fn hold(&self, signals: &Signals) -> Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        self.held.store(true, Ordering::Relaxed);
        let _ = self.guardian.as_ref().map(Guardian::changing);
        tcsetattr(&self.descriptor, OptionalActions::Now, &raw)?;
        let shown = format!("{ToAlternateScreen}{Hide}");
        self.write(shown.as_bytes(), || signals.ended().is_some())
    }

    fn restore(&self) {
        if !self.held.swap(false, Ordering::Relaxed) {
            return;
        }
        let until = Instant::now() + LAST;
        // Whatever sequence was cut is ended first.
        let left = format!("\x18{Reset}{Show}{ToMainScreen}");
        let _ = self.write(left.as_bytes(), || Instant::now() > until);
        let _ = tcsetattr(&self.descriptor, OptionalActions::Now, &self.before);
        let _ = self.guardian.as_ref().map(Guardian::restored);
    }

    /// Writes all of it, unless it has to give up while the terminal takes nothing.
    fn write(&self, mut bytes: &[u8], give_up: impl Fn() -> bool) -> Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.descriptor, bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if give_up() => return Err(Error::from(ErrorKind::TimedOut)),
                Err(Errno::AGAIN) => drop(self.wait(PollFlags::OUT, LOOK)),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Waits at most this long. A signal ends the wait early.
    fn wait(&self, event: PollFlags, time: Duration) -> PollFlags {
        let mut polled = [PollFd::new(&self.descriptor, event)];
        let _ = poll(&mut polled, Timespec::try_from(time).ok().as_ref());
        polled[0].revents()
    }
}

/// Where frames are written: collected until they are whole.
struct Frames {
    tty: Arc<Tty>,
    signals: Signals,
    bytes: Vec<u8>,
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.bytes.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        self.tty.write(&bytes, || self.signals.ended().is_some())
    }
}

/// A terminal that shows frames until this is dropped.
pub(super) struct Screen {
    tty: Arc<Tty>,
    terminal: Terminal<TermionBackend<Frames>>,
    keys: Keys,
    signals: Signals,
    /// True if nothing has a colour.
    is_plain: bool,
}

impl Screen {
    /// Takes the terminal. Fails if there is none.
    pub(super) fn open(signals: Signals) -> Result<Screen> {
        let tty = Arc::new(Tty::open()?);
        let frames = Frames { tty: Arc::clone(&tty), signals: signals.clone(), bytes: Vec::new() };
        let terminal = Terminal::new(TermionBackend::new(frames))?;
        let (before, of_panic) = (take_hook(), Arc::clone(&tty));
        set_hook(Box::new(move |panic| {
            of_panic.restore();
            before(panic);
        }));
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let screen = Screen { tty, terminal, keys: Keys::default(), signals, is_plain };
        screen.tty.hold(&screen.signals)?;
        Ok(screen)
    }

    /// The keys that are pressed within this time.
    /// A terminal that is closed is noted as the signal that it sends, which may be ignored.
    pub(super) fn keys(&mut self, time: Duration) -> Result<Vec<Key>> {
        let events = self.tty.wait(PollFlags::IN, time);
        if events.is_empty() {
            return Ok(self.keys.pause().into_iter().collect());
        }
        let mut room = [0; 256];
        match rustix::io::read(&self.tty.descriptor, &mut room) {
            Ok(0) | Err(Errno::IO) => {
                self.signals.note(SIGHUP);
                Ok(Vec::new())
            }
            Ok(length) => Ok(self.keys.read(&room[..length])),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Vec::new()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self, state: &mut State) -> Result<()> {
        let drawn = self.terminal.draw(|frame| {
            crate::screen::draw(state, frame);
            if self.is_plain {
                frame.buffer_mut().content.iter_mut().for_each(|cell| cell.fg = Color::Reset);
            }
        });
        drawn.map(|_| ())
    }

    /// Has the next frame drawn in full.
    pub(super) fn clear(&mut self) -> Result<()> {
        // Clearing would request the cursor's place from the terminal and wait for the answer; another size does not.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Requests all programs of this terminal's group to stop, as Ctrl-Z does; this one among them, by its signal.
    pub(super) fn stop_all(&self) -> Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Gives the terminal back, stops this process, and takes the terminal again once it is continued.
    pub(super) fn suspend(&mut self) -> Result<()> {
        self.tty.restore();
        emulate_default_handler(SIGTSTP)?;
        self.resume()
    }

    /// Takes the terminal again, whoever had it.
    pub(super) fn resume(&mut self) -> Result<()> {
        // It was continued, which needs no second answer.
        self.signals.continued();
        self.tty.hold(&self.signals)?;
        self.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tty.restore();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use crate::screen::{About, Settings};
    use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    use super::*;

    /// The test starts itself with this variable, at a terminal of its own.
    const AT_A_TERMINAL: &str = "HOWSLOW_TEST_AT_A_TERMINAL";

    fn panics() {
        let signals = Signals::watch().expect("signals");
        let mut screen = Screen::open(signals).expect("a terminal");
        screen.draw(&mut State::new(About::default(), Settings::default())).expect("a frame");
        panic!("on purpose");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_its_message() {
        if std::env::var_os(AT_A_TERMINAL).is_some() {
            return panics();
        }
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        unlockpt(&master).expect("unlocked");
        let slave = ioctl_tiocgptpeer(&master, flags).expect("its other end");
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).expect("a size");
        let before = format!("{:?}", tcgetattr(&slave).expect("settings"));
        let name = "verbs::top::screen::tests::a_panic_gives_the_terminal_back_before_its_message";
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(std::env::current_exe().expect("this test"));
        command.args(["--exact", name, "--nocapture"]).env(AT_A_TERMINAL, "1").env("RUST_BACKTRACE", "0");
        let copy = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let mut child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().expect("setsid (util-linux)");
        let mut text = Vec::new();
        let mut reader = std::fs::File::from(master.try_clone().expect("a descriptor"));
        let reads = std::thread::spawn(move || {
            let mut room = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut room) {
                text.extend(&room[..length]);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        assert!(!child.wait().expect("our child").success());
        assert_eq!(format!("{:?}", tcgetattr(&slave).expect("settings")), before);
        drop((command, slave));
        let text = reads.join().expect("what it wrote");
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what:?} is not in {text:?}"));
        let places = [place("\u{1b}[?1049h"), place("howslow top"), place("\u{1b}[?1049l"), place("on purpose")];
        assert!(places.is_sorted(), "{text:?}");
    }
}
