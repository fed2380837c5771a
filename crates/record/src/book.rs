//! A book: published costs with their source, or the costs of a reference machine as howslow measured them. It holds each
//! figure as given, and the same costs in the form of a run. Knows no particular book.

mod check;
mod entry;
mod figure;
mod form;
mod reference;
mod written;

use serde::Deserialize;

pub use check::{Check, Departure, Fact};
pub use entry::{Entry, PublishedDifference};
pub use reference::{Measured, Reference};

use crate::machine::Machine;
use crate::point::Point;
use crate::read::printable;
use crate::run::CountedIn;
use figure::{number, positive};

/// A longer text is not a book.
const MOST_BYTES: usize = 1 << 20;

/// The reasons why a text is not a book.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// It is larger than any book.
    #[error("the book is larger than {} MiB, so it is not a book", MOST_BYTES >> 20)]
    TooLarge,
    /// It is not TOML, or TOML without the fields of a book.
    #[error("not a book: {0}")]
    Malformed(String),
    /// Two costs of one id, a term that names no cost, a figure that is no number.
    #[error("the book contradicts itself: {operation}: {why}")]
    Contradicts {
        /// The cost with the error.
        operation: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Published costs with their source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// The name that loads it: `pdp-11-24`.
    pub name: String,
    /// The title of the publication.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// The year of the measurement.
    pub measured: String,
    /// The unit in which the figures are exact: `nanoseconds`, or `cycles` of the clock that the book then names.
    #[serde(default)]
    pub counted_in: CountedIn,
    /// The clock that converts cycles to times.
    #[serde(default)]
    pub clock: Option<NominalClock>,
    /// The machine, as far as the publication describes it.
    #[serde(default)]
    pub machine: Machine,
    /// The cost that is the unit of its block moves.
    #[serde(default)]
    pub block_move: Option<String>,
    /// Printed figures that are no costs and follow from nothing.
    #[serde(default, rename = "fact")]
    pub facts: Vec<Fact>,
    /// Printed figures that are no costs but follow from costs of this or another book.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
    /// The costs, in the order of the publication.
    #[serde(default, rename = "cost")]
    pub costs: Vec<Entry>,
    /// How its figures were taken, if it is a reference machine: howslow's own figures and no publication.
    #[serde(default)]
    pub reference: Option<Reference>,
    /// The costs of a reference machine.
    #[serde(default, rename = "measured_cost")]
    pub measured_costs: Vec<Measured>,
}

/// A nominal clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NominalClock {
    /// In GHz, as printed.
    pub ghz: String,
    /// Where the clock was published, and for which model.
    pub source: String,
}

impl Book {
    /// Reads and checks a book.
    ///
    /// # Errors
    /// If the text is too long, is no book, or contradicts itself.
    pub fn from_toml(text: &str) -> Result<Book, BookError> {
        if text.len() > MOST_BYTES {
            return Err(BookError::TooLarge);
        }
        let book: Book = toml::from_str(text).map_err(|error| BookError::Malformed(printable(error.message())))?;
        book.check()?;
        Ok(book)
    }

    fn check(&self) -> Result<(), BookError> {
        self.check_kind()?;
        if let Some(clock) = &self.clock {
            positive(&clock.ghz).map_err(|why| contradicts("clock", &why))?;
        } else if self.counted_in == CountedIn::Cycles {
            return Err(contradicts("clock", "a book counted in cycles names the clock that turns them to times"));
        }
        for (index, entry) in self.costs.iter().enumerate() {
            let same = |other: &Entry| other.operation == entry.operation && other.at == entry.at;
            if entry.operation.is_empty() || self.costs[..index].iter().any(same) {
                return Err(contradicts(&entry.operation, "its id is empty or stands twice"));
            }
            self.check_entry(entry)
                .map_err(|why| contradicts(&format!("{}{}", entry.operation, entry.at.typed()), &why))?;
        }
        for fact in &self.facts {
            fact.check().map_err(|why| contradicts(&fact.name, &why))?;
        }
        for check in &self.checks {
            check.check().map_err(|why| contradicts(&check.name, &why))?;
        }
        match &self.block_move {
            Some(id) if self.entry(id).is_none() => {
                Err(contradicts(id, "it is the unit, but the book does not have it"))
            }
            _ => Ok(()),
        }
    }

    /// A book either holds published costs or is a reference machine.
    fn check_kind(&self) -> Result<(), BookError> {
        let wrong = |operation: &str, why| Err(contradicts(operation, why));
        let Some(reference) = &self.reference else {
            return match (self.costs.is_empty(), self.measured_costs.is_empty()) {
                (true, _) => wrong("cost", "it has no cost"),
                (_, false) => wrong("measured_cost", "only a book with a table `reference` has measured costs"),
                _ => Ok(()),
            };
        };
        if !self.costs.is_empty() || !self.facts.is_empty() || !self.checks.is_empty() {
            return wrong("reference", "a reference machine has measured costs and nothing published");
        }
        if self.measured_costs.is_empty() {
            return wrong("measured_cost", "the reference machine has no cost");
        }
        if let Some(why) = reference.wrong() {
            return wrong("reference", why);
        }
        for (index, cost) in self.measured_costs.iter().enumerate() {
            let name = || format!("{}{}", cost.operation, cost.at.typed());
            if let Some(why) = cost.wrong() {
                return wrong(&name(), why);
            }
            let same = |other: &Measured| other.operation == cost.operation && other.at == cost.at;
            if self.measured_costs[..index].iter().any(same) {
                return wrong(&name(), "it stands twice");
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: &Entry) -> Result<(), String> {
        if let Some(text) = entry.wrong_figure() {
            return Err(format!("{text} is not a positive number or a range from less to more"));
        }
        let parts = entry.difference.iter().flat_map(|difference| [&difference.of, &difference.less]);
        let none = Point::default();
        let parts = parts.map(|id| (id, &none));
        let terms = entry.explained_by.iter().map(|term| (&term.operation, &term.at));
        let missing = |(id, at): &(&String, &Point)| self.entry_at(id, at).is_none();
        if let Some((missing, at)) = parts.chain(terms).find(missing) {
            return Err(format!("it names {missing}{at}, which the book does not have"));
        }
        let plain = |id: &String| self.entry(id).is_some_and(|entry| entry.difference.is_none());
        if entry.difference.as_ref().is_some_and(|difference| !plain(&difference.of) || !plain(&difference.less)) {
            return Err("it is a difference of differences".into());
        }
        if entry.cycles.is_some() && self.clock.is_none() {
            return Err("it is given in cycles, but the book names no clock".into());
        }
        if entry.cpu_ms.is_none() && entry.delta_ms.is_some() {
            return Err("it has a time without processor time, but no processor time".into());
        }
        if entry.quoted(self.ghz()).is_none() {
            return Err("it has neither a time nor a rate".into());
        }
        Ok(())
    }

    /// The nominal clock in GHz.
    pub fn ghz(&self) -> Option<f64> {
        number(&self.clock.as_ref()?.ghz)
    }

    /// The entry with this id that has no point.
    pub fn entry(&self, operation: &str) -> Option<&Entry> {
        self.entry_at(operation, &Point::default())
    }

    /// The entry with this id at this point.
    pub fn entry_at(&self, operation: &str, at: &Point) -> Option<&Entry> {
        self.costs.iter().find(|entry| entry.operation == operation && entry.at == *at)
    }

    /// The fact of this name.
    pub fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// The check of this name in this column.
    pub fn check_of(&self, name: &str, column: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name && check.column == column)
    }

    /// Milliseconds from the measured values: 1000 divided by the rate; without a rate the printed time; or the
    /// difference of two such values. `None` for an entry that has only a printed time.
    pub fn recomputed_ms(&self, entry: &Entry) -> Option<f64> {
        let from_rate = |entry: &Entry| entry.rate.as_deref().and_then(number).map(|rate| 1000.0 / rate);
        let ms = |entry: &Entry| {
            from_rate(entry).or_else(|| entry.quoted(self.ghz()).map(|interval| interval.value / figure::MS))
        };
        match &entry.difference {
            Some(difference) => Some(ms(self.entry(&difference.of)?)? - ms(self.entry(&difference.less)?)?),
            None => from_rate(entry),
        }
    }

    /// Milliseconds without processor time, from the printed times.
    pub fn recomputed_delta_ms(&self, entry: &Entry) -> Option<f64> {
        Some(entry.quoted(self.ghz())?.value / figure::MS - entry.cpu()?)
    }

    /// Block moves from the printed rates.
    pub fn recomputed_block_moves(&self, entry: &Entry) -> Option<f64> {
        let unit = self.recomputed_ms(self.entry(self.block_move.as_deref()?)?)?;
        Some(self.recomputed_ms(entry)? / unit)
    }

    /// Thousands of payload bits per second from the printed rate.
    pub fn recomputed_kbit_s(&self, entry: &Entry) -> Option<f64> {
        Some(number(entry.rate.as_deref()?)? * entry.bytes as f64 * 8.0 / 1000.0)
    }

    /// Every printed figure that differs from the recomputed one rounded to the same digits: first the costs in their
    /// order, then the checks.
    pub fn departures(&self) -> Vec<Departure> {
        let mut found = Vec::new();
        for entry in &self.costs {
            let ms = self.recomputed_ms(entry);
            let figures = [
                ("ns", &entry.ns, ms.map(|ms| ms * 1e6)),
                ("µs", &entry.us, ms.map(|ms| ms * 1e3)),
                ("ms", &entry.ms, ms),
                ("s", &entry.s, ms.map(|ms| ms / 1e3)),
                ("ms of waiting", &entry.delta_ms, self.recomputed_delta_ms(entry)),
                ("block moves", &entry.block_moves, self.recomputed_block_moves(entry)),
                ("kbit/s", &entry.kbit_s, self.recomputed_kbit_s(entry)),
            ];
            for (unit, printed, recomputed) in figures {
                let (Some(printed), Some(recomputed)) = (printed, recomputed) else { continue };
                found.extend(Departure::of(&entry.operation, &entry.name, unit, printed, recomputed));
            }
        }
        found.extend(self.checks.iter().filter_map(Check::departure));
        found
    }
}

fn contradicts(operation: &str, why: &str) -> BookError {
    BookError::Contradicts { operation: printable(operation), why: printable(why) }
}

#[cfg(test)]
mod tests;
