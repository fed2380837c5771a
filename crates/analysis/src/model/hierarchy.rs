//! The system as two levels, one solved inside the other (Sekino, 1972; Chandy, Herzog and Woo, 1975).
//!
//! Inside, a constant number of interactions alternates between CPU, page device and other waiting. Its throughput makes a server whose
//! rate depends on how many are eligible: the flow-equivalent server. Outside, users think and queue at that server. This is exact where
//! all may be eligible and faults depend on nothing, else a good approximation, because inside things happen far more often.

use super::prediction::{Method, SteadyState};
use super::rates::Rates;
use super::steady::Steady;

/// States that a solution walks through, roughly.
pub(super) fn effort(rates: &Rates) -> f64 {
    let most = f64::from(rates.most_eligible());
    if rates.other_s > 0.0 && rates.waits_for_pages() { most.powi(3) / 6.0 } else { most.powi(2) / 2.0 }
}

pub(super) fn solve(rates: &Rates) -> SteadyState {
    let mut shares = vec![0.0; rates.most_eligible() as usize + 1];
    let mut queued = 0.0;
    for (present, probability) in outside(rates, &throughputs(rates)) {
        let eligible = rates.eligible(present);
        shares[eligible as usize] += probability;
        queued += probability * f64::from(present - eligible);
    }
    let mut steady = Steady::new(rates);
    steady.add(0, 0, 0, shares[0]);
    // The places of one level at a time: those of all would take gigabytes.
    for (eligible, probability) in (0..).zip(shares).skip(1) {
        for (pages, elsewhere, share) in inside(rates, eligible) {
            steady.add(eligible, pages, elsewhere, probability * share);
        }
    }
    steady.add_queued(queued);
    steady.prediction(Method::Hierarchy, 1.0)
}

/// The share of all work that is done while 1, 2, ... are eligible.
pub(super) fn work_by_eligible(rates: &Rates) -> Vec<f64> {
    let throughputs = throughputs(rates);
    let mut work = vec![0.0; throughputs.len()];
    for (present, probability) in outside(rates, &throughputs) {
        if let Some(index) = (rates.eligible(present) as usize).checked_sub(1) {
            work[index] += probability * throughputs[index];
        }
    }
    let sum: f64 = work.iter().sum();
    work.iter().map(|part| part / sum).collect()
}

/// Finished interactions per second while 1, 2, ... are eligible.
fn throughputs(rates: &Rates) -> Vec<f64> {
    let throughput = |eligible| -> f64 {
        let each = inside(rates, eligible).map(|(pages, elsewhere, probability)| {
            let stretch = rates.stretch(eligible, rates.faults_per_s(eligible, pages));
            probability * f64::from(rates.busy(eligible, pages, elsewhere)) / (rates.work_s * stretch)
        });
        each.sum()
    };
    (1..=rates.most_eligible()).map(throughput).collect()
}

/// The probabilities of how many are present: a birth-death process.
fn outside(rates: &Rates, throughputs: &[f64]) -> Vec<(u32, f64)> {
    if rates.think_s == 0.0 {
        return vec![(rates.users, 1.0)];
    }
    let mut weights = vec![0.0];
    for present in 1..=rates.users {
        let arrivals = f64::from(rates.users - present + 1) / rates.think_s;
        let finished = throughputs[rates.eligible(present) as usize - 1];
        weights.push(weights[weights.len() - 1] + (arrivals / finished).ln());
    }
    (0..).zip(normalized(&weights)).collect()
}

/// Where a constant number of eligible interactions is: how many wait for pages, how many elsewhere, and the probability of that.
fn inside(rates: &Rates, eligible: u32) -> impl Iterator<Item = (u32, u32, f64)> {
    let pages = if rates.waits_for_pages() { eligible } else { 0 };
    let mut places = Vec::new();
    let mut weights = Vec::new();
    // The logarithm of the probability that no one waits elsewhere, relative to that of no one waiting at all.
    let mut paged = 0.0;
    for waiting in 0..=pages {
        if waiting > 0 {
            let busy = f64::from(rates.busy(eligible, waiting - 1, 0));
            let faults_per_s = rates.faults_per_s(eligible, waiting - 1);
            let up = busy * faults_per_s / rates.stretch(eligible, faults_per_s);
            paged += (up * rates.service(eligible) / f64::from(rates.served(waiting))).ln();
        }
        let mut weight = paged;
        let most = if rates.other_s > 0.0 { eligible - waiting } else { 0 };
        for elsewhere in 0..=most {
            if elsewhere > 0 {
                let busy = f64::from(rates.busy(eligible, waiting, elsewhere - 1));
                let stretch = rates.stretch(eligible, rates.faults_per_s(eligible, waiting));
                weight += (busy * rates.other_s / (rates.work_s * stretch * f64::from(elsewhere))).ln();
            }
            places.push((waiting, elsewhere));
            weights.push(weight);
        }
    }
    let shares = normalized(&weights);
    places.into_iter().zip(shares).map(|((pages, elsewhere), share)| (pages, elsewhere, share))
}

/// Probabilities from logarithms of weights.
fn normalized(weights: &[f64]) -> Vec<f64> {
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all: Vec<f64> = weights.iter().map(|weight| (weight - most).exp()).collect();
    let sum: f64 = all.iter().sum();
    all.iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::faults::FaultCurve;
    use crate::model::system::{PageSource, System};

    fn idle(eligible: u32, cpus: u32, channels: Option<u32>, every_s: f64) -> f64 {
        let system = System {
            users: eligible,
            eligible: Some(eligible),
            cpus,
            user_s: 1.0.into(),
            faults: FaultCurve::Every(every_s.into()),
            page_device: PageSource { service_s: 10.0.into(), channels, ..PageSource::default() },
            ..System::default()
        };
        let rates = Rates::new(&system).expect("a system");
        solve(&rates).cpu.idle()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 6e-7, "{found} is not {expected}");
    }

    #[test]
    fn idle_time_of_paging_that_never_queues_is_erlangs_loss() {
        for (eligible, expected) in [(1, 0.714286), (2, 0.471698), (4, 0.149916), (8, 0.003110)] {
            near(idle(eligible, 1, None, 4.0), expected);
        }
        for (eligible, expected) in [(1, 0.857143), (2, 0.714286), (4, 0.447672), (8, 0.094367)] {
            near(idle(eligible, 2, None, 4.0), expected);
        }
    }

    #[test]
    fn idle_time_with_one_page_device_follows_the_closed_form() {
        for (eligible, expected) in [(1, 0.714286), (2, 0.641026), (4, 0.606208), (8, 0.600157)] {
            near(idle(eligible, 1, Some(1), 4.0), expected);
        }
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let shared = [1, 2, 4, 8].map(|eligible| rounded(idle(eligible, 1, Some(1), 20.0 / f64::from(eligible))));
        assert_eq!(shared, [0.333, 0.333, 0.516, 0.750], "thrashing");
        let never = [1, 8].map(|eligible| rounded(idle(eligible, 1, None, 20.0 / f64::from(eligible))));
        assert_eq!(never, [0.333, 0.030]);
    }

    /// Sekino's hierarchy with 20 users, computed independently: 500 ms of work, 20 ms between faults shared by the eligible, 10 ms
    /// for a page, 10 s of thinking.
    #[test]
    fn response_of_timesharing_in_limited_memory() {
        for (eligible, throughput, response) in [(2, 1.491, 3.40947), (4, 0.0, 2.63422), (8, 0.0, 2.45529)] {
            let system = System {
                users: 20,
                think_s: 10.0.into(),
                eligible: Some(eligible),
                memory_bytes: Some(1000),
                user_s: 0.5.into(),
                faults: FaultCurve::Saltzer { s_per_byte: (0.020 / 1000.0).into() },
                page_device: PageSource { service_s: 0.010.into(), ..PageSource::default() },
                ..System::default()
            };
            let found = solve(&Rates::new(&system).expect("a system"));
            assert!((found.response_s - response).abs() < 6e-6, "{} is not {response}", found.response_s);
            assert!((found.response_s - (20.0 / found.throughput - 10.0)).abs() < 1e-9, "Little's law");
            assert!(throughput == 0.0 || (found.throughput - throughput).abs() < 6e-4);
        }
    }
}
