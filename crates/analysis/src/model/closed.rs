//! Closed networks of product form: exact mean value analysis, Schweitzer's approximation, and convolution for stations of several servers.

/// A station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Service demand of an interaction: visits times service time, in seconds.
    pub demand_s: f64,
    /// How it serves.
    pub serves: Serves,
}

/// How many a station serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// One; the others queue.
    One,
    /// So many.
    Several(u32),
    /// All: nothing queues.
    All,
}

/// Throughput and response of a closed network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosedNetwork {
    /// Interactions per second.
    pub throughput: f64,
    /// Time in all stations together, in seconds.
    pub response_s: f64,
    /// Mean number at each station.
    pub lengths: Vec<f64>,
}

impl ClosedNetwork {
    fn of(users: u32, think_s: f64, residence: &[f64]) -> ClosedNetwork {
        let response_s: f64 = residence.iter().sum();
        let throughput = f64::from(users) / (think_s + response_s);
        ClosedNetwork { throughput, response_s, lengths: residence.iter().map(|time| throughput * time).collect() }
    }
}

/// Exact mean value analysis (Reiser and Lavenberg, JACM 27:2, 1980) of users who think and visit the stations. Stations of several servers
/// go through [`convolution`], because the recursion over marginal probabilities loses its digits (Casale and Serazzi, 2008).
pub fn mean_value(users: u32, think_s: f64, stations: &[Station]) -> ClosedNetwork {
    if stations.iter().any(|station| matches!(station.serves, Serves::Several(_))) {
        return convolution(users, think_s, stations);
    }
    let mut found = ClosedNetwork { lengths: vec![0.0; stations.len()], ..ClosedNetwork::default() };
    for users in 1..=users {
        let residence: Vec<f64> = stations
            .iter()
            .zip(&found.lengths)
            .map(|(station, length)| match station.serves {
                Serves::All => station.demand_s,
                _ => station.demand_s * (1.0 + length),
            })
            .collect();
        found = ClosedNetwork::of(users, think_s, &residence);
    }
    found
}

/// Schweitzer's approximation: the queue that an arrival meets is in proportion to the users, less itself.
pub fn schweitzer(users: u32, think_s: f64, stations: &[Station]) -> ClosedNetwork {
    let each = f64::from(users) / stations.len().max(1) as f64;
    let mut found = ClosedNetwork { lengths: vec![each; stations.len()], ..ClosedNetwork::default() };
    let met = (f64::from(users) - 1.0) / f64::from(users.max(1));
    for _ in 0..100_000 {
        let residence: Vec<f64> = stations
            .iter()
            .zip(&found.lengths)
            .map(|(station, length)| match station.serves {
                Serves::All => station.demand_s,
                Serves::One => station.demand_s * (1.0 + length * met),
                // A queue of the share of each server, and the rest as delay (Seidmann, Schweitzer and Shalev-Oren, 1987).
                Serves::Several(servers) => {
                    let servers = f64::from(servers);
                    station.demand_s / servers * (1.0 + length * met) + station.demand_s * (servers - 1.0) / servers
                }
            })
            .collect();
        let next = ClosedNetwork::of(users, think_s, &residence);
        let apart = next.lengths.iter().zip(&found.lengths).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        found = next;
        if apart < 1e-9 {
            break;
        }
    }
    found
}

/// Convolution (Buzen, CACM 16:9, 1973): sums of positive numbers only, so that nothing is lost.
pub fn convolution(users: u32, think_s: f64, stations: &[Station]) -> ClosedNetwork {
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
