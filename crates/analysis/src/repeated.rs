//! Repeated whole runs: how much each cost scatters between runs and between the rounds of a run, what a wanted
//! precision takes, and the smallest visible difference between two runs.

use record::{Cost, Estimate, Point, Run};
use serde::Serialize;

use crate::estimate::{Clocking, quiet_rounds, typical_medians};
use crate::form::{As, Form};
use crate::prior::scattered;
use crate::statistics::{NORMAL_95, median, student_95, variance};

/// The variance of a median divided by that of a mean: pi / 2, for normal scatter.
const MEDIAN_OVER_MEAN: f64 = std::f64::consts::FRAC_PI_2;
/// The standard deviations beyond the limit of a two-sided test at 95 % at which a difference is found in four cases of five.
const POWER: f64 = 0.84;

/// One cost over several runs. Scatter is a standard deviation as a share of the figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Repeated<'a> {
    /// The cost in the first run that has it.
    #[serde(flatten, with = "As::<RepeatedCost>")]
    pub cost: &'a Cost,
    /// The number of runs that have it with an interval.
    pub runs: usize,
    /// The median of the runs' figures, in cycles if the cost follows the clock, else in ns.
    pub figure: f64,
    /// The rounds behind a run's figure: the median over runs.
    pub rounds: f64,
    /// Scatter between rounds of one run, launchers included; null if no run has four rounds.
    pub between_rounds: Option<f64>,
    /// Scatter between runs beyond what their rounds explain; 0 if none is visible.
    pub between_runs: f64,
    /// What the wanted precision takes; null if the scatter is not known.
    pub needs: Option<Needs>,
    /// The smallest relative difference between two runs that is found in four cases of five, at 95 %.
    pub detectable: f64,
    /// The same between two sets that have as many runs as this one.
    pub detectable_by_all: f64,
}

/// What a cost is, for documents.
#[derive(Serialize, JsonSchema)]
struct RepeatedCost {
    /// The operation's id.
    operation: String,
    /// Its point.
    at: Point,
    /// Its heading.
    family: String,
    /// What `figure` is in: `cycles` for a cost that follows the clock, else `ns`.
    unit: &'static str,
}

impl Form<&Cost> for RepeatedCost {
    fn of(cost: &&Cost) -> RepeatedCost {
        RepeatedCost {
            operation: cost.operation.clone(),
            at: cost.at.clone(),
            family: cost.heading().into(),
            unit: if cost.is_in_cycles() { "cycles" } else { "ns" },
        }
    }
}

/// What is needed to make half of the 95 % interval of a mean as small as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// One run with this many rounds.
    Rounds(u32),
    /// This many runs like these. More rounds are not enough, because the scatter between runs is larger.
    Runs(u32),
}

/// Every cost that at least two runs have, in the order of the first run. `wanted` is the precision asked for.
pub fn repeated(runs: &[Run], wanted: f64) -> Vec<Repeated<'_>> {
    let Some(first) = runs.first() else { return Vec::new() };
    first.costs.iter().filter_map(|cost| one(cost, runs, wanted)).collect()
}

fn one<'a>(cost: &'a Cost, runs: &'a [Run], wanted: f64) -> Option<Repeated<'a>> {
    let same = |other: &&Cost| other.operation == cost.operation && other.at == cost.at;
    let found: Vec<&Cost> = runs.iter().filter_map(|run| run.costs.iter().find(same)).collect();
    let figures: Vec<f64> = found.iter().filter_map(|cost| crate::history::figure(cost)).collect();
    if figures.len() < 2 {
        return None;
    }
    let by_run: Vec<Vec<f64>> = found.iter().map(|cost| round_figures(cost)).collect();
    let rounds = median(by_run.iter().map(|rounds| rounds.len() as f64))?;
    // A figure does not follow the rounds that were slowed although they looked quiet, so their scatter is not its error.
    let scatter = |rounds: &Vec<f64>| {
        let logs: Vec<(f64, f64)> = rounds.iter().map(|figure| (figure.ln(), 1.0)).collect();
        scattered(&logs).map(|(_, own)| own)
    };
    let between_rounds = median(by_run.iter().filter_map(scatter));
    let of_rounds = MEDIAN_OVER_MEAN * between_rounds.unwrap_or(0.0).powi(2) / rounds.max(1.0);
    let all = variance(&figures.iter().map(|figure| figure.ln()).collect::<Vec<_>>());
    let between_runs = (all - of_rounds).max(0.0);
    let of_a_run = between_runs + of_rounds;
    let detectable = (NORMAL_95 + POWER) * (2.0 * of_a_run).sqrt();
    Some(Repeated {
        cost,
        runs: figures.len(),
        figure: median(figures.iter().copied())?,
        rounds,
        between_rounds,
        between_runs: between_runs.sqrt(),
        needs: needs(between_runs, between_rounds, of_a_run, wanted),
        detectable,
        detectable_by_all: detectable / (figures.len() as f64).sqrt(),
    })
}

/// The headline figure of each round that is trusted, in cycles or ns.
fn round_figures(cost: &Cost) -> Vec<f64> {
    let clocking = if cost.is_in_cycles() { Clocking::At(1.0) } else { Clocking::AsRead };
    let rounds = match cost.headline {
        Estimate::Quiet => quiet_rounds(&cost.rounds, clocking),
        Estimate::Typical | Estimate::Best => typical_medians(&cost.rounds, clocking),
    };
    let most = rounds.iter().map(|round| round.weight).fold(0.0, f64::max);
    rounds.iter().filter(|round| round.weight >= most / 2.0).map(|round| round.figure).collect()
}

fn needs(between_runs: f64, between_rounds: Option<f64>, of_a_run: f64, wanted: f64) -> Option<Needs> {
    let rounds = between_rounds?;
    // One run of n rounds has the variance s_run^2 + (pi / 2) s_round^2 / n, and may have (wanted / 1.96)^2.
    let allowed = (wanted / NORMAL_95).powi(2);
    let left = allowed - between_runs;
    let count = MEDIAN_OVER_MEAN * rounds * rounds / left;
    /// More rounds than this take longer than further runs.
    const MOST: f64 = 1000.0;
    if left > 0.0 && count <= MOST {
        return Some(Needs::Rounds((count.ceil() as u32).max(2)));
    }
    Some(Needs::Runs(runs_for(of_a_run, wanted)))
}

/// The smallest number of runs whose mean is as precise as wanted, by Student's t.
fn runs_for(of_a_run: f64, wanted: f64) -> u32 {
    const MOST: u32 = 10_000;
    let precise = |runs: u32| student_95(runs - 1) * (of_a_run / f64::from(runs)).sqrt() <= wanted;
    (2..MOST).find(|&runs| precise(runs)).unwrap_or(MOST)
}

#[cfg(test)]
mod tests {
    use record::{Nanoseconds, Round};

    use super::*;
    use crate::example;
    use crate::statistics::normal;

    /// Runs of one cost of 100 cycles. Runs and rounds scatter by these shares.
    fn runs(count: u32, rounds: u32, of_runs: f64, of_rounds: f64) -> Vec<Run> {
        let example = example::run();
        let mut random = fastrand::Rng::with_seed(3);
        let mut run = || {
            let mut run = example.clone();
            let mut cost = run.cost("syscall.getppid", &[]).expect("a cost").clone();
            let level = 100.0 * (of_runs * normal(&mut random)).exp();
            let mut round = |order: u32| {
                let cycles = level * (of_rounds * normal(&mut random)).exp();
                let (cycle_ns, survey) = (vec![0.25; 2], Some(false));
                Round { order, survey, cycle_ns, ..example::round(&[cycles / 4.0; 2]) }
            };
            let made: Vec<Round> = (0..rounds).map(&mut round).collect();
            cost.follows_clock = true;
            cost.cycles = median(made.iter().map(|round| round.ns[0] * 4.0)).expect("rounds");
            cost.rounds = made;
            (cost.net_ns.low, cost.net_ns.high) = (Nanoseconds(1.0), Nanoseconds(1e3));
            run.costs = vec![cost];
            run
        };
        (0..count).map(|_| run()).collect()
    }

    #[test]
    fn scatter_of_rounds_alone_is_cured_by_rounds() {
        let runs = runs(40, 12, 0.0, 0.02);
        let found = &repeated(&runs, 0.01)[0];
        let rounds = found.between_rounds.expect("many rounds");
        assert!((0.018..0.022).contains(&rounds) && found.between_runs < 0.004, "{found:?}");
        // (pi / 2) 0.02^2 / n = (0.01 / 1.96)^2 gives n = 24.
        assert!(matches!(found.needs, Some(Needs::Rounds(18..=36))), "{found:?}");
        assert_eq!((found.runs, found.rounds), (40, 12.0));
    }

    #[test]
    fn scatter_of_runs_is_cured_by_runs() {
        let runs = runs(40, 12, 0.03, 0.005);
        let found = &repeated(&runs, 0.01)[0];
        assert!((0.02..0.04).contains(&found.between_runs), "{found:?}");
        // (1.96 x 0.03 / 0.01)^2 is 35.
        assert!(matches!(found.needs, Some(Needs::Runs(20..=60))), "{found:?}");
        assert!((found.detectable / found.detectable_by_all - 40_f64.sqrt()).abs() < 1e-9);
        assert!((0.08..0.16).contains(&found.detectable), "2.8 x sqrt(2) x 0.03: {found:?}");
    }

    #[test]
    fn one_run_shows_nothing_of_runs() {
        assert!(repeated(&runs(1, 12, 0.0, 0.01), 0.01).is_empty());
        assert!(repeated(&[], 0.01).is_empty());
    }
}
