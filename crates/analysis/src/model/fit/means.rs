//! Weighted means with intervals.

use crate::model::figure::Figure;
use crate::statistics::student_quantile;

/// The weighted mean of figures. Its interval holds what the figures scatter by, and their own intervals.
pub(super) fn mean(figures: impl IntoIterator<Item = (Figure, f64)>) -> Figure {
    let figures: Vec<(Figure, f64)> = figures.into_iter().collect();
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
        let figures = (0..16).map(|place| (f64::from(place % 2).into(), 1.0));
        // Half of the sum of squares over n, by n - 1: 0.5 / sqrt(15), times t with 15 degrees of freedom.
        let (low, high) = mean(figures).interval.expect("they scatter");
        assert!(((high - low) / 2.0 - 2.131_45 * 0.5 / 15_f64.sqrt()).abs() < 1e-5, "{low} {high}");
    }
}
