//! Response times of which some are known only to be longer than an age: those of interactions that had not ended when the time
//! measured did.
//!
//! The distribution is that of Kaplan and Meier (J. Am. Stat. Assoc. 53:457, 1958): of those that have lasted as long as one that
//! ends, the share that does not end then goes on. An interaction that had begun before the time measured is counted from the age
//! that it had at its beginning, or long ones would count too often (Klein and Moeschberger, Survival Analysis, 2003, 4.6). What
//! lasts longer than all that ended has an unknown end: it stands at its age, and figures that depend on it are lower bounds.

use super::measured::Finished;
use crate::statistics::{mean, quantile, sorted};
use crate::tails::enclosing;

/// Response times as a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ResponseSample {
    /// Ascending, in seconds; each stands for the same share of the interactions.
    times: Vec<f64>,
    /// So many of them, the first, are of ends that are known. The others are lower bounds.
    known: usize,
    /// In seconds; not a number for none.
    pub mean_s: f64,
    /// The part of the mean that the lower bounds make, in seconds.
    pub open_s: f64,
    /// The interactions with unknown ends.
    pub overdue: usize,
}

/// A percentile of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SampledTime {
    /// With its value and the ends of its interval.
    Known(f64, (f64, f64)),
    AtLeast(f64),
}

impl ResponseSample {
    /// Of those that did their work, and the ages of those that had not ended.
    pub fn of(done: &[&Finished], ages: &[f64]) -> ResponseSample {
        let ended = sorted(done.iter().map(|finished| finished.response_s));
        if ages.is_empty() {
            return ResponseSample {
                known: ended.len(),
                mean_s: mean(&ended),
                times: ended,
                ..ResponseSample::default()
            };
        }
        let ages = sorted(ages.iter().copied());
        let late = done.iter().filter(|done| done.before_s > 0.0 && done.before_s < done.response_s);
        let late = sorted(late.map(|done| done.before_s));
        // Where too few began within the time measured, what had begun before it counts in full.
        let (weights, left) = weights(&ended, &ages, &late).or_else(|| weights(&ended, &ages, &[])).unwrap_or_default();
        let longest = ended.last().copied().unwrap_or(0.0);
        let overdue = ages[ages.partition_point(|age| *age < longest)..].to_vec();
        let open_s = if overdue.is_empty() { 0.0 } else { left * mean(&overdue) };
        let mean_s = ended.iter().zip(&weights).map(|(time, weight)| time * weight).sum::<f64>() + open_s;
        let rest = vec![left / overdue.len().max(1) as f64; overdue.len()];
        // As many as have the weight that one that ended has on average.
        let count = if ended.is_empty() { ages.len() } else { (ended.len() as f64 / (1.0 - left)).round() as usize };
        let (first, all) = (ended.len(), [ended, overdue].concat());
        let times = spread(&[weights, rest].concat(), count);
        let known = times.partition_point(|place| *place < first);
        let overdue = all.len() - first;
        ResponseSample { times: times.into_iter().map(|place| all[place]).collect(), known, mean_s, open_s, overdue }
    }

    /// Where responses grow with time, all figures are lower bounds: later interactions take longer than those that ended.
    pub fn growing(done: &[&Finished], ages: &[f64]) -> ResponseSample {
        let times = sorted(done.iter().map(|finished| finished.response_s).chain(ages.iter().copied()));
        let mean_s = mean(&times);
        ResponseSample { times, known: 0, mean_s, open_s: mean_s, overdue: ages.len() }
    }

    /// The time that this share of the interactions does not exceed; `None` for no interaction.
    pub fn at(&self, share: f64) -> Option<SampledTime> {
        let value = quantile(&self.times, share)?;
        let above = (share * (self.times.len() - 1) as f64).ceil() as usize;
        if above >= self.known {
            return Some(SampledTime::AtLeast(value));
        }
        let (low, high) = enclosing(&self.times, share).unwrap_or((0.0, f64::INFINITY));
        let is_open = self.times.get(self.known).is_some_and(|bound| high >= *bound);
        Some(SampledTime::Known(value, (low.min(value), if is_open { f64::INFINITY } else { high.max(value) })))
    }
}

/// The share of the interactions that each of those that `ended` stands for, and that of those that last longer. All are ascending;
/// `late` are the ages from which some of those that ended were seen. `None` if nobody is left of those seen so far, and others come.
fn weights(ended: &[f64], ages: &[f64], late: &[f64]) -> Option<(Vec<f64>, f64)> {
    let mut left = 1.0;
    let mut weights = Vec::with_capacity(ended.len());
    for (place, time) in ended.iter().enumerate() {
        let from = |all: &[f64]| all.len() - all.partition_point(|other| other < time);
        let lasting = (ended.len() - place + from(ages)).saturating_sub(from(late));
        if lasting <= 1 && place + 1 < ended.len() {
            return None;
        }
        let weight = left / lasting.max(1) as f64;
        weights.push(weight);
        left -= weight;
    }
    Some((weights, left))
}

/// The places in the middle of `count` equal parts of these weights, whose sum is one.
fn spread(weights: &[f64], count: usize) -> Vec<usize> {
    let (mut place, mut until) = (0, weights.first().copied().unwrap_or(0.0));
    let middle = |part: usize| (part as f64 + 0.5) / count as f64;
    let mut next = |middle: f64| {
        while until <= middle && place + 1 < weights.len() {
            place += 1;
            until += weights[place];
        }
        place
    };
    (0..count).map(|part| next(middle(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ended: &[(f64, f64)], ages: &[f64]) -> ResponseSample {
        let one = |&(response_s, before_s): &(f64, f64)| Finished { response_s, before_s, ..Finished::default() };
        let all: Vec<Finished> = ended.iter().map(one).collect();
        ResponseSample::of(&all.iter().collect::<Vec<_>>(), ages)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_curve_is_that_of_the_textbook() {
        // Remission times of 21 patients (Gehan, 1965): 6, 6, 6, 7, 10, 13, 16, 22, 23 weeks, the others censored. The curve ends
        // at 0.448, and the median is 23 weeks.
        let ended = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
        let ages = [6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0];
        let (weights, left) = weights(&ended, &ages, &[]).expect("a curve");
        assert!((left - 0.448).abs() < 5e-4 && near(weights[..3].iter().sum::<f64>(), 3.0 / 21.0), "{left}");
        let found = sample(&ended.map(|time| (time, 0.0)), &ages);
        assert_eq!((found.overdue, found.at(0.5)), (5, Some(SampledTime::Known(23.0, (10.0, f64::INFINITY)))));
        assert!(matches!(found.at(0.9), Some(SampledTime::AtLeast(_))));
    }

    #[test]
    fn what_ends_as_usual_changes_nothing() {
        let times: Vec<(f64, f64)> = (1..=200).map(|n| (f64::from(n), 0.0)).collect();
        let (plain, young) = (sample(&times, &[]), sample(&times, &[0.5; 8]));
        assert_eq!((plain.at(0.5), plain.at(0.99)), (young.at(0.5), young.at(0.99)));
        assert!(near(plain.mean_s, young.mean_s) && young.open_s == 0.0 && young.overdue == 0);
        assert_eq!(young.times.len(), 200);
    }

    #[test]
    fn long_ones_that_were_under_way_at_the_beginning_count_once() {
        // Eight users, a quarter of whose interactions take 2 s, the others 0.5, in step: each user is in a long one 4 / 7 of the time.
        // In 70 s each has 20 long and 60 short ones, of which one is under way at the beginning, and one at the end.
        let mut all = Vec::new();
        let mut ages = Vec::new();
        for user in 0..8 {
            // 35 steps of 0.1 s: a long one and three short ones.
            let (begin, mut now) = (f64::from(user) * 0.44, 0.0);
            let end = begin + 70.0;
            for number in 0.. {
                let took = [2.0, 0.5, 0.5, 0.5][number % 4];
                if now + took > end {
                    ages.push(end - now);
                    break;
                }
                if now + took > begin {
                    all.push((took, (begin - now).max(0.0)));
                }
                now += took;
            }
        }
        let found = sample(&all, &ages);
        assert!((found.mean_s - 0.875).abs() < 0.01, "{}", found.mean_s);
        assert!(found.open_s == 0.0);
    }

    #[test]
    fn what_was_there_all_the_time_is_not_forgotten() {
        // One user with short ones, the others in what never ends, or ends late.
        let found = sample(&[(0.5, 0.0), (0.5, 0.0), (9.0, 5.5)], &[8.0, 10.0, 10.0]);
        assert!(found.overdue == 2 && found.open_s > 0.0 && found.mean_s > 5.0, "{found:?}");
        let none = sample(&[], &[1.0, 3.0]);
        assert_eq!((none.at(0.5), none.mean_s, none.overdue), (Some(SampledTime::AtLeast(2.0)), 2.0, 2));
        assert!(sample(&[], &[]).at(0.5).is_none());
    }

    #[test]
    fn where_responses_grow_nothing_is_more_than_a_bound() {
        let one = Finished { response_s: 2.0, ..Finished::default() };
        let found = ResponseSample::growing(&[&one], &[1.0, 3.0]);
        assert_eq!((found.at(0.5), found.mean_s), (Some(SampledTime::AtLeast(2.0)), 2.0));
    }
}
