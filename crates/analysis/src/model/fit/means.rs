//! Weighted least squares, and means with intervals.

use crate::model::figure::Figure;
use crate::statistics::student_quantile;

/// The coefficients that fit `rows` (values of the unknowns' factors, result, weight) best; `None` if they leave one open.
pub(super) fn least_squares(rows: &[(Vec<f64>, f64, f64)]) -> Option<Vec<f64>> {
    let size = rows.first()?.0.len();
    let mut table = vec![vec![0.0; size + 1]; size];
    for (factors, result, weight) in rows {
        for (row, factor) in table.iter_mut().zip(factors) {
            for (cell, other) in row.iter_mut().zip(factors.iter().chain([result])) {
                *cell += weight * factor * other;
            }
        }
    }
    let scale: Vec<f64> = (0..size).map(|index| table[index][index]).collect();
    for pivot in 0..size {
        let best = (pivot..size).max_by(|&a, &b| table[a][pivot].abs().total_cmp(&table[b][pivot].abs()))?;
        table.swap(pivot, best);
        if table[pivot][pivot].abs() <= 1e-9 * scale[pivot].abs() || scale[pivot] == 0.0 {
            return None;
        }
        let pivot_row = table[pivot].clone();
        for (index, row) in table.iter_mut().enumerate() {
            if index != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                row.iter_mut().zip(&pivot_row).for_each(|(cell, other)| *cell -= factor * other);
            }
        }
    }
    Some((0..size).map(|index| table[index][size] / table[index][index]).collect())
}

/// The weighted mean of figures. Its interval holds what the figures scatter by, and their own intervals.
pub(super) fn mean(figures: &[(Figure, f64)]) -> Figure {
    let weights: f64 = figures.iter().map(|(_, weight)| weight).sum();
    if weights <= 0.0 {
        return Figure::default();
    }
    let value = figures.iter().map(|(figure, weight)| figure.value * weight).sum::<f64>() / weights;
    let own: f64 = figures.iter().map(|(figure, weight)| (figure.interval().half() * weight / weights).powi(2)).sum();
    let scatter: f64 = figures.iter().map(|(figure, weight)| weight / weights * (figure.value - value).powi(2)).sum();
    let count = figures.len() as f64;
    let student = || student_quantile(0.975, figures.len() as u32 - 1);
    let scatter = if count > 1.0 { (student() / (count - 1.0).sqrt()).powi(2) * scatter } else { 0.0 };
    let half = own.max(scatter).sqrt();
    let interval = (half > 0.0).then_some(((value - half).max(0.0), value + half));
    Figure { value, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_students_for_many_figures_too() {
        let figures: Vec<(Figure, f64)> =
            (0..16).map(|place| (Figure { value: f64::from(place % 2), interval: None }, 1.0)).collect();
        // Half of the sum of squares over n, by n - 1: 0.5 / sqrt(15), times t with 15 degrees of freedom.
        let (low, high) = mean(&figures).interval.expect("they scatter");
        assert!(((high - low) / 2.0 - 2.131_45 * 0.5 / 15_f64.sqrt()).abs() < 1e-5, "{low} {high}");
    }
}
