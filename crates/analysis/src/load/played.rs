//! A configuration played with the very requests that its users will make: the model's system, and nothing drawn but faults and waits.
//!
//! Users of a short run meet in the queue as their times to think let them, which scatters by a fifth from one set of times to another.
//! A prediction that knows the times does not have that scatter.

use super::configuration::Configuration;
use super::demands::Demands;
use super::judged::{Judged, judged, over};
use super::measured::{Depth, Finished, Measured, Outcome};
use super::system::system;
use crate::model::{Log, PredictionInterval, Script, System, draws, play};
use crate::parallel::answers;
use crate::statistics::{mean, quantile, sorted};

/// How often it is played: the figures are means over these.
const PLAYS: u64 = 12;
/// Of how many draws of the parameters the intervals are.
const DRAWS: usize = 40;

/// The prediction; `None` if the model does not know the script's interactions, or one of them does not end in that time.
pub(super) fn predicted(
    demands: &Demands,
    configuration: &Configuration,
    script: &Script,
) -> Option<PredictionInterval<Judged>> {
    let system = system(demands, configuration);
    let known = |kind: usize| kind < system.kinds.len();
    if !script.users.iter().flatten().all(|request| known(request.kind)) {
        return None;
    }
    let once = |system: &System, seed: u64| {
        judged(&measured(play(system, script, seed).ok()?, configuration, demands), &demands.usual)
    };
    let value = over(&(1..=PLAYS).map(|seed| once(&system, seed)).collect::<Option<Vec<_>>>()?, |all| mean(&all));
    let mut drawn = draws(&system);
    drawn.truncate(DRAWS);
    if drawn.is_empty() {
        drawn = vec![system; PLAYS as usize];
    }
    let drawn: Vec<_> = drawn.into_iter().zip(PLAYS + 1..).collect();
    let drawn = answers(&drawn, |(system, seed)| once(system, *seed));
    let end = |share: f64| over(&drawn, |all| quantile(&sorted(all), share).unwrap_or(f64::NAN));
    Some(PredictionInterval {
        value,
        low: least(&value, &end(0.025), f64::min),
        high: least(&value, &end(0.975), f64::max),
    })
}

/// Of each figure the one of two.
fn least(value: &Judged, end: &Judged, which: fn(f64, f64) -> f64) -> Judged {
    over(&[*value, *end], |both| both.into_iter().reduce(which).unwrap_or(0.0))
}

/// What was played, as if it had been measured.
fn measured(log: Log, configuration: &Configuration, demands: &Demands) -> Measured {
    let user = demands.user_s.value / (demands.user_s.value + demands.system_s.value);
    let finished = log.ended.iter().map(|ended| Finished {
        interaction: ended.kind,
        wait_s: ended.wait_s,
        response_s: ended.response_s,
        user_s: ended.cpu_s * user,
        system_s: ended.cpu_s * (1.0 - user),
        major_faults: ended.faults,
        outcome: Outcome::Done,
        ..Finished::default()
    });
    let depth = |&(elapsed_s, busy_s): &(f64, f64)| Depth { elapsed_s, busy_s, major_faults: 0.0 };
    Measured {
        configuration: configuration.clone(),
        elapsed_s: log.elapsed_s,
        finished: finished.collect(),
        depths: log.eligible.iter().map(depth).collect(),
        ..Measured::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::demands::Usual;
    use super::*;
    use crate::model::{Request, predict};

    /// Interactions of 10 and 90 ms, three of the first for each of the second, that never fault.
    fn demands() -> Demands {
        let (names, weights) = (vec!["a".into(), "b".into()], vec![3.0, 1.0]);
        let usual = Usual { names, weights, think_s: 0.3, stays: true, pages_bytes: 0 };
        let one = |n: usize| {
            let work = [0.01, 0.09][n % 2];
            Finished { interaction: n % 2, response_s: work, user_s: work, ..Finished::default() }
        };
        let alone = Measured { finished: (0..20).map(one).collect(), elapsed_s: 10.0, ..Measured::default() };
        Demands::of(&[&alone], &[], &usual).expect("demands")
    }

    fn configuration(users: u32) -> Configuration {
        Configuration { users, eligible: Some(2), ..Configuration::default() }
    }

    #[test]
    fn users_who_meet_wait_and_those_who_do_not_do_not() {
        let request = |think_s, kind| Request { think_s, kind };
        let mut script = Script {
            users: vec![vec![request(0.5, 0), request(0.5, 1)], vec![request(0.75, 0), request(0.5, 1)]],
            settle_s: 0.0,
            time_s: 10.0,
        };
        let apart = predicted(&demands(), &configuration(2), &script).expect("a prediction").value;
        // Three of four interactions of the script take 10 ms, one 90, whatever mix the users request.
        assert!((apart.response_s - 0.03).abs() < 1e-6 && (apart.cpu_s - 0.03).abs() < 1e-6, "{apart:?}");
        script.users[1] = script.users[0].clone();
        let together = predicted(&demands(), &configuration(2), &script).expect("a prediction").value;
        assert!((together.response_s - 0.06).abs() < 1e-6 && (together.cpu_s - 0.03).abs() < 1e-6, "{together:?}");
        let idle: f64 = together.idle.iter().sum();
        let busy = together.throughput * 0.05;
        assert!((idle + busy - 1.0).abs() < 0.02, "{together:?}");
    }

    #[test]
    fn many_drawn_requests_give_the_steady_state() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut user = |_| {
            let mut request =
                || Request { think_s: -0.3 * (1.0 - random.f64()).ln(), kind: usize::from(random.f64() > 0.75) };
            (0..4000).map(|_| request()).collect::<Vec<_>>()
        };
        let script = Script { users: (0..6).map(&mut user).collect(), settle_s: 1.0, time_s: 800.0 };
        let found = predicted(&demands(), &configuration(6), &script).expect("a prediction").value;
        let steady = predict(&system(&demands(), &configuration(6))).expect("a system");
        assert!((found.throughput / steady.throughput - 1.0).abs() < 0.05, "{found:?} {steady:?}");
        assert!((found.idle[2] - steady.cpu.zero_idle).abs() < 0.03, "{found:?} {steady:?}");
    }

    #[test]
    fn what_the_model_does_not_know_is_not_played() {
        let unknown = Script { users: vec![vec![Request { think_s: 1.0, kind: 7 }]], settle_s: 0.0, time_s: 5.0 };
        assert!(predicted(&demands(), &configuration(1), &unknown).is_none());
        let never = Script { users: vec![vec![Request { think_s: 1.0, kind: 0 }]], ..unknown };
        assert!(predicted(&demands(), &configuration(1), &never).is_none(), "the second kind never ends");
        assert!(predicted(&demands(), &configuration(3), &never).is_none(), "too few users");
    }
}
