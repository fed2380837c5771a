//! The reference machine that a page shows a run beside.

use record::Run;

/// The reference that is nearest to a run: the least median distance of its costs. `None` if too few can be held against each other.
pub fn nearest_reference<'a>(run: &Run, references: &'a [Run]) -> Option<&'a Run> {
    const FEWEST: usize = 5;
    let distance = |reference: &Run| {
        let held = run.costs.iter().filter_map(|cost| analysis::reference::hold(cost, reference).ok());
        let far: Vec<f64> = held.map(|held| held.times.value.ln().abs()).collect();
        if far.len() < FEWEST { None } else { analysis::statistics::median(far) }
    };
    let all = references.iter().filter(|reference| reference.id != run.id);
    let known = all.filter_map(|reference| Some((distance(reference)?, reference)));
    known.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, reference)| reference)
}
