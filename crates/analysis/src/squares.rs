//! Weighted least squares.

/// What fits some rows best.
pub(crate) struct LeastSquares {
    pub coefficients: Vec<f64>,
    /// The covariances of the coefficients, where each weight is that of one over the square of the row's error.
    pub covariances: Vec<Vec<f64>>,
}

/// The fit of `rows` (values of the unknowns' factors, result, weight); `None` if they leave a coefficient open.
pub(crate) fn least_squares(rows: &[(Vec<f64>, f64, f64)]) -> Option<LeastSquares> {
    let size = rows.first()?.0.len();
    // The normal equations: coefficients, results, and the unit matrix, which becomes the inverse.
    let mut table = vec![vec![0.0; 2 * size + 1]; size];
    for (factors, result, weight) in rows {
        for (row, factor) in table.iter_mut().zip(factors) {
            for (cell, other) in row.iter_mut().zip(factors.iter().chain([result])) {
                *cell += weight * factor * other;
            }
        }
    }
    (0..size).for_each(|index| table[index][size + 1 + index] = 1.0);
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
    let solved = |column: usize| (0..size).map(|index| table[index][column] / table[index][index]).collect();
    Some(LeastSquares { coefficients: solved(size), covariances: (size + 1..=2 * size).map(solved).collect() })
}
