//! Fleets of machines made from what was measured: scatter within and between runs is that of eight runs of the headline
//! operations, one after the other on one idle virtual machine of two CPUs (November 2026). What nodes differ by was not
//! measured, since there was one machine: it is a parameter.

use std::collections::BTreeSet;

use fastrand::Rng;

/// A cost of the headline page: operation and point, the mean figure in ns, the standard deviation of the logarithm of eight runs'
/// figures, and the standard error within a run that its intervals gave (the median of the eight).
type Measured = (&'static str, f64, f64, f64);

/// The costs that at least six of the eight runs distinguished from zero.
const MEASURED: [Measured; 80] = [
    ("loop.empty", 0.2706, 0.0001, 0.00065),
    ("instruction.add.latency@width=64", 0.2707, 2.4e-05, 0.00065),
    ("instruction.multiply.latency@width=64", 0.8119, 1e-05, 0.00065),
    ("instruction.divide.latency@width=64", 3.519, 1e-05, 0.0007),
    ("instruction.call", 1.096, 0.0012, 0.0012),
    ("instruction.branch.predicted", 0.2383, 0.0059, 0.0062),
    ("instruction.branch.missed", 4.931, 0.001, 0.0011),
    ("memory.copy@size=512", 4.33, 7e-05, 0.0007),
    ("memory.copy@size=4096", 41.96, 0.00013, 0.00084),
    ("memory.copy@size=1048576", 2.161e+04, 0.0015, 0.0017),
    ("memory.load@set=16384", 1.083, 7.2e-05, 0.00066),
    ("memory.load@set=262144", 3.806, 0.00024, 0.00077),
    ("memory.load@set=8388608", 53.35, 0.39, 0.37),
    ("memory.load@set=67108864", 159.3, 0.005, 0.0048),
    ("memory.load@set=268435456", 165.9, 0.0085, 0.0072),
    ("memory.load.paged@set=67108864", 178.9, 0.017, 0.018),
    ("memory.read@set=16384", 304.0, 0.0025, 0.0032),
    ("memory.read@set=4194304", 700.9, 0.00051, 0.008),
    ("memory.read@set=67108864", 2108.0, 0.025, 0.027),
    ("memory.write@set=16384", 556.8, 2.8e-05, 0.00065),
    ("memory.write@set=4194304", 687.7, 0.0027, 0.003),
    ("memory.write@set=67108864", 3246.0, 0.031, 0.025),
    ("clock.read", 22.74, 5.8e-05, 0.00067),
    ("clock.read.counter", 9.202, 1e-05, 0.00066),
    ("clock.read.syscall", 246.6, 0.041, 0.027),
    ("syscall.getppid", 152.7, 0.00082, 0.023),
    ("syscall.read.null", 133.8, 0.00015, 0.00078),
    ("syscall.read.zero", 157.9, 9.7e-05, 0.00075),
    ("syscall.write.null", 135.4, 0.00012, 0.0017),
    ("syscall.fstat", 255.3, 0.032, 0.096),
    ("syscall.stat", 910.3, 0.0014, 0.0087),
    ("syscall.open.close", 1839.0, 0.0078, 0.0075),
    ("page.map.unmap@size=4096", 2564.0, 0.0039, 0.012),
    ("page.map.touch.unmap@size=4096", 6128.0, 0.011, 0.01),
    ("page.fault.anonymous@frames=fresh", 1941.0, 0.0051, 0.11),
    ("page.fault.file", 1086.0, 0.0023, 0.0017),
    ("page.fault.copy", 2022.0, 0.034, 0.043),
    ("page.fault.huge@frames=fresh", 1.788e+05, 0.0027, 0.0031),
    ("file.read@file=4194304,filled=131072,size=4096", 389.7, 0.02, 0.036),
    ("file.read.mapped@file=4194304,filled=131072,size=4096", 42.06, 0.0034, 0.0027),
    ("file.map.read.unmap@file=4194304,filled=131072,size=4096", 122.8, 0.0052, 0.0027),
    ("file.write@file=4194304,filled=131072,size=4096", 625.8, 0.016, 0.072),
    ("file.fsync", 1.127e+05, 0.11, 0.11),
    ("file.create.delete@size=0", 1.182e+04, 0.0074, 0.02),
    ("poll.select@descriptors=100", 1.247e+04, 0.0012, 0.0017),
    ("poll.poll@descriptors=100", 1.235e+04, 0.0017, 0.0025),
    ("poll.epoll@descriptors=100", 281.0, 0.00052, 0.0014),
    ("poll.epoll.add.delete", 998.1, 0.003, 0.0031),
    ("pipe.self@size=26", 657.6, 0.005, 0.011),
    ("pipe.self@size=64", 660.4, 0.0054, 0.011),
    ("pipe.roundtrip@distance=same,size=26", 3997.0, 0.0026, 0.033),
    ("pipe.roundtrip@distance=other,size=26", 3.124e+04, 0.13, 0.048),
    ("unix.roundtrip@distance=same,size=26", 7957.0, 0.0032, 0.011),
    ("unix.roundtrip@distance=other,size=26", 3.297e+04, 0.14, 0.033),
    ("tcp.roundtrip@distance=same,size=26", 1.255e+04, 0.0023, 0.014),
    ("tcp.roundtrip@distance=other,size=26", 4.037e+04, 0.12, 0.042),
    ("udp.roundtrip@distance=same,size=26", 9689.0, 0.0055, 0.028),
    ("udp.roundtrip@distance=other,size=26", 3.722e+04, 0.11, 0.032),
    ("futex.roundtrip@distance=same", 3823.0, 0.0021, 0.0023),
    ("futex.roundtrip@distance=other", 3.109e+04, 0.12, 0.018),
    ("eventfd.roundtrip@distance=same", 3574.0, 0.0013, 0.0026),
    ("eventfd.roundtrip@distance=other", 3.131e+04, 0.13, 0.11),
    ("signal.install", 224.5, 0.025, 0.024),
    ("signal.ignored", 499.6, 0.00092, 0.0012),
    ("signal.deliver", 2369.0, 0.0042, 0.0065),
    ("signal.block.unblock", 350.0, 0.045, 0.04),
    ("switch.work@set=0", 647.9, 0.009, 0.058),
    ("switch.work@set=262144", 2934.0, 0.0019, 0.017),
    ("switch.work@set=most-l2", 8635.0, 0.01, 0.012),
    ("switch.process@set=0", 1584.0, 0.0046, 0.043),
    ("switch.process@set=262144", 1829.0, 0.035, 0.042),
    ("switch.process@set=most-l2", 3174.0, 0.026, 0.037),
    ("switch.thread@set=0", 1339.0, 0.0058, 0.036),
    ("switch.thread@set=262144", 1672.0, 0.051, 0.049),
    ("switch.yield", 1083.0, 0.0017, 0.0027),
    ("thread.create.join", 1.895e+04, 0.0019, 0.0028),
    ("process.fork", 1.263e+05, 0.0048, 0.0052),
    ("process.exec", 1.764e+05, 0.0078, 0.007),
    ("process.spawn", 1.04e+05, 0.0032, 0.0044),
    ("process.shell", 5.838e+05, 0.0066, 0.012),
];

/// The share of the variances between runs and between nodes that all costs of a family have in common.
const COMMON: f64 = 0.3;

/// How scatter is distributed. The standard deviation is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// As the normal distribution.
    Normal,
    /// As Student's t with three degrees of freedom.
    Heavy,
}

/// A node that was made slow.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    pub node: usize,
    /// By which share: 0.05 is 5 %.
    pub share: f64,
    /// The families of operations it is slow in: `pipe`, `memory`.
    pub families: BTreeSet<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    pub nodes: usize,
    /// Costs of each run.
    pub costs: usize,
    /// Runs of each machine.
    pub runs: usize,
    /// The standard deviation of the logarithm of a cost between nodes.
    pub node_scatter: f64,
    /// How scatter within and between runs is distributed.
    pub noise: Noise,
    /// How scatter between nodes is distributed.
    pub node_noise: Noise,
    /// The share of rows that are missing.
    pub missing: f64,
    pub planted: Vec<Planted>,
    /// What all randomness follows from.
    pub seed: u64,
}

/// One cost in one run of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetRow {
    /// The cost's number, for [`Fleet::cost`].
    pub cost: usize,
    /// Its figure in ns.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

impl Fleet {
    /// A fleet without slow nodes, with normal scatter, of which nodes contribute 1 %.
    pub fn new(nodes: usize, costs: usize, runs: usize, seed: u64) -> Fleet {
        let node_scatter = 0.01;
        let noise = Noise::Normal;
        Fleet { nodes, costs, runs, node_scatter, noise, node_noise: noise, missing: 0.0, planted: Vec::new(), seed }
    }

    /// Makes this many nodes slow in two to four families each, by these shares in turn.
    pub fn plant(&mut self, count: usize, shares: &[f64]) {
        let mut random = Rng::with_seed(self.seed ^ 0x9e37_79b9);
        let families = self.families();
        let nodes = random.choose_multiple(0..self.nodes, count);
        let slow = |(node, share): (usize, &f64)| {
            let most = random.usize(2..=4);
            Planted {
                node,
                share: *share,
                families: random.choose_multiple(families.iter().copied(), most).into_iter().collect(),
            }
        };
        self.planted = nodes.into_iter().zip(shares.iter().cycle()).map(slow).collect();
    }

    pub fn families(&self) -> BTreeSet<&'static str> {
        (0..self.costs).map(family).collect()
    }

    /// The operation and the point (`@size=64,copy=3`) of a cost.
    pub fn cost(&self, cost: usize) -> (&'static str, String) {
        let name = measured(cost).0;
        let (operation, at) = name.split_once('@').unwrap_or((name, ""));
        let copy = format!("copy={}", cost / MEASURED.len());
        (operation, if at.is_empty() { format!("@{copy}") } else { format!("@{at},{copy}") })
    }

    pub fn node(&self, node: usize) -> String {
        format!("node{node:04}")
    }

    /// The rows of all runs of a node, run by run.
    pub fn rows(&self, node: usize) -> Vec<Vec<FleetRow>> {
        let mut random = Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(node as u64));
        let families: Vec<&str> = self.families().into_iter().collect();
        let planted = self.planted.iter().find(|slow| slow.node == node);
        let of_family: Vec<f64> = families.iter().map(|_| COMMON.sqrt() * self.node_noise.draw(&mut random)).collect();
        let place = |cost: usize| families.iter().position(|name| *name == family(cost)).unwrap_or(0);
        let own = |cost: usize, random: &mut Rng| {
            let slow =
                planted.filter(|slow| slow.families.contains(family(cost))).map_or(0.0, |slow| slow.share.ln_1p());
            let scatter = of_family[place(cost)] + (1.0 - COMMON).sqrt() * self.node_noise.draw(random);
            slow + self.node_scatter * scatter
        };
        let own: Vec<f64> = (0..self.costs).map(|cost| own(cost, &mut random)).collect();
        let mut run = || {
            let of_run: Vec<f64> = families.iter().map(|_| COMMON.sqrt() * self.noise.draw(&mut random)).collect();
            let row = |cost: usize| {
                let (_, mean, total, error) = *measured(cost);
                let within = error.min(total);
                let between = (total * total - within * within).max(0.0).sqrt();
                let scatter = of_run[place(cost)] + (1.0 - COMMON).sqrt() * self.noise.draw(&mut random);
                let log = own[cost] + between * scatter + within * self.noise.draw(&mut random);
                let value = mean * log.exp();
                let reach = 2.2 * std::f64::consts::SQRT_2 * error * (0.8 + 0.4 * random.f64());
                let row = FleetRow { cost, value, low: value * (-reach).exp(), high: value * reach.exp() };
                (random.f64() >= self.missing).then_some(row)
            };
            (0..self.costs).filter_map(row).collect()
        };
        (0..self.runs).map(|_| run()).collect()
    }
}

fn measured(cost: usize) -> &'static Measured {
    &MEASURED[cost % MEASURED.len()]
}

fn family(cost: usize) -> &'static str {
    measured(cost).0.split('.').next().unwrap_or_default()
}

impl Noise {
    /// A number of mean 0 and standard deviation 1.
    fn draw(self, random: &mut Rng) -> f64 {
        let normal =
            |random: &mut Rng| (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos();
        match self {
            Noise::Normal => normal(random),
            Noise::Heavy => {
                let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                // The variance of Student's t with three degrees of freedom is 3.
                normal(random) / (squares / 3.0).sqrt() / 3.0_f64.sqrt()
            }
        }
    }
}

/// How well slow nodes were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Nodes that were called slow.
    pub called: usize,
    /// Of these, nodes that are not slow.
    pub wrong: usize,
    /// Pairs of node and family that were called slow.
    pub pairs: usize,
    /// Of these, those that are not slow.
    pub wrong_pairs: usize,
    /// For each share: by how much, slow nodes that were found, slow nodes, pairs that were found, pairs.
    pub by_share: Vec<(f64, [usize; 4])>,
}

impl Fleet {
    /// Compares what was called slow, by name of node and family, with what was made slow.
    pub fn score(&self, called: &[(String, Vec<String>)]) -> Score {
        let mut score = Score { called: called.len(), ..Score::default() };
        let slow = |name: &str| self.planted.iter().find(|slow| self.node(slow.node) == name);
        for (node, families) in called {
            let planted = slow(node);
            score.wrong += usize::from(planted.is_none());
            score.pairs += families.len();
            let wrong = |family: &&String| planted.is_none_or(|slow| !slow.families.contains(family.as_str()));
            score.wrong_pairs += families.iter().filter(wrong).count();
        }
        for planted in &self.planted {
            let found = called.iter().find(|(node, _)| *node == self.node(planted.node));
            let families = found.map_or(0, |(_, families)| {
                families.iter().filter(|family| planted.families.contains(family.as_str())).count()
            });
            let place = score.by_share.iter().position(|(share, _)| *share == planted.share).unwrap_or_else(|| {
                score.by_share.push((planted.share, [0; 4]));
                score.by_share.len() - 1
            });
            let more = [usize::from(families > 0), 1, families, planted.families.len()];
            score.by_share[place].1.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_the_same_for_the_same_seed_and_has_what_was_planted() {
        let mut fleet = Fleet::new(40, 100, 3, 7);
        fleet.plant(6, &[0.03, 0.05, 0.10]);
        assert_eq!(fleet.rows(3), fleet.rows(3));
        assert_ne!(fleet.rows(3), fleet.rows(4));
        let nodes: BTreeSet<usize> = fleet.planted.iter().map(|slow| slow.node).collect();
        assert_eq!(nodes.len(), 6);
        let all: Vec<(String, Vec<String>)> = fleet
            .planted
            .iter()
            .map(|slow| (fleet.node(slow.node), slow.families.iter().map(|family| (*family).to_string()).collect()))
            .collect();
        let score = fleet.score(&all);
        assert_eq!((score.called, score.wrong, score.wrong_pairs), (6, 0, 0));
        assert_eq!(score.by_share.iter().map(|(_, counts)| counts[0]).collect::<Vec<_>>(), [2, 2, 2]);
        let wrong = fleet.score(&[("nobody".into(), vec!["pipe".into()])]);
        assert_eq!((wrong.wrong, wrong.wrong_pairs), (1, 1));
    }

    #[test]
    fn noise_has_the_deviation_it_states() {
        let mut random = Rng::with_seed(1);
        for noise in [Noise::Normal, Noise::Heavy] {
            let squares: f64 = (0..200_000).map(|_| noise.draw(&mut random).powi(2)).sum();
            assert!((squares / 200_000.0 - 1.0).abs() < 0.15, "{noise:?} {squares}");
        }
    }
}
