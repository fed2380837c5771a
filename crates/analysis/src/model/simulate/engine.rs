//! The events. Clocks run beside time: the execution that each running interaction has been given, its processor time, its integrated rate
//! of faulting, and the service that each page in the device has been given. All that run share them, so that an interaction only remembers
//! at which readings its next events are, and a change of the rates changes no reading.

use std::collections::{BinaryHeap, VecDeque};

use fastrand::Rng;

use super::batches::Batch;
use super::script::{Ended, Log, Request};
use crate::model::rates::{Rates, VISITS};
use crate::model::steady::Steady;
use crate::model::system::{Spread, System};
use crate::statistics::sorted;

/// An interaction while it is eligible.
#[derive(Clone, Copy, Debug)]
struct Interaction {
    user: u32,
    kind: usize,
    requested: f64,
    admitted: f64,
    /// Processor time; while it runs, what is to be added to the clock.
    cpu: f64,
    faults: u32,
    /// Execution until its end, its next other wait, and its integrated rate until its next fault. While it runs these are readings
    /// of the clocks, while it waits they are what is left.
    end: f64,
    visit: f64,
    fault: f64,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A user requests an interaction.
    Requests(u32),
    /// The page of a waiting interaction is there. The time is a reading of the device's clock.
    Page(Interaction),
    /// What is played ends here.
    Cut,
    /// The other wait of an interaction is over.
    Back(Interaction),
}

/// An entry of the calendar, ordered by time, the earliest first.
#[derive(Clone, Copy, Debug)]
struct CalendarEntry {
    time: f64,
    what: What,
}

impl PartialEq for CalendarEntry {
    fn eq(&self, other: &CalendarEntry) -> bool {
        self.time.total_cmp(&other.time).is_eq()
    }
}
impl Eq for CalendarEntry {}
impl PartialOrd for CalendarEntry {
    fn partial_cmp(&self, other: &CalendarEntry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for CalendarEntry {
    fn cmp(&self, other: &CalendarEntry) -> std::cmp::Ordering {
        other.time.total_cmp(&self.time)
    }
}

/// How fast the clocks run in the present state.
#[derive(Clone, Copy, Debug, Default)]
struct Speed {
    work: f64,
    cpu: f64,
    hazard: f64,
}

pub(super) struct Engine<'a> {
    system: &'a System,
    rates: &'a Rates,
    random: Rng,
    /// Kinds as (cumulative share, size relative to the mean).
    kinds: Vec<(f64, f64)>,
    /// What each user requests, and when, if that is given.
    script: Option<&'a [Vec<Request>]>,
    /// How many requests each user has been given, and the kind of its last.
    given: Vec<(usize, usize)>,
    log: Log,
    time: f64,
    clocks: Speed,
    paged: f64,
    calendar: BinaryHeap<CalendarEntry>,
    running: Vec<Interaction>,
    /// Requested, not eligible: user and time.
    queue: VecDeque<(u32, f64)>,
    /// Served by the page device.
    served: BinaryHeap<CalendarEntry>,
    /// Waiting for the page device.
    device_queue: VecDeque<Interaction>,
    pages: u32,
    elsewhere: u32,
    events: u64,
    began: f64,
    steady: Steady<'a>,
    responses: Vec<f64>,
}

impl<'a> Engine<'a> {
    /// With a script, users request what it holds; without one, everything is drawn.
    pub fn new(system: &'a System, rates: &'a Rates, script: Option<&'a [Vec<Request>]>, seed: u64) -> Engine<'a> {
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
            script,
            given: vec![(0, 0); rates.users as usize],
            log: Log::default(),
            time: 0.0,
            clocks: Speed::default(),
            paged: 0.0,
            calendar: BinaryHeap::new(),
            running: Vec::new(),
            queue: VecDeque::new(),
            served: BinaryHeap::new(),
            device_queue: VecDeque::new(),
            pages: 0,
            elsewhere: 0,
            events: 0,
            began: 0.0,
            steady: Steady::new(rates),
            responses: Vec::new(),
        };
        for user in 0..rates.users {
            // Constant think times would keep users in step if all began at once.
            let time = if script.is_some() { engine.think(user) } else { engine.random.f64() * rates.think_s };
            engine.calendar.push(CalendarEntry { time, what: What::Requests(user) });
        }
        engine
    }

    pub fn events(&self) -> u64 {
        self.events
    }

    /// Forgets what was counted.
    pub fn start_batch(&mut self) {
        self.began = self.time;
        self.steady = Steady::new(self.rates);
        self.responses.clear();
        self.log = Log::default();
    }

    /// What was noted of a script since the start of the batch.
    pub fn log(self) -> Log {
        Log { elapsed_s: self.time - self.began, ..self.log }
    }

    /// Plays so many events, and gives what was counted in them.
    pub fn batch(&mut self, events: u64) -> Batch<'a> {
        self.start_batch();
        for _ in 0..events {
            self.step();
        }
        self.events += events;
        Batch { steady: self.steady.clone(), time: self.time - self.began, responses: sorted(self.responses.drain(..)) }
    }

    pub fn play_for(&mut self, seconds: f64) {
        self.calendar.push(CalendarEntry { time: self.time + seconds, what: What::Cut });
        while !self.step() {
            self.events += 1;
        }
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
        let eligible = self.inside();
        let faults_per_s = self.rates.faults_per_s(eligible, self.pages);
        let busy = running.min(self.rates.cpus);
        let cpu = f64::from(busy) / f64::from(running);
        let work = cpu / self.rates.stretch(eligible, faults_per_s);
        Speed { work, cpu, hazard: work * faults_per_s }
    }

    /// Plays the next event. True if it was the end of what is played.
    fn step(&mut self) -> bool {
        let speed = self.speed();
        let (mut soonest, mut which) = (f64::INFINITY, None);
        for (index, &Interaction { end, visit, fault, .. }) in self.running.iter().enumerate() {
            let work = (end.min(visit) - self.clocks.work) / speed.work;
            let fault = if speed.hazard > 0.0 { (fault - self.clocks.hazard) / speed.hazard } else { f64::INFINITY };
            let next = work.min(fault);
            if next < soonest {
                (soonest, which) = (next, Some((index, fault < work)));
            }
        }
        let planned = self.calendar.peek().map_or(f64::INFINITY, |event| event.time - self.time);
        let page_speed = if self.pages > 0 { 1.0 / self.rates.service(self.inside()) } else { 0.0 };
        let page = self.served.peek().map_or(f64::INFINITY, |event| (event.time - self.paged) / page_speed);
        let passes = soonest.min(planned).min(page).max(0.0);
        self.steady.add(self.present(), self.pages, self.elsewhere, passes);
        if self.script.is_some() {
            let busy = (self.running.len() as u32).min(self.rates.cpus);
            self.log.pass(self.inside() as usize, passes, f64::from(busy));
        }
        self.time += passes;
        self.clocks.work += passes * speed.work;
        self.clocks.cpu += passes * speed.cpu;
        self.clocks.hazard += passes * speed.hazard;
        self.paged += passes * page_speed;
        match which {
            Some((index, faults)) if soonest <= planned.min(page) => self.stop(index, faults),
            _ => {
                let next = if page <= planned { self.served.pop() } else { self.calendar.pop() };
                return next.is_some_and(|event| self.happens(event.what));
            }
        }
        false
    }

    /// Eligible interactions.
    fn inside(&self) -> u32 {
        self.running.len() as u32 + self.pages + self.elsewhere
    }

    /// An event that was waited for. True if it is the end of what is played.
    fn happens(&mut self, what: What) -> bool {
        match what {
            What::Cut => return true,
            What::Requests(user) => {
                self.queue.push_back((user, self.time));
                self.admit();
            }
            What::Page(interaction) => {
                self.pages -= 1;
                if let Some(next) = self.device_queue.pop_front() {
                    self.serve(next);
                }
                self.run(interaction);
            }
            What::Back(interaction) => {
                self.elsewhere -= 1;
                self.run(interaction);
            }
        }
        false
    }

    /// Lets those in that may be eligible.
    fn admit(&mut self) {
        while self.inside() < self.rates.limit {
            let Some((user, requested)) = self.queue.pop_front() else { return };
            let interaction = self.interaction(user, requested);
            self.run(interaction);
        }
    }

    /// A new interaction: all it has before it.
    fn interaction(&mut self, user: u32, requested: f64) -> Interaction {
        let kind = self.kind(user);
        let size = self.kinds.get(kind).map_or(1.0, |kind| kind.1);
        let mean = size * self.rates.work_s;
        let end = match self.system.work_spread {
            Spread::Exponential => mean * self.exponential(),
            Spread::Constant => mean,
        };
        let visit = self.until_visit();
        let fault = self.exponential();
        Interaction { user, kind, requested, admitted: self.time, cpu: 0.0, faults: 0, end, visit, fault }
    }

    fn kind(&mut self, user: u32) -> usize {
        if self.script.is_some() {
            return self.given[user as usize].1;
        }
        let chosen = self.random.f64();
        let last = self.kinds.len().saturating_sub(1);
        self.kinds.iter().position(|(share, _)| chosen < *share).unwrap_or(last)
    }

    /// How long a user thinks before its next request.
    fn think(&mut self, user: u32) -> f64 {
        let requests = self.script.and_then(|script| script.get(user as usize));
        if let Some(requests) = requests.filter(|requests| !requests.is_empty()) {
            let (count, kind) = &mut self.given[user as usize];
            let request = requests[*count % requests.len()];
            (*count, *kind) = (*count + 1, request.kind);
            return request.think_s;
        }
        match self.system.think_spread {
            Spread::Exponential => self.rates.think_s * self.exponential(),
            Spread::Constant => self.rates.think_s,
        }
    }

    /// Execution until the next other wait.
    fn until_visit(&mut self) -> f64 {
        if self.rates.other_s > 0.0 { self.exponential() * self.rates.work_s / VISITS } else { f64::INFINITY }
    }

    /// Lets an interaction run: what is left becomes readings of the clocks.
    fn run(&mut self, interaction: Interaction) {
        let Speed { work, cpu, hazard } = self.clocks;
        let cpu = interaction.cpu - cpu;
        let (end, visit, fault) = (interaction.end + work, interaction.visit + work, interaction.fault + hazard);
        self.running.push(Interaction { cpu, end, visit, fault, ..interaction });
    }

    /// The event of a running interaction: it faults, waits elsewhere, or ends.
    fn stop(&mut self, index: usize, faults: bool) {
        let Speed { work, cpu, hazard } = self.clocks;
        let taken = self.running.swap_remove(index);
        let (end, visit) = (taken.end - work, taken.visit - work);
        let mut taken = Interaction { cpu: taken.cpu + cpu, end, visit, fault: taken.fault - hazard, ..taken };
        if faults {
            taken.fault = self.exponential();
            taken.faults += 1;
            if self.rates.waits_for_pages() {
                self.pages += 1;
                if self.pages <= self.rates.channels { self.serve(taken) } else { self.device_queue.push_back(taken) }
            } else {
                self.run(taken);
            }
        } else if taken.visit < taken.end {
            taken.visit = self.until_visit();
            self.elsewhere += 1;
            let time = self.time + self.exponential() * self.rates.other_s / VISITS;
            self.calendar.push(CalendarEntry { time, what: What::Back(taken) });
        } else {
            self.finish(&taken);
        }
        if self.running.is_empty() {
            // Small readings keep their digits.
            self.clocks = Speed::default();
        }
    }

    /// The page device begins with a fault.
    fn serve(&mut self, interaction: Interaction) {
        if self.served.is_empty() {
            self.paged = 0.0;
        }
        let time = self.paged + self.exponential();
        self.served.push(CalendarEntry { time, what: What::Page(interaction) });
    }

    /// An interaction ends; its user thinks.
    fn finish(&mut self, interaction: &Interaction) {
        self.responses.push(self.time - interaction.requested);
        if self.script.is_some() {
            self.log.ended.push(Ended {
                kind: interaction.kind,
                wait_s: interaction.admitted - interaction.requested,
                response_s: self.time - interaction.requested,
                cpu_s: interaction.cpu,
                faults: f64::from(interaction.faults),
            });
        }
        let think = self.think(interaction.user);
        self.calendar.push(CalendarEntry { time: self.time + think, what: What::Requests(interaction.user) });
        self.admit();
    }

    /// An exponential random number of mean 1.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.random.f64()).ln()
    }
}
