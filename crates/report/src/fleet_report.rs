//! The page of `howslow fleet show`: classes, slow nodes with reasons, a heat map; and the list of nodes to drain.

mod drain;
mod map;
mod spreads;
mod view;

use analysis::fleet::{ClassFound, Found, LackingNode, MachinePart, Population, SlowFamily, SlowNode};
use analysis::statistics::Interval;
use record::units::{counted, percent};

use crate::grid::{Grid, RowKind};
use crate::interval;
use crate::text::{Style, and_more, and_so_on};

pub use drain::drain_list;
pub use map::fleet_pictures;
pub(crate) use map::nodes_by_families;
pub use view::FleetView;

use view::shown;

/// The page.
pub fn fleet_report(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    let mut page = summary(found, view, style);
    page += &slow_nodes(found, view, style);
    page += &doubted(found, view, style);
    page += &populations(found, view, style);
    page += &classes(found, view, style);
    for class in view.classes(found).filter(|class| class.nodes.len() > 1) {
        page += &map::heat_map(found, class, view, style.width());
        page += &spreads::spreads(class, view, style);
    }
    page
}

fn count(number: usize, one: &str) -> String {
    counted(number as u64, one)
}

fn summary(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    let shown = || view.classes(found);
    let nodes: usize = shown().map(|class| class.nodes.len()).sum();
    let runs: usize = shown().map(|class| class.runs).sum();
    let costs = shown().map(|class| class.costs.len()).max().unwrap_or(0);
    let classes = count(shown().count(), "class");
    let slow = found.slow.iter().filter(|node| view.has(&node.class)).count();
    let head = [count(nodes, "node"), count(runs, "run"), count(costs, "cost"), classes].join("   ");
    let page = format!("{head}\n{}\n", style.bold(&format!("{} slow", count(slow, "node"))));
    let allowed = percent(found.options.false_share);
    let mut how = match found.tests {
        0 => format!("nothing was tested: no class has {} nodes", analysis::fleet::ENOUGH_NODES),
        tests => format!(
            "{tests} tests (nodes times families); at most {allowed} of the nodes called slow are expected to be false; by the same \
             rule, {} would be called fast",
            count(found.fast, "node")
        ),
    };
    if shown().count() < found.classes.len() {
        how.insert_str(0, "of all classes: ");
    }
    if found.older_runs > 0 {
        how += &format!("; {} not counted, taken before their node changed", count(found.older_runs, "run"));
    }
    page + &style.aside("", &how)
}

fn added(ratio: &Interval) -> String {
    interval::added([ratio.value, ratio.low, ratio.high])
}

fn slow_nodes(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    const FEW: usize = 20;
    let nodes: Vec<&SlowNode> = found.slow.iter().filter(|node| view.has(&node.class)).collect();
    if nodes.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<<<", [vec![1]]);
    grid.heading(["slow nodes", "class", "slower than its class by", "in"]);
    let most = view.most(FEW);
    let mut causes = String::new();
    for node in nodes.iter().take(most) {
        for (place, family) in node.families.iter().take(view.most(4)).enumerate() {
            let (name, class) = if place == 0 { (node.node.as_str(), node.class.as_str()) } else { ("", "") };
            grid.row([&format!("  {}", shown(name)), class, &added(&family.ratio), &family_text(family)]);
        }
        let more = node.families.len().saturating_sub(view.most(4));
        if more > 0 {
            grid.add(RowKind::Aside, ["", "", "", &format!("and {}", count(more, "more family"))]);
        }
        let each = node.causes.iter().map(|cause| format!("{} ({})", cause.kind.word(), cause.because));
        causes += &style.paragraph(&format!("  {}: ", shown(&node.node)), &each.collect::<Vec<_>>().join("; "));
    }
    let mut page = format!("\n{}", grid.render(style));
    if nodes.len() > most {
        page += &format!("  ... and {} more: --all\n", nodes.len() - most);
    }
    page + &style.title("likely causes") + &causes
}

fn family_text(family: &SlowFamily) -> String {
    const FEW: usize = 2;
    let worst =
        family.costs.iter().map(|cost| format!("{} {:+.1} %", shown(&cost.name), (cost.ratio.value - 1.0) * 100.0));
    let worst = and_more(worst, FEW);
    if worst.is_empty() { family.family.clone() } else { format!("{}: {worst}", family.family) }
}

fn doubted(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    const FEW: usize = 10;
    let all: Vec<_> = found.doubted.iter().filter(|node| view.has(&node.class)).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<<<<", [vec![1], vec![3]]);
    grid.heading(["not accused: figures in doubt", "class", "slower by", "in", "doubt"]);
    for node in all.iter().take(view.most(FEW)) {
        let doubt = format!("{:.0} % of its figures: {}", node.share * 100.0, node.doubt);
        let name = format!("  {}", shown(&node.node));
        grid.row([&name, &node.class, &added(&node.ratio), &node.family, &doubt]);
    }
    let mut page = format!("\n{}", grid.render(style));
    if all.len() > view.most(FEW) {
        page += &format!("  ... and {} more: --all\n", all.len() - FEW);
    }
    page
}

fn populations(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    let all: Vec<&Population> = found.populations.iter().filter(|population| view.has(&population.class)).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut page = style.title("two populations, nobody is called slow in them");
    for population in all {
        let names = and_so_on(population.slower.iter().map(|name| shown(name)), view.most(4));
        let text = format!(
            "class {}, {}: {} of {} nodes are slower by {} ({names})",
            population.class,
            population.family,
            population.slower.len(),
            population.slower.len() + population.faster,
            percent(population.ratio - 1.0)
        );
        page += &style.paragraph("  ", &text);
    }
    page
}

fn classes(found: &Found, view: &FleetView<'_>, style: Style) -> String {
    let mut page = style.title("classes");
    for class in view.classes(found) {
        page += &style.paragraph("  ", &class_text(class));
        page += &differing(class, view, style);
        if let [LackingNode { node, lacks, of }, ..] = class.lacking.as_slice() {
            let (lacking, node) = (count(class.lacking.len(), "node"), shown(node));
            let text = format!("{lacking} lack costs that most have, {node} {lacks} of {of}");
            page += &style.paragraph("     ", &text);
        }
    }
    page
}

fn class_text(class: &ClassFound) -> String {
    let part = |wanted: MachinePart| {
        class.class.parts.iter().find(|(part, _)| *part == wanted).map_or("", |(_, fact)| fact.as_str())
    };
    let cpus = part(MachinePart::Cpus);
    let cpus = if cpus.is_empty() { String::new() } else { format!("{cpus} CPUs") };
    let named = |name: &str, wanted: MachinePart| match part(wanted) {
        "" | "unknown" => String::new(),
        fact => format!("{name} {fact}"),
    };
    let parts = [
        part(MachinePart::Cpu).to_string(),
        cpus,
        part(MachinePart::Memory).into(),
        part(MachinePart::Hypervisor).into(),
        part(MachinePart::Kernel).split(" #").next().unwrap_or_default().into(),
        named("microcode", MachinePart::Microcode),
        named("huge pages", MachinePart::HugePages),
    ];
    let what = parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    let mut text =
        format!("{}  {}, {}: {what}", class.class.name, count(class.nodes.len(), "node"), count(class.runs, "run"));
    if class.is_small() {
        text += &format!("; too few nodes to call one slow, {} are needed", analysis::fleet::ENOUGH_NODES);
    } else if class.has_single_runs() {
        text +=
            "; one run of each node, so what runs differ by is not known and intervals hold the rounds of one run only";
    }
    text
}

/// The name of a node of a class; empty if it has none of this number.
pub(crate) fn node_name(class: &ClassFound, node: u32) -> &str {
    class.class.nodes.iter().position(|other| *other == node).map_or("", |place| class.nodes[place].as_str())
}

/// The parts in which nodes of the class differ.
fn differing(class: &ClassFound, view: &FleetView<'_>, style: Style) -> String {
    let mut page = String::new();
    for part in MachinePart::ALL {
        let here: Vec<&(u32, MachinePart, String)> =
            class.class.differing.iter().filter(|(_, of, _)| *of == part).collect();
        if here.is_empty() {
            continue;
        }
        let described =
            |(node, _, is): &&(u32, MachinePart, String)| format!("{} {}", shown(node_name(class, *node)), cut(is));
        let some = and_so_on(here.iter().map(described), view.most(3));
        let text = format!("{} differs on {}: {some}", part.word(), count(here.len(), "node"));
        page += &style.paragraph("     ", &text);
    }
    page
}

/// A long text, as of all mitigations, is cut.
fn cut(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.into() } else { text.chars().take(MOST).chain(['…']).collect() }
}
