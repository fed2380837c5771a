//! The events. Two clocks run beside time: the execution that each running interaction has been given, and its integrated rate of
//! faulting. All running interactions share both, so that an interaction only remembers at which readings its next events are, and a change of
//! the rates changes no reading.

use std::collections::{BinaryHeap, VecDeque};

use fastrand::Rng;

use super::batches::Batch;
use crate::model::rates::{Rates, VISITS};
use crate::model::steady::Steady;
use crate::model::system::{Spread, System};

/// An interaction while it is eligible.
#[derive(Clone, Copy, Debug)]
struct Interaction {
    user: u32,
    asked: f64,
    /// Execution until its end, its next other wait, and its integrated rate until its next fault. While it runs these are readings
    /// of the clocks, while it waits they are what is left.
    end: f64,
    visit: f64,
    fault: f64,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A user asks.
    Asks(u32),
    /// The page of a waiting interaction is there.
    Page(Interaction),
    /// The other wait of an interaction is over.
    Back(Interaction),
}

/// An entry of the calendar, ordered by time, the earliest first.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: f64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.time.total_cmp(&other.time).is_eq()
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        other.time.total_cmp(&self.time)
    }
}

/// How fast the clocks run in the present state.
#[derive(Clone, Copy, Debug, Default)]
struct Speed {
    work: f64,
    hazard: f64,
}

pub(super) struct Engine<'a> {
    system: &'a System,
    rates: &'a Rates,
    random: Rng,
    /// Kinds as (cumulative share, size relative to the mean).
    kinds: Vec<(f64, f64)>,
    time: f64,
    work: f64,
    hazard: f64,
    calendar: BinaryHeap<Event>,
    running: Vec<Interaction>,
    /// Asked, not eligible: user and time.
    queue: VecDeque<(u32, f64)>,
    /// Waiting for the page device.
    device_queue: VecDeque<Interaction>,
    pages: u32,
    elsewhere: u32,
    events: u64,
    began: f64,
    finished: u64,
    steady: Steady<'a>,
    responses: Vec<f64>,
}

impl<'a> Engine<'a> {
    pub fn new(system: &'a System, rates: &'a Rates, seed: u64) -> Engine<'a> {
        let weights: f64 = system.kinds.iter().map(|kind| kind.weight).sum();
        let mean = system.kinds.iter().map(|kind| kind.weight * kind.size).sum::<f64>() / weights;
        let mut share = 0.0;
        let kinds = system.kinds.iter().map(|kind| {
            share += kind.weight / weights;
            (share, kind.size / mean)
        });
        let mut engine = Engine {
            system,
            rates,
            random: Rng::with_seed(seed),
            kinds: kinds.collect(),
            time: 0.0,
            work: 0.0,
            hazard: 0.0,
            calendar: BinaryHeap::new(),
            running: Vec::new(),
            queue: VecDeque::new(),
            device_queue: VecDeque::new(),
            pages: 0,
            elsewhere: 0,
            events: 0,
            began: 0.0,
            finished: 0,
            steady: Steady::new(rates),
            responses: Vec::new(),
        };
        for user in 0..rates.users {
            // Constant think times would keep users in step if all began at once.
            let time = engine.random.f64() * rates.think_s;
            engine.calendar.push(Event { time, what: What::Asks(user) });
        }
        engine
    }

    /// All events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Forgets what was counted.
    pub fn start_batch(&mut self) {
        self.began = self.time;
        self.finished = 0;
        self.steady = Steady::new(self.rates);
        self.responses.clear();
    }

    /// What was counted since the start of the batch.
    pub fn batch(&mut self) -> Batch {
        Batch {
            prediction: self.steady.mean(self.time - self.began),
            finished: self.finished,
            time: self.time - self.began,
            responses: std::mem::take(&mut self.responses),
        }
    }

    /// Plays this many events.
    pub fn play(&mut self, events: u64) {
        for _ in 0..events {
            self.step();
        }
        self.events += events;
    }

    fn present(&self) -> u32 {
        self.running.len() as u32 + self.pages + self.elsewhere + self.queue.len() as u32
    }

    /// How fast the clocks run now.
    fn speed(&self) -> Speed {
        let running = self.running.len() as u32;
        if running == 0 {
            return Speed::default();
        }
        let eligible = running + self.pages + self.elsewhere;
        let faults_per_s = self.rates.faults_per_s(eligible, self.pages);
        let share = f64::from(running.min(self.rates.cpus)) / f64::from(running);
        let work = share / self.rates.stretch(faults_per_s);
        Speed { work, hazard: work * faults_per_s }
    }

    /// Plays the next event.
    fn step(&mut self) {
        let speed = self.speed();
        let (mut soonest, mut which) = (f64::INFINITY, None);
        for (index, it) in self.running.iter().enumerate() {
            let work = (it.end.min(it.visit) - self.work) / speed.work;
            let fault = if speed.hazard > 0.0 { (it.fault - self.hazard) / speed.hazard } else { f64::INFINITY };
            let next = work.min(fault);
            if next < soonest {
                (soonest, which) = (next, Some((index, fault < work)));
            }
        }
        let planned = self.calendar.peek().map_or(f64::INFINITY, |event| event.time - self.time);
        let passes = soonest.min(planned).max(0.0);
        self.steady.add(self.present(), self.pages, self.elsewhere, passes);
        self.time += passes;
        self.work += passes * speed.work;
        self.hazard += passes * speed.hazard;
        match which {
            Some((index, faults)) if soonest <= planned => self.stop(index, faults),
            _ => self.planned(),
        }
    }

    /// An event of the calendar.
    fn planned(&mut self) {
        let Some(Event { what, .. }) = self.calendar.pop() else { return };
        match what {
            What::Asks(user) => {
                self.queue.push_back((user, self.time));
                self.admit();
            }
            What::Page(it) => {
                self.pages -= 1;
                if let Some(next) = self.device_queue.pop_front() {
                    self.serve(next);
                }
                self.run(it);
            }
            What::Back(it) => {
                self.elsewhere -= 1;
                self.run(it);
            }
        }
    }

    /// Lets those in that may be eligible.
    fn admit(&mut self) {
        while self.running.len() as u32 + self.pages + self.elsewhere < self.rates.limit {
            let Some((user, asked)) = self.queue.pop_front() else { return };
            let it = self.interaction(user, asked);
            self.run(it);
        }
    }

    /// A new interaction: all it has before it.
    fn interaction(&mut self, user: u32, asked: f64) -> Interaction {
        let chosen = self.random.f64();
        let size =
            self.kinds.iter().find(|(share, _)| chosen < *share).or(self.kinds.last()).map_or(1.0, |kind| kind.1);
        let mean = size * self.rates.work_s;
        let end = match self.system.work_spread {
            Spread::Exponential => mean * self.exponential(),
            Spread::Constant => mean,
        };
        let visit = self.until_visit();
        Interaction { user, asked, end, visit, fault: self.exponential() }
    }

    /// Execution until the next other wait.
    fn until_visit(&mut self) -> f64 {
        if self.rates.other_s > 0.0 { self.exponential() * self.rates.work_s / VISITS } else { f64::INFINITY }
    }

    /// Lets an interaction run: what is left becomes readings of the clocks.
    fn run(&mut self, it: Interaction) {
        let (work, hazard) = (self.work, self.hazard);
        self.running.push(Interaction { end: it.end + work, visit: it.visit + work, fault: it.fault + hazard, ..it });
    }

    /// The event of a running interaction: it faults, waits elsewhere, or ends.
    fn stop(&mut self, index: usize, faults: bool) {
        let (work, hazard) = (self.work, self.hazard);
        let it = self.running.swap_remove(index);
        let mut it = Interaction { end: it.end - work, visit: it.visit - work, fault: it.fault - hazard, ..it };
        if faults {
            it.fault = self.exponential();
            if self.rates.waits_for_pages() {
                self.pages += 1;
                if self.pages <= self.rates.channels { self.serve(it) } else { self.device_queue.push_back(it) }
            } else {
                self.run(it);
            }
        } else if it.visit < it.end {
            it.visit = self.until_visit();
            self.elsewhere += 1;
            let time = self.time + self.exponential() * self.rates.other_s / VISITS;
            self.calendar.push(Event { time, what: What::Back(it) });
        } else {
            self.finish(&it);
        }
        if self.running.is_empty() {
            // Small readings keep their digits.
            (self.work, self.hazard) = (0.0, 0.0);
        }
    }

    /// The page device begins with a fault.
    fn serve(&mut self, it: Interaction) {
        let time = self.time + self.exponential() * self.rates.service_s;
        self.calendar.push(Event { time, what: What::Page(it) });
    }

    /// An interaction ends; its user thinks.
    fn finish(&mut self, it: &Interaction) {
        self.finished += 1;
        self.responses.push(self.time - it.asked);
        let think = match self.system.think_spread {
            Spread::Exponential => self.rates.think_s * self.exponential(),
            Spread::Constant => self.rates.think_s,
        };
        self.calendar.push(Event { time: self.time + think, what: What::Asks(it.user) });
        self.admit();
    }

    /// An exponential random number of mean 1.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.random.f64()).ln()
    }
}
