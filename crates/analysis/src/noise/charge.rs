//! What each gap is charged to, where the kernel's tracepoints reported what the CPU did: at any moment to the interrupt or
//! softirq that ran, otherwise to the task that had the CPU.

use super::gap::Gap;

/// One tracepoint that was hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When, in ns of the recording's clock.
    pub at: f64,
    pub mark: Mark,
}

/// What a tracepoint reported. Numbers are places in a list of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The CPU was given to another task.
    Task(usize),
    /// The CPU was given back to the spinning task.
    Ours,
    /// An interrupt or softirq began.
    Entered(usize),
    /// It ended.
    Left(usize),
}

/// Stands for what no event explains.
pub const UNEXPLAINED: usize = usize::MAX;

/// What one gap is charged to, in ns.
pub type Charges = Vec<(usize, f64)>;

/// Charges each gap. Entering and leaving the kernel is not traced: up to 2 us of a gap that are not inside of anything
/// belong to the largest part of it. The rest, and all of a gap without events, is [`UNEXPLAINED`]: something that the
/// kernel does not see, such as the hypervisor or firmware.
pub fn charge(gaps: &[Gap], events: &[Event]) -> Vec<Charges> {
    let mut state = State::default();
    let mut next = 0;
    let mut charged = Vec::with_capacity(gaps.len());
    for gap in gaps {
        while next < events.len() && events[next].at < gap.start {
            state.take(events[next].mark);
            next += 1;
        }
        let mut charges = Charges::new();
        let mut open = 0.0;
        let mut at = gap.start;
        let mut seen = state.running().is_some();
        while next < events.len() && events[next].at <= gap.end() {
            add(&mut charges, &mut open, state.running(), events[next].at - at);
            at = events[next].at;
            state.take(events[next].mark);
            seen = true;
            next += 1;
        }
        add(&mut charges, &mut open, state.running(), gap.end() - at);
        let around = if seen { open.min(AROUND) } else { 0.0 };
        if let Some(largest) = charges.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
            largest.1 += around;
            open -= around;
        }
        if open > 0.0 {
            charges.push((UNEXPLAINED, open));
        }
        charged.push(charges);
    }
    charged
}

/// Time to enter and leave the kernel that is charged with what it was entered for, in ns.
const AROUND: f64 = 2_000.0;

fn add(charges: &mut Charges, open: &mut f64, cause: Option<usize>, time: f64) {
    match cause {
        None => *open += time,
        Some(cause) => match charges.iter_mut().find(|(other, _)| *other == cause) {
            Some((_, sum)) => *sum += time,
            None => charges.push((cause, time)),
        },
    }
}

/// What the CPU is doing.
#[derive(Default)]
struct State {
    task: Option<usize>,
    /// Interrupts and softirqs, the innermost last.
    inside: Vec<usize>,
}

impl State {
    fn running(&self) -> Option<usize> {
        self.inside.last().copied().or(self.task)
    }

    fn take(&mut self, mark: Mark) {
        match mark {
            // The CPU changes tasks outside of interrupts only. An end that was dropped must not count for ever.
            Mark::Task(task) => (self.task, self.inside) = (Some(task), Vec::new()),
            Mark::Ours => (self.task, self.inside) = (None, Vec::new()),
            Mark::Entered(cause) => self.inside.push(cause),
            Mark::Left(cause) => {
                if let Some(place) = self.inside.iter().rposition(|&other| other == cause) {
                    self.inside.truncate(place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: usize = 0;
    const SOFTIRQ: usize = 1;
    const OTHER: usize = 2;

    fn event(at: f64, mark: Mark) -> Event {
        Event { at, mark }
    }

    fn gap(start: f64, length: f64) -> Gap {
        Gap { start, length, switched: false }
    }

    #[test]
    fn an_interrupt_and_its_softirq_are_distinguished() {
        let events = [
            event(100.0, Mark::Entered(TICK)),
            event(900.0, Mark::Left(TICK)),
            event(950.0, Mark::Entered(SOFTIRQ)),
            event(1_450.0, Mark::Left(SOFTIRQ)),
        ];
        // 150 ns are outside of both; the tick is the larger part.
        assert_eq!(charge(&[gap(50.0, 1_450.0)], &events), [[(TICK, 950.0), (SOFTIRQ, 500.0)]]);
    }

    #[test]
    fn another_task_is_charged_with_what_interrupts_leave_of_it() {
        let events = [
            event(1_000.0, Mark::Task(OTHER)),
            event(5_000.0, Mark::Entered(TICK)),
            event(6_000.0, Mark::Left(TICK)),
            event(11_000.0, Mark::Ours),
        ];
        assert_eq!(charge(&[gap(500.0, 11_000.0)], &events), [[(OTHER, 10_000.0), (TICK, 1_000.0)]]);
    }

    #[test]
    fn what_no_event_reports_is_unexplained() {
        let events = [event(10_000.0, Mark::Entered(TICK)), event(11_000.0, Mark::Left(TICK))];
        let gaps = [gap(1_000.0, 700.0), gap(9_900.0, 50_000.0)];
        let charged = charge(&gaps, &events);
        assert_eq!(charged[0], [(UNEXPLAINED, 700.0)]);
        assert_eq!(charged[1], [(TICK, 3_000.0), (UNEXPLAINED, 47_000.0)]);
    }

    #[test]
    fn an_end_that_was_dropped_ends_with_the_next_switch() {
        let events = [
            event(100.0, Mark::Entered(TICK)),
            event(200.0, Mark::Task(OTHER)),
            event(900.0, Mark::Ours),
            event(5_000.0, Mark::Left(TICK)),
        ];
        let charged = charge(&[gap(50.0, 900.0), gap(2_000.0, 300.0)], &events);
        assert_eq!(charged[0], [(TICK, 100.0), (OTHER, 800.0)]);
        assert_eq!(charged[1], [(UNEXPLAINED, 300.0)]);
    }

    #[test]
    fn every_nanosecond_is_charged_once() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut at = 0.0;
        let mut events = Vec::new();
        for _ in 0..2_000 {
            at += 500.0 * random.f64();
            let cause = random.usize(0..4);
            let marks = [Mark::Task(cause), Mark::Ours, Mark::Entered(cause), Mark::Left(cause)];
            events.push(event(at, marks[random.usize(0..4)]));
        }
        let gaps: Vec<Gap> = (0..500).map(|place| gap(f64::from(place) * 1_000.0, 900.0 * random.f64())).collect();
        for (gap, charges) in gaps.iter().zip(charge(&gaps, &events)) {
            let sum: f64 = charges.iter().map(|(_, time)| time).sum();
            assert!((sum - gap.length).abs() < 1e-6, "{gap:?}: {charges:?}");
        }
    }
}
