//! A trial of `howslow load --size-for`, and whether it keeps the bound.

use analysis::load::{Configuration, Finished, Measured, Outcome as Ended, Response, SHARES, response_of};
use analysis::tails::samples_needed;
use record::units::counted;
use report::document::SizeTrial;

use super::args::Bound;

pub(super) struct Trial {
    pub configuration: Configuration,
    pub response: Response,
    /// In seconds; `None` if an interaction failed or none ended, or it depends on when the unfinished end.
    pub figure: Option<f64>,
    /// What it is at least in the last case.
    pub at_least: Option<f64>,
    /// True if so many ended that the figure has an interval.
    pub supported: bool,
    /// How those ended that did not do their work.
    pub failures: Option<String>,
}

/// How those ended that did not do their work, the most frequent way alone: `3 of 283 left with status 2`.
fn failures(finished: &[Finished], limit_s: f64) -> Option<String> {
    let failed = || finished.iter().map(|finished| finished.outcome).filter(|outcome| *outcome != Ended::Done);
    let count = |outcome: Ended| failed().filter(|other| *other == outcome).count();
    let most = failed().max_by_key(|outcome| count(*outcome))?;
    let how = most.described(limit_s);
    let (count, all) = (count(most), finished.len());
    Some(if count == all { format!("all {all} {how}") } else { format!("{count} of {all} {how}") })
}

impl Trial {
    pub(super) fn of(configuration: Configuration, measured: &Measured, bound: Bound, limit_s: f64) -> Trial {
        let response = response_of(measured);
        let place = |share: f64| SHARES.iter().position(|known| *known == share);
        let percentile = |share| place(share).map(|place| response.percentiles[place]);
        let (figure, at_least) = match bound.share.and_then(percentile) {
            Some(percentile) => (percentile.response, percentile.at_least_s),
            None => (response.mean, response.mean_at_least_s),
        };
        let figure = figure.filter(|_| response.failed == 0);
        Trial {
            configuration,
            supported: figure.is_some_and(|figure| figure.high.is_finite()),
            figure: figure.map(|figure| figure.value),
            at_least: at_least.filter(|_| response.failed == 0),
            response,
            failures: failures(&measured.finished, limit_s),
        }
    }

    pub(super) fn row(&self, bound: Bound) -> SizeTrial {
        SizeTrial {
            memory: self.configuration.memory,
            cpus: self.configuration.cpus,
            response_s: self.figure,
            response_at_least_s: self.at_least,
            count: self.response.count,
            failed: self.response.failed,
            unfinished: self.response.unfinished,
            kept: self.keeps(bound),
        }
    }

    pub(super) fn keeps(&self, bound: Bound) -> bool {
        self.figure.is_some_and(|figure| figure < bound.seconds)
    }

    /// True if the figure is at least one that keeps the bound.
    pub(super) fn is_undecided(&self, bound: Bound) -> bool {
        self.at_least.is_some_and(|at_least| at_least < bound.seconds)
    }
}

/// What is said if the trials that decide ended with too few interactions for the bound's percentile.
pub(super) fn unsupported(tried: &[Trial], bound: Bound) -> Option<String> {
    let share = bound.share?;
    let kept = tried.iter().filter(|trial| trial.keeps(bound) && !trial.supported);
    let fewest = kept.map(|trial| trial.response.count).min()?;
    let needed = format!("{} needs {} interactions for its interval", bound.label(), samples_needed(share));
    Some(format!("{needed}, and a trial had {fewest}: give a longer --time."))
}

/// What is said if the trials that count as broken are not all known to be.
pub(super) fn undecided(tried: &[Trial], bound: Bound) -> Option<String> {
    let count = tried.iter().filter(|trial| trial.is_undecided(bound)).count();
    let trials = counted(count as u64, "trial");
    (count > 0).then(|| {
        format!("{trials} had too much unfinished to tell, and the bound counts as broken there: give a longer --time.")
    })
}

#[cfg(test)]
pub(super) mod tests {
    use analysis::load::Unfinished;

    use super::*;

    pub(in super::super) const BOUND: Bound = Bound { share: Some(0.95), seconds: 0.2 };

    pub(in super::super) fn trial(memory: Option<u64>, times: &[f64], outcome: Ended) -> Trial {
        let configuration = Configuration { memory, ..Configuration::default() };
        let one = |response_s: &f64| Finished { response_s: *response_s, outcome, ..Finished::default() };
        let measured = Measured { finished: times.iter().map(one).collect(), ..Measured::default() };
        Trial::of(configuration, &measured, BOUND, 4.0)
    }

    #[test]
    fn a_bound_is_not_kept_by_those_alone_that_ended() {
        let ended = Finished { response_s: 0.1, ..Finished::default() };
        let trial = |age_s| {
            let unfinished = vec![Unfinished { age_s, ..Unfinished::default() }; 10];
            let measured = Measured { finished: vec![ended; 100], unfinished, ..Measured::default() };
            Trial::of(Configuration::default(), &measured, BOUND, 4.0)
        };
        let (usual, open, over) = (trial(0.05), trial(0.15), trial(3.0));
        assert!(usual.keeps(BOUND) && !open.keeps(BOUND) && !over.keeps(BOUND));
        assert!(open.is_undecided(BOUND) && !over.is_undecided(BOUND) && !usual.is_undecided(BOUND));
        let note = undecided(&[usual, open, over], BOUND).expect("one is unclear");
        assert!(note.starts_with("1 trial had too much unfinished"), "{note}");
    }

    #[test]
    fn few_interactions_do_not_support_a_percentile() {
        assert_eq!(unsupported(&[trial(None, &[0.1; 100], Ended::Done)], BOUND), None);
        let few = unsupported(&[trial(None, &[0.1; 3], Ended::Done)], BOUND).expect("too few");
        assert!(few.contains("p95 response needs 59 interactions") && few.contains("had 3"), "{few}");
        assert_eq!(unsupported(&[trial(None, &[0.3; 3], Ended::Done)], BOUND), None, "it is broken either way");
    }
}
