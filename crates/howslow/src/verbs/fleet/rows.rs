//! Reads the runs of many nodes into a table: documents in folders, those of a fleet, runs by name, the whole store.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ::fleet::Folder;
use analysis::fleet::{CostKey, Parts, RunFacts, RunFigure, RunKey, Table, weakening_kind};
use record::{Machine, Origin};
use store::{Document, DocumentCost, Filter, Head, Series};

use crate::output::{Misuse, print_note, shown};
use crate::resolve;

/// The word for all kept runs.
const STORE: &str = "store";

/// The runs that the arguments name; without any, those of the newest fleet.
/// Refuses a name that means nothing, a folder that cannot be read, and what has no run.
pub(crate) fn table(runs: &[String]) -> anyhow::Result<Table> {
    let mut reading = Reading::default();
    if runs.is_empty() {
        reading.fleet(None)?;
    }
    for name in runs {
        if name == STORE {
            reading.kept()?;
        } else if Path::new(name).is_dir() {
            reading.folder(Path::new(name))?;
        } else if Folder::of_user()?.holds(name) {
            reading.fleet(Some(name))?;
        } else {
            reading.document(&Document::of(&resolve::run(name)?)?, Path::new(name));
        }
    }
    reading.done()
}

/// What has been read.
#[derive(Default)]
struct Reading {
    table: Table,
    /// The nodes of documents that a fleet has gathered, by the file's name: two runs may have one id.
    nodes: HashMap<String, String>,
    /// Files that are no runs: their number, and why the first is none.
    bad: (usize, String),
    /// Runs that are there already.
    again: usize,
    /// Runs beside other work, books, and what other tools measured.
    other: usize,
}

impl Reading {
    /// The documents that a fleet has gathered.
    fn fleet(&mut self, name: Option<&str>) -> anyhow::Result<()> {
        let folder = Folder::of_user()?;
        let fleet = folder.read(&folder.find(name)?)?;
        for node in &fleet.nodes {
            self.nodes.extend(node.gathered.iter().map(|gathered| (gathered.file.clone(), node.name.clone())));
        }
        self.folder(&fleet.documents)
    }

    /// The documents in a folder and in the folders in it. A few are held in memory at a time.
    fn folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        const DEEPEST: usize = 3;
        let (mut open, mut files) = (vec![(folder.to_path_buf(), 0)], Vec::new());
        while let Some((folder, depth)) = open.pop() {
            let refused = |why| Misuse(format!("cannot read the folder {}: {why}; name another", shown(&folder)));
            let entries = std::fs::read_dir(&folder).map_err(refused)?;
            let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            // The same order on every file system.
            paths.sort_unstable();
            for path in paths {
                let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
                if is_folder && depth < DEEPEST {
                    open.push((path, depth + 1));
                } else if !is_folder && path.extension().is_some_and(|end| end == "json") {
                    files.push(path);
                }
            }
        }
        store::read_documents(&files, &mut |path, document| match document {
            Ok(document) => self.document(&document, path),
            Err(why) => {
                self.bad.0 += 1;
                if self.bad.1.is_empty() {
                    self.bad.1 = format!("{}: {why}", shown(path));
                }
            }
        });
        Ok(())
    }

    fn node(&self, machine: &Machine, path: &Path) -> String {
        let host = || machine.host.as_deref().filter(|host| !host.is_empty()).map(record::printable);
        let gathered = path.file_name().and_then(|name| self.nodes.get(name.to_str()?)).cloned();
        gathered.or_else(|| of_fleet(path)).or_else(host).unwrap_or_else(|| stem(path))
    }

    fn document(&mut self, document: &Document, path: &Path) {
        let is_own = !document.is_beside_work() && matches!(document.origin, Origin::Measured | Origin::Reference);
        let facts = is_own.then(|| RunFacts {
            node: self.node(&document.machine, path),
            id: apart(&document.id, document.machine.host.as_deref().unwrap_or_default()),
            started: document.started.clone(),
            parts: Parts::of(&document.machine),
            clock_ghz: (document.cycle_ns > 0.0).then(|| 1.0 / document.cycle_ns),
            undisturbed: document.undisturbed,
        });
        let Some(run) = self.add(facts) else { return };
        for DocumentCost { series, value, low, high, doubts, .. } in &document.costs {
            let cost = self.table.cost(&series.operation, &at(&series.point), series.version);
            let doubt = weakening_kind(doubts).map(words);
            let figure = RunFigure { value: *value, low: *low, high: *high, doubt: doubt.as_deref() };
            add_figure(&mut self.table, run, cost, figure);
        }
    }

    /// Adds a run with these facts. There are none of a run that is not a node's own: one beside other work, of another tool, or a book.
    fn add(&mut self, facts: Option<RunFacts>) -> Option<RunKey> {
        self.other += usize::from(facts.is_none());
        let run = self.table.run(facts?);
        self.again += usize::from(run.is_none());
        run
    }

    /// The kept runs of howslow's store, row by row.
    fn kept(&mut self) -> anyhow::Result<()> {
        // Not yet added, without a figure that is wanted; or there already.
        let (mut runs, mut costs): (Vec<Option<Option<RunKey>>>, _) = (Vec::new(), Vec::new());
        let mut doubts: Vec<Option<String>> = Vec::new();
        let table = &mut self.table;
        let lists = resolve::store()?.costs(&Filter::default(), &wanted, &mut |lists, row| {
            if runs.is_empty() {
                runs = vec![None; lists.runs.len()];
                let cost = |series: &Series| table.cost(&series.operation, &at(&series.point), series.version);
                costs = lists.series.iter().map(cost).collect();
                doubts = lists.doubts.iter().map(|kinds| weakening_kind(kinds).map(words)).collect();
            }
            let [run, cost, doubt] = [row.run, row.series, row.doubts].map(|place| place as usize);
            let key = *runs[run].get_or_insert_with(|| table.run(facts(&lists.runs[run], &lists.machines[run])));
            if let Some(run) = key {
                let doubt = doubts[doubt].as_deref();
                let figure = RunFigure { value: row.value, low: row.low, high: row.high, doubt };
                add_figure(table, run, costs[cost], figure);
            }
            ControlFlow::Continue(())
        })?;
        self.again += runs.iter().filter(|run| **run == Some(None)).count();
        self.other += lists.runs.len() - runs.iter().flatten().count();
        Ok(())
    }

    fn done(self) -> anyhow::Result<Table> {
        if self.bad.0 > 0 {
            let files = if self.bad.0 == 1 { "1 file is".into() } else { format!("{} files are", self.bad.0) };
            print_note(&format!("{files} left out, not runs; the first: {}", self.bad.1));
        }
        if self.again > 0 {
            print_note(&format!("{} left out: given more than once", self.again));
        }
        if self.other > 0 {
            print_note(&format!("{} left out: beside other work, of another tool, or a book", self.other));
        }
        if self.table.counts().1 == 0 {
            return Err(Misuse("no run was found; name a folder of run documents, a fleet, or runs".into()).into());
        }
        Ok(self.table)
    }
}

/// Adds a figure, unless it cannot be distinguished from zero: then it has no logarithm worth comparing.
fn add_figure(table: &mut Table, run: RunKey, cost: CostKey, figure: RunFigure<'_>) {
    if figure.low > 0.0 && figure.high.is_finite() {
        table.figure(run, cost, figure);
    }
}

/// Figures in ns that howslow took while nothing else ran on purpose.
fn wanted(series: &Series) -> bool {
    series.unit == "ns" && !series.beside_work && !series.operation.starts_with("imported.")
}

fn facts(head: &Head, machine: &Machine) -> RunFacts {
    RunFacts {
        node: if head.host.is_empty() { head.id.clone() } else { head.host.clone() },
        id: apart(&head.id, &head.host),
        started: head.ordered.clone(),
        parts: Parts::of(machine),
        clock_ghz: (head.cycle_ns > 0.0).then(|| 1.0 / head.cycle_ns),
        undisturbed: head.undisturbed,
    }
}

/// What tells a run apart: nodes that begin together can draw the same id.
fn apart(id: &str, host: &str) -> String {
    format!("{id} {}", record::printable(host))
}

/// A kind of doubt in words: `few_quiet` is few quiet.
fn words(kind: &str) -> String {
    kind.replace('_', " ")
}

/// A point as the operation's name ends in it.
fn at(point: &str) -> String {
    if point.is_empty() { String::new() } else { format!("@{point}") }
}

/// The node of a document that a fleet gathered: `n17` of `n17.r3.json`.
fn of_fleet(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    let (node, repetition) = name.rsplit_once(".r")?;
    let whole = !node.is_empty() && !repetition.is_empty() && repetition.chars().all(|c| c.is_ascii_digit());
    whole.then(|| record::printable(node))
}

fn stem(path: &Path) -> String {
    record::printable(&path.file_stem().unwrap_or_default().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_those_of_the_file_names_that_a_fleet_gives() {
        let node = |name: &str| of_fleet(Path::new(name));
        assert_eq!(node("x/n17.r3.json").as_deref(), Some("n17"));
        assert_eq!(node("a.rack.r12.json").as_deref(), Some("a.rack"));
        for other in ["n17.json", "n17.rx.json", ".r1.json", "n17.r.json", "n17.r1.damaged"] {
            assert_eq!(node(other), None, "{other}");
        }
        assert_eq!(stem(Path::new("/x/n3.json")), "n3");
    }

    #[test]
    fn runs_of_two_hosts_with_one_id_are_two() {
        let mut reading = Reading::default();
        for host in ["n1", "n2", "n1"] {
            let mut run = record::Run { schema: record::SCHEMA.into(), id: "a".into(), ..Default::default() };
            run.machine.host = Some(host.into());
            reading.document(&Document::of(&run).expect("a document"), Path::new("a.json"));
        }
        assert_eq!((reading.table.counts(), reading.again), ((2, 2, 0), 1));
    }
}
