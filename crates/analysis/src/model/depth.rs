//! The model of the Multics measurements (Sekino, Multics Performance Log, 1970): processes of a fixed number alternate between running and
//! waiting for a page. While k of them wait, the one that runs faults at the rate of depth k + 1, and the k are served at k / page wait.
//!
//! ```
//! use howslow_analysis::model::depth;
//!
//! // 22, 21 and 16 ms between faults, and 29 ms for a page.
//! let waiting = depth::waiting(&[22.0, 21.0, 16.0], 29.0);
//! assert!((waiting[3] - 0.146).abs() < 0.0005, "all three wait for 14.6 % of the time");
//! ```

/// The probability that 0, 1, ... of the processes wait for pages. `between` is the mean CPU time between page faults at depth 1, 2, ...,
/// handling included, in the unit of `page_wait`; there are as many processes as depths.
pub fn waiting(between: &[f64], page_wait: f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    for (waiting, between) in between.iter().enumerate() {
        weights.push(weights[waiting] * page_wait / between / (waiting + 1) as f64);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Multiprogramming idle of one CPU, as a share of its time: all eligible processes wait. `full` is the share of time in which as many as may
/// be are eligible.
pub fn multiprogramming_idle(between: &[f64], page_wait: f64, full: f64) -> f64 {
    waiting(between, page_wait).last().copied().unwrap_or(0.0) * full
}

/// The page wait that gives this multiprogramming idle. It grows from 0 to `full` with the page wait; `None` if the idle is outside.
pub fn page_wait(between: &[f64], idle: f64, full: f64) -> Option<f64> {
    let at = |wait: f64| multiprogramming_idle(between, wait, full);
    let longest = between.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, longest);
    while at(high) < idle {
        high *= 2.0;
        if high > longest * 1e9 {
            return None;
        }
    }
    if idle < 0.0 || high == 0.0 {
        return None;
    }
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if at(middle) < idle { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPM97: [f64; 3] = [22.0, 21.0, 16.0];
    const MPM98: [f64; 3] = [44.0, 32.0, 24.0];
    const MPM103: [f64; 3] = [21.0, 18.0, 12.0];
    const MPM102: [f64; 3] = [39.0, 30.0, 19.0];

    #[test]
    fn one_page_wait_fits_all_four_runs() {
        let idle = |between: &[f64], full| (multiprogramming_idle(between, 29.0, full) * 1000.0).round() / 10.0;
        assert_eq!(idle(&MPM97, 1.0), 14.6);
        assert_eq!(idle(&MPM98, 0.95), 5.5);
        assert_eq!(idle(&MPM103, 1.0), 20.4);
        assert_eq!(idle(&MPM102, 0.75), 6.0);
    }

    #[test]
    fn fitted_on_one_run_the_others_come_out() {
        let wait = page_wait(&MPM97, 0.14, 1.0).expect("a page wait");
        assert!((wait - 28.4).abs() < 0.05, "{wait}");
        for (between, full, idle) in [(&MPM98, 0.95, 0.06), (&MPM103, 1.0, 0.22), (&MPM102, 0.75, 0.06)] {
            let predicted = multiprogramming_idle(between, wait, full);
            assert!((predicted - idle).abs() < 0.025, "{predicted} of {idle}");
        }
        assert_eq!(page_wait(&MPM97, 1.5, 1.0), None);
        assert_eq!(page_wait(&[], 0.1, 1.0), None);
        assert_eq!(page_wait(&MPM97, -0.1, 1.0), None);
    }
}
