//! Weighted least squares.

/// The coefficients that fit `rows` (values of the unknowns' factors, result, weight) best; `None` if they leave one open.
pub(crate) fn least_squares(rows: &[(Vec<f64>, f64, f64)]) -> Option<Vec<f64>> {
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
