//! One cost, or one family, over the nodes of a class: how its scatter splits, and where each node lies.
//!
//! The model is that of nested random effects: the logarithm of a figure is the class's middle, plus what the node adds, plus what
//! the run adds, plus what rounds within the run leave. Estimates are by moments for unequal numbers (Searle, Casella and
//! McCulloch, "Variance components", 1992, chapter 3), with robust scales in place of mean squares.

use serde::Serialize;

use super::robust::{centre, scale};
use crate::landing::around;
use crate::statistics::{Interval, median, squares, student_95};

/// The resolution of all figures, as a share: no scatter is taken to be smaller.
const FLOOR: f64 = 0.001;
/// How many degrees of freedom the pooled scatter of runs counts for beside a node's own (a moderated variance: Smyth, Stat.
/// Appl. Genet. Mol. Biol. 3:3, 2004).
const PRIOR: f64 = 4.0;

/// One figure of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub log: f64,
    /// Its standard error; NaN if unknown.
    pub error: f64,
    /// The variance of a composite of what this run has, over that of all its costs; 1 for a single cost.
    pub lacking: f64,
}

/// How the scatter of a cost splits: variances of its logarithm. A small one's square root is a share of the figure. They
/// are not clamped: a negative one is nothing visible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scatter {
    /// Nodes that have it.
    pub nodes: usize,
    /// Their runs.
    pub runs: usize,
    /// The logarithm of the median node's figure in ns. For a family 0.
    #[serde(skip)]
    pub middle: f64,
    /// Between the rounds of a run, as its intervals tell; null if no run has one.
    pub within_run: Option<f64>,
    /// Between the runs of a node beyond that; null if no node has two.
    pub between_run: Option<f64>,
    /// Between nodes beyond both. Where no node has two runs, it contains what runs differ by.
    #[schemars(with = "Option<f64>")]
    pub between_node: f64,
}

/// Where a node lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The logarithm of its figure over the median of its class.
    pub log: f32,
    /// The standard error of that, from its runs; NaN if a single run has no interval.
    pub error: f32,
    /// The degrees of freedom of the error.
    pub freedom: f32,
    /// Standard deviations of the class that it lies from the median.
    pub score: f32,
}

impl Effect {
    /// The node's figure over its class's median, with the 95 % interval that holds what its runs scatter by.
    pub fn ratio(&self) -> Interval {
        let reach = student_95(self.freedom.max(1.0) as u32) * f64::from(self.error);
        around(f64::from(self.log).exp(), reach)
    }
}

/// A cost over the nodes of a class.
#[derive(Clone, Debug)]
pub(super) struct CostEffects {
    pub spread: Scatter,
    /// By the place of the node in its class.
    pub nodes: Vec<Option<Effect>>,
    /// The standard deviation of a node's figure, all in all.
    pub deviation: f64,
}

/// The effects of nodes, each with its runs. `None` if fewer than two nodes have a run.
pub(super) fn effects(nodes: &[Vec<Sample>]) -> Option<CostEffects> {
    let with = nodes.iter().filter(|runs| !runs.is_empty()).count();
    if with < 2 {
        return None;
    }
    let within_run = variance_within(nodes.iter().flatten());
    let pooled = between_runs(nodes);
    // A pair of runs or two that happen to agree say little against the runs' own intervals.
    let pairs = nodes.iter().map(|runs| runs.len().saturating_sub(1)).sum::<usize>() as f64;
    let known = pooled.map(|pooled| within_run.map_or(pooled, |own| (PRIOR * own + pairs * pooled) / (PRIOR + pairs)));
    let scatter = known.or(within_run).unwrap_or(0.0);
    let of_nodes: Vec<Option<Middle>> = nodes.iter().map(|runs| middle_of(runs, known, scatter)).collect();
    let middles: Vec<f64> = of_nodes.iter().flatten().map(|node| node.log).collect();
    let middle = median(middles.iter().copied())?;
    let marginal = scale(&middles).powi(2);
    let of_runs = of_nodes.iter().flatten().map(|node| scatter * node.lacking / node.runs).sum::<f64>() / with as f64;
    let between_node = marginal - of_runs;
    let of_middle = std::f64::consts::FRAC_PI_2 * marginal / with as f64;
    let nodes_effects = of_nodes.iter().map(|node| {
        let node = node.as_ref()?;
        let own = node.variance.map_or(scatter, |own| own.max(scatter)) * node.lacking / node.runs;
        let lies = (node.log - middle) / (between_node.max(0.0) * node.lacking + own + FLOOR * FLOOR).sqrt();
        let error =
            node.variance.map_or(f64::NAN, |own| (own * node.lacking / node.runs + of_middle + FLOOR * FLOOR).sqrt());
        let freedom = PRIOR + node.runs - 1.0;
        Some(Effect {
            log: (node.log - middle) as f32,
            error: error as f32,
            freedom: freedom as f32,
            score: lies as f32,
        })
    });
    let nodes_effects = nodes_effects.collect();
    let spread = Scatter {
        nodes: with,
        runs: nodes.iter().map(Vec::len).sum(),
        middle,
        within_run,
        between_run: pooled.map(|pooled| pooled - within_run.unwrap_or(0.0)),
        between_node,
    };
    Some(CostEffects { spread, nodes: nodes_effects, deviation: marginal.max(FLOOR * FLOOR).sqrt() })
}

/// A node by itself.
struct Middle {
    log: f64,
    runs: f64,
    /// The variance of one of its runs; `None` if it is unknown.
    variance: Option<f64>,
    lacking: f64,
}

fn middle_of(runs: &[Sample], pooled: Option<f64>, scatter: f64) -> Option<Middle> {
    if runs.is_empty() {
        return None;
    }
    let logs: Vec<f64> = runs.iter().map(|run| run.log).collect();
    let log = centre(&logs, scatter.sqrt());
    let count = runs.len() as f64;
    let variance = match pooled {
        Some(pooled) => Some((PRIOR * pooled + squares(&logs)) / (PRIOR + count - 1.0)),
        None => variance_within(runs),
    };
    let lacking = runs.iter().map(|run| run.lacking).sum::<f64>() / count;
    Some(Middle { log, runs: count, variance, lacking })
}

/// The variance between the rounds of a run, as its interval tells; `None` if no run has one.
fn variance_within<'s>(runs: impl IntoIterator<Item = &'s Sample>) -> Option<f64> {
    median(runs.into_iter().map(|run| run.error.powi(2)).filter(|variance| !variance.is_nan()))
}

/// The variance of a run of one node, rounds included, by a robust scale of differences between runs of the same node that
/// follow each other. `None` if no node has two.
fn between_runs(nodes: &[Vec<Sample>]) -> Option<f64> {
    let steps = nodes.iter().flat_map(|runs| runs.windows(2)).map(|pair| pair[1].log - pair[0].log);
    // A difference and its opposite: they scatter around 0.
    let both: Vec<f64> = steps.flat_map(|step| [step, -step]).collect();
    // Their middle is known, so none of them is lost to it: the scale divides by n - 1, which is 1 of 2 for a single step.
    let known_middle = 1.0 - 1.0 / both.len() as f64;
    (!both.is_empty()).then(|| scale(&both).powi(2) * known_middle / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::normal;

    /// Nodes of these numbers of runs, with these standard deviations within and between runs and between nodes.
    fn simulated(random: &mut fastrand::Rng, runs: &[usize], deviations: [f64; 3]) -> Vec<Vec<Sample>> {
        let [within, between, nodes] = deviations;
        let mut node = |count: &usize| {
            let node = nodes * normal(random);
            let mut run = || node + between * normal(random) + within * normal(random);
            (0..*count).map(|_| Sample { log: run(), error: within, lacking: 1.0 }).collect()
        };
        runs.iter().map(&mut node).collect()
    }

    fn effects_of(nodes: &[Vec<Sample>]) -> CostEffects {
        effects(nodes).expect("nodes")
    }

    #[test]
    fn known_components_are_found_with_unequal_numbers_of_runs() {
        let mut random = fastrand::Rng::with_seed(5);
        let shape: Vec<usize> = (0..200).map(|node| 2 + node % 5).collect();
        for deviations in [[0.01, 0.02, 0.03], [0.02, 0.01, 0.01], [0.01, 0.03, 0.01]] {
            let mut sums = [0.0; 3];
            const TIMES: usize = 20;
            for _ in 0..TIMES {
                let spread = effects_of(&simulated(&mut random, &shape, deviations)).spread;
                let parts = [spread.within_run, spread.between_run, Some(spread.between_node)];
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part.expect("known") / TIMES as f64);
            }
            let whole: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
            for (sum, known) in sums.iter().zip(deviations) {
                assert!((sum - known * known).abs() < 0.12 * known * known + 0.02 * whole, "{sums:?} {deviations:?}");
            }
        }
    }

    #[test]
    fn the_scatter_of_runs_is_found_in_one_pair_of_runs_and_in_many() {
        let mut random = fastrand::Rng::with_seed(11);
        const TIMES: usize = 4000;
        for pairs in [1, 2, 3, 5, 20] {
            let mut sum = 0.0;
            for _ in 0..TIMES {
                let nodes = simulated(&mut random, &vec![2; pairs], [0.0, 0.01, 0.05]);
                sum += between_runs(&nodes).expect("pairs") / TIMES as f64;
            }
            assert!((sum / 1e-4 - 1.0).abs() < 0.1, "{pairs}: {sum}");
        }
    }

    #[test]
    fn a_few_odd_nodes_change_nothing_much_and_lie_far_out() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut nodes = simulated(&mut random, &[5; 300], [0.002, 0.01, 0.01]);
        let before = effects_of(&nodes).spread;
        for node in &mut nodes[..9] {
            node.iter_mut().for_each(|run| run.log += 0.3);
        }
        let after = effects_of(&nodes);
        assert!((after.spread.between_node / before.between_node - 1.0).abs() < 0.25, "{before:?} {:?}", after.spread);
        for node in after.nodes[..9].iter().flatten() {
            assert!(node.score > 15.0, "{node:?}");
            let ratio = node.ratio();
            assert!((ratio.value / 1.35 - 1.0).abs() < 0.05 && ratio.low > 1.25 && ratio.high < 1.45, "{ratio:?}");
        }
    }

    #[test]
    fn intervals_hold_the_node_19_times_in_20() {
        let mut random = fastrand::Rng::with_seed(8);
        let (mut held, mut all) = (0.0, 0.0);
        for _ in 0..20 {
            let truth: Vec<f64> = (0..100).map(|_| 0.01 * normal(&mut random)).collect();
            let middle = median(truth.iter().copied()).expect("nodes");
            let mut run = |node: &f64| Sample { log: node + 0.02 * normal(&mut random), error: 0.01, lacking: 1.0 };
            let nodes: Vec<Vec<Sample>> = truth.iter().map(|node| (0..5).map(|_| run(node)).collect()).collect();
            for (effect, truth) in effects_of(&nodes).nodes.iter().flatten().zip(&truth) {
                let ratio = effect.ratio();
                let known = (truth - middle).exp();
                held += f64::from(u8::from(ratio.low <= known && known <= ratio.high));
                all += 1.0;
            }
        }
        let share: f64 = held / all;
        assert!((0.93..0.975).contains(&share), "{share}");
    }

    #[test]
    fn one_run_a_node_leaves_runs_within_nodes_and_none_is_nothing() {
        let mut random = fastrand::Rng::with_seed(9);
        let one = effects_of(&simulated(&mut random, &[1; 200], [0.01, 0.02, 0.01]));
        assert_eq!(one.spread.between_run, None);
        assert!((one.spread.between_node / 5e-4 - 1.0).abs() < 0.3, "{:?}", one.spread);
        let unknown = Sample { log: 1.0, error: f64::NAN, lacking: 1.0 };
        let blind = effects(&[vec![unknown], vec![unknown]]).expect("two nodes");
        assert!(blind.nodes.iter().flatten().all(|effect| effect.ratio().high.is_infinite() && effect.score == 0.0));
        assert!(effects(&[Vec::new(), vec![unknown]]).is_none() && effects(&[]).is_none());
    }

    #[test]
    fn a_node_that_is_never_the_same_is_no_witness() {
        let mut random = fastrand::Rng::with_seed(10);
        let mut nodes = simulated(&mut random, &[5; 50], [0.002, 0.005, 0.002]);
        for (run, place) in nodes[0].iter_mut().zip([0.0, 0.4, 0.1, 0.5, 0.0]) {
            run.log += place;
        }
        let wild = effects_of(&nodes).nodes[0].expect("an effect");
        assert!(wild.score < 4.0, "{wild:?}");
        assert!(wild.ratio().low < 1.0, "{:?}", wild.ratio());
    }
}
