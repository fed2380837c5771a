//! A pseudo-terminal of the round: the emulator's end, the program's end, and what the line discipline does between them.

use std::os::fd::OwnedFd;

use operation::Failure;
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::kit::library::write;

/// Both ends of a pseudo-terminal. Neither is the controlling terminal of any process.
pub struct Pty {
    /// The emulator's end.
    pub master: OwnedFd,
    /// The program's end.
    pub slave: OwnedFd,
}

/// What the line discipline does with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    pub echo: bool,
    /// Input is edited and delivered by lines.
    pub canonical: bool,
    /// A newline goes out as carriage return and newline.
    pub processing: bool,
    /// Tabs go out as spaces; needs `processing`.
    pub tabs: bool,
    /// Control characters of the input send signals.
    pub signals: bool,
    /// Control characters of the input stop and start the output.
    pub flow: bool,
}

impl Features {
    /// None of them: a raw terminal.
    pub const RAW: Features =
        Features { echo: false, canonical: false, processing: false, tabs: false, signals: false, flow: false };

    pub const ALL: Features =
        Features { echo: true, canonical: true, processing: true, tabs: true, signals: true, flow: true };

    fn apply(self, modes: &mut Termios) {
        modes.make_raw();
        modes.local_modes.set(LocalModes::ECHO, self.echo);
        // Otherwise an unedited newline would be echoed as ^J.
        modes.local_modes.remove(LocalModes::ECHOCTL);
        modes.local_modes.set(LocalModes::ICANON, self.canonical);
        modes.local_modes.set(LocalModes::ISIG, self.signals);
        modes.input_modes.set(InputModes::IXON, self.flow);
        modes.output_modes.set(OutputModes::OPOST | OutputModes::ONLCR, self.processing);
        modes.output_modes.remove(OutputModes::TABDLY);
        modes.output_modes.set(OutputModes::XTABS, self.processing && self.tabs);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    }
}

impl Pty {
    /// A new one with these features. Skips if the system provides no pseudo-terminal.
    pub fn new(features: Features) -> Result<Pty, Failure> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).map_err(refused)?;
        unlockpt(&master)?;
        let slave = ioctl_tiocgptpeer(&master, flags).map_err(refused)?;
        let pty = Pty { master, slave };
        pty.set(features)?;
        Ok(pty)
    }

    /// Switches the line discipline to these features.
    pub fn set(&self, features: Features) -> Result<(), Failure> {
        let mut modes = tcgetattr(&self.slave)?;
        features.apply(&mut modes);
        tcsetattr(&self.slave, OptionalActions::Now, &modes)?;
        Ok(())
    }
}

fn refused(errno: Errno) -> Failure {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => {
            Failure::skip("there is no /dev/ptmx here", "mount devpts (mount -t devpts devpts /dev/pts)")
        }
        Errno::NOTTY | Errno::INVAL => Failure::skip(
            "/dev/ptmx is another device here",
            "mount devpts (mount -t devpts devpts /dev/pts), and make /dev/ptmx a link to pts/ptmx",
        ),
        Errno::PERM | Errno::ACCESS => Failure::skip(
            "/dev/ptmx may not be opened here",
            "let this user open it (chmod 666 /dev/ptmx, or a mount of devpts with ptmxmode=666)",
        ),
        Errno::AGAIN | Errno::NOSPC => Failure::skip(
            "all pseudo-terminals are in use",
            "close some, or raise /proc/sys/kernel/pty/max or the limit of the mount",
        ),
        other => Failure::from(other).into_skip(),
    }
}

#[inline]
pub fn write_all(end: &OwnedFd, mut bytes: &[u8]) -> Result<(), Failure> {
    while !bytes.is_empty() {
        let written = write(end, bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// Lines of 63 letters and a newline, truncated after `size` bytes.
pub fn lines(size: usize) -> Vec<u8> {
    (0..size).map(|place| if place % LINE == LINE - 1 { b'\n' } else { b'a' + (place % 26) as u8 }).collect()
}

/// Bytes of a line with its newline.
pub const LINE: usize = 64;

/// The bytes that the emulator receives for this output, beginning in the first column.
pub fn as_shown(text: &[u8], features: Features) -> Vec<u8> {
    const TAB: usize = 8;
    let (mut shown, mut column) = (Vec::with_capacity(text.len()), 0);
    for &byte in text {
        match byte {
            b'\n' if features.processing => {
                shown.extend_from_slice(b"\r\n");
                column = 0;
            }
            b'\t' if features.processing && features.tabs => {
                let spaces = TAB - column % TAB;
                shown.extend(std::iter::repeat_n(b' ', spaces));
                column += spaces;
            }
            _ => {
                shown.push(byte);
                column += 1;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use rustix::io::read;

    use super::*;
    use crate::kit::channel::read_whole;

    #[test]
    fn each_refusal_of_a_terminal_is_a_skip_with_a_remedy() {
        for (errno, expected) in [
            (Errno::NOENT, "there is no /dev/ptmx"),
            (Errno::NOTTY, "another device"),
            (Errno::ACCESS, "may not be opened"),
            (Errno::NOSPC, "all pseudo-terminals are in use"),
        ] {
            let Failure::Skip { reason, remedy } = refused(errno) else { panic!("{errno}: no skip") };
            assert!(reason.contains(expected) && !remedy.is_empty(), "{errno}: {reason}; {remedy}");
        }
    }

    #[test]
    fn the_kernel_shows_what_is_expected_with_every_feature_and_without() {
        let text = b"\tone\ttwo\nthree\tfour\n";
        for features in [Features::RAW, Features::ALL, Features { tabs: false, ..Features::ALL }] {
            let pty = Pty::new(features).expect("a pseudo-terminal");
            write_all(&pty.slave, text).expect("written");
            let expected = as_shown(text, features);
            let mut shown = vec![0; expected.len()];
            read_whole(&pty.master, &mut shown).expect("shown");
            assert_eq!(String::from_utf8_lossy(&shown), String::from_utf8_lossy(&expected), "{features:?}");
        }
    }

    #[test]
    fn canonical_input_comes_by_lines_and_raw_input_at_once() {
        for (features, comes) in [(Features::RAW, 3), (Features { canonical: true, ..Features::RAW }, 4)] {
            let pty = Pty::new(features).expect("a pseudo-terminal");
            write_all(&pty.master, b"abc").expect("typed");
            if features.canonical {
                write_all(&pty.master, b"\n").expect("typed");
            }
            // The kernel's thread carries it over asynchronously.
            let mut room = [0; 16];
            let mut come = 0;
            while come < comes {
                come += read(&pty.slave, &mut room).expect("read");
            }
            assert_eq!(come, comes, "{features:?}");
        }
    }
}
