//! The pane of the chosen row: its requests with their prices, its pairs, its errors, and its trend.

use analysis::bill::{Account, AccountLine, Who};
use anstyle::Style;
use record::{Nanoseconds, printable};

use crate::screen::canvas::{Area, Canvas, Spans, plain};
use crate::screen::column::{Column, cost, rate};
use crate::screen::memory::Entry;
use crate::screen::state::State;

/// Two parts beside each other need this width.
const BESIDE: u16 = 76;
/// Lines of the trend.
const TREND: u16 = 2;

const ASIDE: Style = Style::new().dimmed();

pub(super) fn draw(state: &State, canvas: &mut Canvas, area: Area) {
    let Some(entry) = state.chosen() else {
        canvas.titled(area, plain(" nothing to show "));
        return;
    };
    let inner = canvas.titled(area, (title(&entry.account), Style::new().bold()));
    if inner.width < BESIDE {
        return requests(state, &entry.account, canvas, inner);
    }
    // Three fifths, a blank, two fifths.
    let (left, rest) = inner.left((inner.width - 1) * 3 / 5);
    requests(state, &entry.account, canvas, left);
    let (trend_area, rest) = rest.left(1).1.top(TREND + 1);
    trend(state, entry, canvas, trend_area);
    sequences(state, &entry.account, canvas, rest);
}

fn title(account: &Account) -> String {
    let name = &account.name;
    let whose = match &account.who {
        Who::Process(pid) => format!("{name}, process {pid}"),
        Who::Short { parent: Some(parent), .. } => {
            format!("{name}, {} short-lived processes of process {parent}", account.processes)
        }
        Who::Short { .. } => format!("{name}, {} short-lived processes", account.processes),
        Who::Cgroup(_) => format!("cgroup {name}, {} processes that did something", account.processes),
    };
    let cgroup = account.cgroup.as_ref().map_or_else(String::new, |cgroup| format!("  in {cgroup}"));
    format!(" {whose}{cgroup} ")
}

fn per_second(state: &State, count: f64) -> f64 {
    count / (state.elapsed_ns / 1e9).max(1e-9)
}

/// The calls, and what else costs time.
fn requests(state: &State, account: &Account, canvas: &mut Canvas, area: Area) {
    let line = |line: &AccountLine| {
        let failed = if line.failed > 0 { rate(per_second(state, line.failed as f64)) } else { String::new() };
        let none = || if line.is_priced_together() { String::new() } else { "-".into() };
        let each = line.each().map_or_else(none, |each| Nanoseconds(each).to_string());
        let all = line.cost_ns.map_or_else(none, |all| cost(per_second(state, all / 1e6)));
        let count = rate(per_second(state, line.count as f64));
        (vec![printable(&line.what).to_string(), count, failed, each, all], Style::new())
    };
    let header = ["request", "count/s", "failed/s", "each", "ms/s"].map(String::from).to_vec();
    let lines = account.lines.iter().map(line);
    let number = Some(8);
    let widths = [None, number, number, number, number];
    canvas.table(area, &widths, std::iter::once((header, ASIDE)).chain(lines));
}

/// The recent intervals, the newest at the right.
fn trend(state: &State, entry: &Entry, canvas: &mut Canvas, area: Area) {
    let (what, text): (&str, fn(f64) -> String) = match state.trend_of() {
        Some(Column::Cost) => ("cost, ms/s", cost),
        Some(_) => ("calls/s", rate),
        None => ("processor time, %", rate),
    };
    let room = usize::from(area.width);
    let shown: Vec<f64> = entry.trend.iter().skip(entry.trend.len().saturating_sub(room)).copied().collect();
    let most = shown.iter().copied().fold(0.0, f64::max);
    let now = shown.last().copied().unwrap_or(0.0);
    let (head, chart) = area.top(1);
    let reported = format!("{what}: {}, at most {} in {}", text(now), text(most), shown.len());
    canvas.write(head, [vec![(reported, ASIDE)]]);
    let shares: Vec<f64> = shown.iter().map(|value| if most > 0.0 { value / most } else { 0.0 }).collect();
    canvas.bars(chart, &shares);
}

/// Errors, and which call follows which.
fn sequences(state: &State, account: &Account, canvas: &mut Canvas, area: Area) {
    let mut lines: Vec<Spans> = Vec::new();
    if !account.errors.is_empty() {
        let errors = account
            .errors
            .iter()
            .map(|error| format!("{} {}/s", printable(&error.name), rate(per_second(state, error.count as f64))));
        let text = errors.collect::<Vec<_>>().join(", ");
        lines.push(vec![("errors ".into(), ASIDE), plain(text)]);
    }
    for pair in &account.pairs {
        let times = rate(per_second(state, pair.count as f64));
        let text = format!("{times:>8}/s  {}, {}", printable(&pair.first), printable(&pair.then));
        lines.push(vec![plain(text)]);
    }
    canvas.write(area, lines);
}
