//! A book: published costs with their source, each figure as printed, and the same costs in the form of a run.
//! Knows no particular book.

use serde::Deserialize;

use crate::cost::{Cost, Cpu, Estimate, Faults, Figures, Switches, Term};
use crate::machine::Machine;
use crate::run::{CountedIn, Noise, Run, SCHEMA, Settings};
use crate::units::{Bytes, Nanoseconds};

/// Longer texts are no book.
const MOST_BYTES: usize = 1 << 20;
/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// Why a text is not a book.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// Larger than any book.
    #[error("the book is larger than {} MiB, which no book is", MOST_BYTES >> 20)]
    TooLarge,
    /// Not TOML, or TOML without what a book must say.
    #[error("not a book: {0}")]
    Malformed(String),
    /// Two costs of one id, a term that names no cost, a figure that is no number.
    #[error("the book contradicts itself: {operation}: {why}")]
    Contradicts {
        /// The cost concerned.
        operation: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Published costs with their source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// What it is loaded by: `pdp-11-24`.
    pub name: String,
    /// The title of the publication.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// The year it was measured in.
    pub measured: String,
    /// Where it was measured, as far as the publication says.
    #[serde(default)]
    pub machine: Machine,
    /// The cost that its block moves are quoted in.
    #[serde(default)]
    pub block_move: Option<String>,
    /// The costs, in the order of the publication.
    #[serde(rename = "cost")]
    pub costs: Vec<Entry>,
}

/// One published cost. Figures are texts, because the digits printed tell how exact they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// Its id in the run.
    pub operation: String,
    /// As the publication calls it.
    pub name: String,
    /// One sentence on what it does.
    pub summary: String,
    /// The table it stands in.
    pub group: String,
    /// What one iteration is; a call where nothing is said.
    pub per: String,
    /// Operations per second, as printed.
    pub rate: Option<String>,
    /// Milliseconds, as printed.
    pub ms: Option<String>,
    /// Block moves, as printed.
    pub block_moves: Option<String>,
    /// Thousands of payload bits per second, as printed.
    pub kbit_s: Option<String>,
    /// Payload.
    pub bytes: u64,
    /// Names it shares with the registry's operations.
    pub like: Vec<String>,
    /// Operations of howslow that do the same on Linux, the nearest first; a point follows an `@`.
    pub analogues: Vec<String>,
    /// What it is said to consist of.
    pub explained_by: Vec<Term>,
    /// The two costs whose difference it is.
    pub difference: Option<Difference>,
}

/// A cost that was published as the difference of two others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The dearer one.
    pub of: String,
    /// The one subtracted.
    pub less: String,
}

/// A printed figure that is not what the printed rates give when rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The cost.
    pub operation: String,
    /// As the publication calls it.
    pub name: String,
    /// `ms`, `block moves` or `kbit/s`.
    pub unit: &'static str,
    /// As printed.
    pub printed: String,
    /// From the rates.
    pub recomputed: f64,
}

impl Book {
    /// Reads and checks a book.
    ///
    /// # Errors
    /// A text that is too long, is no book, or contradicts itself.
    pub fn from_toml(text: &str) -> Result<Book, BookError> {
        if text.len() > MOST_BYTES {
            return Err(BookError::TooLarge);
        }
        let book: Book =
            toml::from_str(text).map_err(|error| BookError::Malformed(crate::printable(error.message())))?;
        book.check()?;
        Ok(book)
    }

    fn check(&self) -> Result<(), BookError> {
        for (index, entry) in self.costs.iter().enumerate() {
            let wrong = |why: String| {
                Err(BookError::Contradicts {
                    operation: crate::printable(&entry.operation),
                    why: crate::printable(&why),
                })
            };
            if entry.operation.is_empty() || self.costs[..index].iter().any(|other| other.operation == entry.operation)
            {
                return wrong("its id is empty or stands twice".into());
            }
            let figures = [&entry.rate, &entry.ms, &entry.block_moves, &entry.kbit_s];
            let bad = figures.into_iter().flatten().find(|text| number(text).is_none_or(|figure| figure <= 0.0));
            if let Some(text) = bad {
                return wrong(format!("{text} is not a positive number"));
            }
            let parts = entry.difference.iter().flat_map(|difference| [&difference.of, &difference.less]);
            let mut named = parts.chain(entry.explained_by.iter().map(|term| &term.operation));
            if let Some(missing) = named.find(|id| self.entry(id).is_none()) {
                return wrong(format!("it names {missing}, which the book does not have"));
            }
            let plain = |id: &String| self.entry(id).is_some_and(|entry| entry.difference.is_none());
            if entry.difference.as_ref().is_some_and(|difference| !plain(&difference.of) || !plain(&difference.less)) {
                return wrong("it is a difference of differences".into());
            }
            if entry.quoted().is_none() {
                return wrong("it has neither a time nor a rate".into());
            }
        }
        match &self.block_move {
            Some(id) if self.entry(id).is_none() => Err(BookError::Contradicts {
                operation: crate::printable(id),
                why: "it is the unit, but the book does not have it".into(),
            }),
            _ => Ok(()),
        }
    }

    /// The entry with this id.
    pub fn entry(&self, operation: &str) -> Option<&Entry> {
        self.costs.iter().find(|entry| entry.operation == operation)
    }

    /// Milliseconds from the printed rates: 1000 over the rate, or the difference of two such.
    pub fn recomputed_ms(&self, entry: &Entry) -> Option<f64> {
        let ms = |entry: &Entry| entry.rate.as_deref().and_then(number).map(|rate| 1000.0 / rate);
        match &entry.difference {
            Some(difference) => Some(ms(self.entry(&difference.of)?)? - ms(self.entry(&difference.less)?)?),
            None => ms(entry),
        }
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

    /// Every printed figure that is not the recomputed one rounded to as many digits, in the order of the costs.
    pub fn departures(&self) -> Vec<Departure> {
        let mut found = Vec::new();
        for entry in &self.costs {
            let figures = [
                ("ms", &entry.ms, self.recomputed_ms(entry)),
                ("block moves", &entry.block_moves, self.recomputed_block_moves(entry)),
                ("kbit/s", &entry.kbit_s, self.recomputed_kbit_s(entry)),
            ];
            for (unit, printed, recomputed) in figures {
                let (Some(printed), Some(recomputed)) = (printed, recomputed) else { continue };
                // Compared as printed: 0.55 is not a binary fraction.
                if format!("{recomputed:.*}", decimals(printed)) != *printed {
                    found.push(Departure {
                        operation: entry.operation.clone(),
                        name: entry.name.clone(),
                        unit,
                        printed: printed.clone(),
                        recomputed,
                    });
                }
            }
        }
        found
    }

    /// The book in the form of a run: each cost as printed, its interval what the printed digits leave open.
    pub fn run(&self) -> Run {
        Run {
            schema: SCHEMA.into(),
            id: self.name.clone(),
            started: self.measured.clone(),
            finished: self.measured.clone(),
            howslow: String::new(),
            counted_in: CountedIn::Nanoseconds,
            machine: self.machine.clone(),
            settings: Settings { patterns: vec![format!("{}: {}", self.title, self.source)], ..Settings::default() },
            noise: Noise::default(),
            costs: self.costs.iter().filter_map(|entry| self.cost(entry)).collect(),
            skipped: Vec::new(),
        }
    }

    fn cost(&self, entry: &Entry) -> Option<Cost> {
        let net_ns = match &entry.difference {
            None => entry.quoted()?,
            Some(difference) => {
                // A difference of two rounded figures is no more exact than both of them together.
                let reach = |id: &str| self.entry(id)?.quoted().map(|figures| (figures.high.0 - figures.low.0) / 2.0);
                let open = reach(&difference.of)? + reach(&difference.less)?;
                let value = entry.quoted()?.typical.0;
                figures(value, value - open, value + open)
            }
        };
        let subtracted = |difference: &Difference| Term {
            times: 1.0,
            operation: difference.less.clone(),
            at: crate::Point::default(),
        };
        let gross_ns = match &entry.difference {
            None => net_ns,
            Some(difference) => self.entry(&difference.of)?.quoted()?,
        };
        Some(Cost {
            operation: entry.operation.clone(),
            summary: entry.summary.clone(),
            group: entry.group.clone(),
            version: 1,
            at: crate::Point::default(),
            per: if entry.per.is_empty() { "call".into() } else { entry.per.clone() },
            like: entry.like.clone(),
            cpus: 1,
            follows_clock: false,
            net_ns,
            headline: Estimate::Typical,
            gross_ns,
            cpu_ns: Cpu::default(),
            wait_ns: Nanoseconds(0.0),
            cycles: 0.0,
            bytes: Bytes(entry.bytes),
            faults: Faults::default(),
            switches: Switches::default(),
            reads: None,
            tallies: std::collections::BTreeMap::new(),
            rounds: Vec::new(),
            terms: entry.difference.iter().map(subtracted).collect(),
            explained_by: entry.explained_by.clone(),
            doubts: Vec::new(),
        })
    }
}

impl Entry {
    /// The time as printed, or else one over the rate as printed, with what rounding leaves open.
    fn quoted(&self) -> Option<Figures> {
        if let Some(text) = &self.ms {
            let (value, open) = (number(text)?, rounding(text));
            return Some(figures(value * MS, (value - open) * MS, (value + open) * MS));
        }
        let text = self.rate.as_ref()?;
        let (rate, open) = (number(text)?, rounding(text));
        Some(figures(1e9 / rate, 1e9 / (rate + open), 1e9 / (rate - open)))
    }
}

fn figures(value: f64, low: f64, high: f64) -> Figures {
    let value = Nanoseconds(value);
    Figures { best: value, quiet: value, typical: value, low: Nanoseconds(low), high: Nanoseconds(high) }
}

fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| plain)
}

/// Digits after the point.
fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Half a unit of the last digit.
fn rounding(text: &str) -> f64 {
    0.5 * 0.1_f64.powi(decimals(text) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        name = "small"
        title = "A title"
        source = "a journal"
        measured = "1986"
        block_move = "x.move"
        [[cost]]
        operation = "x.move"
        rate = "733"
        ms = "1.36"
        [[cost]]
        operation = "x.two"
        rate = "126"
        ms = "7.94"
        bytes = 26
        kbit_s = "26"
        explained_by = [{ times = 2.0, operation = "x.move" }]
        [[cost]]
        operation = "x.null"
        rate = "57142"
        [[cost]]
        operation = "x.rest"
        name = "the rest"
        ms = "6.57"
        difference = { of = "x.two", less = "x.move" }
    "#;

    #[test]
    fn printed_digits_become_figures_and_intervals() {
        let run = Book::from_toml(SMALL).expect("a book").run();
        let figures = |index: usize| {
            let net = run.costs[index].net_ns;
            [net.low.0, net.typical.0, net.high.0].map(|ns| (ns * 1000.0).round() / 1000.0)
        };
        assert_eq!(figures(0), [1_355_000.0, 1_360_000.0, 1_365_000.0]);
        assert_eq!(figures(2), [17_500.109, 17_500.263, 17_500.416]);
        assert_eq!(figures(3), [6_560_000.0, 6_570_000.0, 6_580_000.0]);
        assert_eq!(run.costs[3].gross_ns, run.costs[1].net_ns);
        assert_eq!(run.costs[3].terms[0].operation, "x.move");
        let text = serde_json::to_vec(&run).expect("a run is JSON");
        assert_eq!(crate::run_from_bytes(&text).expect("and can be read"), run);
    }

    #[test]
    fn what_the_rates_do_not_give_is_a_departure() {
        let departures = Book::from_toml(&SMALL.replace("6.57", "6.58")).expect("a book").departures();
        assert_eq!(departures.len(), 1);
        assert_eq!((departures[0].name.as_str(), departures[0].unit), ("the rest", "ms"));
        assert!((departures[0].recomputed - (1000.0 / 126.0 - 1000.0 / 733.0)).abs() < 1e-12);
    }

    #[test]
    fn a_bad_book_is_one_clear_sentence() {
        for (from, to, says) in [
            ("name = \"small\"", "", "missing field"),
            ("[[cost]]", "[[cost", "not a book"),
            ("\"x.null\"", "\"x.two\"", "stands twice"),
            ("less = \"x.move\"", "less = \"x.gone\"", "x.gone"),
            ("\"57142\"", "\"many\"", "not a positive number"),
            ("\"57142\"", "\"0\"", "not a positive number"),
            ("\"57142\"", "\"-1\"", "not a positive number"),
            ("rate = \"57142\"", "", "neither a time nor a rate"),
            ("block_move = \"x.move\"", "block_move = \"x.gone\"", "the unit"),
            ("bytes = 26", "byte = 26", "unknown field"),
        ] {
            let error = Book::from_toml(&SMALL.replace(from, to)).expect_err(says).to_string();
            assert!(error.contains(says) && error.lines().count() == 1, "{error}");
        }
        assert!(matches!(Book::from_toml(&"#".repeat(MOST_BYTES + 1)), Err(BookError::TooLarge)));
    }
}
