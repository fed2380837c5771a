//! The page of `howslow terminal --pty`, and its charts: the paper's Figures 2-1 and 2-2.

use analysis::distinct;
use analysis::terminal::QUANTILES;
use analysis::terminal::pseudo::{Edited, Flow, Keystrokes, PseudoTerminals, Transfer};
use record::units::{percent, significant};
use record::{Bytes, Nanoseconds};

use super::megabytes;
use crate::chart::{Axis, Chart, Series, Unit};
use crate::grid::{Grid, inner};
use crate::interval::time;
use crate::text::Style;

/// The page.
pub fn pseudo_terminals(terminals: &PseudoTerminals, style: Style) -> String {
    let mut text = format!("{} of howslow's own, all on CPU {}\n", style.bold("pseudo-terminals"), terminals.cpu);
    let parts = [
        highest(terminals, style),
        paced(terminals, style),
        keystrokes(terminals, style),
        transfers(terminals, style),
        editors(terminals, style),
    ];
    for part in parts.iter().filter(|part| !part.is_empty()) {
        text += &format!("\n{part}");
    }
    for missing in &terminals.missing {
        let remedy = if missing.remedy.is_empty() { String::new() } else { format!("; {}", missing.remedy) };
        text += &style.paragraph("not here: ", &format!("{}: {}{remedy}", missing.what, missing.reason));
    }
    text
}

/// A heading, a table and what one must know to read it.
fn part(title: &str, grid: &Grid, note: &str, style: Style) -> String {
    format!("{}\n{}{}", style.bold(title), grid.render(style), style.aside("", note))
}

fn highest(terminals: &PseudoTerminals, style: Style) -> String {
    let sizes: Vec<u64> = distinct(terminals.highest.iter().map(|flow| flow.size)).collect();
    if sizes.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&format!("<{}", ">".repeat(sizes.len())), inner(1, sizes.len()));
    let head = sizes.iter().map(|&size| Bytes(size).to_string());
    grid.heading(["path".to_string()].into_iter().chain(head));
    for path in distinct(terminals.highest.iter().map(|flow| flow.path.as_str())) {
        let cell = |size: &u64| {
            let flow = terminals.highest.iter().find(|flow| flow.path == path && flow.size == *size);
            flow.map_or_else(|| "-".into(), |flow| megabytes(flow.rate_per_cpu()))
        };
        grid.row([path.to_string()].into_iter().chain(sizes.iter().map(cell)));
    }
    let note = "MB written for each second of processor time, by path and bytes of a write. Counted are the program, the \
                emulator that drains, programs in between, and the kernel's threads, which carry the bytes.";
    part("the rate at which one CPU is used up (Figure 2-1), MB/s", &grid, note, style)
}

fn paced(terminals: &PseudoTerminals, style: Style) -> String {
    let mut rates: Vec<f64> = distinct(terminals.paced.iter().filter_map(|flow| flow.requested)).collect();
    rates.sort_by(f64::total_cmp);
    if rates.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&format!("<>{}", ">".repeat(rates.len())), inner(2, rates.len()));
    let head = rates.iter().map(|&rate| Unit::BytesPerSecond.text(rate));
    grid.heading(["path".to_string(), "write".into()].into_iter().chain(head));
    for (path, size) in distinct(terminals.paced.iter().map(|flow| (flow.path.as_str(), flow.size))) {
        let cell = |rate: &f64| {
            let wanted = |flow: &&Flow| flow.path == path && flow.size == size && flow.requested == Some(*rate);
            terminals.paced.iter().find(wanted).map_or_else(|| "-".into(), left)
        };
        let names = [path.to_string(), Bytes(size).to_string()];
        grid.row(names.into_iter().chain(rates.iter().map(cell)));
    }
    let note = "1 - processor time / time, in shares of one CPU; negative: all tasks and kernel threads together took more than \
                one. In brackets: the rate that was reached where it was not the one asked for. -: too few writes for a rate.";
    part("the CPU left at fixed rates (Figure 2-2)", &grid, note, style)
}

fn left(flow: &Flow) -> String {
    let left = format!("{}{}", if flow.left() < 0.0 { "-" } else { "" }, percent(flow.left().abs()));
    match flow.reached() {
        true => left,
        false => format!("{left} ({})", Unit::BytesPerSecond.text(flow.rate())),
    }
}

fn keystrokes(terminals: &PseudoTerminals, style: Style) -> String {
    if terminals.keystrokes.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<>>>>>", [vec![6], vec![3]]);
    grid.heading(["echoed by", "typed"].into_iter().chain(QUANTILES.map(|(name, _)| name)).chain(["samples"]));
    for Keystrokes { echo, pause_s, latency } in &terminals.keystrokes {
        let typed = match *pause_s {
            0.0 => "in a row".into(),
            pause => format!("{} apart", Nanoseconds(pause * 1e9)),
        };
        let times = QUANTILES.map(|(_, share)| time(latency.at(share)));
        grid.row([echo.clone(), typed].into_iter().chain(times).chain([latency.samples().to_string()]));
    }
    let note = "Both ends on one CPU unless it says otherwise. -: too few samples. The 95 % interval of each quantile is in --json.";
    part("from a keystroke to its echo", &grid, note, style)
}

fn transfers(terminals: &PseudoTerminals, style: Style) -> String {
    if terminals.transfers.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<>>>>", [vec![3], vec![2]]);
    grid.heading(["input", "echo", "read", "reads", "MB/s", "MB per CPU second"]);
    for transfer in &terminals.transfers {
        let Transfer { input, echo, read_bytes, bytes, reads, elapsed_s, used } = transfer;
        let echo = if *echo { "yes" } else { "no" };
        let [rate, per_cpu] = [*elapsed_s, used.all()].map(|seconds| megabytes(*bytes as f64 / seconds));
        grid.row([input, echo, &Bytes(*read_bytes).to_string(), &reads.to_string(), &rate, &per_cpu]);
    }
    let bytes = terminals.transfers.first().map_or(0, |transfer| transfer.bytes);
    let note = format!(
        "A file of {} typed into a terminal and read by a program. Canonical input comes by lines of 64 bytes; a raw read \
         returns what it asks for, up to 255 bytes at least.",
        Bytes(bytes)
    );
    part("file transfer through a terminal", &grid, &note, style)
}

fn editors(terminals: &PseudoTerminals, style: Style) -> String {
    let Some(first) = terminals.editors.first() else { return String::new() };
    let mut grid = Grid::new("<<>>>>", [vec![2], vec![4]]);
    grid.heading(["editor", "kind", "typed", "shown", "reads and writes", "CPU"]);
    for Edited { editor, screen, typed, shown, calls, cpu_s, .. } in &terminals.editors {
        let kind = if *screen { "screen" } else { "line" };
        let calls = calls.map_or_else(|| "-".into(), |calls| calls.to_string());
        let cpu = Nanoseconds(cpu_s * 1e9).to_string();
        grid.row([editor, kind, &typed.to_string(), &shown.to_string(), &calls, &cpu]);
    }
    let note = format!(
        "The same {} edits, each on another screen of the text, with the same file as result. Bytes typed and shown; CPU from \
         start to end.",
        first.edits
    );
    part("editors", &grid, &note, style)
}

/// A flow as the figures draw it.
pub(crate) struct DrawnFlow<'a> {
    /// The path that the bytes take.
    pub path: &'a str,
    /// Bytes of a write.
    pub size: f64,
    /// Bytes a second: of processor time in Figure 2-1, of time in Figure 2-2.
    pub rate: f64,
    /// The share of a CPU that is left.
    pub left: f64,
}

impl<'a> DrawnFlow<'a> {
    fn new(flow: &'a Flow, rate: f64) -> DrawnFlow<'a> {
        DrawnFlow { path: &flow.path, size: flow.size as f64, rate, left: flow.left() }
    }
}

/// Figures 2-1 and 2-2, each with a short name for a file.
pub fn terminal_charts(terminals: &PseudoTerminals) -> Vec<(&'static str, Chart)> {
    let highest: Vec<_> = terminals.highest.iter().map(|flow| DrawnFlow::new(flow, flow.rate_per_cpu())).collect();
    let paced: Vec<_> = terminals.paced.iter().map(|flow| DrawnFlow::new(flow, flow.rate())).collect();
    flow_charts(&highest, &paced)
}

/// The same of flows at the highest and at fixed rates.
pub(crate) fn flow_charts(highest: &[DrawnFlow<'_>], paced: &[DrawnFlow<'_>]) -> Vec<(&'static str, Chart)> {
    let of_path = |path: &str| {
        let flows = highest.iter().filter(|flow| flow.path == path);
        Series::new(path, flows.map(|flow| (flow.size, flow.rate)).collect())
    };
    let used_up = Chart {
        title: "Figure 2-1: bytes a second at which one CPU is used up, by bytes of a write".into(),
        x: Axis::log("write", Unit::Bytes),
        y: Axis::log("rate", Unit::BytesPerSecond),
        series: distinct(highest.iter().map(|flow| flow.path)).map(of_path).collect(),
    };
    let of_kind = |(path, size): (&str, f64)| {
        let flows = paced.iter().filter(|flow| flow.path == path && flow.size == size);
        let points = flows.map(|flow| (flow.rate, flow.left.max(0.0)));
        Series::new(format!("{path}, {} B", significant(size)), points.collect())
    };
    let left = Chart {
        title: "Figure 2-2: CPU left by the rate that was reached (0: one CPU or more is used)".into(),
        x: Axis::log("rate", Unit::BytesPerSecond),
        y: Axis::linear("CPU left", Unit::Share),
        series: distinct(paced.iter().map(|flow| (flow.path, flow.size))).map(of_kind).collect(),
    };
    let charts = [("terminal-2-1", used_up), ("terminal-2-2", left)];
    charts.into_iter().filter(|(_, chart)| !chart.series.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use analysis::terminal::Latency;
    use analysis::terminal::pseudo::{Missing, Used};

    use super::*;

    fn flow(path: &str, size: u64, requested: Option<f64>, cpu: f64) -> Flow {
        let bytes = requested.map_or(size * 100_000, |rate| rate.min(5e6) as u64);
        Flow {
            path: path.into(),
            size,
            requested,
            bytes,
            elapsed_s: 1.0,
            used: Used { tasks_s: 0.8 * cpu, kernel_threads_s: Some(0.2 * cpu) },
        }
    }

    #[test]
    fn a_page_and_its_figures() {
        let sizes = [1, 64, 4096];
        let terminals = PseudoTerminals {
            cpu: 1,
            highest: ["raw", "ssh"].iter().flat_map(|path| sizes.map(|size| flow(path, size, None, 1.1))).collect(),
            paced: sizes
                .iter()
                .flat_map(|&size| [1e4, 1e6, 1e8].map(|rate| flow("raw", size, Some(rate), rate / 1e7)))
                .filter(|flow| flow.size < 4096 || flow.bytes > 10_000)
                .collect(),
            keystrokes: [0.0, 0.002]
                .map(|pause_s| Keystrokes {
                    echo: "program".into(),
                    pause_s,
                    latency: Latency::new((1..=5000).map(|n| 5000.0 + f64::from(n))),
                })
                .into(),
            transfers: vec![Transfer {
                input: "canonical".into(),
                echo: true,
                read_bytes: 64,
                bytes: 262_144,
                reads: 4096,
                elapsed_s: 0.02,
                used: Used { tasks_s: 0.01, kernel_threads_s: Some(0.005) },
            }],
            editors: [("vim", true), ("ed", false)]
                .map(|(editor, screen)| Edited {
                    editor: editor.into(),
                    screen,
                    edits: 20,
                    typed: 300,
                    shown: if screen { 40_000 } else { 2000 },
                    calls: screen.then_some(500),
                    cpu_s: 0.01,
                })
                .into(),
            missing: vec![Missing { what: "tcp".into(), reason: "no network".into(), remedy: "a network".into() }],
        };
        insta::assert_snapshot!(pseudo_terminals(&terminals, Style::PLAIN));
        let charts = terminal_charts(&terminals);
        assert_eq!(charts.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["terminal-2-1", "terminal-2-2"]);
        assert_eq!((charts[0].1.series.len(), charts[1].1.series.len()), (2, 3));
        let points = charts.iter().flat_map(|(_, chart)| &chart.series).flat_map(|series| &series.points);
        assert!(points.into_iter().all(|(x, y)| *x > 0.0 && *y >= 0.0));
        assert!(terminal_charts(&PseudoTerminals::default()).is_empty());
    }
}
