//! Commands as interactions: found once, run in the user's folder, stopped when they take too long.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use analysis::load::{Outcome, Relief};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Advice, fadvise};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// A program that was found, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub path: PathBuf,
    /// Its name and its arguments.
    pub words: Vec<String>,
}

/// The first of these commands whose program this machine has. A path is relative to the folder of this process, though the command
/// may run in another.
pub fn find(commands: &[Vec<String>]) -> Option<Program> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    commands.iter().find_map(|words| {
        let name = words.first()?;
        let runs = |path: &PathBuf| {
            path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        };
        let path = if name.contains('/') {
            Some(PathBuf::from(name)).filter(runs)
        } else {
            std::env::split_paths(&search).map(|folder| folder.join(name)).find(runs)
        };
        Some(Program { path: std::path::absolute(path?).ok()?, words: words.clone() })
    })
}

impl Program {
    /// Runs it in this folder, for at most `limit`, and ends whatever it has started with it. `group` is given the id of
    /// its process group while it runs, and zero after that.
    pub fn run(&self, folder: &Path, limit: Duration, group: impl Fn(i32)) -> Outcome {
        const NOT_FOUND: i32 = 127;
        let mut command = Command::new(&self.path);
        command.arg0(&self.words[0]).args(&self.words[1..]).current_dir(folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return Outcome::Failed(NOT_FOUND) };
        group(child.id() as i32);
        let pid = Pid::from_child(&child);
        let ended_in_time = ends_within(pid, limit);
        if !ended_in_time {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let status = child.wait();
        // What it has left behind in its group would go on beside the next interaction.
        let _ = kill_process_group(pid, Signal::KILL);
        group(0);
        match status {
            _ if !ended_in_time => Outcome::Hung,
            Ok(status) if status.success() => Outcome::Done,
            Ok(status) => match status.signal() {
                Some(signal) => Outcome::Killed(signal),
                None => Outcome::Failed(status.code().unwrap_or(1)),
            },
            Err(_) => Outcome::Failed(1),
        }
    }

    /// What is done against page faults before it runs: its file and those of its folder are requested.
    pub fn begin(&self, folder: &Path, relief: Relief) {
        if relief.requests() {
            self.advise(folder, Advice::WillNeed);
        }
    }

    /// What is done after it: its files leave memory.
    pub fn end(&self, folder: &Path, relief: Relief) {
        if matches!(relief, Relief::PostPurging | Relief::PagingOut | Relief::Both) {
            self.advise(folder, Advice::DontNeed);
        }
    }

    fn advise(&self, folder: &Path, advice: Advice) {
        let of_folder = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in of_folder.filter(|path| path.is_file()).chain([self.path.clone()]) {
            if let Ok(file) = File::open(path) {
                let _ = fadvise(&file, 0, None, advice);
            }
        }
    }
}

/// Waits for a process without reaping it. True if it has ended in time. Where the kernel has no descriptors of processes
/// (before 5.3), it is waited for without a limit.
fn ends_within(pid: Pid, limit: Duration) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let mut polled = [PollFd::new(&process, PollFlags::IN)];
    let limit = Timespec::try_from(limit).ok();
    !matches!(rustix::io::retry_on_intr(|| poll(&mut polled, limit.as_ref())), Ok(0))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn shell(line: &str) -> Program {
        find(&[vec!["sh".into(), "-c".into(), line.into()]]).expect("a shell")
    }

    #[test]
    fn a_command_ends_in_one_of_four_ways() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |line: &str, limit: f64| shell(line).run(folder.path(), Duration::from_secs_f64(limit), |_| {});
        assert_eq!(run("echo here > file", 60.0), Outcome::Done);
        assert!(folder.path().join("file").exists());
        assert_eq!(run("exit 3", 60.0), Outcome::Failed(3));
        assert_eq!(run("kill -9 $$", 60.0), Outcome::Killed(9));
        assert_eq!(run("sleep 1000 & sleep 1000", 0.05), Outcome::Hung);
        let gone = Program { path: "/no/such/program".into(), words: vec!["x".into()] };
        assert_eq!(gone.run(folder.path(), Duration::from_secs(1), |_| {}), Outcome::Failed(127));
    }

    #[test]
    fn what_a_command_leaves_behind_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = Cell::new(0);
        let set_foreground = |wanted: i32| group.set(if wanted == 0 { group.get() } else { wanted });
        let outcome = shell("sleep 1000 &").run(folder.path(), Duration::from_secs(60), set_foreground);
        assert_eq!(outcome, Outcome::Done);
        let group = Pid::from_raw(group.get()).expect("a group");
        // The kernel needs a moment to let it go, and its new parent to reap it.
        for _ in 0..500 {
            if rustix::process::test_kill_process_group(group).is_err() || is_dead(group) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{group:?} lives");
    }

    /// True if all processes of a group are dead and only wait to be reaped.
    fn is_dead(group: Pid) -> bool {
        let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let stats = processes.filter_map(system::machine::TaskStat::of_process);
        let mut of_group = stats.filter(|stat| stat.group == group.as_raw_nonzero().get() as u32);
        of_group.all(|stat| stat.has_ended())
    }

    #[test]
    fn the_first_program_there_is_is_taken() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let found = find(&[words("no-such-program -x"), words("sh -c true")]).expect("a shell");
        assert_eq!(found.words, words("sh -c true"));
        assert_eq!(find(&[words("no-such-program")]), None);
        let own = std::env::current_exe().expect("a program");
        let (folder, up) = (std::env::current_dir().expect("a folder"), "../".repeat(64));
        let relative = format!("{up}{}", own.strip_prefix("/").expect("a path").display());
        assert_eq!(find(&[vec![relative.clone()]]).expect("this program").path, folder.join(relative));
    }
}
