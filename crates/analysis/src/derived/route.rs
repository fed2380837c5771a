//! Routes: sums and differences of measured costs, as data, followed through a run.

use record::{Cost, Doubt, Ends, FixedPoint, FixedTerm, Run};

use crate::estimate::interval;
use crate::statistics::Interval;
use crate::sums::{doubts_in, sum};

/// What is taken of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The figure it is quoted by, net.
    Time,
    Processor,
    /// Elapsed less processor time.
    Waiting,
}

/// A term of a derivation, and what is taken of its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// How often, the operation and its whole point.
    pub term: FixedTerm,
    pub of: Quantity,
}

/// Once the cost of an operation without axes.
pub const fn cost(operation: &'static str) -> Part {
    Part { term: FixedTerm { times: 1.0, operation, at: &[] }, of: Quantity::Time }
}

impl Part {
    pub const fn at(self, at: FixedPoint) -> Part {
        Part { term: FixedTerm { at, ..self.term }, ..self }
    }

    pub const fn times(self, times: f64) -> Part {
        Part { term: FixedTerm { times, ..self.term }, ..self }
    }

    pub const fn processor(self) -> Part {
        Part { of: Quantity::Processor, ..self }
    }

    pub const fn waiting(self) -> Part {
        Part { of: Quantity::Waiting, ..self }
    }

    /// What is taken of this cost. Processor time and waiting have intervals of their own, in older runs none: there the waiting,
    /// which is what is left of the whole time, is as open as that in ns, and the processor time as open in proportion.
    pub fn figure(&self, cost: &Cost) -> Interval {
        let time = net(cost);
        let (value, own) = match self.of {
            Quantity::Time => return time,
            Quantity::Processor => (cost.cpu_ns.user.0 + cost.cpu_ns.system.0, cost.cpu_interval_ns),
            Quantity::Waiting => (cost.wait_ns.0, cost.wait_interval_ns),
        };
        if let Some(Ends { low, high }) = own {
            return Interval { value, low, high };
        }
        let part = match self.of {
            Quantity::Processor if time.value > 0.0 => value.abs() / time.value,
            Quantity::Processor => 0.0,
            _ => 1.0,
        };
        if part == 0.0 || !time.is_bounded() {
            return if time.is_bounded() { Interval::exactly(value) } else { Interval::unbounded(value) };
        }
        Interval { value, low: value - (time.value - time.low) * part, high: value + (time.high - time.value) * part }
    }

    /// Id and point as typed on the command line.
    pub fn name(&self) -> String {
        self.term.term().name()
    }

    /// Id and the point's values, for tables.
    pub fn short(&self) -> String {
        format!("{} {}", self.term.operation, self.term.term().at.values()).trim_end().into()
    }

    pub fn find<'a>(&self, run: &'a Run) -> Option<&'a Cost> {
        run.cost_of(&self.term.term())
    }
}

/// One way to a cost: a sum of costs less a sum of others, divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// What it compares, in words.
    pub name: &'static str,
    pub plus: &'static [Part],
    pub minus: &'static [Part],
    /// How often the difference contains what is looked for.
    pub divide_by: f64,
}

impl Route {
    /// A route that is one measured cost.
    pub const fn of(plus: &'static [Part]) -> Route {
        Route { name: "", plus, minus: &[], divide_by: 1.0 }
    }

    /// Every part, with the sign it goes in with.
    pub fn parts(&self) -> impl Iterator<Item = (f64, &'static Part)> {
        let minus = self.minus.iter().map(|part| (-1.0, part));
        self.plus.iter().map(|part| (1.0, part)).chain(minus)
    }

    /// Its figure in ns with the interval of all its parts.
    ///
    /// # Errors
    /// The names of the costs that the run lacks.
    pub fn follow(&self, run: &Run) -> Result<Interval, Vec<String>> {
        let missing = self.parts().map(|(_, part)| part).filter(|part| part.find(run).is_none());
        let missing: Vec<String> = missing.map(Part::name).collect();
        if missing.is_empty() { Ok(self.sum(run)) } else { Err(missing) }
    }

    /// The doubts of the costs that matter to its figure.
    pub fn doubts(&self, run: &Run) -> Vec<Doubt> {
        doubts_in(&self.sum(run), self.found(run))
    }

    fn sum(&self, run: &Run) -> Interval {
        sum(self.found(run).map(|(factor, figure, _)| (factor, figure)))
    }

    /// Its costs in this run, each with the factor it goes in with.
    fn found<'a>(&self, run: &'a Run) -> impl Iterator<Item = (f64, Interval, &'a Cost)> {
        self.parts().filter_map(|(sign, part)| {
            let cost = part.find(run)?;
            Some((sign * part.term.times / self.divide_by, part.figure(cost), cost))
        })
    }

    /// What is added, subtracted and divided, as a formula of ids and points as they are typed.
    pub fn formula(&self) -> String {
        self.formula_of(Part::name)
    }

    /// The same for tables: of the points only the values.
    pub fn short_formula(&self) -> String {
        self.formula_of(Part::short)
    }

    fn formula_of(&self, name: fn(&Part) -> String) -> String {
        let mut text = String::new();
        for (sign, part) in self.parts() {
            text += match (text.is_empty(), sign > 0.0) {
                (true, true) => "",
                (true, false) => "-",
                (false, true) => " + ",
                (false, false) => " - ",
            };
            if part.term.times != 1.0 {
                text += &format!("{} x ", part.term.times);
            }
            text += match part.of {
                Quantity::Time => "",
                Quantity::Processor => "CPU of ",
                Quantity::Waiting => "delta of ",
            };
            text += &name(part);
        }
        match (self.divide_by == 1.0, self.plus.len() + self.minus.len()) {
            (true, _) => text,
            (false, 1) => format!("{text} / {}", self.divide_by),
            (false, _) => format!("({text}) / {}", self.divide_by),
        }
    }
}

/// The headline figure of a cost, net, with its interval.
pub fn net(cost: &Cost) -> Interval {
    interval(&cost.net_ns, cost.headline)
}
