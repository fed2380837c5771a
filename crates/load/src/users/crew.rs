//! All users of one configuration: started together, restarted when the kernel kills one, gone when howslow is.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use operation::Usage;
use rustix::process::{Pid, Signal, kill_process_group};
use system::guard::{Crew, Post, children};

use super::serve::{Duty, Work, serve, slot};
use crate::error::LoadError;
use crate::site::Group;

/// The users' processes. Dropping it ends them and whatever they have started.
pub struct Users {
    crew: Crew,
}

impl Users {
    /// Starts so many users. Each connects to `listener` and works in its own folder below `folder`. Forks: call it while the
    /// process has one thread. Fails if the system has no memory, descriptor or process left.
    pub fn start(count: u32, work: &Work, folder: &Path, group: &Group) -> Result<(Users, UnixListener), LoadError> {
        let socket = folder.join("s");
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).map_err(|error| {
            LoadError::setup("make a socket for the users", &error, "set TMPDIR to a folder with a shorter name")
        })?;
        let duty = |number: usize| Duty {
            number: number as u32,
            socket: socket.clone(),
            folder: work.folder.map_or_else(|| user_folder(folder, number as u32), Path::to_path_buf),
            work,
            group,
        };
        let crew = Crew::start(count as usize, |number, post| supervise(&duty(number), post), || {})
            .map_err(|lost| LoadError::Driver(lost.to_string()))?;
        Ok((Users { crew }, listener))
    }

    /// Why a user cannot work any more; `None` while it can.
    pub fn ended(&self, user: u32) -> Option<String> {
        self.crew.ended(user as usize)
    }

    /// Waits until the users have noticed that the driver has hung up, at most this long. Returns the processor time in
    /// seconds that all of their processes took by wait4, as far as they have ended.
    pub fn waited_for(&self, patience: Duration) -> f64 {
        let posts = || (0..self.crew.count()).map(|number| self.crew.post(number));
        let start = Instant::now();
        while start.elapsed() < patience && posts().any(|post| post.number(slot::DONE) == 0.0) {
            std::thread::sleep(Duration::from_millis(2));
        }
        posts().map(|post| (post.number(slot::WAITED_USER) + post.number(slot::WAITED_SYSTEM)) / 1e9).sum()
    }
}

pub fn user_folder(folder: &Path, user: u32) -> PathBuf {
    folder.join(format!("user-{user}"))
}

/// In a supervisor: keeps one user's process running until that one reports that it is done. It stands outside of the group, so
/// the kernel never kills it for the group's memory.
fn supervise(duty: &Duty, post: &Post) -> String {
    /// A process that cannot even begin is not started again and again.
    const MOST_QUICK: u32 = 20;
    const QUICK: Duration = Duration::from_millis(50);
    let mut quick = 0;
    loop {
        let start = Instant::now();
        // SAFETY: a supervisor has one thread, so the child may do anything.
        let pid = match unsafe { libc::fork() } {
            -1 => return format!("cannot fork: {}", std::io::Error::last_os_error()),
            0 => {
                let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
                // The reason leaves as the system's number for it.
                let status = serve(duty, post).map_or_else(|why| why.raw_os_error().unwrap_or(1), |()| 0);
                // SAFETY: leaves without running the supervisor's destructors, which belong to the supervisor.
                unsafe { libc::_exit(status) }
            }
            pid => pid,
        };
        let ended = children::wait_for(pid);
        let waited = Usage::of_reaped_children();
        post.put(slot::WAITED_USER, waited.user);
        post.put(slot::WAITED_SYSTEM, waited.system);
        // A command whose user was killed is nobody's any more.
        if let Some(command) = Pid::from_raw(post.number(slot::COMMAND) as i32) {
            let _ = kill_process_group(command, Signal::KILL);
            post.put(slot::COMMAND, 0.0);
        }
        if ended == children::Reaped::Exit(0) {
            post.put(slot::DONE, 1.0);
            return "it is done".into();
        }
        // One that the kernel has killed while it worked is started again after a moment, as often as that happens.
        let greeted = post.number(slot::GREETED) == 1.0;
        post.put(slot::GREETED, 0.0);
        if greeted {
            std::thread::sleep(QUICK);
        }
        quick = if !greeted && start.elapsed() < QUICK { quick + 1 } else { 0 };
        if quick >= MOST_QUICK {
            post.put(slot::DONE, 1.0);
            return match ended {
                children::Reaped::Signal(libc::SIGKILL) => {
                    "the kernel kills it as soon as it begins: the limit of memory is too small even for an idle user"
                        .into()
                }
                children::Reaped::Exit(reason) => std::io::Error::from_raw_os_error(reason).to_string(),
                other => format!("its process ends as soon as it begins ({other:?})"),
            };
        }
    }
}
