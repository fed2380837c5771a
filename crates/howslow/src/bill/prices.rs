//! Which operations price a call: the mix of a bill, and its prices in a run.

use analysis::bill::CALLS;
use analysis::mix::Lack;
use analysis::predict::{MachineState, Prediction, predict_in};
use operation::Operation;
use record::{CallCount, Mix, MixLine, Observation, Point, Run, Term, Value};

use crate::cli::{BillArgs, PriceState};
use crate::predict::pricing::names;
use crate::resolve;

/// What prices a bill.
pub(crate) struct Prices {
    pub run: Option<Run>,
    pub state: MachineState,
}

/// A priced bill, and what it lacks.
pub(crate) struct Priced {
    pub prediction: Option<Prediction>,
    pub lacking: Vec<String>,
    pub remedy: Option<String>,
}

/// Operations that move this many bytes by one call; `None`: as many as the axis `size` says.
type Sized = (&'static str, Option<u64>);

/// Calls whose price grows with the bytes that they move, with the operations that measure that.
const SIZED: &[(&str, &[Sized])] = &[
    ("read", &[("syscall.read.zero", Some(1)), ("call.read", Some(512)), ("file.read", None)]),
    ("pread64", &[("call.pread64", Some(512)), ("file.read", None)]),
    ("write", &[("syscall.write.null", Some(1)), ("call.write", Some(512)), ("file.write", None)]),
    ("pwrite64", &[("call.pwrite64", Some(512)), ("file.write", None)]),
];
/// The file of those points that have one: its size, and the writes that filled it, in bytes.
const FILE: [(&str, u64); 2] = [("file", 4 << 20), ("filled", 128 << 10)];

/// Calls by which processes and threads begin and end, which are priced together.
const PROCESS_CALLS: &[&str] =
    &["clone", "clone3", "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"];

impl Prices {
    /// The run that is named, else the newest that is kept, if there is one.
    ///
    /// # Errors
    /// If the named run cannot be read.
    pub(super) fn open(args: &BillArgs) -> anyhow::Result<Prices> {
        Prices::of(args.on.as_deref(), args.by)
    }

    /// The same, by the run's name.
    ///
    /// # Errors
    /// If the named run cannot be read.
    pub(crate) fn of(on: Option<&str>, by: PriceState) -> anyhow::Result<Prices> {
        let run = match on {
            Some(name) => Some(resolve::run(name)?),
            None => resolve::run("@1").ok(),
        };
        let state = match by {
            PriceState::Quiet => MachineState::Quiet,
            PriceState::Typical => MachineState::Typical,
        };
        Ok(Prices { run, state })
    }

    /// The mix of what was counted. Each line's note is the row of the bill that it belongs to.
    pub(crate) fn lines(&self, seen: &Observation) -> Vec<MixLine> {
        let mut lines = Vec::new();
        for call in &seen.together.calls {
            if !PROCESS_CALLS.contains(&call.call.as_str()) {
                lines.extend(self.call(call));
            }
        }
        lines.extend(self.processes(seen));
        let usage = &seen.usage;
        let switches = usage.voluntary_switches.unwrap_or(0) + usage.involuntary_switches.unwrap_or(0);
        let faults = usage.minor_faults.unwrap_or(0);
        let frames = [("frames", Value::Word("recycled".into()))];
        lines.extend(self.line("page.fault.anonymous", &frames, faults as f64, "minor faults", "memory"));
        let nothing = [("set", Value::Number(0))];
        lines.extend(self.line("switch.process", &nothing, switches as f64, "switches", "switches"));
        lines
    }

    /// What prices a call: by its size if that matters, else by the operation that times it alone.
    fn call(&self, call: &CallCount) -> Vec<MixLine> {
        let name = call.call.as_str();
        if let Some((_, sized)) = SIZED.iter().find(|(sized, _)| *sized == name)
            && let Some(bytes) = call.bytes
        {
            return self.sized(call, bytes, sized);
        }
        let timing = operations::timing(name).filter(|operation| !operation.refused);
        let Some(operation) = timing.min_by_key(|operation| operation.calls.len()) else { return Vec::new() };
        let line = MixLine {
            term: Term { times: call.count as f64, operation: operation.id.into(), at: self.point(operation) },
            family: CALLS.into(),
            note: Some(name.into()),
        };
        vec![line]
    }

    /// The headline point of an operation that the run has; else the first.
    fn point(&self, operation: &Operation) -> Point {
        let points = operation.points(false);
        let has = |point: &&Point| self.has(operation.id, point);
        points.iter().find(has).or(points.first()).cloned().unwrap_or_default()
    }

    fn has(&self, operation: &str, point: &Point) -> bool {
        self.run.iter().flat_map(|run| &run.costs).any(|cost| cost.operation == operation && cost.at == *point)
    }

    /// A straight line through the two nearest measured sizes, at the mean of the bytes: so many times the one, so many times
    /// the other. The price is linear between them, so the mean is all that matters. Beyond the largest it is proportional to
    /// the bytes.
    fn sized(&self, call: &CallCount, bytes: u64, sized: &[Sized]) -> Vec<MixLine> {
        let mut points: Vec<(f64, &str, Point)> = Vec::new();
        for (id, size) in sized {
            let Some(operation) = operations::find(id) else { continue };
            for point in operation.points(true).into_iter().filter(is_usual) {
                let size = size.or(point.number("size"));
                points.extend(size.map(|size| (size as f64, operation.id, point)));
            }
        }
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let times = call.count as f64;
        let mean = bytes as f64 / times.max(1.0);
        // A line may leave out sizes that the run does not have, but nothing is told of sizes below its first one.
        let known: Vec<_> = points.iter().filter(|(_, id, point)| self.has(id, point)).cloned().collect();
        if known.first().is_some_and(|(size, ..)| *size <= mean.max(1.0)) {
            points = known;
        }
        let line = |(_, id, point): &(f64, &str, Point), times: f64| MixLine {
            term: Term { times, operation: (*id).into(), at: point.clone() },
            family: CALLS.into(),
            note: Some(call.call.clone()),
        };
        let above = points.iter().position(|(size, ..)| *size >= mean);
        match (above, points.last()) {
            (Some(0), _) => vec![line(&points[0], times)],
            (Some(above), _) => {
                let (small, large) = (&points[above - 1], &points[above]);
                let part = (mean - small.0) / (large.0 - small.0);
                vec![line(small, times * (1.0 - part)), line(large, times * part)]
            }
            (None, Some(last)) => vec![line(last, times * mean / last.0)],
            (None, None) => Vec::new(),
        }
    }

    /// Processes that executed a program, those that did not, and threads.
    fn processes(&self, seen: &Observation) -> Vec<MixLine> {
        let calls = seen.together.calls.iter().filter(|call| call.call.starts_with("execve"));
        let executed: u64 = calls.map(|call| call.count - call.failed().min(call.count)).sum();
        let created = seen.processes.iter().filter(|process| process.parent.is_some());
        let created: u64 = created.map(|process| process.processes).sum();
        let threads = seen.together.forks.saturating_sub(created);
        // A command's own first program is executed by it, but the process was there.
        let copied = created.saturating_sub(executed.saturating_sub(1));
        let each = [("process.exec", executed), ("process.fork", copied), ("thread.clone3", threads)];
        let lines = each.into_iter().filter(|(_, times)| *times > 0);
        lines
            .filter_map(|(id, times)| {
                let row = if id == "thread.clone3" { "threads" } else { "processes" };
                self.line(id, &[], times as f64, row, "processes")
            })
            .collect()
    }

    /// A line of a mix at the axes named, with the rest as the run has it.
    fn line(&self, id: &str, at: &[(&str, Value)], times: f64, note: &str, family: &str) -> Option<MixLine> {
        let operation = operations::find(id).filter(|_| times > 0.0)?;
        let named = |point: &&Point| at.iter().all(|(axis, value)| point.0.get(*axis) == Some(value));
        let points = operation.points(true);
        let at = points.iter().find(named).cloned().unwrap_or_default();
        let term = Term { times, operation: id.into(), at };
        Some(MixLine { term, family: family.into(), note: Some(note.into()) })
    }

    /// The lines at the prices of the run.
    pub(crate) fn priced(&self, seen: &Observation, lines: &[MixLine]) -> Priced {
        let Some(run) = self.run.as_ref().filter(|_| !lines.is_empty()) else {
            let remedy = (self.run.is_none() && !lines.is_empty())
                .then(|| format!("no run is kept, so there are no prices; {}", command(lines)));
            return Priced { prediction: None, lacking: Vec::new(), remedy };
        };
        let mix = mix(seen, lines.to_vec());
        let prediction = predict_in(self.state, &mix, run, 0, &names);
        let missing = |(line, lack): &(MixLine, Lack)| matches!(lack, Lack::Missing(None)).then(|| line.clone());
        let to_measure: Vec<MixLine> = prediction.lacking.iter().filter_map(missing).collect();
        let lacking = prediction.lacking.iter().map(|(line, _)| line.name()).collect();
        let remedy = (!to_measure.is_empty()).then(|| command(&to_measure));
        Priced { prediction: Some(prediction), lacking, remedy }
    }
}

/// True for the points at which a call of a file is priced: those without a file, and one file.
fn is_usual(point: &Point) -> bool {
    FILE.iter().all(|(axis, value)| point.number(axis).is_none_or(|is| is == *value))
}

/// The mix of what was counted.
pub(super) fn mix(seen: &Observation, lines: Vec<MixLine>) -> Mix {
    Mix {
        name: seen.what.clone(),
        unit: "command".into(),
        source: Some(format!("howslow bill, counted by {}", seen.source)),
        whole: None,
        whole_as: record::WholeAs::Net,
        whole_units: 1.0,
        measured: std::collections::BTreeMap::new(),
        lines,
    }
}

/// The command that measures these lines.
fn command(lines: &[MixLine]) -> String {
    let names = lines.iter().map(|line| shell_words::quote(&line.name()).into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    format!("their prices: howslow run {}", names.join(" "))
}
