//! The pane of the chosen row: its requests with their prices, its pairs, its errors, and its trend.

use analysis::bill::{Account, AccountLine, Who};
use ratatui_core::layout::{Alignment, Constraint, Layout, Rect};
use ratatui_core::style::{Style, Stylize};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span, Text};
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::paragraph::Paragraph;
use ratatui_widgets::sparkline::Sparkline;
use ratatui_widgets::table::{Cell, Row, Table};
use record::{Nanoseconds, printable};

use crate::screen::column::{Column, cost, rate};
use crate::screen::memory::Entry;
use crate::screen::state::State;

/// Two parts beside each other need this width.
const BESIDE: u16 = 76;
/// Lines of the trend.
const TREND: u16 = 2;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let Some(entry) = state.chosen() else {
        return frame.render_widget(Block::new().borders(Borders::TOP).title(" nothing to show "), area);
    };
    let block = Block::new().borders(Borders::TOP).title(Line::from(title(&entry.account)).bold());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    if inner.width < BESIDE {
        return requests(state, &entry.account, frame, inner);
    }
    let parts = [Constraint::Fill(3), Constraint::Length(1), Constraint::Fill(2)];
    let [left, _, right] = Layout::horizontal(parts).areas(inner);
    requests(state, &entry.account, frame, left);
    let [trend_area, rest] = Layout::vertical([Constraint::Length(TREND + 1), Constraint::Fill(1)]).areas(right);
    trend(state, entry, frame, trend_area);
    sequences(state, &entry.account, frame, rest);
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

/// The calls, and what else costs time.
fn requests(state: &State, account: &Account, frame: &mut Frame<'_>, area: Rect) {
    let right = |text: String| Cell::from(Text::from(text).alignment(Alignment::Right));
    let titles = ["count/s", "failed/s", "each", "ms/s"].map(|title| right(title.into()));
    let header = Row::new([Cell::from("request")].into_iter().chain(titles)).style(Style::new().dim());
    let line = |line: &AccountLine| {
        let failed = if line.failed > 0 { rate(state.per_second(line.failed as f64)) } else { String::new() };
        let none = || if line.is_priced_together() { String::new() } else { "-".into() };
        let each = line.each().map_or_else(none, |each| Nanoseconds(each).to_string());
        let all = line.cost_ns.map_or_else(none, |all| cost(state.per_second(all / 1e6)));
        let count = rate(state.per_second(line.count as f64));
        let numbers = [count, failed, each, all].map(right);
        Row::new([Cell::from(printable(&line.what))].into_iter().chain(numbers))
    };
    let eight = Constraint::Length(8);
    let widths = [Constraint::Min(8), eight, eight, eight, eight];
    let lines = account.lines.iter().take(usize::from(area.height)).map(line);
    frame.render_widget(Table::new(lines, widths).header(header).column_spacing(1), area);
}

/// The recent intervals, the newest at the right.
fn trend(state: &State, entry: &Entry, frame: &mut Frame<'_>, area: Rect) {
    let (what, text): (&str, fn(f64) -> String) = match state.trend_of() {
        Some(Column::Cost) => ("cost, ms/s", cost),
        Some(_) => ("calls/s", rate),
        None => ("processor time, %", rate),
    };
    let room = usize::from(area.width);
    let shown: Vec<f64> = entry.trend.iter().skip(entry.trend.len().saturating_sub(room)).copied().collect();
    let most = shown.iter().copied().fold(0.0, f64::max);
    let now = shown.last().copied().unwrap_or(0.0);
    let [head, chart] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let heading = format!("{what}: {}, at most {} in {}", text(now), text(most), shown.len());
    frame.render_widget(Line::from(heading).dim(), head);
    // Bars are whole numbers: thousandths of the highest one.
    let bars: Vec<u64> = shown.iter().map(|value| if most > 0.0 { (value / most * 1e3) as u64 } else { 0 }).collect();
    frame.render_widget(Sparkline::default().data(bars).max(1000), chart);
}

/// Errors, and which call follows which.
fn sequences(state: &State, account: &Account, frame: &mut Frame<'_>, area: Rect) {
    let mut lines = Vec::new();
    if !account.errors.is_empty() {
        let times = |count: u64| rate(state.per_second(count as f64));
        let errors = account.errors.iter().map(|error| format!("{} {}/s", printable(&error.name), times(error.count)));
        let text = errors.collect::<Vec<_>>().join(", ");
        lines.push(Line::from(vec![Span::from("errors ").dim(), Span::from(text)]));
    }
    for pair in &account.pairs {
        let times = rate(state.per_second(pair.count as f64));
        let text = format!("{times:>8}/s  {}, {}", printable(&pair.first), printable(&pair.then));
        lines.push(Line::from(text));
    }
    lines.truncate(usize::from(area.height));
    frame.render_widget(Paragraph::new(lines), area);
}
