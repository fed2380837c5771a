//! The commands of the experiment, and how one of them runs: a server is asked by a client until it is told to end.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::{BUSYBOX, Extent};

/// Longer than a server needs to start under an emulator on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// So many connections each have one request under way.
const CONNECTIONS: usize = 8;
/// The size of the file that is asked for, in bytes.
const PAGE: usize = 1024;

/// One command.
pub(crate) struct Subject {
    pub name: &'static str,
    pub words: Vec<String>,
    /// What its clients do, if it is a server.
    served: Option<Served>,
}

/// A server and its load.
struct Served {
    port: u16,
    /// The file in which the server says which process it is: it may run under a tool.
    process: PathBuf,
    requests: usize,
}

impl Subject {
    /// Starts the command after these words of a tool or emulator, and returns when it has ended or is about to.
    pub(crate) fn start(&self, before: &[&str], folder: &Path) -> anyhow::Result<Child> {
        let mut words = before.iter().copied().chain(self.words.iter().map(String::as_str));
        let mut command = Command::new(words.next().context("no command")?);
        command.args(words).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| self.words.join(" "))?;
        if let Some(served) = &self.served
            && let Err(error) = served.load()
        {
            child.kill()?;
            child.wait()?;
            return Err(error.context(self.words.join(" ")));
        }
        Ok(child)
    }

    /// Runs the command after these words. It must succeed.
    pub(crate) fn run(&self, before: &[&str], folder: &Path) -> anyhow::Result<()> {
        let output = self.start(before, folder)?.wait_with_output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(self.may_end(output.status), "{before:?} {}: {} {error}", self.words.join(" "), output.status);
        Ok(())
    }

    /// True for the ways in which it may end: a server ends because of a signal, and each has a status of its own for that.
    pub(crate) fn may_end(&self, status: std::process::ExitStatus) -> bool {
        self.served.is_some() || status.success()
    }
}

impl Served {
    /// Sends all requests, reads all answers, and tells the server to end.
    fn load(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            ensure!(began.elapsed() < PATIENCE, "the server does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        let connect = |_| -> anyhow::Result<TcpStream> {
            let stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let mut connections = (0..CONNECTIONS).map(connect).collect::<anyhow::Result<Vec<_>>>()?;
        for _ in 0..self.requests / CONNECTIONS {
            connections.iter_mut().try_for_each(|to| to.write_all(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n"))?;
            connections.iter_mut().try_for_each(answer)?;
        }
        let process: i32 = fs::read_to_string(&self.process)?.trim().parse()?;
        Ok(kill_process(Pid::from_raw(process).context("no process")?, Signal::TERM)?)
    }
}

/// Reads the header and the page.
fn answer(from: &mut TcpStream) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    let mut part = [0; 2 * PAGE];
    loop {
        let count = from.read(&mut part)?;
        ensure!(count > 0, "the server closed the connection");
        bytes.extend_from_slice(&part[..count]);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if end.is_some_and(|end| bytes.len() - end - 4 >= PAGE) {
            ensure!(bytes.starts_with(b"HTTP/1.1 200"), "not answered: {}", String::from_utf8_lossy(&bytes));
            return Ok(());
        }
    }
}

/// Programs that do nothing, a static and a dynamic one: they show the cost of new code.
pub(crate) const IDLE: [&str; 2] = ["true", "true, dynamic"];

/// The commands: a program of three instructions, the idle programs, and those that the extent names.
pub(crate) fn subjects(folder: &Path, extent: &Extent) -> anyhow::Result<Vec<Subject>> {
    let at = |name: &str| folder.join(name);
    let nothing = at("nothing");
    testing::executable(&nothing, &catalogue::program_that_does_nothing()[..]);
    let lines: String = (1..=extent.size).map(|line| format!("{}\n", line * 7919 % 20_011)).collect();
    fs::write(at("lines"), lines)?;
    for place in 0..extent.size / 5 {
        let folder = at("tree").join(format!("folder{}", place / 40));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file{place}")), "")?;
    }
    let busybox = found(BUSYBOX)?;
    let applet = |words: &[&str]| [busybox.as_str()].iter().chain(words).map(|word| (*word).to_string()).collect();
    let mut all = vec![Subject { name: "nothing", words: vec![nothing.display().to_string()], served: None }];
    for name in IDLE.iter().chain(&extent.names) {
        let (words, served) = match *name {
            "sort" => (applet(&["sort", "lines"]), None),
            "gzip" => (applet(&["gzip", "-c", "lines"]), None),
            "find" => (applet(&["find", "tree"]), None),
            "tar" => (applet(&["tar", "-c", "tree"]), None),
            "git" => (git(folder)?, None),
            "lighttpd" => server(folder, extent.size / 10).map(|(words, served)| (words, Some(served)))?,
            "true" => (applet(&["true"]), None),
            "true, dynamic" => (vec![found("true")?], None),
            unknown => bail!("{unknown} is no command of the experiment"),
        };
        all.push(Subject { name, words, served });
    }
    Ok(all)
}

/// `git status` of the tree. What git remembers of it lies outside, where `find` and `tar` do not go.
fn git(folder: &Path) -> anyhow::Result<Vec<String>> {
    let program = found("git")?;
    let words = |words: &[&str]| {
        let all = [program.as_str(), "-C", "tree", "--git-dir=../repository", "--work-tree=.", "-c", "user.name=x"];
        let all = all.into_iter().chain(["-c", "user.email=x@x", "-c", "gc.auto=0"]);
        all.chain(words.iter().copied()).map(String::from).collect::<Vec<String>>()
    };
    for wanted in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "x"]] {
        let command = words(wanted);
        let output = Command::new(&command[0]).args(&command[1..]).current_dir(folder).output()?;
        ensure!(output.status.success(), "git {wanted:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Without a thread for each CPU, so that its calls are those of one task.
    Ok(words(&["-c", "core.preloadIndex=false", "status", "--short"]))
}

/// A server of one process, and its load.
fn server(folder: &Path, requests: usize) -> anyhow::Result<(Vec<String>, Served)> {
    // Asked for and given back at once; nothing else takes it in between.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let [pages, file, process] = ["pages", "lighttpd.conf", "lighttpd.pid"].map(|name| folder.join(name));
    fs::create_dir(&pages)?;
    fs::write(pages.join("page"), "x".repeat(PAGE))?;
    let text = format!(
        "server.document-root = \"{}\"\nserver.port = {port}\nserver.bind = \"127.0.0.1\"\nserver.pid-file = \"{}\"\n\
         server.max-keep-alive-requests = {requests}\n",
        pages.display(),
        process.display()
    );
    fs::write(&file, text)?;
    let words = vec![found("lighttpd")?, "-D".into(), "-f".into(), file.display().to_string()];
    Ok((words, Served { port, process, requests }))
}

/// The path of a program, because the emulator does not search PATH.
fn found(program: &str) -> anyhow::Result<String> {
    let path = std::env::var_os("PATH").context("no PATH")?;
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.exists());
    Ok(found.with_context(|| format!("{program} is not in PATH"))?.display().to_string())
}
