//! Where one method overtakes another: two costs measured at numbers of an axis as input; whether and where they cross, each
//! crossing with an interval, as output. Measures nothing.
//!
//! ```
//! use howslow_analysis::crossover::{CrossoverAnswer, CostsAt, found};
//! use howslow_analysis::statistics::Interval;
//!
//! let one = |value: f64| Interval { value, low: value * 0.99, high: value * 1.01 };
//! // 100 + x / 10 against 200.
//! let points: Vec<CostsAt> = [100.0, 400.0, 1600.0, 6400.0]
//!     .map(|at| CostsAt { at, costs: [one(100.0 + at / 10.0), one(200.0)] }).into();
//! let CrossoverAnswer::Once(crossing) = found(&points) else { panic!("they cross once") };
//! assert!(crossing.at.low <= 1000.0 && crossing.at.high >= 1000.0);
//! ```

mod find;
mod fit;
mod form;
mod next;

pub use find::found;
pub use form::{CostsAt, Crossing, CrossoverAnswer, Side};
pub use next::next;

#[cfg(test)]
mod tests;
