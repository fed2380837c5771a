//! A few hosts through the OpenSSH client: no daemon, no password, connections of its own. What runs on a host goes on
//! when the connection ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirEntry, File};
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::command::{Answer, run_command};
use crate::error::FleetError;
use crate::gather::program_file;
use crate::scheduler::{End, Scheduler, Seen, Sight, Submitted, Task};
use crate::script::{NODE_SCRIPT, node_arguments};
use crate::state::{Fleet, Node};

/// The patience with one command on a host, and with one that carries a program there.
const PATIENCE: Duration = Duration::from_secs(60);
const CARRY: Duration = Duration::from_secs(600);
/// How long a connection stays open that is not used.
const PERSIST: Duration = Duration::from_secs(120);
/// How the names of folders of sockets begin.
const SOCKETS: &str = "howslow-ssh-";
/// A larger file is no howslow.
const LARGEST_PROGRAM: u64 = 1 << 30;
/// The status of ssh itself: there is no connection, or it broke.
const BROKEN: i32 = 255;
/// Hosts that are contacted at the same time.
const AT_ONCE: usize = 16;

// The scripts are sent on one line: a line end here is a space there.

/// Makes the fleet's folder, and prints the architecture and the digest of the program there. Its argument is the folder's name.
const PREPARE: &str = r#"umask 077; mkdir -p "$HOME/$1" && [ -O "$HOME/$1" ] && cd "$HOME/$1" && uname -m && { cat program.sum 2>/dev/null || :; }"#;
/// Receives a file. Arguments: the folder, the file's name, and for a program its digest.
const RECEIVE: &str = r#"umask 077; cd "$HOME/$1" && { [ -z "$3" ] || rm -f program.sum; } && cat >".part.$2" && chmod 700 ".part.$2" && mv -f ".part.$2" "$2" &&
{ [ -z "$3" ] || printf '%s\n' "$3" >program.sum; }"#;
/// Starts the node's script, which outlives the connection, unless it runs already. Arguments: the folder, the attempt's name, and the
/// script's.
const START: &str = r#"umask 077; cd "$HOME/$1" || exit 71; name=$2; shift 2;
if pid=$(cat "$name.pid" 2>/dev/null) && grep -q "$name" "/proc/$pid/cmdline" 2>/dev/null; then echo "$pid"; exit 0; fi;
if command -v setsid >/dev/null; then setsid sh ./node.sh "$PWD" "$@" </dev/null >/dev/null 2>&1 &
else nohup sh ./node.sh "$PWD" "$@" </dev/null >/dev/null 2>&1 & fi;
echo $! >"$name.pid"; cat "$name.pid""#;
/// Tells whether the script runs, its process, for how long, and which files there are. Arguments: the folder, the attempt's name.
const LOOK: &str = r#"cd "$HOME/$1" 2>/dev/null || { echo gone; exit 0; };
pid=$(cat "$2.pid" 2>/dev/null) || { echo gone; exit 0; };
if grep -q "$2" "/proc/$pid/cmdline" 2>/dev/null; then echo running "$pid" $(( $(date +%s) - $(stat -c %Y "$2.pid") ));
else echo ended "$pid"; fi;
ls | grep "^$2\." "#;
/// Prints a file. Arguments: the folder, the file's name.
const FETCH: &str = r#"cd "$HOME/$1" && cat "$2""#;
/// Ends the script if it is still ours. Arguments: the folder, the attempt's name.
const END: &str = r#"cd "$HOME/$1" 2>/dev/null || exit 0;
pid=$(cat "$2.pid" 2>/dev/null) || exit 0;
grep -q "$2" "/proc/$pid/cmdline" 2>/dev/null || exit 0;
kill -TERM "$pid""#;
/// Removes the fleet's folder. Argument: the folder.
const CLEAN: &str = r#"[ -O "$HOME/$1" ] && rm -rf "$HOME/$1""#;

/// The OpenSSH client, with connections that end with this value.
pub(crate) struct Ssh {
    /// The folder of the connections' sockets, private to this user.
    sockets: TempDir,
    /// The same folder, locked while it is used.
    _lock: File,
    /// Hosts that were connected to.
    connected: Mutex<BTreeSet<String>>,
}

impl Ssh {
    pub(crate) fn new() -> Result<Ssh, FleetError> {
        // A socket's path has at most 108 bytes, so it is not below a long TMPDIR.
        let place = Path::new("/tmp");
        remove_abandoned(place);
        let io = |source| FleetError::io("create a folder in", place, source);
        let sockets = tempfile::Builder::new().prefix(SOCKETS).tempdir_in(place).map_err(io)?;
        let lock = File::open(sockets.path()).map_err(io)?;
        // Some file systems have no locks.
        let _ = lock.try_lock();
        Ok(Ssh { sockets, _lock: lock, connected: Mutex::default() })
    }

    /// The client with its options and these further ones, up to the host.
    fn client(&self, host: &str, further: &[&str]) -> Command {
        let mut command = Command::new("ssh");
        let control = format!("ControlPath={}/%C", self.sockets.path().display());
        let persist = format!("ControlPersist={}", PERSIST.as_secs());
        let options = ["BatchMode=yes", "ConnectTimeout=10", "ControlMaster=auto", &persist, &control];
        let alive = ["ServerAliveInterval=10", "ServerAliveCountMax=3", "ForwardAgent=no", "ForwardX11=no"];
        command.args(options.iter().chain(&alive).flat_map(|option| ["-o", option]));
        let (name, port) = split(host);
        command.args(port.into_iter().flat_map(|port| ["-p", port])).args(further).args(["--", name]);
        command
    }

    /// Runs a script on a host. Fails if it cannot be run, or ends with an error.
    fn on(&self, host: &str, script: &str, arguments: &[&str], input: &[u8]) -> Result<Answer, String> {
        good(host, self.answer(host, script, arguments, input)?)
    }

    fn answer(&self, host: &str, script: &str, arguments: &[&str], input: &[u8]) -> Result<Answer, String> {
        if let Ok(mut connected) = self.connected.lock() {
            connected.insert(host.into());
        }
        let mut command = self.client(host, &["-T"]);
        command.arg(line_of(script, arguments));
        run_command(&mut command, input, if input.is_empty() { PATIENCE } else { CARRY })
    }

    fn start(&self, fleet: &Fleet, task: &Task) -> Result<Option<String>, String> {
        let folder = remote(fleet, task.place);
        let prepared = self.on(&task.node, PREPARE, &[&folder], b"")?.text();
        let mut lines = prepared.lines();
        let architecture = record::printable(lines.next().unwrap_or_default().trim());
        if !fleet.installed {
            let file = program_file(&fleet.shared, &architecture);
            if !matches!(architecture.as_str(), "x86_64" | "aarch64") || !file.is_file() {
                return Err(format!(
                    "it is an {architecture}, and no program for that was given; add one with --binary"
                ));
            }
            let program =
                record::read_input(&file, LARGEST_PROGRAM).map_err(|error| format!("{}: {error}", file.display()))?;
            let digest = store::digest(&program);
            if lines.next() != Some(&digest) {
                let name = format!("howslow-{architecture}");
                self.on(&task.node, RECEIVE, &[&folder, &name, &digest], &program)?;
            }
        }
        self.on(&task.node, RECEIVE, &[&folder, "node.sh", ""], NODE_SCRIPT.as_bytes())?;
        let arguments = node_arguments(fleet, task);
        let words: Vec<&str> = [&folder, &task.name].into_iter().chain(&arguments).map(String::as_str).collect();
        match self.answer(&task.node, START, &words, b"") {
            Ok(answer) if !matches!(answer.status, Some(BROKEN) | None) => {
                Ok(process(&good(&task.node, answer)?.text()))
            }
            // The script may run. It is found by the file of its process.
            _ => Ok(None),
        }
    }

    /// Looks at a task, and copies its new files to the shared folder here.
    fn see(&self, fleet: &Fleet, task: &Task) -> Result<Option<Seen>, String> {
        let folder = remote(fleet, task.place);
        let answer = self.on(&task.node, LOOK, &[&folder, &task.name], b"")?.text();
        let mut lines = answer.lines();
        let state: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let mut files: Vec<&str> = lines.filter(|file| is_file_of(file, task)).collect();
        // The exit status is the last word, so it is taken last.
        files.sort_by_key(|file| file.ends_with(".exit"));
        for file in files {
            let place = fleet.shared.join(file);
            if !place.exists() || file.ends_with(".log") {
                let fetched = self.on(&task.node, FETCH, &[&folder, file], b"")?;
                store::write_whole(&place, &fetched.out).map_err(|error| error.to_string())?;
            }
        }
        let (pid, sight) = match state.as_slice() {
            ["running", pid, seconds] => (pid, Sight::Running(seconds.parse().unwrap_or_default())),
            ["ended", pid] => {
                (pid, Sight::Ended(End::Killed, "its process is gone: it was killed, or the host restarted".into()))
            }
            _ => return Ok(None),
        };
        Ok(Some(Seen { job: process(pid).unwrap_or_default(), sight }))
    }
}

/// The answer of a host, if its script ended well.
fn good(host: &str, answer: Answer) -> Result<Answer, String> {
    match answer.complaint.as_str() {
        _ if answer.is_good() => Ok(answer),
        "" => Err(format!("{host}: status {:?}", answer.status)),
        complaint => Err(format!("{host}: {complaint}")),
    }
}

/// The number of a process.
fn process(text: &str) -> Option<String> {
    text.trim().parse::<u32>().ok().map(|pid| pid.to_string())
}

/// Does something for all of these, some at a time. A panic of one is this thread's as well, or results would be taken for others'.
fn all<Of: Sync, T: Send>(these: &[Of], work: impl Fn(&Of) -> T + Sync) -> Vec<T> {
    let mut results = Vec::new();
    for some in these.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let running: Vec<_> = some.iter().map(|one| scope.spawn(|| work(one))).collect();
            let joined = running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            results.extend(joined);
        });
    }
    results
}

impl Scheduler for Ssh {
    fn submit(&self, fleet: &Fleet, tasks: &[Task], reported: Submitted<'_>) -> Result<(), FleetError> {
        for some in tasks.chunks(AT_ONCE) {
            for (task, result) in some.iter().zip(all(some, |task| self.start(fleet, task))) {
                if reported(task, result).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn look(&self, fleet: &Fleet, tasks: &[Task]) -> Result<BTreeMap<usize, Seen>, FleetError> {
        let found = all(tasks, |task| {
            self.see(fleet, task).unwrap_or_else(|why| {
                // A host that does not answer now may do so later; its job counts as hung once its time is over.
                let limit_s = fleet.plan.job_limit_s(task.repetitions.len());
                let sight = match elapsed_s(fleet, task) {
                    Some(seconds) if seconds > limit_s => {
                        Sight::Ended(End::TimedOut, format!("the host does not answer: {why}"))
                    }
                    _ => Sight::Running(0.0),
                };
                Some(Seen { job: task.job.clone().unwrap_or_default(), sight })
            })
        });
        Ok(tasks.iter().zip(found).filter_map(|(task, seen)| Some((task.place, seen?))).collect())
    }

    fn cancel(&self, fleet: &Fleet, tasks: &[Task]) -> Vec<Result<(), String>> {
        all(tasks, |task| self.on(&task.node, END, &[&remote(fleet, task.place), &task.name], b"").map(drop))
    }

    fn clean(&self, fleet: &Fleet) {
        let nodes: Vec<(usize, &Node)> = fleet.nodes.iter().enumerate().collect();
        all(&nodes, |(place, node)| self.on(&node.name, CLEAN, &[&remote(fleet, *place)], b"").is_ok());
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let Ok(connected) = self.connected.lock().map(|mut hosts| std::mem::take(&mut *hosts)) else { return };
        for host in connected {
            let _ = run_command(&mut self.client(&host, &["-O", "exit"]), b"", Duration::from_secs(5));
        }
    }
}

/// Removes the folders of sockets that killed processes of this user have left: those that nobody holds, and that have not
/// changed since before the last connection ended.
fn remove_abandoned(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    let begins = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(SOCKETS);
    for path in entries.flatten().filter(begins).map(|entry| entry.path()) {
        let Ok(found) = path.symlink_metadata() else { continue };
        let is_old = found.modified().is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > 2 * PERSIST));
        let is_own = found.is_dir() && found.uid() == geteuid().as_raw();
        if is_own && is_old && File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// What the host's login shell reads: one line of words, each quoted. In csh, quotes hold no line end.
fn line_of(script: &str, arguments: &[&str]) -> String {
    let script = script.replace('\n', " ");
    shell_words::join(["sh", "-c", &script, "howslow"].into_iter().chain(arguments.iter().copied()))
}

/// Seconds since the task was submitted, by the clock here.
fn elapsed_s(fleet: &Fleet, task: &Task) -> Option<f64> {
    let submitted = &fleet.nodes.get(task.place)?.attempts.last()?.submitted;
    let since = submitted.parse::<jiff::Timestamp>().ok()?;
    Some((jiff::Timestamp::now().as_second() - since.as_second()) as f64)
}

/// The folder on a host, below the home folder. One for each node, because hosts may share home folders.
fn remote(fleet: &Fleet, place: usize) -> String {
    format!(".howslow-fleet-{}-n{place}", fleet.id)
}

/// True for a name that the node's script gives to a file of this attempt. A host that offers others fills no disk here.
fn is_file_of(file: &str, task: &Task) -> bool {
    let kind = file.strip_prefix(&task.name).and_then(|rest| rest.strip_prefix('.'));
    kind.is_some_and(|kind| {
        let document = |number: &u32| kind == format!("r{number}.json");
        matches!(kind, "started" | "exit" | "log") || task.repetitions.iter().any(document)
    })
}

/// `user@host` and the port, if there is one. The colons of an IPv6 address are no port.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    }
}

/// Checks a host as given by the user. Fails if it could be read as an option, as several words, or is no name.
pub(crate) fn check_host(host: &str) -> Result<(), FleetError> {
    let (name, port) = split(host);
    let (user, name) = name.split_once('@').map_or((None, name), |(user, name)| (Some(user), name));
    let is_word = |text: &str, further: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') || further.contains(c);
        !text.is_empty() && text.len() <= 255 && !text.starts_with('-') && text.chars().all(allowed)
    };
    let port_fits = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if is_word(name, ":") && user.is_none_or(|user| is_word(user, "")) && port_fits {
        return Ok(());
    }
    Err(FleetError::Misuse(format!(
        "--ssh: {:?} is no host: give HOST, USER@HOST or HOST:PORT; an alias in ~/.ssh/config can stand for anything else",
        record::printable(host)
    )))
}

#[cfg(test)]
mod tests;
