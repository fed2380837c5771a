//! Where the undisturbed cost lies, given what rounds showed: a likelihood that knows that disturbance only ever slows, and that
//! some batches look quiet and are not. Knows nothing of how rounds were taken. docs/METHOD.md ("Intervals") argues each part.

/// No interval is narrower than this share to either side: clock and speed check resolve no less.
pub const FLOOR: f64 = 0.001;
/// The share of rounds below the cost, for reasons unknown, and how far they lie below it.
const BELOW_SHARE: f64 = 0.02;
const BELOW: f64 = 0.15;
/// More rounds than this are put together in groups of neighbours, which lose nothing.
const MOST: usize = 64;
/// The scatter's places, in standard deviations of its logarithm.
const PLACES: [f64; 7] = [-2.0, -4.0 / 3.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, 4.0 / 3.0, 2.0];

/// What one round showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The logarithm of its figure.
    pub log: f64,
    /// The probability that it was slowed although it looked quiet.
    pub slowed: f64,
}

/// What is known before the rounds are looked at. All on the log scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundScatter {
    /// The usual scatter of rounds.
    pub usual: f64,
    /// The standard deviation of its logarithm.
    pub spread: f64,
    /// How far slowed rounds lie above the cost, on average.
    pub above: f64,
}

/// The 2.5, 50 and 97.5 % points of the cost's logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    pub low: f64,
    pub middle: f64,
    pub high: f64,
}

/// The cost's logarithm by these rounds, and by one more observation of another kind with its standard deviation. `None` if
/// there is neither, or if a figure is no number.
pub fn posterior(rounds: &[Observation], scatter: RoundScatter, other: Option<(f64, f64)>) -> Option<Quantiles> {
    if rounds.iter().any(|round| !round.log.is_finite()) || (rounds.is_empty() && other.is_none()) {
        return None;
    }
    let groups = grouped(rounds);
    let grid = grid(&groups, scatter.usual, other);
    let scales = PLACES.map(|place| scatter.usual * (scatter.spread * place).exp());
    let mut logs: Vec<[f64; PLACES.len()]> = grid.iter().map(|at| likelihood(*at, &groups, scatter, &scales)).collect();
    if let Some((middle, deviation)) = other {
        for (at, row) in grid.iter().zip(&mut logs) {
            let log = student(at - middle, deviation).ln();
            row.iter_mut().for_each(|value| *value += log);
        }
    }
    let most = logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights = PLACES.map(|place| (-place * place / 2.0).exp());
    let density = |row: &[f64; PLACES.len()]| -> f64 {
        row.iter().zip(weights).map(|(log, weight)| (log - most).exp() * weight).sum()
    };
    let density: Vec<f64> = logs.iter().map(density).collect();
    let mut area = vec![0.0];
    for place in 1..grid.len() {
        let slice = (density[place] + density[place - 1]) / 2.0 * (grid[place] - grid[place - 1]);
        area.push(area[place - 1] + slice);
    }
    let at = |share: f64| inverse(&area, &grid, share);
    Some(Quantiles { low: at(0.025)?, middle: at(0.5)?, high: at(0.975)? })
}

/// One round, or several that lie side by side.
struct Group {
    log: f64,
    slowed: f64,
    count: f64,
}

fn grouped(rounds: &[Observation]) -> Vec<Group> {
    let mut rounds = rounds.to_vec();
    rounds.sort_by(|one, other| one.log.total_cmp(&other.log));
    let each = rounds.len().div_ceil(MOST).max(1);
    let mean = |chunk: &[Observation], value: fn(&Observation) -> f64| {
        chunk.iter().map(value).sum::<f64>() / chunk.len() as f64
    };
    let group = |chunk: &[Observation]| Group {
        log: mean(chunk, |round| round.log),
        slowed: mean(chunk, |round| round.slowed),
        count: chunk.len() as f64,
    };
    rounds.chunks(each).map(group).collect()
}

/// The points at which the likelihood is computed, ascending: dense around each round, as its peak may be as narrow as the
/// scatter, and sparse between.
fn grid(groups: &[Group], usual: f64, other: Option<(f64, f64)>) -> Vec<f64> {
    /// Half the number of points around each round.
    const SIDE: i32 = 16;
    /// Quantiles nearer to each other than this, or than this share of their distance to the nearest round, show the same.
    const NEAREST: f64 = FLOOR / 6.0;
    const NEAR: f64 = 0.15;
    let steps = || (-SIDE..=SIDE).map(|step| f64::from(step) / f64::from(SIDE));
    let reach = (30.0 * usual).max(0.01);
    let off = move |step: f64| (5.0 * step).sinh() / 5_f64.sinh() * reach;
    let around = |group: &Group| {
        let log = group.log;
        steps().map(off).map(move |off| (log + off, off.abs()))
    };
    let mut points: Vec<(f64, f64)> = groups.iter().flat_map(around).collect();
    let centres = || groups.iter().map(|group| group.log).chain(other.map(|(middle, _)| middle));
    let (least, most) =
        (centres().fold(f64::INFINITY, f64::min) - 0.7, centres().fold(f64::NEG_INFINITY, f64::max) + 0.5);
    points.extend((0..=60).map(|step| (least + (most - least) * f64::from(step) / 60.0, 0.0)));
    if let Some((middle, deviation)) = other {
        points.extend(steps().map(|step| (middle + 4.0 * step * deviation, 0.0)));
    }
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut grid: Vec<f64> = Vec::with_capacity(points.len());
    for (at, off) in points {
        if grid.last().is_none_or(|last| at - last >= NEAREST.max(NEAR * off)) {
            grid.push(at);
        }
    }
    grid
}

/// The logarithm of the likelihood at one place, for each scatter.
fn likelihood(at: f64, groups: &[Group], scatter: RoundScatter, scales: &[f64; PLACES.len()]) -> [f64; PLACES.len()] {
    /// No density is smaller, so that the product of eight of them is a number, whose logarithm is taken once.
    const LEAST: f64 = 1e-30;
    const TOGETHER: usize = 8;
    let mut logs = [0.0; PLACES.len()];
    for groups in groups.chunks(TOGETHER) {
        let mut products = [1.0; PLACES.len()];
        for group in groups {
            let off = group.log - at;
            let aside = if off > 0.0 {
                group.slowed * (-off / scatter.above).exp() / scatter.above
            } else {
                BELOW_SHARE * (off / BELOW).exp() / BELOW
            };
            let quiet = 1.0 - group.slowed - BELOW_SHARE;
            // Loops, because most of the time of reading a run is spent here, in a crate that is compiled for size.
            for (place, scale) in scales.iter().enumerate() {
                let density = quiet * student(off, *scale) + aside + LEAST;
                if group.count > 1.0 {
                    logs[place] += group.count * density.ln();
                } else {
                    products[place] *= density;
                }
            }
        }
        logs.iter_mut().zip(products).for_each(|(log, product)| *log += product.ln());
    }
    logs
}

/// The density of Student's t with four degrees of freedom and this scale.
fn student(off: f64, scale: f64) -> f64 {
    let square = 1.0 + (off / scale).powi(2) / 4.0;
    0.375 / (scale * square * square * square.sqrt())
}

/// The place at which this share of the area lies below.
fn inverse(area: &[f64], grid: &[f64], share: f64) -> Option<f64> {
    let wanted = share * area.last().copied().filter(|whole| *whole > 0.0)?;
    let above = area.partition_point(|sum| *sum < wanted).clamp(1, area.len() - 1);
    let (below, slice) = (area[above - 1], area[above] - area[above - 1]);
    let part = if slice > 0.0 { ((wanted - below) / slice).clamp(0.0, 1.0) } else { 0.0 };
    Some(grid[above - 1] + (grid[above] - grid[above - 1]) * part)
}
