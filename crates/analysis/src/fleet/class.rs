//! Classes of machines, found by what they are.

use std::collections::BTreeMap;

use record::Bytes;

use super::options::{ENOUGH_NODES, FleetOptions};
use super::parts::{MachinePart, Parts};
use super::table::Table;

/// Nodes that can be compared.
///
/// Nodes with the same processor, CPUs and hypervisor are compared. Where enough of them ([`ENOUGH_NODES`]) also share all other
/// parts, they are a class of their own. A smaller group joins the class that it differs least from; its differences are then
/// among the likely causes of what it is slow in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// `A` for the largest, `B`, ...
    pub name: String,
    /// Its nodes, by their place in the table.
    pub nodes: Vec<u32>,
    /// What most of its nodes are.
    pub parts: Vec<(MachinePart, String)>,
    /// The nodes that are something else: place, part, and what it is there.
    pub differing: Vec<(u32, MachinePart, String)>,
}

impl Class {
    /// What this node is otherwise than most of the class: part, here, usually.
    pub fn differences(&self, node: u32) -> Vec<(MachinePart, &str, &str)> {
        let usual =
            |part: MachinePart| self.parts.iter().find(|(of, _)| *of == part).map_or("", |(_, text)| text.as_str());
        let of_node = self.differing.iter().filter(|(of, _, _)| *of == node);
        of_node.map(|(_, part, text)| (*part, text.as_str(), usual(*part))).collect()
    }
}

type Key = Vec<String>;

/// The classes of a table, largest first, and for each run whether it counts: the runs of a node before it became what it is
/// now do not.
pub(super) fn classes(table: &Table, options: &FleetOptions) -> (Vec<Class>, Vec<bool>) {
    let memories = memory_sizes(table);
    let known = |parts: &Parts| -> BTreeMap<MachinePart, String> {
        let mut known = parts.texts.clone();
        let size = memories.get(&parts.memory).map_or("", String::as_str);
        let nodes = known.get(&MachinePart::Memory).map_or("", String::as_str);
        let memory = format!("{size} {nodes}").trim().to_string();
        if !memory.is_empty() {
            known.insert(MachinePart::Memory, memory);
        }
        known
    };
    let all: Vec<BTreeMap<MachinePart, String>> = table.runs.iter().map(|(_, facts)| known(&facts.parts)).collect();
    let mut newest: Vec<Option<usize>> = vec![None; table.nodes.len()];
    for (run, (node, facts)) in table.runs.iter().enumerate() {
        let known = &mut newest[*node as usize];
        if known.is_none_or(|known| table.runs[known].1.started <= facts.started) {
            *known = Some(run);
        }
    }
    let counts =
        |(run, (node, _)): (usize, &(u32, _))| newest[*node as usize].is_some_and(|last| all[last] == all[run]);
    let current = table.runs.iter().enumerate().map(counts).collect();
    let of_node: Vec<&BTreeMap<MachinePart, String>> = newest.iter().flatten().map(|&run| &all[run]).collect();
    let mut groups: Vec<Vec<u32>> = grouped(&of_node, options);
    groups.sort_by_key(|nodes| (std::cmp::Reverse(nodes.len()), nodes.first().copied()));
    let named = groups.into_iter().enumerate().map(|(place, nodes)| described(letters(place), nodes, &of_node));
    (named.collect(), current)
}

fn key(parts: &BTreeMap<MachinePart, String>, which: impl Fn(MachinePart) -> bool) -> Key {
    parts.iter().filter(|(part, _)| which(**part)).map(|(_, text)| text.clone()).collect()
}

fn grouped(of_node: &[&BTreeMap<MachinePart, String>], options: &FleetOptions) -> Vec<Vec<u32>> {
    let by = |which: &dyn Fn(MachinePart) -> bool, nodes: &[u32]| {
        let mut groups: BTreeMap<Key, Vec<u32>> = BTreeMap::new();
        for node in nodes {
            groups.entry(key(of_node[*node as usize], which)).or_default().push(*node);
        }
        groups.into_values().collect::<Vec<_>>()
    };
    let every: Vec<u32> = (0..of_node.len() as u32).collect();
    if !options.by.is_empty() {
        return by(&|part| options.by.contains(&part), &every);
    }
    let mut found = Vec::new();
    for comparable in by(&MachinePart::is_hard, &every) {
        let mut groups = by(&|_| true, &comparable);
        groups.sort_by_key(|nodes| std::cmp::Reverse(nodes.len()));
        let enough = groups.iter().filter(|nodes| nodes.len() >= ENOUGH_NODES).count().max(1);
        let few = groups.split_off(enough.min(groups.len()));
        for nodes in few {
            let parts = of_node[nodes[0] as usize];
            let differ = |group: &Vec<u32>| {
                let other = of_node[group[0] as usize];
                parts.iter().filter(|(part, text)| other.get(part) != Some(text)).count()
            };
            // The first of the smallest differences is the largest group.
            if let Some(nearest) = groups.iter_mut().min_by_key(|group| differ(group)) {
                nearest.extend(nodes);
            }
        }
        found.extend(groups);
    }
    found
}

fn described(name: String, mut nodes: Vec<u32>, of_node: &[&BTreeMap<MachinePart, String>]) -> Class {
    nodes.sort_unstable();
    let mut class = Class { name, ..Class::default() };
    for part in MachinePart::ALL {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let text = |node: u32| of_node[node as usize].get(&part).map_or("", String::as_str);
        for node in &nodes {
            *counts.entry(text(*node)).or_default() += 1;
        }
        let usual = counts.iter().max_by_key(|(_, count)| **count).map_or("", |(text, _)| text);
        class.parts.push((part, usual.into()));
        let other = nodes.iter().filter(|node| text(**node) != usual);
        class.differing.extend(other.map(|node| (*node, part, text(*node).to_string())));
    }
    class.nodes = nodes;
    class
}

/// The memory of each size, as text: sizes that lie within 2 % of the next smaller one are alike, because the kernel keeps a
/// little for itself, and not always the same.
fn memory_sizes(table: &Table) -> BTreeMap<u64, String> {
    const ALIKE: f64 = 1.02;
    let mut sizes: Vec<u64> = table.runs.iter().map(|(_, facts)| facts.parts.memory).filter(|size| *size > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut names = BTreeMap::new();
    for group in sizes.chunk_by(|one, next| *next as f64 <= *one as f64 * ALIKE) {
        let name = group.last().map_or_else(String::new, |size| Bytes(*size).to_string());
        names.extend(group.iter().map(|size| (*size, name.clone())));
    }
    names
}

/// `A` to `Z`, `AA`, ...
fn letters(place: usize) -> String {
    let last = char::from(b'A' + (place % 26) as u8);
    if place < 26 { last.into() } else { letters(place / 26 - 1) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use record::Machine;

    use super::*;
    use crate::fleet::RunFacts;

    fn table(machines: &[(String, Machine)]) -> Table {
        let mut table = Table::default();
        for (number, (node, machine)) in machines.iter().enumerate() {
            let started = format!("2026-01-01T00:00:{number:02}Z");
            let parts = Parts::of(machine);
            table.run(RunFacts { node: node.clone(), started, parts, ..RunFacts::default() });
        }
        table
    }

    fn machine(model: &str, gib: f64, microcode: &str) -> Machine {
        let mut machine = Machine::default();
        machine.cpu.model = model.into();
        machine.cpu.microcode = Some(microcode.into());
        machine.memory.total = Bytes((gib * f64::from(1 << 30)) as u64);
        machine
    }

    fn many(count: usize, first: usize, machine: &Machine) -> Vec<(String, Machine)> {
        (first..first + count).map(|node| (format!("n{node}"), machine.clone())).collect()
    }

    fn found(groups: &[Vec<(String, Machine)>], options: &FleetOptions) -> Vec<Class> {
        classes(&table(&groups.concat()), options).0
    }

    #[test]
    fn models_are_never_mixed_and_few_that_differ_in_a_setting_join_the_nearest() {
        let groups = [
            many(8, 0, &machine("Zen 4", 503.4, "1")),
            many(7, 8, &machine("Zen 4", 503.9, "2")),
            many(1, 15, &machine("Zen 4", 440.0, "2")),
            many(2, 16, &machine("Ice Lake", 503.4, "1")),
        ];
        let classes = found(&groups, &FleetOptions::default());
        let sizes: Vec<usize> = classes.iter().map(|class| class.nodes.len()).collect();
        assert_eq!(sizes, [8, 8, 2]);
        let joined = classes.iter().find(|class| class.nodes.contains(&15)).expect("a class");
        assert!(joined.nodes.contains(&8));
        let differences = joined.differences(15);
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert_eq!((differences[0].0, differences[0].1), (MachinePart::Memory, "440 GiB"));
        let one = found(&groups, &FleetOptions { by: vec![MachinePart::Memory], ..FleetOptions::default() });
        assert_eq!(one.iter().map(|class| class.nodes.len()).collect::<Vec<_>>(), [17, 1]);
    }

    #[test]
    fn runs_from_before_a_change_do_not_count() {
        let [before, after] = ["1", "2"].map(|microcode| many(1, 0, &machine("Zen 4", 64.0, microcode)));
        let table = table(&[before, after, many(1, 1, &Machine::default())].concat());
        let (classes, current) = classes(&table, &FleetOptions::default());
        assert_eq!(current, [false, true, true]);
        assert_eq!(classes.len(), 2);
    }

    #[test]
    fn classes_have_letters() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
