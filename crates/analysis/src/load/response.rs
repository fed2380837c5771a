//! Response times: means and percentiles, each with an interval.

use serde::Serialize;

use super::censored::{ResponseSample, SampledTime};
use super::measured::{Finished, Measured, Outcome, Unfinished};
use crate::form::{As, OpenFigure};
use crate::statistics::{Interval, half_of_mean, mean};

/// The shares that response times are reported by: the median, 90, 95 and 99 %.
pub const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Means of a number of interactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Response {
    /// Interactions that ended.
    pub count: usize,
    /// Those that failed, were killed or hung: they count in `count` and nowhere else.
    pub failed: usize,
    /// Interactions that had arrived and not ended when the time measured did.
    pub unfinished: usize,
    /// Those of them that had already taken longer than all that did their work; where responses grow with time, all.
    pub overdue: usize,
    /// The unfinished that were not eligible yet.
    pub queued: usize,
    /// Mean response time in seconds, with its interval; null for none, and if the overdue could change it noticeably.
    #[serde(rename = "mean_s", with = "As::<Option<OpenFigure>>")]
    pub mean: Option<Interval>,
    /// What it is at least in that case, in seconds: the overdue count with the time that they had taken.
    pub mean_at_least_s: Option<f64>,
    /// Response times in seconds at [`SHARES`]; without an interval's width where too few support one.
    pub percentiles: [ResponsePercentile; 4],
    /// Mean wait for eligibility, in seconds. Where the mean response is at least something, the unfinished
    /// count too, and it is at least this if some of them are queued.
    pub wait_s: f64,
    /// Mean processor time in user mode, in seconds.
    pub user_s: f64,
    /// Mean processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Mean number of page faults without a read.
    pub minor_faults: f64,
    /// Mean number of page faults that waited for a page.
    pub major_faults: f64,
}

/// A percentile of the response times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ResponsePercentile {
    /// From 0 to 1.
    pub share: f64,
    /// In seconds; null for no interaction, and if it depends on when the unfinished end.
    #[serde(rename = "response_s", with = "As::<Option<OpenFigure>>")]
    pub response: Option<Interval>,
    /// What it is at least in that case, in seconds.
    pub at_least_s: Option<f64>,
}

impl Response {
    /// True if a figure is at least, and not exactly, what is known of it.
    pub fn is_bound(&self) -> bool {
        self.mean_at_least_s.is_some() || self.percentiles.iter().any(|percentile| percentile.at_least_s.is_some())
    }
}

/// The figures of these interactions, which were all there were.
pub fn response<'a>(finished: impl IntoIterator<Item = &'a Finished>) -> Response {
    figures(&finished.into_iter().collect::<Vec<_>>(), &[], false)
}

/// The figures of all interactions of a configuration.
pub fn response_of(measured: &Measured) -> Response {
    let unfinished: Vec<&Unfinished> = measured.unfinished.iter().collect();
    figures(&measured.finished.iter().collect::<Vec<_>>(), &unfinished, measured.grows())
}

/// The figures of each interaction of the script.
pub fn per_interaction(measured: &Measured, interactions: usize) -> Vec<Response> {
    (0..interactions).map(|place| response_at(measured, place)).collect()
}

/// The figures of the interaction at this place of the script.
pub fn response_at(measured: &Measured, place: usize) -> Response {
    let finished: Vec<&Finished> = measured.finished.iter().filter(|finished| finished.interaction == place).collect();
    let unfinished: Vec<&Unfinished> = measured.unfinished.iter().filter(|one| one.interaction == place).collect();
    figures(&finished, &unfinished, measured.grows())
}

fn figures(all: &[&Finished], unfinished: &[&Unfinished], grows: bool) -> Response {
    let done: Vec<&Finished> = all.iter().copied().filter(|finished| finished.outcome == Outcome::Done).collect();
    let ages: Vec<f64> = unfinished.iter().map(|one| one.age_s).collect();
    let sample = if grows { ResponseSample::growing(&done, &ages) } else { ResponseSample::of(&done, &ages) };
    let times: Vec<f64> = done.iter().map(|finished| finished.response_s).collect();
    let mean =
        |of: fn(&Finished) -> f64| done.iter().fold(0.0, |sum, finished| sum + of(finished)) / done.len().max(1) as f64;
    let of_ended = batch_mean(&times);
    let is_bound = of_ended.map_or(!ages.is_empty(), |ended| grows || is_noticeable(sample.open_s, ended));
    let waited = || unfinished.iter().map(|one| one.wait_s).sum::<f64>();
    let ended_wait_s = mean(|finished| finished.wait_s);
    let all_wait_s = || (ended_wait_s * done.len() as f64 + waited()) / (done.len() + unfinished.len()).max(1) as f64;
    Response {
        count: all.len(),
        failed: all.len() - done.len(),
        unfinished: unfinished.len(),
        overdue: sample.overdue,
        queued: unfinished.iter().filter(|one| one.wait_s >= one.age_s).count(),
        mean: of_ended.filter(|_| !is_bound).map(|ended| scaled(ended, sample.mean_s)),
        mean_at_least_s: is_bound.then_some(sample.mean_s),
        percentiles: SHARES.map(|share| percentile(&sample, share)),
        wait_s: if is_bound { all_wait_s() } else { ended_wait_s },
        user_s: mean(|finished| finished.user_s),
        system_s: mean(|finished| finished.system_s),
        minor_faults: mean(|finished| finished.minor_faults),
        major_faults: mean(|finished| finished.major_faults),
    }
}

/// True if those that had not ended could move the mean of those that ended noticeably: by more than its interval, or by as much as
/// itself if that is wider, and by more than a twentieth. What lasts longer than all others is taken to last as long again.
fn is_noticeable(open_s: f64, ended: Interval) -> bool {
    const NOTICED: f64 = 0.05;
    open_s > (ended.high - ended.value).min(ended.value).max(NOTICED * ended.value)
}

/// The same interval, in proportion, around another value.
fn scaled(of: Interval, value: f64) -> Interval {
    if of.value > 0.0 && value != of.value { of.times(value / of.value) } else { of }
}

/// The mean of values in the order in which they came, with its interval by batch means: neighbours in time are not
/// independent, so Student's t is taken over the means of ten batches (Law, Simulation Modeling and Analysis, 9.5.3).
fn batch_mean(values: &[f64]) -> Option<Interval> {
    const BATCHES: usize = 10;
    let value = values.first().map(|_| mean(values))?;
    let batches = BATCHES.min(values.len());
    let ends: Vec<usize> = (0..=batches).map(|batch| batch * values.len() / batches).collect();
    let means: Vec<f64> = ends.windows(2).map(|ends| mean(&values[ends[0]..ends[1]])).collect();
    let half = half_of_mean(&means);
    Some(Interval { value, low: (value - half).max(0.0), high: value + half })
}

fn percentile(sample: &ResponseSample, share: f64) -> ResponsePercentile {
    let (response, at_least_s) = match sample.at(share) {
        None => (None, None),
        Some(SampledTime::Known(value, (low, high))) => (Some(Interval { value, low, high }), None),
        Some(SampledTime::AtLeast(bound_s)) => (None, Some(bound_s)),
    };
    ResponsePercentile { share, response, at_least_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(response_s: f64, outcome: Outcome) -> Finished {
        Finished { wait_s: response_s / 4.0, response_s, major_faults: 2.0, outcome, ..Finished::default() }
    }

    #[test]
    fn means_and_percentiles_are_those_of_the_interactions_that_did_their_work() {
        let mut all: Vec<Finished> = (1..=200).map(|n| finished(f64::from(n), Outcome::Done)).collect();
        all.push(finished(1e6, Outcome::Hung));
        let found = response(&all);
        assert_eq!((found.count, found.failed), (201, 1));
        let mean = found.mean.expect("some");
        assert!((mean.value - 100.5).abs() < 1e-9 && mean.low < 100.5 && mean.high > 100.5, "{mean:?}");
        assert!((found.wait_s - 100.5 / 4.0).abs() < 1e-9 && (found.major_faults - 2.0).abs() < 1e-12);
        let p95 = found.percentiles[2].response.expect("enough");
        assert!((p95.value - 190.05).abs() < 1e-9 && p95.low < 190.0 && p95.high > 190.0 && p95.high <= 200.0);
        assert!(response(&[]).mean.is_none());
    }

    #[test]
    fn few_values_have_no_interval() {
        let few = [finished(1.0, Outcome::Done), finished(2.0, Outcome::Done)];
        let found = response(&few);
        assert!(found.percentiles[3].response.is_some_and(|interval| interval.high.is_infinite()));
        let one = response(&few[..1]).mean.expect("one");
        assert!(one.value == 1.0 && one.high.is_infinite());
    }

    #[test]
    fn the_interval_of_a_mean_holds_the_truth_nine_times_in_ten() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut held = 0;
        for _ in 0..400 {
            let all: Vec<Finished> = (0..300).map(|_| finished(-random.f64().ln(), Outcome::Done)).collect();
            let mean = response(&all).mean.expect("some");
            held += usize::from(mean.low < 1.0 && mean.high > 1.0);
        }
        assert!((360..=396).contains(&held), "{held} of 400");
    }

    /// So many users who never think, whose interactions take these times, measured from one moment to another.
    fn closed(users: usize, took: &mut dyn FnMut() -> f64, (begin, end): (f64, f64)) -> Measured {
        let mut measured = Measured { elapsed_s: end - begin, ..Measured::default() };
        for _ in 0..users {
            let mut now = 0.0;
            while now < end {
                let (arrived, response_s) = (now, took());
                now += response_s;
                if now > end {
                    measured.unfinished.push(Unfinished { age_s: end - arrived, ..Unfinished::default() });
                } else if now > begin {
                    let before_s = (begin - arrived).max(0.0);
                    measured.finished.push(Finished { response_s, before_s, ..Finished::default() });
                }
            }
        }
        measured
    }

    #[test]
    fn what_takes_longer_than_was_measured_is_seen() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut took = || if random.u32(0..4) == 0 { 6.0 } else { 0.5 + 0.01 * random.f64() };
        let found = response_of(&closed(8, &mut took, (0.1, 4.1)));
        assert!(found.overdue >= 4 && found.unfinished == 8 && found.mean.is_none(), "{found:?}");
        let at_least = found.mean_at_least_s.expect("a bound");
        assert!((0.9..1.875).contains(&at_least), "the truth is 1.88: {at_least}");
        let median = found.percentiles[0].response.expect("most end soon");
        assert!((0.5..0.52).contains(&median.value) && found.percentiles[1].response.is_none(), "{found:?}");
        assert!(found.percentiles[3].at_least_s.is_some_and(|bound| bound > 2.0), "{found:?}");
    }

    #[test]
    fn in_an_ordinary_run_what_is_under_way_at_the_end_is_no_alarm() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut alarms = [0, 0];
        for _ in 0..200 {
            let mut constant = || 0.5 + 0.02 * random.f64();
            alarms[0] += usize::from(response_of(&closed(8, &mut constant, (0.5, 6.5))).is_bound());
            let mut scattered = || -0.2 * (1.0 - random.f64()).ln();
            let found = response_of(&closed(8, &mut scattered, (1.0, 9.0)));
            alarms[1] += usize::from(found.mean.is_none());
            assert!(found.mean.is_none_or(|mean| (mean.value - 0.2).abs() < 0.05), "{found:?}");
            assert!(found.percentiles[1].response.is_some_and(|p90| (0.35..0.6).contains(&p90.value)), "{found:?}");
        }
        assert!(alarms[0] < 10 && alarms[1] == 0, "{alarms:?} of 200");
    }

    #[test]
    fn long_interactions_that_still_end_have_their_share() {
        // A quarter takes 2 s. Of those that end within 4 s of a cold start, fewer do; the mean is 0.875 s.
        let mut random = fastrand::Rng::with_seed(2);
        let mut means = Vec::new();
        for _ in 0..100 {
            let mut took = || if random.u32(0..4) == 0 { 2.0 } else { 0.5 };
            let found = response_of(&closed(8, &mut took, (0.1, 4.1)));
            means.extend(found.mean.map(|mean| mean.value).or(found.mean_at_least_s));
        }
        let middle = mean(&means);
        assert!((middle - 0.875).abs() < 0.05, "{middle}");
    }

    #[test]
    fn nothing_but_what_hangs_has_bounds_alone() {
        let one = Unfinished { age_s: 1.1, wait_s: 0.1, ..Unfinished::default() };
        let found = response_of(&Measured { unfinished: vec![one; 4], ..Measured::default() });
        assert_eq!((found.count, found.unfinished, found.overdue, found.mean), (0, 4, 4, None));
        assert_eq!((found.mean_at_least_s, found.percentiles[0].at_least_s), (Some(1.1), Some(1.1)));
        assert!((found.wait_s - 0.1).abs() < 1e-12);
    }

    #[test]
    fn where_the_queue_grows_every_figure_is_a_bound() {
        let ended = [1.6, 1.7, 2.6, 2.8].map(|time| finished(time, Outcome::Done));
        let age = |n: u32| Unfinished { age_s: f64::from(n) / 4.0, ..Unfinished::default() };
        let mut measured = Measured {
            finished: ended.to_vec(),
            unfinished: (1..=16).map(age).collect(),
            is_open: true,
            ..Measured::default()
        };
        let found = response_of(&measured);
        assert!(measured.grows() && found.mean.is_none() && found.mean_at_least_s.is_some(), "{found:?}");
        assert!(found.percentiles.iter().all(|percentile| percentile.at_least_s.is_some()), "{found:?}");
        // As many as before, or so few more that it may be chance.
        measured.unfinished_before = 15;
        assert!(!measured.grows());
        measured.unfinished_before = 0;
        measured.finished = vec![ended[0]; 60];
        assert!(!measured.grows());
        measured.finished.truncate(10);
        measured.is_open = false;
        assert!(!measured.grows(), "users who wait are no more than they are");
    }
}
