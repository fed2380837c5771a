//! The page of a fleet: what became of each node.

use std::collections::BTreeMap;

use ::fleet::{Fleet, Means, Node, Stage};
use record::units::counted;

use crate::grid::{Grid, RowKind};
use crate::text::Style;

/// A node's line of this many documents is not explained further.
const MOST_FINE: usize = 12;

/// The state of a fleet: a summary, the nodes that need attention with the reasons, then the others.
pub fn fleet_status(fleet: &Fleet, style: Style) -> String {
    let means = match fleet.means {
        Means::Slurm(_) => "Slurm",
        Means::Ssh => "SSH",
    };
    let nodes = counted(fleet.nodes.len() as u64, "node");
    let head = format!("fleet {}   {nodes} through {means}   {}", fleet.id, fleet_summary(fleet));
    let mut page = style.bold(&head) + "\n";
    let (fine, odd): (Vec<&Node>, Vec<&Node>) =
        fleet.nodes.iter().partition(|node| node.missing(&fleet.plan).is_empty());
    if !odd.is_empty() {
        page += &grid(fleet, &odd, style);
    }
    if !fine.is_empty() && fine.len() <= MOST_FINE {
        page += &grid(fleet, &fine, style);
    }
    page += &style.paragraphs("  ", notes(fleet));
    page += &format!("documents: {}\n", fleet.documents.display());
    page + &next(fleet, style)
}

/// `5 done, 1 refused, 2 running`.
pub fn fleet_summary(fleet: &Fleet) -> String {
    let mut counts: BTreeMap<Stage, usize> = BTreeMap::new();
    let mut untouched = 0;
    for node in &fleet.nodes {
        match stage(fleet, node) {
            Some(stage) => *counts.entry(stage).or_default() += 1,
            None => untouched += 1,
        }
    }
    let mut parts: Vec<String> = counts.into_iter().map(|(stage, count)| format!("{count} {}", stage.word())).collect();
    if untouched > 0 {
        parts.push(format!("{untouched} {NEVER_STARTED}"));
    }
    parts.join(", ")
}

const NEVER_STARTED: &str = "never started";

/// How far a node came. It is done if it has all documents, however its last attempt ended.
fn stage(fleet: &Fleet, node: &Node) -> Option<Stage> {
    if node.missing(&fleet.plan).is_empty() { Some(Stage::Done) } else { node.stage() }
}

fn grid(fleet: &Fleet, nodes: &[&Node], style: Style) -> String {
    let mut grid = Grid::new("<<><<", [vec![3], vec![2]]);
    grid.heading(["node", "state", "documents", "job", "reason"]);
    for node in nodes {
        let attempt = node.attempts.last();
        let complete = node.missing(&fleet.plan).is_empty();
        let state = stage(fleet, node).map_or(NEVER_STARTED, Stage::word);
        let reason = attempt.filter(|_| !complete).map(|attempt| attempt.reason.clone()).unwrap_or_default();
        let job = attempt.and_then(|attempt| attempt.job.clone()).unwrap_or_default();
        let documents = format!("{} of {}", node.gathered.len(), fleet.plan.repeat);
        let kind = if complete { RowKind::Row } else { RowKind::Aside };
        grid.add(kind, [&node.name, state, &documents, &job, &reason]);
    }
    grid.render(style)
}

fn notes(fleet: &Fleet) -> Vec<String> {
    let mut notes = Vec::new();
    let versions = fleet.mixed_versions();
    if !versions.is_empty() {
        let versions = versions.join(", ");
        notes.push(format!(
            "The nodes measured with different programs: {versions}. Compare only nodes of the same one."
        ));
    }
    for names in fleet.same_machines() {
        let names = names.join(", ");
        notes.push(format!(
            "One machine under several names, whose measurements may have disturbed each other: {names}."
        ));
    }
    for node in &fleet.nodes {
        if let Some(ahead) = node.gathered.iter().find_map(|document| document.clock_ahead_s) {
            let way = if ahead > 0 { "ahead of" } else { "behind" };
            notes.push(format!("The clock of {} is at least {} s {way} the clock here.", node.name, ahead.abs()));
        }
    }
    notes
}

fn next(fleet: &Fleet, style: Style) -> String {
    let id = &fleet.id;
    let text = match (fleet.open().len(), fleet.unfinished().len()) {
        (0, 0) => return String::new(),
        (0, lacking) => format!("nodes that lack documents: {lacking}; `howslow fleet retry {id}` measures on them"),
        (open, _) => format!(
            "jobs that go on: {open}; `howslow fleet attach {id}` follows them, `howslow fleet cancel {id}` ends them"
        ),
    };
    style.paragraph("", &text)
}
