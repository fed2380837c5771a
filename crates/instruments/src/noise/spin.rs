//! The spinning task: it reads the clock in a loop and notes every step that is longer than the usual one. Between
//! stretches of spinning it reads the kernel's counters, whose reading takes longer than most gaps.

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use analysis::noise::{Event, Gap, Mark, Recording, SpinWindow};
use operation::{Clock, Usage};

use crate::noise::chain::chain;
use crate::noise::counters::Counters;
use crate::noise::options::{NoiseError, Options, TASK, Tracing};
use crate::noise::switching::switching;
use crate::noise::trace::Tracer;

/// The shortest and the longest stretch of spinning, in ns. Reading the counters takes about 1 % of it. The lengths differ,
/// so that nothing that comes back with the stretches looks as if it had a period.
const STRETCH: (f64, f64) = (4e7, 6e7);
/// After the counters are read, this time is not recorded, in ns: the kernel makes up for what it put off, and caches are
/// cold.
const SETTLING: f64 = 5e5;
/// Gaps that one stretch has room for: a gap of 100 ns and a step every 760 ns.
const ROOM: usize = 65_536;
/// Gaps that are at least so long may hold a switch, in ns: a switch to another task and back takes longer. For these, the
/// kernel is asked, which takes a few hundred ns in which nothing is seen.
const MAY_SWITCH: f64 = 1_000.0;

pub(crate) type Spinner = JoinHandle<Result<Recording, NoiseError>>;

pub(crate) fn start(cpu: u32, clock: Clock, options: Options) -> Result<Spinner, NoiseError> {
    let work = move || {
        operation::pin(cpu).map_err(|failure| NoiseError::Cpu(cpu, failure.to_string()))?;
        let spin = Spin::new(cpu, clock, options);
        Ok(spin.record())
    };
    std::thread::Builder::new().name(TASK.into()).spawn(work).map_err(NoiseError::Thread)
}

/// What the task works with.
struct Spin {
    clock: Clock,
    options: Options,
    counters: Counters,
    tracer: Option<Tracer>,
    /// Room for the gaps of a stretch, touched before: a page fault would be a gap of our own.
    buffer: Vec<Gap>,
    recording: Recording,
    /// The counts of the lines when they were last read, and when that was.
    before: Vec<(String, u64)>,
    read_at: f64,
}

impl Spin {
    fn new(cpu: u32, clock: Clock, options: Options) -> Spin {
        let mut counters = Counters::open(cpu);
        let before = counters.lines();
        let tracer = match options.tracing {
            Tracing::IfAllowed => Tracer::open(cpu, clock, numbered(&before)),
            Tracing::Never => Err("tracepoints were not asked for".into()),
        };
        let lines = before.iter().map(|(name, _)| name.clone()).collect();
        let step = usual_step(&clock);
        let untraced = tracer.as_ref().err().cloned();
        let switching = switching(cpu, &clock).map(|took| took - step);
        let recording =
            Recording { cpu, step, threshold: options.threshold, lines, untraced, switching, ..Recording::default() };
        let nothing = Gap { start: 1.0, length: 1.0, switched: true };
        let buffer = vec![nothing; ROOM];
        let (tracer, read_at) = (tracer.ok(), clock.now());
        Spin { clock, options, counters, tracer, buffer, recording, before, read_at }
    }

    fn record(mut self) -> Recording {
        let whole = self.options.time.as_nanos() as f64;
        // Opening the tracepoints is no part of it.
        let _ = self.counts();
        let (steal, waited) = (self.counters.steal(), self.counters.waited());
        let begin = self.clock.now();
        let mut events = Vec::new();
        let mut random = fastrand::Rng::new();
        while self.clock.now() - begin < whole && !self.options.stop.load(Ordering::Relaxed) {
            let left = whole - (self.clock.now() - begin);
            // Every other stretch is traced: gaps are counted and measured in the others.
            let wants = self.recording.windows.len() % 2 == 1;
            let length = STRETCH.0 + (STRETCH.1 - STRETCH.0) * random.f64();
            self.stretch(left.min(length), wants, &mut events);
        }
        self.recording.steal = self.counters.steal().zip(steal).map(|(after, before)| after - before);
        self.recording.waited = self.counters.waited().zip(waited).map(|(after, before)| after - before);
        if self.recording.untraced.is_none() && self.recording.windows.iter().all(|window| !window.traced) {
            self.recording.untraced = Some("the recording ended before they were on".into());
        }
        self.recording.events = events;
        self.recording.lost_events = self.tracer.as_ref().map_or(0, |tracer| tracer.lost);
        self.recording
    }

    /// Spins for this long, and reads the counters.
    fn stretch(&mut self, length: f64, wants_trace: bool, events: &mut Vec<Event>) {
        let chain = chain(&self.clock);
        let traced = wants_trace && self.tracer.as_mut().is_some_and(Tracer::enable);
        let limit = self.recording.step + self.recording.threshold;
        let settled = self.clock.now() + SETTLING;
        while self.clock.now() < settled {}
        let mut switches = Usage::of_this_thread().involuntary;
        let start = self.clock.now();
        let end = start + length;
        let (mut last, mut count) = (start, 0);
        while last < end {
            let now = self.clock.now();
            let took = now - last;
            if took <= limit {
                last = now;
                continue;
            }
            let mut gap = Gap { start: last, length: took - self.recording.step, switched: false };
            last = now;
            if gap.length >= MAY_SWITCH {
                let switched = Usage::of_this_thread().involuntary;
                gap.switched = switched > switches;
                switches = switched;
                last = self.clock.now();
            }
            if let Some(place) = self.buffer.get_mut(count) {
                *place = gap;
            }
            count += 1;
        }
        let end = last;
        if traced && let Some(tracer) = &mut self.tracer {
            // The task runs now. Whatever an event of the moment of switching on left open is closed.
            events.push(Event { at: start, mark: Mark::Ours });
            tracer.take(&mut self.recording.names, start, events);
        }
        let kept = count.min(self.buffer.len());
        self.recording.lost_gaps += (count - kept) as u64;
        self.recording.gaps.extend_from_slice(&self.buffer[..kept]);
        let (counts, counting) = self.counts();
        self.recording.windows.push(SpinWindow { start, end, traced, counts, counting, chain });
    }

    /// What each line counted since the last call, and how long that is in ns.
    fn counts(&mut self) -> (Vec<u64>, f64) {
        let now = self.counters.lines();
        let read_at = self.clock.now();
        let time = read_at - std::mem::replace(&mut self.read_at, read_at);
        let same = now.len() == self.before.len();
        let since = |((name, count), (before_name, before)): (&(String, u64), &(String, u64))| {
            // A line came or went: its counts cannot be known.
            if same && name == before_name { count.saturating_sub(*before) } else { 0 }
        };
        let mut counts: Vec<u64> = now.iter().zip(&self.before).map(since).collect();
        counts.resize(self.recording.lines.len(), 0);
        self.before = now;
        (counts, time)
    }
}

/// The names of interrupt lines that have a number: `interrupt 36 (virtio1-req.0)`.
fn numbered(lines: &[(String, u64)]) -> Vec<(u64, String)> {
    let number = |(name, _): &(String, u64)| {
        let (number, reported) = name.strip_prefix("interrupt ")?.split_once(' ')?;
        Some((number.parse().ok()?, reported.trim_matches(['(', ')']).to_owned()))
    };
    lines.iter().filter_map(number).collect()
}

/// The median step of the loop, in ns.
fn usual_step(clock: &Clock) -> f64 {
    const STEPS: usize = 20_001;
    let mut steps = vec![1.0; STEPS];
    let mut last = clock.now();
    for step in &mut steps {
        let now = clock.now();
        *step = now - last;
        last = now;
    }
    steps.sort_by(f64::total_cmp);
    steps[STEPS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_ends_before_tracepoints_are_on_is_one_without_them() {
        let cpu = system::machine::pinnable_cpus()[0];
        let options = Options { time: std::time::Duration::from_millis(1), ..Options::default() };
        let spinner = start(cpu, Clock::calibrate(), options).expect("a thread");
        let recording = spinner.join().expect("it ends").expect("the CPU may be used");
        assert!(recording.untraced.is_some(), "{} windows", recording.windows.len());
    }
}
