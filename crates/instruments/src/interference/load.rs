//! A load as it is requested: `disk-reads@50%@same`. Which CPUs its places mean.

use record::{Beside, Place};
use system::machine::{Distance, Topology};

use crate::interference::error::InterferenceError;
use crate::interference::kind::Kind;

#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub kind: &'static Kind,
    /// For which share of the time, above 0 and at most 1.
    pub dose: f64,
    pub place: Place,
}

impl PartialEq for Load {
    fn eq(&self, other: &Load) -> bool {
        self.kind.name == other.kind.name && self.dose == other.dose && self.place == other.place
    }
}

/// The smallest share that periods of a few milliseconds can hold.
const LEAST: f64 = 0.01;

impl Load {
    /// Reads `KIND[@DOSE][@PLACE]`: `memory`, `disk-reads@50%`, `compute@same`, `compute@25%@same`. Fails if it says
    /// something else.
    pub fn parse(text: &str) -> Result<Load, InterferenceError> {
        let bad = |why| InterferenceError::Load { text: record::printable(text), why };
        let mut parts = text.split('@');
        let kind = Kind::named(parts.next().unwrap_or_default().trim())?;
        let (mut dose, mut place) = (None, None);
        for part in parts.map(str::trim) {
            match part.strip_suffix('%') {
                Some(number) if dose.is_none() => {
                    let share = number.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
                    let share = share.filter(|share| (LEAST..=1.0).contains(share));
                    dose = Some(share.ok_or(bad("a dose is a percentage from 1% to 100%"))?);
                }
                None if place.is_none() => {
                    let found = Place::ALL.into_iter().find(|place| place.word() == part);
                    place = Some(found.ok_or(bad("a place is sibling, other or same, and a dose ends in %"))?);
                }
                _ => return Err(bad("it says a dose or a place twice")),
            }
        }
        Ok(Load { kind, dose: dose.unwrap_or(1.0), place: place.unwrap_or(Place::Other) })
    }

    /// What a run's document says of it, for a victim on this CPU.
    pub fn described(&self, cpu: u32) -> Beside {
        Beside {
            kind: self.kind.name.into(),
            operation: self.kind.operation.into(),
            at: self.kind.point(cpu),
            dose: self.dose,
            place: self.place,
        }
    }
}

/// The CPUs of a victim and of the loads beside it.
#[derive(Clone, Debug)]
pub struct Cpus {
    pub victim: u32,
    /// CPUs that this process may use.
    usable: Vec<u32>,
}

impl Cpus {
    /// A victim on the CPU requested, or on the last usable one of the strongest kind: interrupts and other programs are
    /// usually found on the first. Fails if this process may not use the CPU requested.
    pub fn around(requested: Option<u32>) -> Result<Cpus, InterferenceError> {
        let usable = system::machine::pinnable_cpus();
        let kind = |cpu: u32| Topology::here().kind_of(cpu);
        let strongest = usable.iter().map(|&cpu| kind(cpu)).min();
        let chosen = usable.iter().copied().rev().find(|&cpu| Some(kind(cpu)) == strongest).unwrap_or(0);
        let victim = requested.unwrap_or(chosen);
        if requested.is_some() && !usable.contains(&victim) {
            let reported: Vec<String> = usable.iter().map(u32::to_string).collect();
            return Err(InterferenceError::Place {
                reason: format!("this process may not use CPU {victim}"),
                remedy: format!("choose one of {}", reported.join(", ")),
            });
        }
        Ok(Cpus { victim, usable })
    }

    /// The CPUs that a place means, the preferred one first. Fails if this machine has none.
    pub fn at(&self, place: Place) -> Result<Vec<u32>, InterferenceError> {
        let topology = Topology::here();
        let others = || self.usable.iter().copied().filter(|&cpu| cpu != self.victim);
        let is_sibling = |cpu: u32| topology.distance(self.victim, cpu) == Distance::Sibling;
        let none =
            |reason: &str, remedy: &str| Err(InterferenceError::Place { reason: reason.into(), remedy: remedy.into() });
        match place {
            Place::Same => Ok(vec![self.victim]),
            Place::Sibling => match others().filter(|&cpu| is_sibling(cpu)).collect::<Vec<_>>() {
                empty if empty.is_empty() => none(
                    "the kernel lists no other hardware thread of this core",
                    "a machine that has one, or allow its CPUs (taskset, cpuset)",
                ),
                found => Ok(found),
            },
            Place::Other => {
                let near = topology.partners_at(self.victim, &self.usable, None);
                let mut found: Vec<u32> = near.into_iter().filter(|&cpu| !is_sibling(cpu)).collect();
                let rest: Vec<u32> = others().filter(|&cpu| !is_sibling(cpu) && !found.contains(&cpu)).collect();
                found.extend(rest);
                match found.is_empty() {
                    true => none("only one core may be used", "allow a second one (taskset, cpuset)"),
                    false => Ok(found),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_names_its_kind_dose_and_place() {
        let read = |text: &str| Load::parse(text).map(|load| (load.kind.name, load.dose, load.place)).ok();
        assert_eq!(read("memory"), Some(("memory", 1.0, Place::Other)));
        assert_eq!(read("disk-reads@50%"), Some(("disk-reads", 0.5, Place::Other)));
        assert_eq!(read("compute@same"), Some(("compute", 1.0, Place::Same)));
        assert_eq!(read("l2@25%@sibling"), Some(("l2", 0.25, Place::Sibling)));
        assert_eq!(read("l2@sibling@25%"), read("l2@25%@sibling"));
        assert_eq!(read("disk@50%"), read("disk-reads@50%"), "the paper's word");
        for nonsense in ["", "disks", "memory@", "memory@0%", "memory@101%", "memory@nan%", "memory@50", "l2@1%@2%"] {
            assert!(Load::parse(nonsense).is_err(), "{nonsense}");
        }
        let error = Load::parse("disks").map(|_| ()).expect_err("unknown").to_string();
        assert!(error.contains("disk-reads") && error.contains("processes"), "{error}");
    }

    #[test]
    fn every_kind_stands_for_an_operation_that_stays_on_its_cpu() {
        for kind in &crate::interference::kind::KINDS {
            let operation = kind.operation().expect(kind.name);
            let point = kind.point(0);
            assert!(!operation.uses_other_cpu(&point), "{}", kind.name);
            let axes: Vec<&str> = operation.axes.iter().map(|axis| axis.name).collect();
            assert!(
                axes.len() == point.0.len() && axes.iter().all(|axis| point.0.contains_key(*axis)),
                "{}",
                kind.name
            );
            for (axis, value) in point.0.iter().filter(|(_, value)| value.word().is_some()) {
                let known = operation.axes.iter().find(|known| known.name == axis).expect("an axis");
                assert!(known.values.iter().any(|known| known.value() == *value), "{}: {axis}={value}", kind.name);
            }
        }
    }
}
