//! The prices of a machine: the most certain cost of each operation among all runs that were taken in one state of it (kernel,
//! command line, processor), the user's own and those that were measured for bills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use analysis::bill::{Certainty, thinned};
use record::{Cost, Run};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::head::Head;
use crate::runs::Store;

/// What the names of price lists begin with.
const BEGIN: &str = "prices-";
/// Costs have one sample a round here.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceSource {
    pub run: String,
    /// True if it was measured for bills, and is kept nowhere else.
    pub for_bills: bool,
    pub certainty: Certainty,
}

/// The most certain price of each operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PriceBook {
    /// The runs that were looked at.
    taken: BTreeSet<String>,
    /// Where each cost comes from, by its name.
    pub sources: BTreeMap<String, PriceSource>,
    /// How many costs the run gave whose clock and noise count for all.
    most: usize,
    /// The costs that cannot be measured here.
    pub impossible: BTreeSet<String>,
    /// The costs as one run, each with one sample a round.
    pub run: Option<Run>,
}

impl PriceBook {
    /// Reads the prices of the state of a machine that a text describes. A missing or damaged file counts as empty.
    pub fn load(store: &Store, state: &str) -> PriceBook {
        store.read_data(&file(&name(state)), MOST_BYTES).unwrap_or_default()
    }

    /// The prices with this name as a run, if there are some.
    pub fn called(store: &Store, name: &str) -> Option<Run> {
        let is_one = name.strip_prefix(BEGIN).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_one { store.read_data::<PriceBook>(&file(name), MOST_BYTES)?.run } else { None }
    }

    /// Writes them, completely or not at all. Fails if a folder or file cannot be written.
    pub fn save(&self, store: &Store, state: &str) -> Result<(), StoreError> {
        let text = serde_json::to_vec(self).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        store.write_data(&file(&name(state)), &text)
    }

    /// Forgets the prices of runs that are kept no more; the others are then looked at again. Returns the runs to look at.
    pub fn to_look_at<'a>(&mut self, kept: impl Iterator<Item = &'a Head>) -> Vec<&'a Head> {
        let kept: Vec<&Head> = kept.collect();
        let ids: BTreeSet<&str> = kept.iter().map(|head| head.id.as_str()).collect();
        let before = self.sources.len();
        self.sources.retain(|_, source| source.for_bills || ids.contains(source.run.as_str()));
        if self.sources.len() < before {
            self.taken.clear();
            let sources = &self.sources;
            self.run.iter_mut().for_each(|run| run.costs.retain(|cost| sources.contains_key(&cost.name())));
        }
        kept.into_iter().filter(|head| !self.taken.contains(&head.id)).collect()
    }

    /// Notes that a run is not looked at again.
    pub fn pass_over(&mut self, head: &Head) {
        self.taken.insert(head.id.clone());
    }

    /// Takes each cost of a run that is more certain than what is known. `is_current` is false for a cost of work that has
    /// changed since.
    pub fn take(&mut self, state: &str, run: &Run, for_bills: bool, is_current: impl Fn(&Cost) -> bool) {
        if for_bills {
            self.impossible.extend(run.skipped.iter().map(|skip| format!("{}{}", skip.operation, skip.at)));
        } else {
            self.taken.insert(run.id.clone());
        }
        if !run.settings.beside.is_empty() || run.is_published() {
            return;
        }
        let empty =
            || Run { id: name(state), costs: Vec::new(), skipped: Vec::new(), ratios: Vec::new(), ..run.clone() };
        let known = self.run.get_or_insert_with(empty);
        let mut given = 0;
        for cost in run.costs.iter().filter(|cost| is_current(cost)) {
            let certainty = Certainty::of(run, cost);
            let place = known.costs.iter().position(|price| price.operation == cost.operation && price.at == cost.at);
            let same_work = place.is_some_and(|place| known.costs[place].version == cost.version);
            let better = self.sources.get(&cost.name()).is_none_or(|source| certainty.exceeds(source.certainty));
            if !better && same_work {
                continue;
            }
            let thin = thinned(cost.clone());
            match place {
                Some(place) => known.costs[place] = thin,
                None => known.costs.push(thin),
            }
            self.sources.insert(cost.name(), PriceSource { run: run.id.clone(), for_bills, certainty });
            given += 1;
        }
        if given > 0 && given >= self.most {
            (self.most, known.noise) = (given, run.noise.clone());
        }
        if given > 0 {
            (known.started, known.finished) = (run.started.clone(), run.finished.clone());
        }
        known.note_units();
    }
}

/// The name of the prices in a state, by which they are opened like a run.
fn name(state: &str) -> String {
    format!("{BEGIN}{}", &crate::entry::digest(state.as_bytes())[..12])
}

fn file(name: &str) -> PathBuf {
    Path::new("prices").join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use record::CpuQuiet;

    use super::*;

    fn run(id: &str, quiet: f64, ns: f64) -> Run {
        let text = include_bytes!("../../record/tests/data/example-run.json");
        let mut run = record::run_from_bytes(text).expect("a run");
        run.id = id.into();
        run.noise.cpus = vec![CpuQuiet { cpu: 0, batches: 100, quiet }];
        run.costs.truncate(1);
        run.costs[0].doubts.clear();
        run.costs[0].net_ns.typical.0 = ns;
        run
    }

    fn head(id: &str) -> Head {
        Head { id: id.into(), ..Head::default() }
    }

    fn price(book: &PriceBook) -> f64 {
        book.run.as_ref().expect("prices").costs[0].net_ns.typical.0
    }

    #[test]
    fn a_price_of_a_busy_machine_counts_until_there_is_a_calm_one() {
        let mut book = PriceBook::default();
        book.take("s", &run("busy", 0.05, 9.0), false, |_| true);
        assert_eq!(price(&book), 9.0);
        book.take("s", &run("calm", 0.9, 3.0), true, |_| true);
        assert_eq!(price(&book), 3.0);
        book.take("s", &run("later", 0.05, 8.0), false, |_| true);
        assert_eq!(price(&book), 3.0);
        let mut traced = run("traced", 0.9, 7.0);
        traced.noise.traced = true;
        book.take("s", &traced, false, |_| true);
        assert_eq!(price(&book), 3.0, "a tracer was attached");
        let mut newer = run("newer", 0.05, 5.0);
        newer.costs[0].version += 1;
        book.take("s", &newer, false, |_| true);
        assert_eq!(price(&book), 5.0, "what is no longer the same work is no price");
    }

    #[test]
    fn what_is_removed_is_forgotten_and_the_others_are_looked_at_again() {
        let mut book = PriceBook::default();
        book.take("s", &run("kept", 0.9, 3.0), false, |_| true);
        let heads = [head("kept"), head("new")];
        let look = |book: &mut PriceBook, heads: &[Head]| -> Vec<String> {
            book.to_look_at(heads.iter()).into_iter().map(|head| head.id.clone()).collect()
        };
        assert_eq!(look(&mut book, &heads), ["new"]);
        assert_eq!(look(&mut book, &heads[1..]), ["new"]);
        assert!(book.run.as_ref().is_some_and(|run| run.costs.is_empty()));
        book.take("s", &run("own", 0.9, 3.0), true, |_| true);
        assert_eq!(look(&mut book, &heads), ["kept", "new"]);
        assert_eq!(price(&book), 3.0, "what was measured for bills is kept nowhere else");
    }

    #[test]
    fn prices_are_kept_by_state_and_opened_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::in_folder(folder.path());
        let mut book = PriceBook::default();
        book.take("this kernel", &run("a", 0.9, 3.0), true, |_| true);
        book.save(&store, "this kernel").expect("saved");
        assert_eq!(PriceBook::load(&store, "this kernel"), book);
        assert_eq!(PriceBook::load(&store, "another kernel"), PriceBook::default());
        let id = book.run.expect("prices").id;
        assert_eq!(PriceBook::called(&store, &id).expect("prices").costs.len(), 1);
        assert!(store.list().expect("a list").is_empty(), "they are no runs of the user's");
        assert_eq!(PriceBook::called(&store, "prices-../x"), None);
        std::fs::write(folder.path().join("prices").join(format!("{id}.json")), "{").expect("damaged");
        assert_eq!(PriceBook::load(&store, "this kernel"), PriceBook::default());
        assert_eq!(PriceBook::called(&store, &id), None);
    }
}
