//! Closed networks of product form by convolution: another way to figures of the model.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Station {
    /// Service demand of an interaction: visits times service time, in seconds.
    pub(super) demand_s: f64,
    pub(super) serves: Serves,
}

/// How many a station serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    /// One; the others queue.
    One,
    /// So many.
    Several(u32),
    /// All: nothing queues.
    All,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClosedNetwork {
    /// Interactions per second.
    pub(super) throughput: f64,
    /// Time in all stations together, in seconds.
    pub(super) response_s: f64,
    /// Mean number at each station.
    pub(super) lengths: Vec<f64>,
}

/// Convolution (Buzen, CACM 16:9, 1973): sums of positive numbers only, so that nothing is lost.
pub(super) fn convolution(users: u32, think_s: f64, stations: &[Station]) -> ClosedNetwork {
    let thinking = Station { demand_s: think_s, serves: Serves::All };
    let all: Vec<Station> = stations.iter().copied().chain([thinking]).collect();
    let size = users as usize + 1;
    // Demands relative to the largest keep the sums within range; the sums are rescaled as they grow.
    let unit = all.iter().map(|station| station.demand_s).fold(f64::MIN_POSITIVE, f64::max);
    let factors: Vec<Vec<f64>> = all.iter().map(|station| factors(station, unit, size)).collect();
    let total = factors.iter().fold(one(size), |sum, factor| convolved(&sum, factor));
    let throughput = if users == 0 { 0.0 } else { total[size - 2] / total[size - 1] / unit };
    let lengths: Vec<f64> = (0..stations.len())
        .map(|station| {
            let others = factors.iter().enumerate().filter(|(index, _)| *index != station);
            let others = others.fold(one(size), |sum, (_, factor)| convolved(&sum, factor));
            let at = |here: usize| factors[station][here] * others[size - 1 - here];
            let all: f64 = (0..size).map(at).sum();
            (0..size).map(|here| here as f64 * at(here)).sum::<f64>() / all
        })
        .collect();
    let response_s = if users == 0 { 0.0 } else { f64::from(users) / throughput - think_s };
    ClosedNetwork { throughput, response_s, lengths }
}

fn one(size: usize) -> Vec<f64> {
    let mut one = vec![0.0; size];
    one[0] = 1.0;
    one
}

/// The weight of each number at a station: the demand to that power, over the product of how many are served at each number below.
fn factors(station: &Station, unit: f64, size: usize) -> Vec<f64> {
    let mut factors = one(size);
    for here in 1..size {
        let served = match station.serves {
            Serves::One => 1,
            Serves::Several(servers) => here.min(servers as usize),
            Serves::All => here,
        };
        factors[here] = factors[here - 1] * station.demand_s / unit / served as f64;
    }
    factors
}

fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let sum = |all: usize| (0..=all).map(|here| one[here] * other[all - here]).sum();
    (0..one.len()).map(sum).collect()
}
