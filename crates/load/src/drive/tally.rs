//! What is noted while a configuration runs: interactions that end, and by the number of eligible processes, time, processor
//! time and faults.

use analysis::load::{Depth, Finished, Sums, Unfinished};

use super::counts::Use;
use super::person::Request;

#[derive(Debug, Default)]
pub(super) struct Tally {
    /// When the time measured began, in ns; `None` before.
    began: Option<f64>,
    pub finished: Vec<Finished>,
    /// Those that were unanswered when the time measured began, and when it ended.
    pub unfinished_before: usize,
    pub unfinished: Vec<Unfinished>,
    pub depths: Vec<Depth>,
    /// The same for each part of the time measured.
    pub parts: Vec<Vec<Depth>>,
    /// The last change: when, in ns, and what was used until then.
    last: (f64, Use),
    /// By the reports, from the very beginning.
    pub sums: Sums,
}

impl Tally {
    /// Notes for at most this many eligible processes.
    pub(super) fn new(most: usize) -> Tally {
        Tally { depths: vec![Depth::default(); most + 1], ..Tally::default() }
    }

    /// The time measured begins, with so many unanswered requests.
    pub(super) fn begin(&mut self, unanswered: usize, at: f64, used: Use) {
        self.began = Some(at);
        self.unfinished_before = unanswered;
        self.last = (at, used);
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.began.is_some()
    }

    /// The time measured ends, with this many eligible, and these unanswered: since when they are eligible, `None` for those that queue.
    pub(super) fn end(&mut self, eligible: usize, unanswered: &[(Request, Option<f64>)], (at, used): (f64, Use)) {
        self.turn(eligible, at, used);
        self.began = None;
        let seconds = |from: f64, to: f64| ((to - from) / 1e9).max(0.0);
        let unfinished = unanswered.iter().map(|(request, admitted)| Unfinished {
            interaction: request.interaction,
            age_s: seconds(request.arrived, at),
            wait_s: seconds(request.arrived, admitted.unwrap_or(at)),
        });
        self.unfinished = unfinished.collect();
    }

    /// A part of the time measured ends, with this many eligible.
    pub(super) fn cut(&mut self, eligible: usize, at: f64, used: Use) {
        self.turn(eligible, at, used);
        let before = |depth: usize, of: fn(&Depth) -> f64| self.parts.iter().map(|part| of(&part[depth])).sum::<f64>();
        let since = |(depth, depth_sums): (usize, &Depth)| Depth {
            elapsed_s: depth_sums.elapsed_s - before(depth, |depth_sums| depth_sums.elapsed_s),
            busy_s: depth_sums.busy_s - before(depth, |depth_sums| depth_sums.busy_s),
            major_faults: depth_sums.major_faults - before(depth, |depth_sums| depth_sums.major_faults),
        };
        let part = self.depths.iter().enumerate().map(since).collect();
        self.parts.push(part);
    }

    /// The number of eligible processes was this one until now.
    pub(super) fn turn(&mut self, eligible: usize, at: f64, used: Use) {
        if self.began.is_none() {
            return;
        }
        let (then, before) = std::mem::replace(&mut self.last, (at, used));
        if let Some(depth) = self.depths.get_mut(eligible) {
            depth.elapsed_s += (at - then) / 1e9;
            depth.busy_s += used.cpu_s - before.cpu_s;
            depth.major_faults += used.major_faults - before.major_faults;
        }
    }

    /// An interaction that had arrived at this moment has ended. It counts if that was within the time measured.
    pub(super) fn finish(&mut self, arrived: f64, work: Finished) {
        if let Some(began) = self.began {
            let before_s = ((began - arrived) / 1e9).max(0.0);
            self.finished.push(Finished { before_s, ..work });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_share_out_time_processor_and_faults() {
        let used = |cpu_s, major_faults| Use { cpu_s, major_faults };
        let mut tally = Tally::new(2);
        tally.turn(1, 1e9, used(5.0, 50.0));
        tally.begin(0, 2e9, used(10.0, 100.0));
        tally.turn(0, 3e9, used(10.0, 100.0));
        tally.turn(1, 5e9, used(11.0, 130.0));
        tally.cut(2, 5.5e9, used(11.4, 160.0));
        tally.turn(2, 6e9, used(12.0, 200.0));
        tally.cut(1, 9e9, used(14.0, 260.0));
        tally.end(1, &[], (9e9, used(14.0, 260.0)));
        tally.turn(2, 99e9, used(99.0, 999.0));
        let reported: Vec<_> = tally
            .depths
            .iter()
            .map(|depth_sums| (depth_sums.elapsed_s, depth_sums.busy_s, depth_sums.major_faults))
            .collect();
        assert_eq!(reported, [(1.0, 0.0, 0.0), (5.0, 3.0, 90.0), (1.0, 1.0, 70.0)]);
        let parts = |depth: usize| tally.parts.iter().map(|part| part[depth].elapsed_s).collect::<Vec<_>>();
        assert_eq!((parts(0), parts(1), parts(2)), (vec![1.0, 0.0], vec![2.0, 3.0], vec![0.5, 0.5]));
    }

    #[test]
    fn what_is_unanswered_at_the_end_is_counted_with_its_age() {
        let request = |interaction, arrived| Request { interaction, user: None, arrived };
        let took = |response_s| Finished { response_s, ..Finished::default() };
        let mut tally = Tally::new(2);
        tally.finish(0.0, took(1.0));
        tally.begin(3, 2e9, Use::default());
        tally.finish(1.5e9, took(1.0));
        tally.finish(2.5e9, took(0.5));
        let unanswered = [(request(0, 1e9), Some(1.5e9)), (request(1, 4e9), None)];
        tally.end(1, &unanswered, (6e9, Use::default()));
        // What ends later is none of the finished.
        tally.finish(1e9, took(5.5));
        let before: Vec<f64> = tally.finished.iter().map(|finished| finished.before_s).collect();
        assert_eq!((before, tally.unfinished_before), (vec![0.5, 0.0], 3));
        let unfinished = |interaction, age_s, wait_s| Unfinished { interaction, age_s, wait_s };
        assert_eq!(tally.unfinished, [unfinished(0, 5.0, 0.5), unfinished(1, 2.0, 2.0)]);
    }
}
