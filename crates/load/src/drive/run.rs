//! The loop that drives the users of one configuration. It sleeps until a user's time to think is over, a report comes, or a
//! phase ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use analysis::load::{Finished, Measured, Outcome};
use operation::Usage;
use rustix::event::{Timespec, epoll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};

use super::counts::Setting;
use super::gate::Gate;
use super::measured::measured;
use super::person::{Person, Request, Served};
use super::tally::Tally;
use crate::error::LoadError;
use crate::plan::Arrivals;
use crate::users::{Report, Users, nanoseconds, receive_number, send_number};

#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With its time.
    Done(Box<Measured>),
    /// By a signal, before its time.
    Interrupted(i32),
}

/// The data of an epoll event for these two; others are users.
const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
/// The user number of an arrival in an open system.
const NOBODY: u32 = u32::MAX;
/// How long users that are busy at the end may go on.
const DRAIN: f64 = 2e9;
/// How long the users may take to begin.
const BEGIN: f64 = 60e9;

struct Driver<'a> {
    setting: &'a Setting<'a>,
    users: &'a Users,
    listener: UnixListener,
    epoll: OwnedFd,
    timer: OwnedFd,
    people: Vec<Person>,
    gate: Gate<Request>,
    /// Moments in ns, and the user that has thought until then.
    wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Nobody thinks any more.
    closing: bool,
    tally: Tally,
    arrivals: fastrand::Rng,
    arrived: u64,
}

/// Drives the users for the time of the plan. `progress` is called now and then with the seconds left. Fails if the
/// users do not begin, or cannot work any more.
pub fn drive(
    setting: &Setting,
    users: Users,
    listener: UnixListener,
    progress: &mut dyn FnMut(f64),
) -> Result<Ending, LoadError> {
    let mut driver = Driver::new(setting, &users, listener).map_err(|error| LoadError::Driver(error.to_string()))?;
    if let Some(signal) = driver.wait_for_all()? {
        return Ok(Ending::Interrupted(signal));
    }
    driver.start();
    if let Some(signal) = driver.until(setting.plan.settle.0, &mut |left| progress(left + setting.plan.time.0))? {
        return Ok(Ending::Interrupted(signal));
    }
    let before = setting.counts();
    let unanswered = driver.unanswered().count();
    driver.tally.begin(unanswered, before.at, before.used);
    if let Some(signal) = driver.measure(progress)? {
        return Ok(Ending::Interrupted(signal));
    }
    let after = setting.counts();
    let unanswered: Vec<_> = driver.unanswered().collect();
    driver.tally.end(driver.gate.inside(), &unanswered, (after.at, after.used));
    driver.drain()?;
    let Driver { mut tally, people, .. } = driver;
    // The users see that nobody requests any more, and end.
    drop(people);
    tally.sums.waited_s = users.waited_for(Duration::from_secs(2));
    tally.sums.group_s = setting.group.cpu_s();
    drop(users);
    Ok(Ending::Done(Box::new(measured(setting, tally, &before, &after))))
}

impl<'a> Driver<'a> {
    fn new(setting: &'a Setting<'a>, users: &'a Users, listener: UnixListener) -> std::io::Result<Driver<'a>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
        let count = setting.configuration.users;
        let most = setting.configuration.most_eligible() as usize;
        let person = |number| Person::new(number, count, setting.script, setting.seed);
        Ok(Driver {
            setting,
            users,
            listener,
            epoll,
            timer,
            people: (0..count).map(person).collect(),
            gate: Gate::new(most),
            wakes: BinaryHeap::new(),
            closing: false,
            tally: Tally::new(most),
            arrivals: fastrand::Rng::with_seed(setting.seed ^ 0x5eed),
            arrived: 0,
        })
    }

    /// Waits until every user is ready, or was killed before it was: that is a result.
    fn wait_for_all(&mut self) -> Result<Option<i32>, LoadError> {
        let begin = nanoseconds();
        while self.people.iter().any(|person| !person.ready) {
            if let Some(signal) = self.setting.signals.come() {
                return Ok(Some(signal));
            }
            self.check_lives()?;
            if nanoseconds() - begin > BEGIN {
                return Err(LoadError::Users(format!("they did not begin within {:.0} s", BEGIN / 1e9)));
            }
            self.wait(nanoseconds() + 0.1e9)?;
        }
        Ok(None)
    }

    /// An error if a user cannot be started again.
    fn check_lives(&self) -> Result<(), LoadError> {
        let dead = (0..self.people.len() as u32)
            .filter(|&user| self.people[user as usize].stream.is_none())
            .find_map(|user| self.users.ended(user));
        dead.map_or(Ok(()), |why| Err(LoadError::Users(why)))
    }

    /// All users begin to think, or interactions begin to arrive.
    fn start(&mut self) {
        match self.setting.plan.arrivals {
            Arrivals::Closed => (0..self.people.len() as u32).for_each(|user| self.think(user)),
            Arrivals::Open(_) => self.next_arrival(nanoseconds()),
        }
    }

    fn think(&mut self, user: u32) {
        if self.closing {
            return;
        }
        let (interaction, time) = self.people[user as usize].next(self.setting.script);
        let until = nanoseconds() + time;
        // What comes after the thinking is known by its user alone, so it is kept there.
        let request = Request { interaction, user: Some(user), arrived: until };
        self.people[user as usize].serves = Some(Served { request, admitted: 0.0, reported: false });
        self.wakes.push(Reverse((until as u64, user)));
    }

    fn next_arrival(&mut self, after: f64) {
        if let Arrivals::Open(rate) = self.setting.plan.arrivals {
            let gap = -(1.0 - self.arrivals.f64()).ln() / rate * 1e9;
            self.wakes.push(Reverse(((after + gap) as u64, NOBODY)));
        }
    }

    /// Goes on for so many seconds. Returns the signal that ended it early.
    fn until(&mut self, seconds: f64, progress: &mut dyn FnMut(f64)) -> Result<Option<i32>, LoadError> {
        const LOOK: f64 = 0.25e9;
        let end = nanoseconds() + seconds * 1e9;
        let mut look = nanoseconds();
        loop {
            let now = nanoseconds();
            if now >= end {
                return Ok(None);
            }
            if now >= look {
                progress((end - now) / 1e9);
                self.check_lives()?;
                look = now + LOOK;
            }
            if let Some(signal) = self.setting.signals.come() {
                return Ok(Some(signal));
            }
            self.wait(end.min(look))?;
        }
    }

    /// The time measured, in equal parts: their scatter shows how far its figures are certain.
    fn measure(&mut self, progress: &mut dyn FnMut(f64)) -> Result<Option<i32>, LoadError> {
        const PARTS: u32 = 10;
        let each = self.setting.plan.time.0 / f64::from(PARTS);
        for part in 1..=PARTS {
            let rest = each * f64::from(PARTS - part);
            if let Some(signal) = self.until(each, &mut |left| progress(left + rest))? {
                return Ok(Some(signal));
            }
            self.tally.cut(self.gate.inside(), nanoseconds(), self.setting.used());
        }
        Ok(None)
    }

    /// The requests that have arrived and are not answered: those that are eligible with the moment since which they are, and those that
    /// queue.
    fn unanswered(&self) -> impl Iterator<Item = (Request, Option<f64>)> {
        let served = self.people.iter().filter_map(|person| person.serves).filter(|serves| serves.admitted > 0.0);
        let queued = self.gate.queued().map(|request| (*request, None));
        served.map(|serves| (serves.request, Some(serves.admitted))).chain(queued)
    }

    /// Lets the users that are busy end, for a while.
    fn drain(&mut self) -> Result<(), LoadError> {
        self.closing = true;
        self.wakes.clear();
        let end = nanoseconds() + DRAIN;
        let busy = |person: &Person| person.serves.is_some_and(|serves| serves.reported);
        while nanoseconds() < end && self.people.iter().any(busy) && self.setting.signals.come().is_none() {
            self.wait(end)?;
        }
        Ok(())
    }

    /// Sleeps until something happens, at most until this moment, and deals with it.
    fn wait(&mut self, at_most: f64) -> Result<(), LoadError> {
        let failed = |error: rustix::io::Errno| LoadError::Driver(format!("it cannot wait: {error}"));
        let next = self.wakes.peek().map_or(at_most, |Reverse((at, _))| at_most.min(*at as f64));
        // Zero would switch the timer off.
        let it_value = Timespec { tv_sec: (next / 1e9) as i64, tv_nsec: ((next % 1e9) as i64).max(1) };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Itimerspec { it_interval, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value).map_err(failed)?;
        let mut events = Vec::with_capacity(64);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
        for event in events {
            match event.data.u64() {
                LISTENER => self.greet()?,
                TIMER => {
                    let _ = rustix::io::read(&self.timer, &mut [0; 8]);
                }
                user => self.hear(user as u32),
            }
        }
        self.wake();
        Ok(())
    }

    /// A user's process has connected: for the first time, or again after the kernel has killed the one before.
    /// Fails if it has no more open files: it would be asked to greet without end.
    fn greet(&mut self) -> Result<(), LoadError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let mut stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => return failed_to_accept(&error),
        };
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let Ok(user) = receive_number(&mut stream) else { return Ok(()) };
        let Some(person) = self.people.get_mut(user as usize) else { return Ok(()) };
        let data = epoll::EventData::new_u64(u64::from(user));
        if epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN).is_err() {
            return Ok(());
        }
        person.stream = Some(stream);
        let waits = person.serves.is_some_and(|serves| serves.admitted > 0.0 && !serves.reported);
        if waits {
            self.report(user);
        }
        Ok(())
    }

    /// Users whose time to think is over request their next interaction.
    fn wake(&mut self) {
        let now = nanoseconds();
        while self.wakes.peek().is_some_and(|Reverse((at, _))| *at as f64 <= now) {
            let Some(Reverse((at, user))) = self.wakes.pop() else { return };
            let request = if user == NOBODY {
                self.next_arrival(at as f64);
                let interaction = self.setting.script.at(self.arrived);
                self.arrived += 1;
                Some(Request { interaction, user: None, arrived: at as f64 })
            } else {
                self.people[user as usize].serves.map(|serves| serves.request)
            };
            let before = self.gate.inside();
            if let Some(request) = request.and_then(|request| self.gate.arrive(request)) {
                self.note_turn(before);
                self.admit(request);
            }
        }
    }

    /// The number of eligible processes was this one until now. What was used is read only where that is needed.
    fn note_turn(&mut self, before: usize) {
        if self.tally.is_measuring() && self.gate.inside() != before {
            self.tally.turn(before, nanoseconds(), self.setting.used());
        }
    }

    /// A request becomes eligible.
    fn admit(&mut self, request: Request) {
        let free = |person: &Person| person.serves.is_none();
        let user = request.user.or_else(|| self.people.iter().position(free).map(|user| user as u32));
        let Some(user) = user else { return };
        self.people[user as usize].serves = Some(Served { request, admitted: nanoseconds(), reported: false });
        self.report(user);
    }

    /// Gives a user's process its order, if it is there; otherwise it gets it when it connects.
    fn report(&mut self, user: u32) {
        let person = &mut self.people[user as usize];
        let (Some(stream), Some(serves)) = (&mut person.stream, &mut person.serves) else { return };
        serves.reported = send_number(stream, serves.request.interaction as u32).is_ok();
    }

    /// A user's process has reported, or has ended.
    fn hear(&mut self, user: u32) {
        let person = &mut self.people[user as usize];
        let Some(heard) = person.stream.as_mut().map(Report::hear) else { return };
        let report = heard.unwrap_or_else(|_| {
            let stream = person.stream.take();
            stream.map(|stream| epoll::delete(&self.epoll, &stream));
            let outcome = person.serves.filter(|serves| serves.reported).map(|_| Outcome::Killed(libc::SIGKILL));
            Report::now(outcome, Usage::default())
        });
        match report.outcome {
            Some(outcome) => self.finish(user, &report, outcome),
            None => person.ready = true,
        }
    }

    /// An interaction has ended: the next of the queue goes in, and its user thinks.
    fn finish(&mut self, user: u32, report: &Report, outcome: Outcome) {
        let Some(served) = self.people[user as usize].serves.take() else { return };
        let finished = Finished {
            interaction: served.request.interaction,
            wait_s: (served.admitted - served.request.arrived) / 1e9,
            response_s: (report.ended - served.request.arrived) / 1e9,
            user_s: report.used.user / 1e9,
            system_s: report.used.system / 1e9,
            minor_faults: report.used.minor_faults,
            major_faults: report.used.major_faults,
            outcome,
            ..Finished::default()
        };
        self.tally.finish(served.request.arrived, finished);
        self.tally.sums.reported_s += finished.user_s + finished.system_s;
        let before = self.gate.inside();
        let next = self.gate.leave();
        self.note_turn(before);
        if let Some(next) = next.filter(|_| !self.closing) {
            self.admit(next);
        }
        if served.request.user.is_some() {
            self.think(user);
        }
    }
}

/// A user that has gone again is no error; too few open files are.
fn failed_to_accept(error: &std::io::Error) -> Result<(), LoadError> {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => {
            Err(LoadError::setup("connect to a user", error, "allow more open files (ulimit -n), or take fewer users"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_open_files_end_an_experiment() {
        let of = |errno| failed_to_accept(&std::io::Error::from_raw_os_error(errno));
        let error = of(libc::EMFILE).expect_err("too few");
        assert!(error.to_string().contains("allow more open files (ulimit -n)"), "{error}");
        assert!(of(libc::ECONNABORTED).is_ok());
    }
}
