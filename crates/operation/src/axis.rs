//! Axes: the named parameters an operation is measured over, with their units and roles.

use record::{Bytes, Point, Unit, Value};
use system::machine::Distance;

/// The values of an axis, in the registry's constants.
pub type Values = &'static [Value<&'static str>];

/// A named parameter an operation is measured over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name: `size`, `tasks`, `distance`.
    pub name: &'static str,
    pub unit: Unit,
    /// What it decides beside the work of the operation.
    pub role: Role,
    /// All values of a full run.
    pub values: Values,
    /// The values of the headline run; empty means all.
    pub headline: Values,
    /// The numbers that it can be measured at beside its values, where somebody requests them.
    pub bounds: Option<Bounds>,
}

/// The numbers that an axis takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub low: u64,
    pub high: u64,
    /// Which of those between.
    pub step: Step,
}

/// Which numbers between two bounds an axis takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Multiples of this number.
    Of(u64),
    /// Powers of two.
    Power,
}

impl Bounds {
    /// True if the axis takes this number.
    pub fn hold(&self, number: u64) -> bool {
        let fits = match self.step {
            Step::Of(step) => number.is_multiple_of(step.max(1)),
            Step::Power => number.is_power_of_two(),
        };
        (self.low..=self.high).contains(&number) && fits
    }

    /// The number that the axis takes nearest to this one, by their ratio for powers of two.
    pub fn nearest(&self, number: f64) -> u64 {
        let number = number.clamp(self.low as f64, self.high as f64);
        let fitting = match self.step {
            Step::Of(step) => {
                let step = step.max(1);
                let (first, last) = (self.low.div_ceil(step), self.high / step);
                ((number / step as f64).round() as u64).clamp(first, last) * step
            }
            Step::Power => 1 << (number.max(1.0).log2().round() as u32).min(63),
        };
        fitting.clamp(self.low, self.high)
    }

    /// The bounds in words: `from 1 B to 64 KiB in steps of 8 B`.
    pub fn described(&self, unit: Unit) -> String {
        let described = |number: u64| match unit {
            Unit::Bytes => Bytes(number).to_string(),
            Unit::Count => number.to_string(),
        };
        let step = match self.step {
            Step::Of(0 | 1) => String::new(),
            Step::Of(step) => format!(", in steps of {}", described(step)),
            Step::Power => ", powers of two".into(),
        };
        format!("from {} to {}{step}", described(self.low), described(self.high))
    }
}

/// Why an operation cannot be measured at a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has no such axis, or the axis takes its own values alone.
    #[error("the axis takes its own values alone")]
    NotFree,
    /// The number is not one that the axis takes.
    #[error("{axis}={number} is not possible: it goes {}", bounds.described(*unit))]
    Outside {
        axis: &'static str,
        unit: Unit,
        number: u64,
        /// What it takes.
        bounds: Bounds,
    },
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

    /// The same axis, which can also be measured at any number from `low` to `high`.
    pub const fn within(self, low: u64, high: u64) -> Axis {
        self.in_steps(1, low, high)
    }

    /// The same axis, which can also be measured at any multiple of `step` from `low` to `high`.
    pub const fn in_steps(self, step: u64, low: u64, high: u64) -> Axis {
        Axis { bounds: Some(Bounds { low, high, step: Step::Of(step) }), ..self }
    }

    /// The same axis, which can also be measured at any power of two from `low` to `high`.
    pub const fn in_powers(self, low: u64, high: u64) -> Axis {
        Axis { bounds: Some(Bounds { low, high, step: Step::Power }), ..self }
    }

    /// Whether it can be measured at this number: one of its values, or within its bounds. Fails with why it cannot.
    pub fn takes(&self, number: u64) -> Result<(), Refused> {
        if self.values.contains(&Value::Number(number)) {
            return Ok(());
        }
        match self.bounds {
            None => Err(Refused::NotFree),
            Some(bounds) if bounds.hold(number) => Ok(()),
            Some(bounds) => Err(Refused::Outside { axis: self.name, unit: self.unit, number, bounds }),
        }
    }

    const fn of(name: &'static str, unit: Unit, role: Role, values: Values) -> Axis {
        Axis { name, unit, role, values, headline: &[], bounds: None }
    }
}

/// The axis `size`, in bytes.
pub const fn size(values: Values) -> Axis {
    bytes("size", values)
}

pub const fn bytes(name: &'static str, values: Values) -> Axis {
    Axis::of(name, Unit::Bytes, Role::None, values)
}

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

    /// The distance requested; `None` where any will do.
    pub fn distance(self) -> Option<Distance> {
        match self {
            PartnerPlace::At(distance) => Some(distance),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_what_they_promise_and_give_the_nearest() {
        let steps = Bounds { low: 8, high: 100, step: Step::Of(8) };
        assert!(steps.hold(8) && steps.hold(96) && !steps.hold(9) && !steps.hold(104) && !steps.hold(0));
        let powers = Bounds { low: 32, high: 4096, step: Step::Power };
        assert!(powers.hold(32) && !powers.hold(33) && !powers.hold(8192));
        for number in [-1.0, 0.0, 8.0, 11.0, 13.0, 97.0, 99.0, 1e30, f64::MIN_POSITIVE] {
            assert!(steps.hold(steps.nearest(number)), "{number}: {}", steps.nearest(number));
            assert!(powers.hold(powers.nearest(number)), "{number}: {}", powers.nearest(number));
        }
        assert_eq!((steps.nearest(13.0), powers.nearest(100.0)), (16, 128));
    }

    #[test]
    fn an_axis_takes_its_values_and_what_its_bounds_hold() {
        let axis = size(&[Value::Number(3), Value::Number(4096)]);
        assert_eq!((axis.takes(3), axis.takes(4)), (Ok(()), Err(Refused::NotFree)));
        let axis = axis.in_steps(4, 4, 8192);
        assert_eq!((axis.takes(3), axis.takes(4)), (Ok(()), Ok(())));
        let why = axis.takes(5).expect_err("no multiple of 4").to_string();
        assert_eq!(why, "size=5 is not possible: it goes from 4 B to 8 KiB, in steps of 4 B");
    }
}
