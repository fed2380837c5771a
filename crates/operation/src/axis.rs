//! Axes: the named parameters an operation is measured over, with their units and roles.

use machine::Distance;
use record::{Point, Unit, Value};

/// The values of an axis, in the registry's constants.
pub type Values = &'static [Value<&'static str>];

/// A named parameter an operation is measured over.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Its name: `size`, `tasks`, `distance`.
    pub name: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// What it decides beside the work of the operation.
    pub role: Role,
    /// All values of a full run.
    pub values: Values,
    /// The values of the headline run; empty means all.
    pub headline: Values,
}

/// What an axis decides beside the work of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    None,
    /// Where the partner runs, as a [`PartnerPlace`].
    Partner,
    /// How many CPUs are kept busy.
    Cpus,
}

impl Axis {
    /// The same axis, of which the headline run takes only these values.
    pub const fn headline(self, headline: Values) -> Axis {
        Axis { headline, ..self }
    }

    const fn of(name: &'static str, unit: Unit, role: Role, values: Values) -> Axis {
        Axis { name, unit, role, values, headline: &[] }
    }
}

/// The axis `size`, in bytes.
pub const fn size(values: Values) -> Axis {
    bytes("size", values)
}

/// An axis of bytes.
pub const fn bytes(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Bytes, Role::None, values)
}

/// An axis of counts.
pub const fn count(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Count, Role::None, values)
}

/// An axis of named choices.
pub const fn word(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Count, Role::None, values)
}

/// The word of an axis of CPUs for our own alone. Any other word means all of the machine.
pub const ONE_CPU: &str = "one";

/// An axis that says how many CPUs are kept busy, or how many tasks keep them busy.
pub const fn cpus(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Count, Role::Cpus, values)
}

/// An axis that says where the partner runs, in the words of [`PartnerPlace`].
pub const fn partner(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Count, Role::Partner, values)
}

/// Where a partner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartnerPlace {
    /// `same`: on our own CPU.
    Same,
    /// `other`: on another CPU, the one that the machine prefers.
    Other,
    /// `awake`: on such a CPU, where idle tasks keep both CPUs from halting.
    Awake,
    /// `sibling`, `core`, `cache`, `socket`: on a CPU at this distance.
    At(Distance),
}

impl PartnerPlace {
    /// Where the partner runs at this point, by the axis that says so; on our own CPU where none does.
    pub fn at(axes: &[Axis], point: &Point) -> PartnerPlace {
        let axis = axes.iter().find(|axis| axis.role == Role::Partner);
        match axis.and_then(|axis| point.word(axis.name)) {
            None | Some("" | "same") => PartnerPlace::Same,
            Some("awake") => PartnerPlace::Awake,
            Some(word) => Distance::named(word).map_or(PartnerPlace::Other, PartnerPlace::At),
        }
    }

    /// The distance asked for; `None` where any will do.
    pub fn distance(self) -> Option<Distance> {
        match self {
            PartnerPlace::At(distance) => Some(distance),
            _ => None,
        }
    }
}
