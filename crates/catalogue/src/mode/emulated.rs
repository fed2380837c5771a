//! The mode `emulated`: the native programs of this executable, run by a user-mode emulator (qemu-user) of this processor
//! on the same processor, over the same files. The emulated process is a server that a round starts and queries. It times
//! its batches itself, so that they contain neither its start nor the query. Both sides are in this file.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use operation::{Failure, Partner, Setting, Stopwatch, Took};
use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::SendFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::guest::{Guest, GuestProgram};
use super::native;
use crate::kit::library::send;
use crate::kit::{Null, call};
use crate::user::command::found;

/// The first word of a command line that starts the server. It is not for users, so the help does not mention it.
pub const SERVE: &str = "serve-emulated";

/// How this executable is started as the server.
#[cfg(not(test))]
const SERVER_WORDS: &[&str] = &[SERVE];
/// The executable of these tests contains a test that is the server.
#[cfg(test)]
const SERVER_WORDS: &[&str] = &["--exact", "mode::emulated::tests::server", "--ignored", "--test-threads=1"];

/// The first message to the server: a program's name, the words of its memory, and the descriptors of its files.
type Setup = (String, Vec<u64>, Vec<RawFd>);

/// The server's answer, once the program is ready.
type Ready = Result<(), Failure>;

/// The server's answer to a count: the time that this number of steps took, and the sum of their results.
type Answer = Result<(Took, u64), Failure>;

/// A program in a server under the emulator; dropping it ends the server.
pub(super) struct Emulated {
    stream: BufReader<UnixStream>,
    /// Killed with this process, and when this is dropped.
    _server: Partner,
}

impl Emulated {
    /// Starts the server, which sets the program up.
    pub(super) fn start(guest: &Guest, setting: &Setting) -> Result<Emulated, Failure> {
        let emulator = emulator()?;
        let executable = executable()?;
        let (ours, theirs) = UnixStream::pair()?;
        let become_server = || {
            for file in &guest.files {
                fcntl_setfd(file, FdFlags::empty())?;
            }
            let mut server = Command::new(&emulator);
            server.arg(&executable).args(SERVER_WORDS).stdin(OwnedFd::from(theirs));
            Err(server.stdout(Stdio::null()).stderr(Stdio::null()).exec().into())
        };
        let server = setting.partner(setting.cpu(), become_server)?;
        let mut emulated = Emulated { stream: BufReader::new(ours), _server: server };
        let files: Vec<RawFd> = guest.files.iter().map(AsRawFd::as_raw_fd).collect();
        let ready = emulated.request::<Ready>(&(guest.name, &guest.memory, files));
        ready.map_err(|_| cannot_run(&emulator, &executable))??;
        Ok(emulated)
    }

    /// Runs this number of steps. Returns the time they took in the server, and the sum of their results.
    pub(super) fn batch(&mut self, times: u64) -> Answer {
        self.request::<Answer>(&times)?
    }

    fn request<T: DeserializeOwned>(&mut self, question: &impl Serialize) -> Result<T, Failure> {
        send_line(self.stream.get_ref(), question)?;
        hear(&mut self.stream)?.ok_or_else(|| Failure::wrong("the emulated program has ended"))
    }
}

/// The emulator of this processor's programs, under any of its names.
fn emulator() -> Result<PathBuf, Failure> {
    let names = ["", "-static"].map(|kind| format!("qemu-{}{kind}", std::env::consts::ARCH));
    let installed = names.iter().find_map(|name| found(OsStr::new(name)).ok());
    installed.ok_or_else(|| Failure::skip(format!("{} is not installed", names[0]), "apt-get install qemu-user"))
}

fn executable() -> Result<PathBuf, Failure> {
    let path = std::env::current_exe().ok().filter(|path| path.is_file());
    path.ok_or_else(|| {
        Failure::skip("howslow's own executable is no longer where it was started", "start howslow again")
    })
}

fn cannot_run(emulator: &Path, executable: &Path) -> Failure {
    let (emulator, executable) = (emulator.display(), executable.display());
    Failure::skip(format!("{emulator} cannot run this howslow"), format!("try `{emulator} {executable} --version`"))
}

/// Sends one line of JSON. A peer that has ended is an error and no signal.
fn send_line(stream: &UnixStream, what: &impl Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(what).map_err(std::io::Error::from)?;
    line.push(b'\n');
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        rest = &rest[retry_on_intr(|| send(stream, rest, SendFlags::NOSIGNAL))?..];
    }
    Ok(())
}

/// Receives one line of JSON; `None` if the peer has ended.
fn hear<T: DeserializeOwned>(stream: &mut BufReader<UnixStream>) -> Result<Option<T>, Failure> {
    let mut line = String::new();
    match stream.read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(serde_json::from_str(&line).map_err(std::io::Error::from)?)),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Acts as the server: runs the program that the process at the other end of standard input asks for, as often as it asks,
/// until that process ends. Fails if the peer does not follow the protocol of a round.
pub fn serve() -> Result<(), Failure> {
    answer(UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?))
}

fn answer(stream: UnixStream) -> Result<(), Failure> {
    let mut questions = BufReader::new(stream.try_clone()?);
    let Some((name, memory, files)) = hear::<Setup>(&mut questions)? else { return Ok(()) };
    let mut program = match program(&name, memory, &files) {
        Ok(program) => program,
        Err(failure) => return send_line(&stream, &Ready::Err(failure)),
    };
    let stopwatch = Stopwatch::calibrated();
    send_line(&stream, &Ready::Ok(()))?;
    while let Some(times) = hear::<u64>(&mut questions)? {
        let (took, sum) = stopwatch.time(|| program(times));
        send_line(&stream, &Answer::from(sum.map(|sum| (took, sum))))?;
    }
    Ok(())
}

/// The native program with this name. The empty procedure is different: in every mode but `native` it is the host's.
fn program(name: &str, memory: Vec<u64>, files: &[RawFd]) -> Result<GuestProgram, Failure> {
    if name == "call" {
        return Ok(crossings());
    }
    let open = |file| std::fs::File::open(format!("/proc/self/fd/{file}")).map(OwnedFd::from);
    native::program(name, memory, files.iter().map(open).collect::<Result<_, _>>()?)
}

/// Asks for the end of the heap, which an emulator knows without asking the kernel. A system call to it corresponds to an
/// empty host procedure called by a guest.
fn crossings() -> GuestProgram {
    Box::new(|times| {
        let heap = call::brk(Null)?;
        let one = || call::brk(Null).map(|end| u64::from(end == heap));
        let mut sum = 0;
        for _ in 0..times {
            sum += one()? + one()? + one()? + one()? + one()? + one()? + one()? + one()?;
        }
        Ok(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "is no test, but the server that the tests of emulated programs start"]
    fn server() {
        serve().expect("a round asks");
    }

    /// A server in a separate thread, and the stream to it.
    fn served() -> (BufReader<UnixStream>, std::thread::JoinHandle<Result<(), Failure>>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        (BufReader::new(ours), std::thread::spawn(move || answer(theirs)))
    }

    #[test]
    fn a_server_answers_what_is_requested_until_the_round_is_gone() {
        let (mut stream, server) = served();
        let setup: Setup = ("convert".into(), vec![0, 7, 12], vec![]);
        send_line(stream.get_ref(), &setup).expect("said");
        assert_eq!(hear::<Ready>(&mut stream), Ok(Some(Ok(()))));
        // Their values, the lengths of their texts, and the first digits.
        let sums = [7 + 1 + u64::from(b'7'), 12 + 2 + u64::from(b'1')];
        for (times, wanted) in [(1, sums[0]), (3, 2 * sums[1] + sums[0])] {
            send_line(stream.get_ref(), &times).expect("said");
            let answer = hear::<Answer>(&mut stream).expect("heard").expect("an answer");
            assert_eq!(answer.map(|(_, sum)| sum), Ok(wanted));
        }
        drop(stream);
        assert_eq!(server.join().expect("no panic"), Ok(()));
    }

    #[test]
    fn what_a_server_cannot_set_up_or_understand_it_reports() {
        let (mut stream, server) = served();
        send_line(stream.get_ref(), &("none", [0; 0], [0; 0])).expect("said");
        assert!(matches!(hear::<Ready>(&mut stream), Ok(Some(Err(Failure::Wrong(_))))));
        assert_eq!(server.join().expect("no panic"), Ok(()));
        let (stream, server) = served();
        send_line(stream.get_ref(), &"hello").expect("said");
        assert!(matches!(server.join().expect("no panic"), Err(Failure::Wrong(_))));
    }

    #[test]
    fn a_program_that_cannot_be_run_is_skipped_with_the_reason() {
        let Failure::Skip { reason, remedy } = cannot_run(Path::new("/bin/q"), Path::new("/bin/h")) else {
            panic!("no skip")
        };
        assert_eq!(reason, "/bin/q cannot run this howslow");
        assert_eq!(remedy, "try `/bin/q /bin/h --version`");
    }
}
