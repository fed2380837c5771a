//! One worker, seen from inside: it sets its operation up and then obeys its post. A load works until it has to stop; a
//! victim does its work for a stretch of time and reports what that took.

use std::cell::RefCell;
use std::convert::Infallible;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use operation::{Clock, Failure, Loop, Setting, Usage, pin, processor_time};
use system::guard::Post;

use crate::interference::kind::Kind;

/// Numbers on a worker's post, by place.
pub(crate) mod slot {
    /// To a load: the share of the time in which it works. To a victim: how long its next stretch is, in ns.
    pub const WANTED: usize = 0;
    /// Operations done so far by a load; those of the latest stretch of a victim.
    pub const DONE: usize = 1;
    /// Processor time in ns of the worker and its partners, of the same.
    pub const CPU: usize = 2;
    /// Elapsed ns of a victim's latest stretch.
    pub const ELAPSED: usize = 3;
    /// 1 if the worker has ended because its work is impossible here.
    pub const SKIPPED: usize = 4;
    /// To a victim: how long it works before its stretch begins, in ns.
    pub const BEFORE: usize = 5;
    /// To a victim: how long it waits at either end of its stretch for the end of another task's turn, in ns; 0 if it does
    /// not share its CPU.
    pub const TURN: usize = 6;
}

/// The answer of a worker that has set up. Commands go on from here.
pub(crate) const READY: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It works from an even command to the next odd one.
    Load,
    /// It works for one stretch at every command.
    Victim,
}

/// The work of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub kind: &'static Kind,
    pub role: Role,
    pub cpu: u32,
    /// Its own folder. Workers run at the same time, so they share none.
    pub folder: PathBuf,
    pub seed: u64,
}

/// A load works for its share of this time, then rests.
pub(crate) const PERIOD: f64 = 4e6;
/// Length of a load's batch and of a victim's, in ns: a load must notice soon that it has to stop.
const LOAD_BATCH: f64 = 0.2e6;
const VICTIM_BATCH: f64 = 0.5e6;

/// Works until the post says to end. Returns why it has ended.
pub(crate) fn work(task: &Task, post: &Post) -> String {
    match obey(task, post) {
        Ok(never) => match never {},
        Err(Failure::Skip { reason, remedy }) => {
            post.put(slot::SKIPPED, 1.0);
            if remedy.is_empty() { reason } else { format!("{reason}; to measure it: {remedy}") }
        }
        Err(other) => other.to_string(),
    }
}

/// Returns nothing: a worker obeys until it is killed.
fn obey(task: &Task, post: &Post) -> Result<Infallible, Failure> {
    // If memory runs out, the kernel should kill this worker and not the user's programs.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    pin(task.cpu)?;
    let operation = task.kind.operation().map_err(|error| Failure::wrong(error.to_string()))?;
    if let Some((reason, remedy)) = operation.needs.iter().find_map(|need| need.missing(None)) {
        return Err(Failure::skip(reason, remedy));
    }
    let setting = Setting::new(task.kind.point(task.cpu), task.folder.clone(), task.cpu, None, task.seed);
    let mut engine = Engine {
        work: operation.set_up(&setting).map_err(Failure::into_skip)?,
        partners: setting.partners(),
        clock: Clock::plain(),
        times: 1,
        shortest: f64::INFINITY,
    };
    engine.find_times(if task.role == Role::Load { LOAD_BATCH } else { VICTIM_BATCH })?;
    // What its set-up took is no part of what a load takes.
    post.put(slot::CPU, engine.cpu());
    post.reply(READY);
    match task.role {
        Role::Load => load(&mut engine, post),
        Role::Victim => victim(&mut engine, post),
    }
}

/// An operation's loop and what is known of it.
struct Engine {
    work: Loop,
    partners: Rc<RefCell<Vec<i32>>>,
    clock: Clock,
    /// Iterations of a batch.
    times: u64,
    /// The shortest batch so far, in ns.
    shortest: f64,
}

impl Engine {
    /// Finds the iterations that fill a batch, which also warms everything up.
    fn find_times(&mut self, batch: f64) -> Result<(), Failure> {
        let most = self.work.most_iterations();
        loop {
            let start = self.clock.now();
            self.batch()?;
            if self.clock.now() - start >= batch || self.times >= most {
                return Ok(());
            }
            self.times = self.times.saturating_mul(2).min(most);
        }
    }

    /// Runs batches from `start` on for `least` ns, and from then on until one of them contains a turn of another task, for
    /// `turn` ns at most. Returns how many operations it was, at least one batch.
    fn until_a_turn_ends(&mut self, start: f64, least: f64, turn: f64) -> Result<f64, Failure> {
        /// A batch that takes so much longer than the shortest one contains a turn: the scheduler's turns take 3 to 4 ms.
        const TAKEN_AWAY: f64 = 1e6;
        let (mut operations, mut before) = (0.0, self.clock.now());
        loop {
            operations += self.batch()?;
            let now = self.clock.now();
            let took = now - before;
            before = now;
            let is_turn = took > self.shortest + TAKEN_AWAY;
            self.shortest = self.shortest.min(took);
            let spent = now - start;
            if spent >= least && (turn == 0.0 || is_turn || spent >= least + turn) {
                return Ok(operations);
            }
        }
    }

    /// Processor time of this process, the children it has reaped and its partners, in ns.
    fn cpu(&self) -> f64 {
        let own = Usage::of_this_process().plus(Usage::of_reaped_children());
        let partners: f64 = self.partners.borrow().iter().filter_map(|&pid| processor_time(pid)).sum();
        own.user + own.system + partners
    }

    /// Runs one batch with the steps around it. Returns how many operations it was.
    fn batch(&mut self) -> Result<f64, Failure> {
        self.work.perform(self.times)?;
        Ok((self.times * self.work.operations_per_iteration()) as f64)
    }
}

fn load(engine: &mut Engine, post: &Post) -> Result<Infallible, Failure> {
    let mut known = 0;
    let mut done = 0.0;
    loop {
        known = post.wait_for_command(known, None);
        if known % 2 == 1 || known == 0 {
            post.put(slot::CPU, engine.cpu());
            post.reply(known);
            continue;
        }
        let dose = post.number(slot::WANTED).clamp(0.001, 1.0);
        let (began, mut worked) = (Instant::now(), 0.0);
        let mut published = began;
        while post.command() == known {
            let batch = Instant::now();
            done += engine.batch()?;
            worked += batch.elapsed().as_nanos() as f64;
            post.put(slot::DONE, done);
            if post.answer() != known {
                post.reply(known);
            }
            // Asking the kernel for the partners' time in every batch would be a load of its own.
            if published.elapsed() > Duration::from_millis(50) {
                post.put(slot::CPU, engine.cpu());
                published = Instant::now();
            }
            let rest = worked / dose - began.elapsed().as_nanos() as f64;
            if rest >= (1.0 - dose) * PERIOD && rest > 0.0 {
                post.wait_for_command(known, Some(Duration::from_nanos(rest as u64)));
            }
        }
    }
}

fn victim(engine: &mut Engine, post: &Post) -> Result<Infallible, Failure> {
    let mut known = 0;
    loop {
        known = post.wait_for_command(known, None);
        if known == 0 {
            continue;
        }
        // What ran in between has used the caches, so one batch at least comes before.
        let (before, began) = (Duration::from_nanos(post.number(slot::BEFORE) as u64), Instant::now());
        engine.batch()?;
        while began.elapsed() < before {
            engine.batch()?;
        }
        // Beside work on the same CPU, a stretch begins and ends just after a turn of that work. It then holds whole turns;
        // otherwise one turn more or less would be a sixth of it.
        let turn = post.number(slot::TURN);
        if turn > 0.0 {
            let now = engine.clock.now();
            engine.until_a_turn_ends(now, 0.0, turn)?;
        }
        // Elapsed and processor time are read only at the ends: the kernel ends a turn when it is asked for the time used
        // so far, so between batches a victim would lose its CPU only where nobody looks.
        let (used, start) = (engine.cpu(), engine.clock.now());
        let operations = engine.until_a_turn_ends(start, post.number(slot::WANTED), turn)?;
        post.put(slot::ELAPSED, engine.clock.now() - start);
        post.put(slot::CPU, engine.cpu() - used);
        post.put(slot::DONE, operations);
        post.reply(known);
    }
}
