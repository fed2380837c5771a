//! The figures of stored runs by the present rule: of one run, and of several runs of one machine together.

use std::collections::HashMap;

use record::{Cost, Doubt, Estimate, Nanoseconds, Round, Run};

use crate::estimate::{Reading, gross};
use crate::history::traces;
use crate::net::subtract_all;
use crate::prior::{Prior, learn};
use crate::reading::{clock_ratio, quoted_cycle};

/// Computes the figures, intervals and doubts of a run's costs from their rounds. `prior` says what is known of a cost. A cost
/// without rounds stays as it is.
pub fn recompute(run: &mut Run, prior: &dyn Fn(&Cost) -> Prior) {
    let (cycle_ns, wanted) = (run.noise.cycle_ns, run.settings.precision);
    for cost in run.costs.iter_mut().filter(|cost| !cost.rounds.is_empty()) {
        figure(cost, cycle_ns, &prior(cost));
    }
    // Published costs are net as they are.
    let published: Vec<Option<Cost>> =
        run.costs.iter().map(|cost| cost.rounds.is_empty().then(|| cost.clone())).collect();
    let mut costs: Vec<Option<Cost>> = run.costs.drain(..).map(Some).collect();
    subtract_all(&mut costs, wanted);
    run.costs = published.into_iter().zip(costs).filter_map(|(published, cost)| published.or(cost)).collect();
}

fn figure(cost: &mut Cost, cycle_ns: f64, prior: &Prior) {
    let Some(estimated) = gross(&cost.rounds, Reading::of(cost, cycle_ns), prior) else { return };
    let cycle =
        estimated.cycle.filter(|_| cost.headline == Estimate::Quiet).unwrap_or_else(|| quoted_cycle(cost, cycle_ns));
    (cost.gross_ns, cost.net_ns) = (estimated.figures, estimated.figures);
    cost.cycles = estimated.figures.get(cost.headline).0 / cycle;
    (cost.levels, cost.neighbours) = (estimated.levels, estimated.neighbours);
    cost.basis = Some(prior.basis(estimated.rounds as u32));
    cost.doubts.retain(|doubt| !is_computed(doubt));
    cost.doubts.extend(estimated.doubts);
}

/// True for a doubt that the figures raise, not the rounds.
fn is_computed(doubt: &Doubt) -> bool {
    matches!(
        doubt,
        Doubt::NeverQuiet
            | Doubt::FromDisturbed { .. }
            | Doubt::FewQuiet { .. }
            | Doubt::FewRounds { .. }
            | Doubt::Bimodal { .. }
            | Doubt::Layout { .. }
            | Doubt::Wide { .. }
            | Doubt::NegativeNet
            | Doubt::AtMost { .. }
            | Doubt::Inherited { .. }
    )
}

/// Several runs of one machine as one: the first, with the rounds of all for each of its costs. Batches are given in ns of the
/// first one's clock, which the add, the same number of cycles in each, shows better than the clocks that the runs state. How rounds
/// scatter is what they themselves show, unless earlier runs have shown more: by the default, a cost of two layouts has the narrow
/// interval of one of them, and of 100 pairs of four runs against four, 33 had a false change instead of 5.
pub fn pooled(runs: &[Run]) -> Option<Run> {
    let (first, others) = runs.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let mut all = first.clone();
    for run in others {
        all.started = run.started.clone().min(all.started);
        all.finished = run.finished.clone().max(all.finished);
    }
    all.noise.others = runs.iter().map(|run| run.noise.others).sum::<f64>() / runs.len() as f64;
    all.settings.budget_s = runs.iter().map(|run| run.settings.budget_s).sum();
    let mut more: HashMap<String, Vec<Round>> = HashMap::new();
    let mut known: HashMap<String, Prior> = HashMap::new();
    for run in runs {
        let cycle = first.noise.cycle_ns / run.noise.cycle_ns;
        let scale = clock_ratio(run, first).unwrap_or(cycle);
        let same = |cost: &&Cost| first.costs.iter().any(|other| is_same_work(cost, other));
        for cost in run.costs.iter().filter(same) {
            let in_unit =
                |round: &Round| scaled(round, if cost.is_in_cycles() { (scale, cycle) } else { (1.0, cycle) });
            more.entry(cost.name()).or_default().extend(cost.rounds.iter().map(in_unit));
            let prior = Prior::of(cost);
            let best = known.entry(cost.name()).or_insert(prior);
            if prior.rounds > best.rounds {
                *best = prior;
            }
        }
    }
    for cost in &mut all.costs {
        cost.rounds = more.remove(&cost.name()).unwrap_or_default();
    }
    let own: Vec<_> = runs.iter().map(traces).collect();
    let prior = |cost: &Cost| {
        let name = cost.name();
        let shown = learn(own.iter().filter_map(|traces| traces.get(&name)), Prior::usual_for(cost));
        let best = known.get(&name).copied().filter(|earlier| earlier.rounds > shown.rounds).unwrap_or(shown);
        Prior { runs: runs.len() as u32, ..best }
    };
    recompute(&mut all, &prior);
    Some(all)
}

/// False for another version of an operation, which does other work.
pub(crate) fn is_same_work(cost: &Cost, other: &Cost) -> bool {
    let key = |cost: &Cost| (cost.version, cost.headline);
    key(cost) == key(other) && cost.operation == other.operation && cost.at == other.at
}

fn scaled(round: &Round, (time, cycle): (f64, f64)) -> Round {
    let times = |values: &[f64], by: f64| values.iter().map(|value| value * by).collect();
    let ns = |value: Option<Nanoseconds>| value.map(|value| Nanoseconds(value.0 * time));
    Round {
        ns: times(&round.ns, time),
        cycle_ns: times(&round.cycle_ns, cycle),
        cpu_ns: ns(round.cpu_ns),
        wait_ns: ns(round.wait_ns),
        queued_ns: ns(round.queued_ns),
        ..round.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn runs_together_are_sharper_than_one_and_as_wide_as_their_layouts() {
        let run = |rounds: &[f64]| example::of_rounds(rounds, true);
        let half = |run: &Run| (run.costs[0].net_ns.high.0 / run.costs[0].net_ns.low.0).ln() / 2.0;
        let one = run(&[100.0, 100.4, 99.7, 100.2, 99.9]);
        let all = pooled(&[one.clone(), run(&[100.1, 99.8, 100.3, 99.6]), run(&[100.0, 100.2, 99.9])]).expect("runs");
        assert!(half(&all) < 0.6 * half(&one), "{} {}", half(&all), half(&one));
        // Layouts of 465, 560 and 655 ns in any order: no median of them is known to a few percent.
        let scattered =
            [&[465.0, 463.0, 583.0, 630.0][..], &[464.0, 534.0, 562.0, 645.0, 646.0], &[592.0, 654.0, 466.0]];
        let all = pooled(&scattered.map(run)).expect("runs");
        let net = all.costs[0].net_ns;
        assert!(net.low.0 < 480.0 && net.high.0 > 580.0, "{net:?}");
    }

    #[test]
    fn another_version_of_an_operation_is_not_taken_together_with_it() {
        let mut runs = [100.0, 200.0].map(|ns| example::of_rounds(&[ns; 3], true));
        runs[1].costs[0].version += 1;
        assert_eq!(pooled(&runs).expect("runs").costs[0].rounds.len(), 3);
    }

    #[test]
    fn waits_of_runs_together_are_times_at_any_clock() {
        let mut runs = [0.3, 0.345].map(|cycle_ns| {
            let mut run = example::of_rounds(&[100.0, 100.2, 99.8], true);
            (run.noise.cycle_ns, run.costs[0].headline) = (cycle_ns, Estimate::Typical);
            run
        });
        let typical = |runs: &[Run]| pooled(runs).expect("runs").costs[0].quoted().0;
        assert!((typical(&runs) - 100.0).abs() < 0.5, "{}", typical(&runs));
        runs.iter_mut().for_each(|run| run.costs[0].headline = Estimate::Quiet);
        assert!((typical(&runs) - 100.0).abs() > 2.0, "work within the core has the first run's clock");
    }
}
