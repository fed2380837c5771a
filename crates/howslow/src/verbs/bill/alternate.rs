//! What counting costs a command: it is run without and with counting, alternately, and the medians are compared.

use std::time::Duration;

use analysis::statistics::median;
use measure::Signals;
use observe::{Calibrate, ObserveError, Observer, Options, Source, State, Target};
use record::{Alternated, Observation};

use super::signal::{LAST, PassedOn};
use crate::output::print_note;

/// How long a look for the end of the command may take.
const STEP: Duration = Duration::from_millis(100);

/// Runs the command this often each way, without determining what counting costs. `None` if calls cannot be counted here, or if a signal
/// came.
pub(super) fn alternate(
    target: &Target,
    options: &Options,
    times: u32,
    signals: &Signals,
) -> Result<Option<Alternated>, ObserveError> {
    let counted = Options { calibrate: Calibrate::Not, ..options.clone() };
    let bare = Options { source: Some(Source::Accounts), ..counted.clone() };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..times {
        without.push(run(target, &bare, signals)?);
        if signals.come().is_some() {
            return Ok(None);
        }
        let seen = run(target, &counted, signals)?;
        if signals.come().is_some() {
            return Ok(None);
        }
        if seen.source == Source::Accounts.word() {
            print_note("--alternate: calls cannot be counted here, so counting costs nothing");
            return Ok(None);
        }
        with.push(seen);
    }
    let cpu = |all: &[Observation]| median(all.iter().map(|seen| seen.usage.cpu_ns.unwrap_or(0.0))).unwrap_or(0.0);
    let elapsed = |all: &[Observation]| median(all.iter().map(|seen| seen.elapsed_ns)).unwrap_or(0.0);
    Ok(Some(Alternated {
        pairs: times,
        bare_cpu_ns: cpu(&without),
        counted_cpu_ns: cpu(&with),
        bare_elapsed_ns: elapsed(&without),
        counted_elapsed_ns: elapsed(&with),
    }))
}

/// One run from beginning to end, or to a signal.
fn run(target: &Target, options: &Options, signals: &Signals) -> Result<Observation, ObserveError> {
    let mut observer = Observer::start(target.clone(), options)?;
    let mut passed_on = PassedOn { signals, come: None };
    while observer.step(STEP)? == State::Running && !passed_on.is_over(&observer, LAST) {}
    observer.finish()
}

/// Notes it in the bill. What the runs differ by is what counting cost, which is better known so than by a loop of one call.
pub(super) fn note(seen: &mut Observation, alternated: Option<Alternated>) {
    let calls = seen.together.total().max(1) as f64;
    if let (Some(counting), Some(alternated)) = (&mut seen.counting, alternated) {
        counting.together_ns = alternated.cost_ns().max(0.0);
        counting.per_call_ns = counting.together_ns / calls;
        counting.method = "the command itself, without and with counting".into();
        counting.alternated = Some(alternated);
    }
}

#[cfg(test)]
mod tests {
    use record::{CallCount, CountingCost, Requests};

    use super::*;

    #[test]
    fn what_runs_differ_by_is_what_counting_cost() {
        let (in_program_ns, method) = (Some(30.0), "a loop".into());
        let (probe, alternated, together_ns) = (None, None, 700.0);
        let counting = CountingCost { per_call_ns: 70.0, in_program_ns, together_ns, method, probe, alternated };
        let calls = vec![CallCount { call: "read".into(), count: 10, ..CallCount::default() }];
        let together = Requests { calls, ..Requests::default() };
        let mut seen = Observation { together, counting: Some(counting), ..Observation::default() };
        note(&mut seen, None);
        assert_eq!(seen.counting.as_ref().map(|counting| counting.together_ns), Some(700.0));
        let found = Alternated {
            pairs: 3,
            bare_cpu_ns: 8000.0,
            counted_cpu_ns: 9000.0,
            bare_elapsed_ns: 8500.0,
            counted_elapsed_ns: 9600.0,
        };
        note(&mut seen, Some(found));
        let counting = seen.counting.expect("a cost");
        assert_eq!((counting.together_ns, counting.per_call_ns), (1000.0, 100.0));
    }
}
