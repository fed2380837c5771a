//! Which cells are measured: the matrices of all places, the doses of chosen pairs, and several loads at once.

use record::Place;

use crate::interference::kind::Kind;
use crate::interference::load::{Cpus, Load};

#[derive(Clone, Debug)]
pub struct Request {
    /// The kinds that are slowed.
    pub victims: Vec<&'static Kind>,
    /// The kinds that slow them.
    pub aggressors: Vec<&'static Kind>,
    /// Where these run. A place that this machine lacks is skipped.
    pub places: Vec<Place>,
    /// Victim and aggressor of each dose curve.
    pub curves: Vec<(&'static Kind, &'static Kind)>,
    /// Kinds that run together, each beside the two others.
    pub together: Vec<[&'static Kind; 3]>,
    /// Seconds that it may take.
    pub budget_s: f64,
    /// The CPU of the victims, if one is requested.
    pub cpu: Option<u32>,
    /// Of the order.
    pub seed: u64,
}

/// A victim and the loads beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RequestedCell {
    pub victim: &'static str,
    pub loads: Vec<Load>,
}

impl RequestedCell {
    /// True if this kind is the victim or a load.
    pub fn names(&self, kind: &str) -> bool {
        self.victim == kind || self.loads.iter().any(|load| load.kind.name == kind)
    }
}

/// The doses of a curve below the whole.
const DOSES: [f64; 2] = [0.25, 0.5];

/// Every cell that a request means on these CPUs, none twice.
pub(crate) fn cells(request: &Request, cpus: &Cpus, places: &[Place]) -> Vec<RequestedCell> {
    let mut cells: Vec<RequestedCell> = Vec::new();
    let mut add = |victim: &'static str, loads: Vec<Load>| {
        let requested = RequestedCell { victim, loads };
        if !cells.contains(&requested) {
            cells.push(requested);
        }
    };
    for &place in places {
        for victim in &request.victims {
            for &kind in &request.aggressors {
                add(victim.name, vec![Load { kind, dose: 1.0, place }]);
            }
        }
    }
    // A curve is of the place that shares least: at the others all its points say how long a CPU is shared.
    let least_shared = [Place::Other, Place::Sibling, Place::Same].into_iter().find(|place| places.contains(place));
    if let Some(place) = least_shared {
        for &(victim, kind) in &request.curves {
            for dose in DOSES.into_iter().chain([1.0]) {
                add(victim.name, vec![Load { kind, dose, place }]);
            }
        }
    }
    let Some((place, dose)) = two_at_once(cpus, places) else { return cells };
    for kinds in &request.together {
        for (number, victim) in kinds.iter().enumerate() {
            let loads = [1, 2].map(|next| Load { kind: kinds[(number + next) % 3], dose, place });
            for load in loads {
                add(victim.name, vec![load]);
            }
            add(victim.name, loads.to_vec());
        }
    }
    cells
}

/// Where two loads run at once, and their dose: each on a CPU of its own beside the victim's where there are two, else each half the
/// time on the only one. Where there is none, or none is requested, both on the victim's, if that is a place requested.
pub(crate) fn two_at_once(cpus: &Cpus, places: &[Place]) -> Option<(Place, f64)> {
    let is_requested = |place: Place| places.contains(&place).then_some(place);
    let others = is_requested(Place::Other).and_then(|place| cpus.at(place).ok()).map_or(0, |cpus| cpus.len());
    Some(match others {
        0 => (is_requested(Place::Same)?, 1.0),
        1 => (Place::Other, 0.5),
        _ => (Place::Other, 1.0),
    })
}

/// The name of three kinds together, as a command line has it.
pub fn together_name(kinds: &[&Kind; 3]) -> String {
    kinds.map(|kind| kind.name).join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let kind = |name: &str| Kind::named(name).expect("a kind");
        Request {
            victims: vec![kind("compute"), kind("memory")],
            aggressors: vec![kind("compute"), kind("memory"), kind("network")],
            places: vec![Place::Same],
            curves: vec![(kind("memory"), kind("network"))],
            together: vec![[kind("compute"), kind("memory"), kind("network")]],
            budget_s: 1.0,
            cpu: None,
            seed: 1,
        }
    }

    #[test]
    fn every_pair_is_there_once_and_what_predicts_several_loads_is_measured_too() {
        let request = request();
        let cpus = Cpus::around(None).expect("a CPU");
        let cells = cells(&request, &cpus, &[Place::Same]);
        for (number, cell) in cells.iter().enumerate() {
            assert!(!cells[..number].contains(cell), "{cell:?} stands twice");
        }
        for victim in ["compute", "memory"] {
            for aggressor in ["compute", "memory", "network"] {
                let is = |cell: &&RequestedCell| {
                    cell.victim == victim
                        && cell.loads.len() == 1
                        && cell.loads[0].kind.name == aggressor
                        && cell.loads[0].dose == 1.0
                        && cell.loads[0].place == Place::Same
                };
                assert_eq!(cells.iter().filter(is).count(), 1, "{victim} {aggressor}");
            }
        }
        let several: Vec<&RequestedCell> = cells.iter().filter(|cell| cell.loads.len() == 2).collect();
        assert_eq!(several.len(), 3, "each of the three is a victim once");
        for cell in several {
            for load in &cell.loads {
                assert!(cells.contains(&RequestedCell { victim: cell.victim, loads: vec![*load] }), "{cell:?}");
            }
        }
        let doses = cells.iter().filter(|cell| cell.victim == "memory" && cell.loads[0].kind.name == "network");
        let mut doses: Vec<f64> = doses.filter(|cell| cell.loads.len() == 1).map(|cell| cell.loads[0].dose).collect();
        doses.sort_by(f64::total_cmp);
        doses.dedup();
        assert_eq!(doses, [0.25, 0.5, 1.0]);
    }

    #[test]
    fn a_cell_names_its_victim_and_its_loads() {
        let kind = |name: &str| Kind::named(name).expect("a kind");
        let load = Load { kind: kind("memory"), dose: 1.0, place: Place::Same };
        let cell = RequestedCell { victim: "compute", loads: vec![load] };
        assert_eq!(["compute", "memory", "l2"].map(|kind| cell.names(kind)), [true, true, false]);
    }

    #[test]
    fn nothing_runs_where_it_was_not_requested() {
        let cpus = Cpus::around(None).expect("a CPU");
        let at = |places: &[Place]| cells(&request(), &cpus, places);
        assert!(at(&[]).is_empty());
        assert!(at(&[Place::Same]).iter().flat_map(|cell| &cell.loads).all(|load| load.place == Place::Same));
    }
}
