//! Removes known handicaps. The paper subtracted the slowdown of each instruction by the associative memory. A run here
//! knows two handicaps: its neighbours and the wall around the kernel. The page names those that a run cannot know.

use record::{Cost, Machine, Run};

use super::parts::{
    ADD, DATA, KERNEL, LOAD, LOAD_INDIRECT, LOADS, NOTHING, PROCEDURE, SEQUENCE, STORES, STORES_OF_TWO,
};
use crate::derived::{Part, Route};
use crate::statistics::Interval;
use crate::study::definition::Paper;
use crate::study::missing::followed;
use crate::study::table::{Cell, TableAnswer};
use crate::sums::sum;

/// The paper's instructions.
const THERE: [(&str, &str); 7] = [
    ("ada", "ge600.ada"),
    ("sta", "ge600.sta"),
    ("eapbp", "ge600.eapbp"),
    ("eapbp*", "ge600.eapbp.indirect"),
    ("stpbp", "ge600.stpbp"),
    ("sarl", "ge600.sarl"),
    ("larl", "ge600.larl"),
];

/// Costs whose neighbours are shown.
const HERE: [Part; 9] = [ADD, LOAD, LOADS, LOAD_INDIRECT, STORES, STORES_OF_TWO, SEQUENCE, KERNEL, NOTHING];

/// The measured time, the time without the handicap, and the handicap.
pub(super) fn table(paper: &Paper, run: &Run) -> TableAnswer {
    let there = THERE.into_iter().map(|(name, id)| {
        let now = paper.cost(&format!("multics-6180/{id}"));
        let without = paper.cost(&format!("multics-6180-adjusted/{id}"));
        row(
            name.into(),
            "associative memory",
            now.ok_or_else(String::new),
            without.ok_or_else(String::new),
            Cell::doubts_of([]),
        )
    });
    let here = HERE.iter().filter_map(|part| {
        let cost = part.find(run)?;
        let (with, without) = neighbours(cost)?;
        let doubts = Cell::doubts_of([Some(cost)]);
        Some(row(part.short(), "neighbours", Ok(with), Ok(without), doubts))
    });
    let wall = row(
        KERNEL.short(),
        "the kernel's wall",
        followed(&Route::of(&[KERNEL]), run),
        followed(&Route::of(&[PROCEDURE]), run),
        Cell::doubts_of([KERNEL.find(run), PROCEDURE.find(run)]),
    );
    let mut table = DATA.table("handicaps", there.chain(here).chain([wall]));
    table.notes.extend(unknown(run));
    table
}

fn row(
    name: String,
    handicap: &str,
    with: Result<Interval, String>,
    without: Result<Interval, String>,
    doubts: Cell,
) -> Vec<Cell> {
    let both = with.as_ref().ok().copied().zip(without.as_ref().ok().copied());
    let removed = both.map(|(with, without)| sum([(1.0, with), (-1.0, without)]));
    let why = with.as_ref().err().or(without.as_ref().err()).cloned();
    vec![
        Cell::Text(name),
        Cell::Text(handicap.into()),
        Cell::cost(&with),
        Cell::cost(&without),
        removed.map_or(Cell::Unknown, Cell::Cost),
        Cell::ratio(with.ok(), without.ok()),
        why.map_or(Cell::Empty, Cell::Text),
        doubts,
    ]
}

/// The gross cost with neighbours and undisturbed, if the run states what they add. The second is the unit of the
/// first, so the only uncertainty is their ratio.
fn neighbours(cost: &Cost) -> Option<(Interval, Interval)> {
    let tax = cost.neighbours.filter(|tax| tax.low.is_finite() && tax.high.is_finite())?;
    let quiet = cost.gross_ns.quiet.0;
    let with = Interval { value: tax.ratio, low: tax.low, high: tax.high };
    Some((with.times(quiet), Interval::exactly(quiet)))
}

/// What a run does not know about its own handicaps.
fn unknown(run: &Run) -> impl Iterator<Item = String> {
    let Machine { kernel, virtualization, .. } = &run.machine;
    let paid = kernel.mitigations.iter().filter(|(_, state)| state.starts_with("Mitigation"));
    let paid: Vec<&str> = paid.map(|(name, _)| name.as_str()).collect();
    let mitigations = (!paid.is_empty()).then(|| {
        format!(
            "mitigations in force: {}; what they cost is no part of this table, because a run with them does not know \
             its machine without: compare it with one taken after a boot with mitigations=off",
            paid.join(", ")
        )
    });
    let guest = |hypervisor| format!("nor is what being a guest of {hypervisor} costs, for the same reason");
    mitigations.into_iter().chain(virtualization.hypervisor.as_ref().map(guest))
}
