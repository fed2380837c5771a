//! A terminal emulator whose behaviour the tests choose: how fast it parses, whether it answers, when it stops. It reads all
//! that comes at once and parses it in its own time, so that a writer sees its buffer, not its speed.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

use crate::support::{comes, kill, until};

/// How an emulator behaves.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// Bytes that it parses in a second.
    pub speed: f64,
    /// Whether it answers questions.
    pub answers: bool,
}

impl Behaviour {
    pub const GOOD: Behaviour = Behaviour { speed: 100e3, answers: true };
}

/// A pseudo-terminal, of which the tests hold the emulator's end.
pub struct Terminal {
    master: OwnedFd,
    slave: Option<OwnedFd>,
    before: Termios,
    shown: Arc<Mutex<Parsed>>,
}

/// What an emulator has parsed so far.
struct Parsed {
    parser: vt100::Parser<Answers>,
    bytes: usize,
}

impl Parsed {
    fn nothing() -> Parsed {
        Parsed { parser: vt100::Parser::new_with_callbacks(24, 80, 0, Answers::default()), bytes: 0 }
    }
}

/// What an emulator showed at its end.
pub struct Shown {
    pub parser: vt100::Parser<Answers>,
    /// Bytes that it parsed in a second in which there was something to parse: fewer than it should where it got no processor.
    pub speed: f64,
}

impl Terminal {
    /// One with settings that no program would choose by itself.
    pub fn new() -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        unlockpt(&master).expect("unlocked");
        let slave = ioctl_tiocgptpeer(&master, flags).expect("its other end");
        let mut modes = tcgetattr(&slave).expect("settings");
        modes.local_modes.remove(LocalModes::ECHOK);
        modes.special_codes[SpecialCodeIndex::VERASE] = b'#';
        tcsetattr(&slave, OptionalActions::Now, &modes).expect("settings");
        let (before, shown) = (tcgetattr(&slave).expect("settings"), Arc::new(Mutex::new(Parsed::nothing())));
        let terminal = Terminal { before, master, slave: Some(slave), shown };
        terminal.resize(24, 80);
        terminal
    }

    pub fn resize(&self, ws_row: u16, ws_col: u16) {
        tcsetwinsize(&self.master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).expect("resized");
    }

    /// Starts a command that has this as its controlling terminal, and its standard output and errors in pipes.
    pub fn start(&mut self, mut command: Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn(command)
    }

    /// The same with its standard output on the terminal.
    pub fn start_shown(&mut self, mut command: Command) -> Child {
        command.stdout(self.end()).stderr(Stdio::piped());
        self.spawn(command)
    }

    fn end(&self) -> OwnedFd {
        self.slave.as_ref().expect("not yet started").try_clone().expect("a descriptor")
    }

    fn spawn(&mut self, mut command: Command) -> Child {
        testing::interruptible();
        command.stdin(self.end());
        let slave = self.slave.take().expect("started once");
        // SAFETY: two system calls, which a forked child may make.
        unsafe {
            command.pre_exec(move || {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(&slave)?;
                Ok(())
            });
        }
        command.spawn().expect("it starts")
    }

    /// What another program does that has the terminal meanwhile.
    pub fn reset(&self) {
        tcsetattr(&self.master, OptionalActions::Now, &self.before).expect("settings");
    }

    /// What the user types.
    pub fn press(&self, keys: &[u8]) {
        assert_eq!(write(&self.master, keys), Ok(keys.len()));
    }

    /// Whether this stands on the emulator's screen, of 24 rows and 80 columns.
    pub fn shows(&self, text: &str) -> bool {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.parser.screen().contents().contains(text)
    }

    /// How many bytes the emulator has parsed.
    pub fn parsed(&self) -> usize {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Whether all settings are as they were at first.
    pub fn is_as_before(&self) -> bool {
        let now = tcgetattr(&self.master).expect("settings");
        format!("{:?}", now) == format!("{:?}", self.before)
    }

    /// Whether a program has switched it to raw mode.
    pub fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).expect("settings").local_modes.contains(LocalModes::ICANON)
    }

    /// Reads all that is shown, until nobody has the terminal open any more.
    pub fn read_all(&self) -> JoinHandle<String> {
        let reader = self.master.try_clone().expect("a descriptor");
        spawn(move || {
            let (mut room, mut all) = (vec![0; 64 << 10], Vec::new());
            loop {
                match read(&reader, &mut room) {
                    Ok(length @ 1..) => all.extend_from_slice(&room[..length]),
                    Err(Errno::INTR) => {}
                    _ => return String::from_utf8_lossy(&all).into_owned(),
                }
            }
        })
    }

    /// Fills it, so that what is written next finds no room, however little it is.
    pub fn fill(&self) {
        /// What the reader's side holds: N_TTY_BUF_SIZE, less one.
        const LINE: u64 = 4095;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let other = ioctl_tiocgptpeer(&self.master, flags).expect("its other end");
        fcntl_setfl(&other, OFlags::NONBLOCK).expect("no waiting");
        let text = vec![0; 64 << 10];
        let fill = || {
            // Where a long text finds no room, a short one may.
            for length in [text.len(), 256, 1] {
                while write(&other, &text[..length]) != Err(Errno::AGAIN) {}
            }
        };
        // The kernel moves the first of it to the reader's side, which makes room once more.
        until("a full terminal", || {
            fill();
            ioctl_fionread(&self.master).is_ok_and(|bytes| bytes >= LINE)
        });
        fill();
    }

    /// Answers this many questions and reads nothing more. Before the last answer the terminal is filled.
    pub fn answer_until_full(&self, questions: usize) {
        let (mut parser, mut room, mut answered) = (Parsed::nothing().parser, vec![0; 64 << 10], 0);
        while answered < questions {
            let length = read(&self.master, &mut room).expect("output");
            parser.process(&room[..length]);
            let answer = std::mem::take(&mut parser.callbacks_mut().0);
            answered += usize::from(!answer.is_empty());
            if answered == questions {
                self.fill();
            }
            assert_eq!(write(&self.master, &answer), Ok(answer.len()));
        }
    }

    /// Starts the emulator. It ends when nobody has the terminal open any more.
    pub fn emulate(&self, behaviour: Behaviour) -> JoinHandle<Shown> {
        let (reader, writer) =
            (self.master.try_clone().expect("a descriptor"), self.master.try_clone().expect("a descriptor"));
        let (shown, (send, come)) = (Arc::clone(&self.shown), channel());
        spawn(move || {
            let mut room = vec![0; 64 << 10];
            loop {
                match read(&reader, &mut room) {
                    Ok(length @ 1..) if send.send((Instant::now(), room[..length].to_vec())).is_ok() => {}
                    Err(Errno::INTR) => {}
                    _ => return,
                }
            }
        });
        spawn(move || {
            let speed = parse(&come, &writer, behaviour, &shown);
            let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
            Shown { parser: std::mem::replace(&mut *last, Parsed::nothing()).parser, speed }
        })
    }
}

/// Parses what has come, never faster than it should. What it is late with, it makes up for as long as there is more to parse; the time in
/// which nothing had come is no such time. Returns the bytes of a second in which there was something.
fn parse(come: &Receiver<(Instant, Vec<u8>)>, writer: &OwnedFd, behaviour: Behaviour, shown: &Mutex<Parsed>) -> f64 {
    const PIECE: usize = 1 << 10;
    let mut free = Instant::now();
    let (mut last, mut bytes, mut busy) = (free, 0, Duration::ZERO);
    while let Ok((came, text)) = come.recv() {
        free = free.max(came);
        last = last.max(came);
        for piece in text.chunks(PIECE) {
            free += Duration::from_secs_f64(piece.len() as f64 / behaviour.speed);
            let answer = {
                let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                shown.parser.process(piece);
                shown.bytes += piece.len();
                std::mem::take(&mut shown.parser.callbacks_mut().0)
            };
            sleep(free.saturating_duration_since(Instant::now()));
            if behaviour.answers && !answer.is_empty() {
                // Nobody may be left to hear it.
                let _ = write(writer, &answer);
            }
        }
        let now = Instant::now();
        busy += now.saturating_duration_since(last);
        (last, bytes) = (now, bytes + text.len());
    }
    bytes as f64 / busy.as_secs_f64()
}

/// What the emulator answers.
#[derive(Default)]
pub struct Answers(Vec<u8>);

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        _: Option<u8>,
        _: Option<u8>,
        numbers: &[&[u16]],
        last: char,
    ) {
        let (row, column) = screen.cursor_position();
        match (last, numbers) {
            ('n', [[6]]) => self.0.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes()),
            ('n', [[5]]) => self.0.extend(b"\x1b[0n"),
            _ => {}
        }
    }
}

/// An exit status, the output and the errors.
type Ended = (Option<i32>, String, String);

/// How a child ended. One that hangs is killed and fails the test.
pub fn ended(mut child: Child) -> Ended {
    let over = comes(|| child.try_wait().expect("our child").is_some());
    if !over {
        child.kill().expect("our child");
    }
    let output = child.wait_with_output().expect("our child");
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(over, "it hung: {stdout}{stderr}");
    (output.status.code(), stdout, stderr)
}

/// What a command prints on a terminal of this width without an emulator, with its escape sequences; and its exit status.
pub fn printed(mut command: Command, columns: u16) -> (Option<i32>, String) {
    let mut terminal = Terminal::new();
    terminal.resize(24, columns);
    command.stdout(terminal.end()).stderr(terminal.end());
    let running = terminal.spawn(command);
    let reader = terminal.read_all();
    let (status, ..) = ended(running);
    (status, reader.join().expect("what it printed"))
}

/// A command at a terminal, and the emulator that it writes to.
pub struct Seat {
    pub terminal: Terminal,
    pub running: Child,
    emulator: JoinHandle<Shown>,
}

impl Seat {
    /// With its standard output in a pipe, and this many columns.
    pub fn piped(command: Command, columns: u16, behaviour: Behaviour) -> Seat {
        let mut terminal = Terminal::new();
        terminal.resize(24, columns);
        let running = terminal.start(command);
        Seat { emulator: terminal.emulate(behaviour), terminal, running }
    }

    /// With its standard output on the terminal, which parses fast.
    pub fn shown(command: Command) -> Seat {
        let mut terminal = Terminal::new();
        let running = terminal.start_shown(command);
        Seat { emulator: terminal.emulate(Behaviour { speed: 10e6, ..Behaviour::GOOD }), terminal, running }
    }

    /// Its exit status, its output, its errors and what the emulator shows, once it has ended and left the settings as they were.
    pub fn last(self) -> (Ended, Shown) {
        let all = ended(self.running);
        assert!(self.terminal.is_as_before());
        (all, self.emulator.join().expect("the emulator"))
    }

    /// The same of one that leaves nothing on the screen.
    pub fn ended(self) -> (Ended, Shown) {
        let (all, shown) = self.last();
        is_left(&shown);
        (all, shown)
    }

    /// What the emulator shows of one that was killed together with its guardian.
    pub fn unrestored(mut self) -> Shown {
        self.running.wait().expect("our child");
        self.emulator.join().expect("the emulator")
    }

    /// The exit status of one whose window is closed.
    pub fn closed(self) -> Option<i32> {
        drop(self.terminal);
        kill(self.running.id(), Signal::HUP);
        let (status, ..) = ended(self.running);
        drop(self.emulator.join());
        status
    }

    /// The same of one that is killed: a guardian restores the terminal, and ends, as nobody has the terminal open any more.
    pub fn killed(mut self, signal: Signal) {
        kill(self.running.id(), signal);
        assert!(!self.running.wait().expect("our child").success());
        until("the settings to be restored", || self.terminal.is_as_before());
        is_left(&self.emulator.join().expect("the emulator"));
    }
}

/// The emulator is back at the user's screen, with nothing of the command on it.
fn is_left(shown: &Shown) {
    let screen = shown.parser.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert_eq!(screen.contents().trim(), "");
}
