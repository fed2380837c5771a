//! The Markov chain of the whole system, solved exactly.
//!
//! States are grouped into levels by the number of interactions present. From one level the chain goes only to its neighbours, so that
//! the balance equations are block tridiagonal; levels are eliminated from the top, one matrix inversion each (Neuts, Matrix-Geometric
//! Solutions, 1981, for a finite number of levels).

use super::prediction::{Method, SteadyState};
use super::rates::{Rates, VISITS};
use super::steady::Steady;

/// One place within a level: (waiting for pages, waiting elsewhere).
type ChainPlace = (u32, u32);

/// The places of a level with this many eligible interactions.
fn places(rates: &Rates, eligible: u32) -> Vec<ChainPlace> {
    let pages = if rates.waits_for_pages() { eligible } else { 0 };
    let all = (0..=pages).flat_map(|pages| {
        let elsewhere = if rates.other_s > 0.0 { eligible - pages } else { 0 };
        (0..=elsewhere).map(move |elsewhere| (pages, elsewhere))
    });
    all.collect()
}

/// Multiplications that a solution takes with at most so many eligible, roughly.
pub(super) fn effort(rates: &Rates, most: u32) -> f64 {
    let most = f64::from(most);
    let both = rates.waits_for_pages() && rates.other_s > 0.0;
    let one = rates.waits_for_pages() || rates.other_s > 0.0;
    let places = match (both, one) {
        (true, _) => (most + 1.0) * (most + 2.0) / 2.0,
        (false, true) => most + 1.0,
        (false, false) => 1.0,
    };
    // Below the limit, levels are smaller.
    let levels = if rates.think_s > 0.0 { f64::from(rates.users) - most * 0.7 } else { 1.0 };
    levels * places.powi(3)
}

pub(super) fn solve(rates: &Rates) -> SteadyState {
    let mut steady = Steady::new(rates);
    for (present, level) in probabilities(rates) {
        let places = places(rates, rates.eligible(present));
        for (&(pages, elsewhere), probability) in places.iter().zip(level) {
            steady.add(present, pages, elsewhere, probability);
        }
    }
    steady.prediction(Method::Chain, 1.0)
}

/// The probability of every place of every level.
fn probabilities(rates: &Rates) -> Vec<(u32, Vec<f64>)> {
    if rates.think_s == 0.0 {
        // Nobody ever thinks, so that all are always present.
        return vec![(rates.users, closed_level(rates, rates.users))];
    }
    let top = rates.users as usize;
    // ups[n] gives level n + 1 from level n: pi(n + 1) = pi(n) ups[n].
    let mut ups: Vec<Matrix> = vec![Matrix::zero(0, 0); top];
    for present in (1..=top as u32).rev() {
        let level = places(rates, rates.eligible(present));
        let mut leaving = within(rates, present, &level);
        if let Some(above) = ups.get(present as usize) {
            add_excursions(rates, present, &level, above, &mut leaving);
        }
        let arrivals = f64::from(rates.users - present + 1) / rates.think_s;
        let inverse = leaving.inverse();
        let below = places(rates, rates.eligible(present - 1));
        let rows = below.iter().map(|place| level.binary_search(place).unwrap_or(0));
        ups[present as usize - 1] = inverse.rows(rows, arrivals);
    }
    let mut levels = vec![(0, vec![1.0])];
    let mut sum = 1.0;
    for (below, up) in ups.iter().enumerate() {
        let next = up.times_row(&levels[below].1);
        sum += next.iter().sum::<f64>();
        levels.push((below as u32 + 1, next));
        if sum > 1e200 {
            // Only ratios matter until the end.
            levels.iter_mut().flat_map(|(_, level)| level).for_each(|value| *value /= sum);
            sum = 1.0;
        }
    }
    levels.iter_mut().flat_map(|(_, level)| level).for_each(|value| *value /= sum);
    levels
}

/// The rate of finished interactions in a place.
fn finishing(rates: &Rates, eligible: u32, (pages, elsewhere): ChainPlace) -> f64 {
    let busy = f64::from(rates.busy(eligible, pages, elsewhere));
    busy / (rates.work_s * rates.stretch(eligible, rates.faults_per_s(eligible, pages)))
}

/// The moves from a place of a level to others of it, by their index, with their rates.
fn moves(rates: &Rates, eligible: u32, level: &[ChainPlace], place: ChainPlace) -> impl Iterator<Item = (usize, f64)> {
    let (pages, elsewhere) = place;
    let faults_per_s = rates.faults_per_s(eligible, pages);
    let working = f64::from(rates.busy(eligible, pages, elsewhere)) / rates.stretch(eligible, faults_per_s);
    let nothing = (place, 0.0);
    let fault = if rates.waits_for_pages() { ((pages + 1, elsewhere), working * faults_per_s) } else { nothing };
    let arrive = f64::from(rates.served(pages)) / rates.service(eligible);
    let page = if pages > 0 { ((pages - 1, elsewhere), arrive) } else { nothing };
    let visit = if rates.other_s > 0.0 { ((pages, elsewhere + 1), working * VISITS / rates.work_s) } else { nothing };
    let back =
        if elsewhere > 0 { ((pages, elsewhere - 1), f64::from(elsewhere) * VISITS / rates.other_s) } else { nothing };
    let all = [fault, page, visit, back].into_iter().filter(|(_, rate)| *rate > 0.0);
    all.filter_map(|(to, rate)| Some((level.binary_search(&to).ok()?, rate)))
}

/// The negative generator of a level: what leaves each place on the diagonal, less what stays within the level.
fn within(rates: &Rates, present: u32, level: &[ChainPlace]) -> Matrix {
    let eligible = rates.eligible(present);
    let arrivals = f64::from(rates.users - present) / rates.think_s;
    let mut matrix = Matrix::zero(level.len(), level.len());
    for (from, &place) in level.iter().enumerate() {
        let mut leaves = arrivals + finishing(rates, eligible, place);
        for (to, rate) in moves(rates, eligible, level, place) {
            *matrix.at(from, to) -= rate;
            leaves += rate;
        }
        *matrix.at(from, from) += leaves;
    }
    matrix
}

/// Takes from a level's matrix what goes to the level above and comes back.
fn add_excursions(rates: &Rates, present: u32, level: &[ChainPlace], above: &Matrix, leaving: &mut Matrix) {
    let eligible = rates.eligible(present + 1);
    for (column, &place) in places(rates, eligible).iter().enumerate() {
        let back = finishing(rates, eligible, place);
        // A place from which none finishes may not exist below.
        if back > 0.0
            && let Ok(to) = level.binary_search(&place)
        {
            for from in 0..level.len() {
                *leaving.at(from, to) -= above.get(from, column) * back;
            }
        }
    }
}

/// The places of a level that is never left: what finishes is replaced at once.
fn closed_level(rates: &Rates, present: u32) -> Vec<f64> {
    let eligible = rates.eligible(present);
    let level = places(rates, eligible);
    let mut generator = Matrix::zero(level.len(), level.len());
    for (from, &place) in level.iter().enumerate() {
        for (to, rate) in moves(rates, eligible, &level, place) {
            *generator.at(from, to) += rate;
        }
    }
    generator.stationary()
}

/// A dense matrix, row by row.
#[derive(Clone, Debug)]
struct Matrix {
    columns: usize,
    cells: Vec<f64>,
}

impl Matrix {
    fn zero(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, cells: vec![0.0; rows * columns] }
    }

    fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.cells[row * self.columns + column]
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.columns + column]
    }

    /// The inverse of a diagonally dominant matrix, which needs no exchange of rows (Gauss and Jordan, in place).
    fn inverse(mut self) -> Matrix {
        let size = self.columns;
        let mut row_of_pivot = vec![0.0; size];
        for pivot in 0..size {
            let inverse = 1.0 / self.get(pivot, pivot);
            *self.at(pivot, pivot) = 1.0;
            let row = &mut self.cells[pivot * size..(pivot + 1) * size];
            row.iter_mut().for_each(|cell| *cell *= inverse);
            row_of_pivot.copy_from_slice(row);
            for (index, row) in self.cells.chunks_exact_mut(size).enumerate() {
                if index != pivot {
                    let factor = std::mem::take(&mut row[pivot]);
                    row.iter_mut().zip(&row_of_pivot).for_each(|(cell, other)| *cell -= factor * other);
                }
            }
        }
        self
    }

    /// These rows in this order, times a factor.
    fn rows(&self, rows: impl Iterator<Item = usize>, factor: f64) -> Matrix {
        let cells = rows.flat_map(|row| self.cells[row * self.columns..(row + 1) * self.columns].iter());
        Matrix { columns: self.columns, cells: cells.map(|cell| cell * factor).collect() }
    }

    fn times_row(&self, row: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.columns];
        for (factor, cells) in row.iter().zip(self.cells.chunks_exact(self.columns)) {
            product.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += factor * cell);
        }
        product
    }

    /// The stationary probabilities of a chain with these rates (Grassmann, Taksar and Heyman, 1985: no subtraction).
    fn stationary(mut self) -> Vec<f64> {
        let size = self.columns;
        for last in (1..size).rev() {
            let sum: f64 = (0..last).map(|to| self.get(last, to)).sum();
            for from in 0..last {
                let rate = self.get(from, last) / sum;
                *self.at(from, last) = rate;
                for to in 0..last {
                    *self.at(from, to) += rate * self.get(last, to);
                }
            }
        }
        let mut probabilities = vec![1.0; size.min(1)];
        for to in 1..size {
            let probability = (0..to).map(|from| probabilities[from] * self.get(from, to)).sum();
            probabilities.push(probability);
        }
        let sum: f64 = probabilities.iter().sum();
        probabilities.iter().map(|probability| probability / sum).collect()
    }
}
