//! The tables: what the paper calls I, II and III, and response times by interaction.

use analysis::load::{Depth, Measured, PaperRow, Response, ResponsePercentile, per_interaction, response_of};
use record::Nanoseconds;
use record::units::{Amount, grouped, percent, significant};

use crate::grid::{Grid, RowKind};
use crate::text::Style;

/// The paper's Table I: totals, and means per interaction.
pub(super) fn interactions(rows: &[PaperRow], style: Style) -> String {
    let mut grid = Grid::new("><>>>>>>>>>>", [vec![6], vec![4, 5], vec![11], vec![9], vec![2], vec![8], vec![7]]);
    grid.heading([
        "", "per interaction", "ended", "a second", "CPU", "faults", "real", "CPU each", "faults each", "wait",
        "response", "+-",
    ]);
    for (number, row) in rows.iter().enumerate() {
        let each = &row.response;
        let [mean, half] = mean_and_half(each);
        let [cpu, elapsed, cpu_each] = [row.cpu_s, row.elapsed_s, each.user_s + each.system_s].map(time);
        let failed = (each.failed > 0).then(|| format!("{} failed", each.failed));
        let [rate, faults_each] = [row.throughput, each.major_faults].map(significant);
        let (number, ended, wait) = ((number + 1).to_string(), ended(each, failed), wait(each));
        let (name, faults) = (row.configuration.described(), grouped(row.major_faults));
        grid.row([number, name, ended, rate, cpu, faults, elapsed, cpu_each, faults_each, wait, mean, half]);
    }
    grid.render(style)
}

/// The paper's Tables II and III, left part: time between page faults by depth, and the page device.
pub(super) fn paging(rows: &[PaperRow], style: Style) -> String {
    /// Deeper ones would not fit on the page.
    const MOST: usize = 6;
    let deepest = rows.iter().map(|row| row.depths.len().saturating_sub(1)).max().unwrap_or(0).clamp(1, MOST);
    let mut grid = Grid::new(
        &format!(">{}>>>", ">".repeat(deepest)),
        (3..=deepest).rev().map(|depth| vec![depth]).chain([vec![deepest + 2], vec![2]]),
    );
    let depths = (1..=deepest).map(|depth| if depth == 1 { "between faults 1".into() } else { depth.to_string() });
    let rest = ["faults each", "pages", "device busy"].map(String::from);
    grid.heading([String::new()].into_iter().chain(depths).chain(rest));
    for (number, row) in rows.iter().enumerate() {
        let number = (number + 1).to_string();
        let device = row.device.map_or_else(|| "-".into(), share);
        let rest = [significant(row.response.major_faults), Amount(row.pages_per_s).of("/s"), device];
        grid.row([number].into_iter().chain((1..=deepest).map(|depth| between_faults(row, depth))).chain(rest));
    }
    grid.render(style)
}

/// The paper's Tables II and III, right part: where the processors' time went, and the three kinds of idle.
pub(super) fn processors(rows: &[PaperRow], style: Style) -> String {
    let mut grid = Grid::new(">>>>>>>>>", [vec![8], vec![4], vec![3]]);
    grid.heading(["", "CPU user", "system", "faults", "other", "idle 1", "2", "3", "total"]);
    for (number, row) in rows.iter().enumerate() {
        let idle = row.idle;
        let shares = [
            row.busy.user,
            row.busy.system,
            row.busy.faults,
            row.busy.other,
            idle.multiprogramming,
            idle.non_multiprogramming,
            idle.zero,
            idle.total(),
        ];
        grid.row([(number + 1).to_string()].into_iter().chain(shares.map(share)));
    }
    let legend = "idle 1: as many processes are eligible as may be; 2: fewer are, but at least one; 3: none is";
    format!("{}{}\n", grid.render(style), style.dim(legend))
}

/// Response times by configuration and interaction.
pub(super) fn responses(all: &[Measured], names: &[String], style: Style) -> String {
    let mut grid = Grid::new("><>>>>>>>>>>>", [vec![12], vec![8], vec![5], vec![10, 11], vec![9], vec![6], vec![4]]);
    let head =
        ["", "response", "ended", "mean", "+-", "50 %", "90 %", "95 %", "99 %", "wait", "CPU user", "system", "faults"];
    grid.heading(head);
    let mut has_bounds = false;
    for (number, measured) in all.iter().enumerate() {
        let each = per_interaction(measured, names.len());
        let named = names.iter().map(String::as_str).zip(&each);
        let whole = response_of(measured);
        has_bounds |= each.iter().chain([&whole]).any(Response::is_bound);
        let rows = named.chain([("all", &whole)]);
        for (place, (name, response)) in rows.enumerate() {
            let number = if place == 0 { (number + 1).to_string() } else { String::new() };
            let kind = if name == "all" && place == names.len() { RowKind::Aside } else { RowKind::Row };
            grid.add(kind, cells(number, name, response));
        }
    }
    let legend = ">=: at least; what was unfinished at the end, behind the +, counts with the time that it had taken";
    let legend = if has_bounds { style.dim(legend) + "\n" } else { String::new() };
    grid.render(style) + &legend
}

fn cells(number: String, name: &str, response: &Response) -> Vec<String> {
    let [mean, half] = mean_and_half(response);
    let mut cells = vec![number, record::printable(name), ended_and_unfinished(response), mean, half];
    cells.extend(response.percentiles.iter().map(percentile));
    cells.push(wait(response));
    cells.extend([response.user_s, response.system_s].map(time));
    cells.push(format!("{} + {}", significant(response.major_faults), significant(response.minor_faults)));
    cells
}

/// How many ended, with how many failed and, where figures are bounds because of them, how many did not end.
fn ended(response: &Response, failed: Option<String>) -> String {
    let unfinished = response.is_bound().then(|| format!("{} unfinished", response.unfinished));
    let others: Vec<String> = failed.into_iter().chain(unfinished).collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
    format!("{}{others}", response.count)
}

/// The same in a narrow column.
fn ended_and_unfinished(response: &Response) -> String {
    let unfinished = if response.is_bound() { format!(" + {}", response.unfinished) } else { String::new() };
    format!("{}{unfinished}", response.count)
}

/// A percentile without an interval is shown all the same, marked.
fn percentile(percentile: &ResponsePercentile) -> String {
    match percentile.response {
        Some(figure) if figure.high.is_infinite() => format!("({})", time(figure.value)),
        figure => figure_or_bound(figure.map(|figure| figure.value), percentile.at_least_s),
    }
}

fn wait(response: &Response) -> String {
    let exact = response.mean_at_least_s.is_none() || response.queued == 0;
    figure_or_bound(Some(response.wait_s).filter(|_| exact), Some(response.wait_s))
}

pub(super) fn mean(response: &Response) -> String {
    figure_or_bound(response.mean.map(|mean| mean.value), response.mean_at_least_s)
}

/// A time in seconds, or else what it is at least.
pub(super) fn figure_or_bound(figure_s: Option<f64>, at_least_s: Option<f64>) -> String {
    let bound = || at_least_s.map_or_else(|| "-".into(), |bound_s| format!(">= {}", time(bound_s)));
    figure_s.map_or_else(bound, time)
}

fn mean_and_half(response: &Response) -> [String; 2] {
    let half = response.mean.map(|mean| mean.high - mean.value).filter(|half| half.is_finite());
    [mean(response), half.map_or_else(|| "-".into(), time)]
}

/// The processor time between two page faults while this many processes were eligible.
pub(super) fn between_faults(row: &PaperRow, depth: usize) -> String {
    row.depths.get(depth).and_then(Depth::between_faults_s).map_or_else(|| "-".into(), time)
}

pub(super) fn time(seconds: f64) -> String {
    Nanoseconds(seconds * 1e9).to_string()
}

/// A share, as a percentage; what is left over by rounding is not shown as a negative one.
pub(super) fn share(value: f64) -> String {
    if value.abs() < 5e-4 { "0 %".into() } else { percent(value) }
}

#[cfg(test)]
mod tests {
    use analysis::load::{Configuration, Depth, Finished, Unfinished, row};

    use super::*;

    #[test]
    fn idle_is_not_said_to_be_waiting_where_a_processor_is_left_over() {
        // One user works all the time, and has one of two processors.
        let depth = Depth { elapsed_s: 10.0, busy_s: 10.0, major_faults: 0.0 };
        let measured = Measured {
            configuration: Configuration { users: 1, cpus: 2, ..Configuration::default() },
            elapsed_s: 10.0,
            depths: vec![Depth::default(), depth],
            ..Measured::default()
        };
        let page = processors(&[row(&measured)], Style::PLAIN);
        assert!(page.contains("50 %") && !page.contains("wait"), "{page}");
    }

    #[test]
    fn what_is_unfinished_is_shown_where_it_makes_figures_bounds() {
        let ended = Finished { response_s: 0.5, ..Finished::default() };
        let unfinished = |age_s| vec![Unfinished { age_s, ..Unfinished::default() }; 8];
        let page = |age_s| {
            let measured = Measured {
                elapsed_s: 4.0,
                finished: vec![ended; 24],
                unfinished: unfinished(age_s),
                ..Measured::default()
            };
            responses(std::slice::from_ref(&measured), &["a".into()], Style::PLAIN)
                + &interactions(&[row(&measured)], Style::PLAIN)
        };
        let (ordinary, stuck) = (page(0.25), page(4.0));
        assert!(!ordinary.contains(">=") && !ordinary.contains("unfinished"), "{ordinary}");
        // 24 of half a second and eight of at least four.
        assert!(
            stuck.contains("24 (8 unfinished)") && stuck.contains(" 24 + 8 ") && stuck.contains(">= 1.38 s"),
            "{stuck}"
        );
        assert!(stuck.contains("500 ms") && stuck.contains(">= 4.00 s") && stuck.contains(">=: at least"), "{stuck}");
    }

    #[test]
    fn nothing_is_not_less_than_zero() {
        let page = interactions(&[row(&Measured { elapsed_s: 1.0, ..Measured::default() })], Style::PLAIN);
        assert!(!page.contains("-0"), "{page}");
    }
}
