//! What interrupts cost where nothing traces them: from how much time was lost in each window, and how often each line
//! interrupted in it.

use super::gap::SpinWindow;
use crate::statistics::{mean, median, squares};

/// One line of interrupts or softirqs.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its place in the recording's list of names.
    pub line: usize,
    /// How often it came, in all windows.
    pub count: u64,
    /// What one of them takes away, in ns. 0 for a line whose part cannot be separated from those before it.
    pub each: f64,
}

/// The cost of one interrupt of each line that came at all, from windows and the time lost in each of them (ns), gaps with
/// a switch excluded: the costs, none below zero, that explain the lost time best, beside a loss in proportion to time that
/// no line explains. Windows that fit badly, because something rare happened in them, count less (Huber's weights). Lines
/// that always come together with an earlier one cannot be separated from it and get nothing.
pub fn attribute(windows: &[SpinWindow], lost: &[f64]) -> Vec<Line> {
    let lines = windows.iter().map(|window| window.counts.len()).min().unwrap_or(0);
    let mut columns: Vec<Vec<f64>> = vec![windows.iter().map(|window| (window.end - window.start) / 1e9).collect()];
    let mut placed = Vec::new();
    for line in 0..lines {
        let column: Vec<f64> = windows.iter().map(|window| window.counts[line] as f64).collect();
        let count = windows.iter().map(|window| window.counts[line]).sum();
        if count == 0 {
            continue;
        }
        let known = columns[1..].iter().any(|other| together(other, &column));
        let place = (!known).then(|| {
            columns.push(column);
            columns.len() - 1
        });
        placed.push((Line { line, count, each: 0.0 }, place));
    }
    let costs = robust(&columns, lost);
    let with_cost =
        |(line, place): (Line, Option<usize>)| Line { each: place.map_or(0.0, |place| costs[place]), ..line };
    placed.into_iter().map(with_cost).collect()
}

/// True if two columns rise and fall together.
fn together(a: &[f64], b: &[f64]) -> bool {
    const SAME: f64 = 0.98;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let both: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    let (only_a, only_b) = (squares(a), squares(b));
    // Two that never change are the same in any proportion.
    let scale = (only_a * only_b).sqrt();
    if scale == 0.0 { only_a == only_b } else { both / scale > SAME }
}

/// Least squares with weights that are lowered where the rest is large, five times over.
fn robust(columns: &[Vec<f64>], lost: &[f64]) -> Vec<f64> {
    const LARGE: f64 = 2.0;
    let mut weights = vec![1.0; lost.len()];
    let mut costs = Vec::new();
    for _ in 0..6 {
        costs = not_negative(columns, lost, &weights);
        let rest: Vec<f64> = (0..lost.len()).map(|row| (lost[row] - sum(columns, &costs, row)).abs()).collect();
        let usual = 1.48 * median(rest.iter().copied()).unwrap_or(0.0);
        if usual == 0.0 {
            break;
        }
        weights = rest.iter().map(|rest| (LARGE * usual / rest.max(1e-9)).min(1.0)).collect();
    }
    costs
}

fn sum(columns: &[Vec<f64>], costs: &[f64], row: usize) -> f64 {
    columns.iter().zip(costs).map(|(column, cost)| column[row] * cost).sum()
}

/// Weighted least squares without negative results, by coordinate descent: each in turn is set to what is best for it, or
/// to zero.
fn not_negative(columns: &[Vec<f64>], lost: &[f64], weights: &[f64]) -> Vec<f64> {
    const SWEEPS: u32 = 500;
    let mut costs = vec![0.0; columns.len()];
    let mut rest = lost.to_vec();
    let square = |column: &Vec<f64>| column.iter().zip(weights).map(|(value, weight)| weight * value * value).sum();
    let squares: Vec<f64> = columns.iter().map(square).collect();
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        // What time alone explains comes last: it stands for what nothing else does.
        for place in (0..columns.len()).rev().filter(|&place| squares[place] > 0.0) {
            let column = &columns[place];
            let slope: f64 =
                column.iter().zip(weights).zip(&rest).map(|((value, weight), rest)| weight * value * rest).sum();
            let best = (costs[place] + slope / squares[place]).max(0.0);
            let step = best - costs[place];
            if step != 0.0 {
                rest.iter_mut().zip(column).for_each(|(rest, value)| *rest -= step * value);
                costs[place] = best;
                moved = moved.max(step.abs() * (squares[place] / weights.len() as f64).sqrt());
            }
        }
        if moved < 1e-3 {
            break;
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of 50 ms with a steady tick, an interrupt by chance and a softirq that always follows it.
    fn made(seed: u64, stalls: bool) -> (Vec<SpinWindow>, Vec<f64>) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut windows = Vec::new();
        let mut lost = Vec::new();
        for number in 0..300 {
            let start = f64::from(number) * 5e7;
            let (ticks, disk) = (random.u64(11..=14), random.u64(0..200));
            let counts = vec![ticks, disk, disk, 0];
            windows.push(SpinWindow { start, end: start + 5e7, counts, ..SpinWindow::default() });
            let noise = 2_000.0 * random.f64();
            let stall = if stalls && random.f64() < 0.05 { 3e6 } else { 0.0 };
            lost.push(ticks as f64 * 1_500.0 + disk as f64 * 4_000.0 + noise + stall);
        }
        (windows, lost)
    }

    fn each(lines: &[Line], line: usize) -> f64 {
        lines.iter().find(|found| found.line == line).map_or(f64::NAN, |found| found.each)
    }

    #[test]
    fn costs_come_out_of_counts() {
        for stalls in [false, true] {
            let (windows, lost) = made(11, stalls);
            let lines = attribute(&windows, &lost);
            assert!((each(&lines, 1) / 4_000.0 - 1.0).abs() < 0.05, "{lines:?}");
            assert!((each(&lines, 0) / 1_500.0 - 1.0).abs() < 0.15, "{lines:?}");
            assert_eq!(each(&lines, 2), 0.0, "it always comes with the line before it");
            assert!(lines.iter().all(|line| line.line != 3), "what never came is not reported");
        }
    }

    #[test]
    fn lost_time_that_no_line_explains_is_given_to_none() {
        let (windows, _) = made(12, false);
        let mut random = fastrand::Rng::with_seed(13);
        let lost: Vec<f64> = windows.iter().map(|_| 1e5 + 1e4 * random.f64()).collect();
        let lines = attribute(&windows, &lost);
        assert!(each(&lines, 1) < 100.0, "{lines:?}");
    }

    #[test]
    fn nothing_recorded_is_nothing_attributed() {
        assert_eq!(attribute(&[], &[]), Vec::new());
        let window = SpinWindow { end: 5e7, counts: vec![3], ..SpinWindow::default() };
        let lines = attribute(&[window], &[4_500.0]);
        assert_eq!((lines.len(), lines[0].count), (1, 3));
        assert!(lines[0].each.is_finite());
    }
}
