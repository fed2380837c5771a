//! Pages that are not a run: the operations, the runs kept, the doctor's findings.

use analysis::doctor::{Finding, Severity};
use analysis::{by_key, distinct};
use record::units::{counted, relative_width};
use record::{Machine, Nanoseconds, Point, Value};
use serde::Serialize;

use crate::column::{self, Column, left, right};
use crate::grid::{Grid, NOTHING, RowKind};
use crate::head::{machine_parts, short_model};
use crate::text::{Style, shortened};

/// An operation as `howslow list` shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// Its id.
    pub operation: String,
    /// Its heading.
    pub group: String,
    /// One sentence.
    pub summary: String,
    /// What one iteration is.
    pub per: String,
    /// Every point of a full run, or the points asked for.
    pub points: Vec<Point>,
    /// The axes that also take numbers of the user's own, with their bounds: `size from 1 B to 64 KiB`.
    pub free: Vec<String>,
    /// True if plain `howslow` measures it.
    pub headline: bool,
    /// The papers' names for it.
    pub like: Vec<String>,
    /// What it requires, in words.
    pub needs: Vec<String>,
}

/// A system call as `howslow list --syscalls` shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListedCall {
    /// Its number on this architecture.
    pub number: i32,
    /// The kernel's name for it.
    pub call: String,
    /// The operation that times it.
    pub operation: Option<String>,
    /// What is timed: `works`, the path that does the call's work, or `refused`.
    pub path: Option<String>,
    /// The reason why no operation times it.
    pub reason: Option<String>,
}

/// A cost in one kept run, or in several together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KeptFigure {
    /// The figure.
    pub ns: f64,
    /// Half its interval divided by it; null if it has none.
    pub half_width: Option<f64>,
    /// The number of runs.
    pub runs: usize,
}

impl Listed {
    /// Its id behind a star if it is a headline operation.
    fn starred(&self) -> String {
        format!("{} {}", if self.headline { '*' } else { ' ' }, self.operation)
    }
}

impl KeptFigure {
    fn text(&self) -> String {
        let half = self.half_width.map_or_else(String::new, |half| format!(" ± {}", relative_width(half)));
        format!("{}{half}", Nanoseconds(self.ns))
    }
}

/// A kept run as `howslow history` shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kept {
    /// Its name: `@1`.
    pub name: String,
    /// Its id.
    pub id: String,
    /// When it started.
    pub started: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Its machine's host name; empty if unknown.
    pub host: String,
    /// The processor.
    pub model: String,
    /// The kernel's release.
    pub kernel: String,
    /// The patterns measured; empty for the headline operations.
    pub patterns: Vec<String>,
    /// True if every point was asked for.
    pub full: bool,
    /// The cost that was asked for, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<KeptFigure>,
    /// The same of all runs that fit the filters and are of its build, kernel, boot and machine, at most 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<KeptFigure>,
    /// Its file, or the store that it is in.
    pub path: String,
}

/// The table of operations. Headline operations have a star.
pub fn list(operations: &[Listed], style: Style) -> String {
    let mut grid = Grid::new("<<<", [vec![1]]);
    let mut heading = None;
    for listed in operations {
        if heading != Some(&listed.group) {
            heading = Some(&listed.group);
            grid.heading([&listed.group, "per"]);
        }
        grid.row([&listed.starred(), &listed.per, &listed.summary]);
        let mut asides = axes(&listed.points);
        asides.extend(listed.free.iter().map(|free| format!("or any {free}")));
        if !listed.needs.is_empty() {
            asides.push(format!("needs {}", listed.needs.join(", ")));
        }
        for aside in asides {
            grid.add(RowKind::Aside, ["", "", &format!("  {aside}")]);
        }
    }
    let stars = operations.iter().filter(|listed| listed.headline).count();
    let points: usize = operations.iter().map(|listed| listed.points.len()).sum();
    let count = format!(
        "{}, {}; plain `howslow` measures the {stars} with a star",
        counted(operations.len() as u64, "operation"),
        counted(points as u64, "point")
    );
    grid.render(style) + &style.dim(&count) + "\n"
}

/// The operations that a search found, best first, one line each.
pub fn found(operations: &[Listed], style: Style) -> String {
    /// Further ones fit the words less well.
    const MOST: usize = 20;
    let mut grid = Grid::new("<<", NOTHING);
    for listed in operations.iter().take(MOST) {
        grid.row([&listed.starred(), &listed.summary]);
    }
    let more = match operations.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; {} with --json, or with a further word", counted(more as u64, "more operation")),
    };
    let note = format!("best first; `howslow list ID` tells its points{more}");
    grid.render(style) + &style.aside("", &note)
}

/// The table of system calls, with a summary as its last line.
pub fn syscalls(calls: &[ListedCall], style: Style) -> String {
    let mut grid = Grid::new("><<<", NOTHING);
    grid.heading(["number", "call", "operation", "path"]);
    for call in calls {
        let number = call.number.to_string();
        match &call.operation {
            Some(operation) => grid.row([&number, &call.call, operation, call.path.as_deref().unwrap_or_default()]),
            None => {
                let reason = call.reason.as_deref().unwrap_or("no operation times it");
                grid.add(RowKind::Aside, [&number, &call.call, "-", &format!("not timed: {reason}")]);
            }
        }
    }
    let on = |path: &str| calls.iter().filter(|call| call.path.as_deref() == Some(path)).count();
    let count = format!(
        "{}: {} timed at work, {} refused, {} not timed",
        counted(calls.len() as u64, "call"),
        on("works"),
        on("refused"),
        calls.iter().filter(|call| call.operation.is_none()).count()
    );
    grid.render(style) + &style.dim(&count) + "\n"
}

/// Each axis with its values, in the order of appearance: `size 1 B, 64 B`.
fn axes(points: &[Point]) -> Vec<String> {
    let text = |axis: &String, value: &Value| match value {
        Value::Number(_) | Value::Bytes(_) => {
            let alone = Point::default().with(axis, value.clone()).values();
            alone.strip_suffix(axis.as_str()).unwrap_or(&alone).trim_end().to_string()
        }
        Value::Word(word) => word.clone(),
    };
    let line = |(axis, values): (&String, Vec<&Value>)| {
        let texts: Vec<String> = distinct(values).map(|value| text(axis, value)).collect();
        format!("{axis} {}", texts.join(", "))
    };
    by_key(points.iter().flat_map(|point| &point.0)).into_iter().map(line).collect()
}

/// The table of kept runs, newest first.
pub fn history(kept: &[Kept], style: Style) -> String {
    if kept.is_empty() {
        return "no run is kept yet; `howslow` makes the first\n".into();
    }
    /// One line a run, also of one that many patterns made.
    const MEASURED: usize = 36;
    let mut columns: Vec<Column<'_, Kept>> = Vec::new();
    if kept.iter().any(|run| run.label.is_some()) {
        columns.push(left("label", |run: &Kept| run.label.clone().unwrap_or_default()));
    }
    columns.extend([
        left("id", |run: &Kept| run.id.clone()).dropped(3),
        // To the minute. The id has the second.
        left("started", |run: &Kept| run.started.get(..16).unwrap_or(&run.started).replace('T', " ")),
        left("measured", |run: &Kept| {
            let measured = match (run.patterns.as_slice(), run.full) {
                ([], false) => "headline".into(),
                ([], true) => "everything".into(),
                (patterns, full) => patterns.join(" ") + if full { " --full" } else { "" },
            };
            shortened(&measured, MEASURED)
        }),
        left("processor", |run: &Kept| short_model(&run.model)).dropped(2),
        left("kernel", |run: &Kept| run.kernel.clone()).dropped(1),
    ]);
    if kept.iter().any(|run| run.figure.is_some()) {
        let text = |figure: Option<KeptFigure>| figure.map_or_else(|| "-".into(), |figure| figure.text());
        columns.extend([
            right("figure", move |run: &Kept| text(run.figure)),
            right("all of this build", move |run: &Kept| text(run.together)),
            right("runs", |run: &Kept| run.together.map_or_else(|| "-".into(), |all| all.runs.to_string())),
        ]);
    }
    let mut grid = column::grid(&columns);
    grid.heading(column::titles("run", &columns));
    for run in kept {
        grid.row(column::cells(run.name.clone(), run, &columns));
    }
    grid.render(style)
}

/// What makes results noisy or missing on this machine, each with a remedy.
pub fn doctor(machine: &Machine, findings: &[Finding], style: Style) -> String {
    let mut page = machine_parts(machine).join("   ") + "\n";
    let sections = [
        (Severity::Odd, "odd in the newest run, beside the reference machines"),
        (Severity::Noise, "makes numbers noisy"),
        (Severity::Missing, "makes results missing"),
        (Severity::Note, "worth knowing"),
    ];
    for (severity, title) in sections {
        let these: Vec<&Finding> = findings.iter().filter(|finding| finding.severity == severity).collect();
        if these.is_empty() {
            continue;
        }
        page += &style.title(title);
        for finding in these {
            page += &style.paragraph("  ", &finding.what);
            page += &style.asides("      -> ", Some(&finding.remedy).filter(|remedy| !remedy.is_empty()));
        }
    }
    if findings.is_empty() {
        page += "\nnothing here makes numbers noisy or missing\n";
    }
    page
}
