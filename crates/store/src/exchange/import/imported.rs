//! What all importers share: a run of costs that another tool measured, and the interval that its figures give.

use analysis::estimate::{Clocking, Reading, gross};
use analysis::landing::around;
use analysis::prior::Prior;
use analysis::statistics::student_quantile;
use record::{
    Bytes, Cost, Cpu, Doubt, Estimate, Figures, Machine, Nanoseconds, Origin, Point, Round, Run, SCHEMA, Skip,
    printable,
};

/// What the file has of a cost, in ns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Repetitions {
    /// Figures of several processes, by the rule for rounds. One figure alone has no interval.
    Processes(Vec<f64>),
    /// Samples of one process.
    Process(Vec<f64>),
    /// The interval that the file has, of the samples of one process.
    Interval { value: f64, low: f64, high: f64, samples: Vec<f64> },
    /// Median, relative standard deviation, and the number of samples, all of one process.
    Summary { median: f64, deviation: f64, count: u32 },
}

/// A cost in a file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The name in the file.
    pub name: String,
    pub summary: String,
    pub at: Point,
    pub per: String,
    pub repetitions: Repetitions,
    /// User and system time in ns, if the file has them.
    pub cpu: Option<(f64, f64)>,
    pub bytes: u64,
    pub cpus: u32,
    /// The operation of howslow that is the same loop.
    pub like: Vec<String>,
}

impl Found {
    pub fn new(name: impl Into<String>, repetitions: Repetitions) -> Found {
        let per = String::from("iteration");
        let (summary, at, like) = (String::new(), Point::default(), Vec::new());
        Found { name: name.into(), summary, at, per, repetitions, cpu: None, bytes: 0, cpus: 1, like }
    }
}

/// What a file holds besides its costs.
#[derive(Default)]
pub(super) struct Source {
    /// The id's second part: `lmbench`.
    pub name: &'static str,
    /// The tool with its version, if that is known.
    pub tool: String,
    /// When, RFC 3339; empty if not known.
    pub started: String,
    pub machine: Machine,
    pub skipped: Vec<Skip>,
}

/// ns in a unit of time, which is ns where it is not stated; `None` if it is no unit of time.
pub(super) fn ns_in(unit: Option<&str>) -> Option<f64> {
    match unit {
        None | Some("ns") => Some(1.0),
        Some("us" | "µs") => Some(1e3),
        Some("ms") => Some(1e6),
        Some("s") => Some(1e9),
        Some(_) => None,
    }
}

/// The run of these costs. A cost whose figure is no number, or that stands there twice, is left out as a skip.
pub(super) fn run(source: Source, found: Vec<Found>) -> Run {
    let mut costs: Vec<Cost> = Vec::new();
    let mut skipped = source.skipped;
    let mut known = std::collections::HashSet::new();
    for result in found {
        let operation = id(source.name, &result.name);
        let at = Point(result.at.0.iter().map(|(axis, value)| (printable(axis), printable_value(value))).collect());
        let skip = |reason: &str| {
            let (operation, at) = (operation.clone(), at.clone());
            Skip { operation, at, reason: reason.into(), remedy: String::new() }
        };
        let key = (operation.clone(), at.clone());
        if known.contains(&key) {
            skipped.push(skip("it stands in the file twice; the first is taken"));
            continue;
        }
        match figures(&result.repetitions) {
            Some(figured) => {
                known.insert(key);
                costs.push(cost(operation, at, source.name, &result, figured));
            }
            None => skipped.push(skip("its figure is no positive number")),
        }
    }
    Run {
        schema: SCHEMA.into(),
        started: printable(&source.started),
        finished: printable(&source.started),
        origin: Origin::Imported,
        tool: printable(&source.tool),
        howslow: env!("CARGO_PKG_VERSION").into(),
        machine: source.machine,
        costs,
        skipped,
        ..Run::default()
    }
}

/// The id of an imported cost: `imported.lmbench.simple.syscall`. An `@` in it would begin a point.
pub(super) fn id(source: &str, name: &str) -> String {
    let shown: String = printable(name).trim().chars().map(|c| if c == '@' { '_' } else { c }).collect();
    format!("imported.{source}.{shown}")
}

fn printable_value(value: &record::Value) -> record::Value {
    match value {
        record::Value::Word(word) => record::Value::Word(printable(word)),
        number => number.clone(),
    }
}

/// How the figures of other tools are read.
const TYPICAL: Reading = Reading { headline: Estimate::Typical, cpus: 1, clocking: Clocking::AsRead };

/// A figure with its interval, the samples behind it, and its doubts.
type Figured = (Figures, Vec<Round>, Vec<Doubt>);

/// The figure with its interval, by the rules for rounds: where another run would land. `None` if there is no figure.
fn figures(repetitions: &Repetitions) -> Option<Figured> {
    let good = |values: &[f64]| values.iter().all(|value| value.is_finite() && *value > 0.0);
    match repetitions {
        Repetitions::Processes(values) | Repetitions::Process(values) if !good(values) || values.is_empty() => None,
        Repetitions::Processes(values) | Repetitions::Process(values) if values.len() == 1 => Some(alone(values[0])),
        Repetitions::Processes(values) => {
            let rounds: Vec<Round> = values.iter().zip(0..).map(|(value, place)| round(place, vec![*value])).collect();
            let repetitions = gross(&rounds, TYPICAL, &Prior::DEFAULT)?;
            Some((typical(&repetitions.figures), rounds, repetitions.doubts))
        }
        Repetitions::Process(values) => {
            // The rule for rounds, applied to samples that are less independent than rounds are: hence the doubt.
            let apart: Vec<Round> = values.iter().map(|value| round(0, vec![*value])).collect();
            let repetitions = gross(&apart, TYPICAL, &Prior::DEFAULT)?;
            let mut doubts = repetitions.doubts;
            doubts.push(Doubt::OneProcess { samples: values.len() as u32 });
            Some((typical(&repetitions.figures), vec![round(0, values.clone())], doubts))
        }
        Repetitions::Interval { value, low, high, samples } => {
            let whole = good(&[*value, *high]) && *low >= 0.0 && low <= value && value <= high && good(samples);
            let best = samples.iter().copied().fold(*value, f64::min);
            let rounds = if samples.is_empty() { Vec::new() } else { vec![round(0, samples.clone())] };
            let doubts = vec![Doubt::OneProcess { samples: samples.len() as u32 }];
            let figures = Figures { best: Nanoseconds(best), ..Figures::given(*value, *low, *high) };
            whole.then_some((figures, rounds, doubts))
        }
        Repetitions::Summary { median, deviation, count } if good(&[*median]) && *deviation >= 0.0 && *count >= 2 => {
            // The rule of `landing` for few rounds: t x 1.2533 x s x sqrt(2 / n) on the log scale.
            const MEDIAN_OVER_MEAN: f64 = 1.2533;
            let t = student_quantile(0.975, count - 1);
            let reach = t * MEDIAN_OVER_MEAN * deviation * (2.0 / f64::from(*count)).sqrt();
            let result = around(*median, reach.hypot(analysis::landing::FLOOR));
            let doubts = vec![Doubt::OneProcess { samples: *count }];
            Some((Figures::given(*median, result.low, result.high), Vec::new(), doubts))
        }
        Repetitions::Summary { median, .. } => good(&[*median]).then(|| alone(*median)),
    }
}

/// One figure, which shows nothing of scatter: no interval is made up for it.
fn alone(value: f64) -> Figured {
    (Figures::given(value, f64::NEG_INFINITY, f64::INFINITY), Vec::new(), vec![Doubt::NoScatter])
}

/// The same figures; what was not measured when nobody else used the core is not quiet.
fn typical(figures: &Figures) -> Figures {
    Figures { quiet: figures.typical, ..*figures }
}

/// Nothing is known of the clock and of neighbours around these samples, so none counts as quiet.
fn round(place: u32, ns: Vec<f64>) -> Round {
    let (cycle_ns, width, quiet) = (vec![0.0; ns.len()], vec![0.0; ns.len()], vec![false; ns.len()]);
    let survey = Some(true);
    Round { order: place, times: 1, ns, cycle_ns, width, quiet, survey, launcher: place, ..Round::default() }
}

fn cost(operation: String, at: Point, source: &str, result: &Found, (figures, rounds, doubts): Figured) -> Cost {
    let (user, system) = result.cpu.unwrap_or((0.0, 0.0));
    Cost {
        summary: printable(&result.summary),
        group: format!("imported from {source}"),
        like: result.like.clone(),
        cpus: result.cpus,
        cpu_ns: Cpu { user: Nanoseconds(user), system: Nanoseconds(system) },
        wait_ns: Nanoseconds(result.cpu.map_or(0.0, |(user, system)| figures.typical.0 - user - system)),
        bytes: Bytes(result.bytes),
        rounds,
        doubts,
        ..Cost::given(&operation, at, &printable(&result.per), figures)
    }
}
