//! The figures of stored runs by the present rule: of one run, and of several runs of one machine together.

use std::collections::HashMap;

use record::{Cost, Doubt, Nanoseconds, Round, Run};

use crate::estimate::{Reading, gross};
use crate::net::subtract_all;
use crate::prior::Prior;
use crate::reading::clock_ratio;

/// Computes the figures, intervals and doubts of a run's costs from their rounds. `prior` says what is known of a cost. A cost
/// without rounds stays as it is.
pub fn recompute(run: &mut Run, prior: &dyn Fn(&Cost) -> Prior) {
    let (cycle_ns, wanted) = (run.noise.cycle_ns, run.settings.precision);
    for cost in run.costs.iter_mut().filter(|cost| !cost.rounds.is_empty()) {
        figure(cost, cycle_ns, &prior(cost));
    }
    // Published costs are net as they are.
    let computed = |cost: &Cost| !cost.rounds.is_empty();
    let mut costs: Vec<Option<Cost>> = run.costs.drain(..).map(Some).collect();
    let published: Vec<Option<Cost>> =
        costs.iter().map(|cost| cost.as_ref().filter(|cost| !computed(cost)).cloned()).collect();
    subtract_all(&mut costs, wanted);
    run.costs = published.into_iter().zip(costs).filter_map(|(published, cost)| published.or(cost)).collect();
}

fn figure(cost: &mut Cost, cycle_ns: f64, prior: &Prior) {
    let Some(estimated) = gross(&cost.rounds, Reading::of(cost, cycle_ns), prior) else { return };
    let before =
        Some(cost.quoted().0 / cost.cycles).filter(|cycle| cycle.is_finite() && *cycle > 0.0).unwrap_or(cycle_ns);
    let cycle = estimated.cycle.unwrap_or(before);
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

/// Several runs of one machine as one: the first, with the rounds of all for each of its costs. Batches are told in ns of the
/// first one's clock, which the add, the same number of cycles in each, shows better than the clocks that the runs state.
pub fn pooled(runs: &[Run]) -> Option<Run> {
    let (first, others) = runs.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let mut all = first.clone();
    all.settings.budget_s = runs.iter().map(|run| run.settings.budget_s).sum();
    let mut more: HashMap<String, Vec<Round>> = HashMap::new();
    let mut known: HashMap<String, Prior> = HashMap::new();
    for run in runs {
        let cycle = first.noise.cycle_ns / run.noise.cycle_ns;
        let scale = clock_ratio(run, first).unwrap_or(cycle);
        for cost in &run.costs {
            let in_unit = |round: &Round| scaled(round, if cost.follows_clock { (scale, cycle) } else { (1.0, cycle) });
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
    recompute(&mut all, &|cost| known.get(&cost.name()).copied().unwrap_or(Prior::DEFAULT));
    Some(all)
}

fn scaled(round: &Round, (time, cycle): (f64, f64)) -> Round {
    let times = |values: &[f64], by: f64| values.iter().map(|value| value * by).collect();
    let ns = |value: Option<Nanoseconds>| value.map(|value| Nanoseconds(value.0 * time));
    Round {
        ns: times(&round.ns, time),
        cycle_ns: times(&round.cycle_ns, cycle),
        cpu_ns: ns(round.cpu_ns),
        wait_ns: ns(round.wait_ns),
        ..round.clone()
    }
}
