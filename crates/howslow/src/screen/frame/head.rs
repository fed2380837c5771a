//! The heading: how it is counted and priced, and what the whole system does.

use ratatui_core::layout::Rect;
use ratatui_core::style::{Style, Stylize};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span};
use ratatui_widgets::paragraph::Paragraph;
use record::Nanoseconds;
use record::units::{counted, percent};

use crate::screen::about::View;
use crate::screen::column::{Column, rate};
use crate::screen::state::State;

/// The most lines of notes.
const NOTES: usize = 3;

/// The lines that the heading takes.
pub(super) fn lines(state: &State, width: u16) -> u16 {
    (1 + totals(state, width).len() + notes(state, width).len()) as u16
}

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let mut lines = vec![title(state)];
    lines.extend(totals(state, area.width).into_iter().map(Line::from));
    lines.extend(notes(state, area.width).into_iter().map(|note| Line::from(note).yellow()));
    frame.render_widget(Paragraph::new(lines), area);
}

fn title(state: &State) -> Line<'static> {
    let settings = &state.settings;
    let what = if settings.view == View::Processes { "processes" } else { "cgroups" };
    let shown = Span::from(format!("  {what} every {} s", settings.every.as_secs_f64()));
    let mut spans = vec![Span::from("howslow top").bold(), shown];
    if state.frozen {
        spans.push(Span::from("  "));
        spans.push(Span::from(" FROZEN ").reversed());
    }
    if !settings.filter.is_empty() {
        spans.push(Span::from(format!("  filter {}", settings.filter)).cyan());
    }
    spans.push(Span::from(format!("  counted by {}", state.about.source)));
    if let Some(each) = state.about.counting_ns.filter(|each| *each > 0.0) {
        spans.push(Span::from(format!(", {} a call", Nanoseconds(each))));
    }
    match &state.about.prices {
        Some(prices) => spans.push(Span::from(format!("  prices {prices}"))),
        None => spans.push(Span::styled("  no prices", Style::new().yellow())),
    }
    Line::from(spans)
}

fn totals(state: &State, width: u16) -> Vec<String> {
    let Some(total) = &state.total else { return vec!["waiting for the first interval".into()] };
    let text = |column: Column| column.text(total, state.elapsed_ns);
    let mut parts = Vec::new();
    if let Some(cost) = total.cost_ns.filter(|_| state.about.prices.is_some()) {
        let share = cost / state.elapsed_ns.max(1.0) / f64::from(state.about.cpus.max(1));
        parts.push(format!(
            "cost {} ms/s, {} of {}",
            text(Column::Cost),
            percent(share),
            counted(state.about.cpus.into(), "CPU")
        ));
    }
    if state.about.counts_calls {
        parts.push(format!("{} calls/s", text(Column::Calls)));
        parts.push(format!("{} errors/s", text(Column::Errors)));
    }
    parts.push(format!("kernel {} %, user {} %", text(Column::Kernel), text(Column::User)));
    parts.push(format!("{} faults/s", text(Column::Faults)));
    parts.push(format!("{} switches/s", text(Column::Switches)));
    let unpriced = total.lines.iter().filter(|line| line.cost_ns.is_none() && !line.is_priced_together());
    let unpriced: u64 = unpriced.map(|line| line.count).sum();
    if unpriced > 0 && state.about.prices.is_some() {
        parts.push(format!("{}/s without a price", rate(state.per_second(unpriced as f64))));
    }
    filled(parts.iter().map(String::as_str), "  ", width)
}

/// Parts in lines of this width.
fn filled<'a>(parts: impl Iterator<Item = &'a str>, gap: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let length = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut().filter(|line| length(line) + length(gap) + length(part) <= width) {
            Some(line) => *line = format!("{line}{gap}{part}"),
            None => lines.push(part.into()),
        }
    }
    lines
}

/// What is missing.
fn notes(state: &State, width: u16) -> Vec<String> {
    let notes = state.about.notes.iter();
    let mut lines: Vec<String> = notes.flat_map(|note| filled(note.split_whitespace(), " ", width)).collect();
    lines.truncate(NOTES);
    lines
}
