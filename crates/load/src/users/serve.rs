//! One user's process, seen from inside: it waits for the order of an interaction, does it, and reports what it took.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use analysis::load::{Outcome, Relief};
use operation::Usage;
use system::guard::Post;

use super::command::Program;
use super::job::{Area, Spin};
use super::wire::{Report, receive_number, send_number};
use crate::plan::Job;
use crate::site::Group;

/// Numbers on a user's post, by place.
pub(super) mod slot {
    /// The process group of the command that runs; 0 for none.
    pub const COMMAND: usize = 0;
    /// Processor time in ns, in user mode, of all ended processes of this user, by wait4.
    pub const WAITED_USER: usize = 1;
    /// The same in the kernel.
    pub const WAITED_SYSTEM: usize = 2;
    /// 1 once the supervisor is done.
    pub const DONE: usize = 3;
    /// 1 once the process has connected: what kills it after that is the limit of memory, and counts.
    pub const GREETED: usize = 4;
}

#[derive(Clone, Debug)]
pub enum Step {
    Job(Job),
    Program(Program),
}

/// What all users of a configuration have in common.
pub struct Work<'a> {
    /// The script's steps, by the number that the driver requests.
    pub(crate) steps: &'a [Step],
    /// An interaction that takes longer is stopped.
    pub limit: Duration,
    pub relief: Relief,
    pub cpus: &'a [u32],
    pub spin: Spin,
    /// Where commands run, if not each in its user's own folder.
    pub folder: Option<&'a Path>,
}

/// Everything a user must know.
pub(super) struct Duty<'a> {
    pub number: u32,
    pub socket: PathBuf,
    pub folder: PathBuf,
    pub work: &'a Work<'a>,
    pub group: &'a Group,
}

/// Works until the driver hangs up. An error is why it cannot.
pub(super) fn serve(duty: &Duty, post: &Post) -> std::io::Result<()> {
    let work = duty.work;
    duty.group.enter(work.cpus)?;
    let mut stream = UnixStream::connect(&duty.socket)?;
    send_number(&mut stream, duty.number)?;
    post.put(slot::GREETED, 1.0);
    let mut areas = areas(duty)?;
    Report::now(None, Usage::default()).send(&mut stream)?;
    let mut reported = used();
    loop {
        let Ok(requested) = receive_number(&mut stream) else { return Ok(()) };
        let Some(step) = work.steps.get(requested as usize) else { return Ok(()) };
        let outcome = match (step, areas.get_mut(requested as usize).and_then(Option::as_mut)) {
            (Step::Job(job), Some(area)) => {
                area.begin(work.relief);
                let in_time = area.work(job, work.spin, work.limit);
                area.end(work.relief);
                if in_time { Outcome::Done } else { Outcome::Hung }
            }
            (Step::Job(_), None) => Outcome::Failed(1),
            (Step::Program(program), _) => {
                program.begin(&duty.folder, work.relief);
                let outcome = program.run(&duty.folder, work.limit, |group| post.put(slot::COMMAND, f64::from(group)));
                program.end(&duty.folder, work.relief);
                outcome
            }
        };
        let now = used();
        let report = Report::now(Some(outcome), now.since(reported));
        reported = now;
        if report.send(&mut stream).is_err() {
            return Ok(());
        }
    }
}

/// The pages of each job, all of them written once: what is measured are faults on pages that exist.
fn areas(duty: &Duty) -> std::io::Result<Vec<Option<Area>>> {
    let map = |(place, step): (usize, &Step)| match step {
        Step::Job(job) => {
            Area::map(job.working_set.0, (u64::from(duty.number) << 16) | place as u64).map(|mut area| {
                area.fill();
                Some(area)
            })
        }
        Step::Program(_) => Ok(None),
    };
    duty.work.steps.iter().enumerate().map(map).collect()
}

/// What this process and the commands that it has waited for have used so far.
fn used() -> Usage {
    Usage::of_this_process().plus(Usage::of_reaped_children())
}
