//! Derived costs: differences of measured ones. Each is computed by every available route, and the routes are compared.
//! The derivations are data; nothing here knows how an operation works.

mod derivations;

use record::{Cost, Doubt, Ends, FixedPoint, FixedTerm, Run};

pub use derivations::{DERIVATIONS, RSX_DERIVATIONS, SIGNAL, SWITCH};

use crate::answer::{Answer, between};
use crate::estimate::interval;
use crate::statistics::Interval;
use crate::sums::{doubts_in, doubts_of, join, quotient, sum};

/// Routes to one cost agree if the largest is certainly less than this many times the smallest. The paper's two routes
/// to the cost of an AST meet this.
pub const AGREE: f64 = 1.25;

/// What is taken of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The figure it is quoted by, net.
    Time,
    /// Processor time.
    Processor,
    /// Elapsed time minus processor time.
    Waiting,
}

/// A term of a derivation, and what is taken of its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// How often, the operation and its whole point.
    pub term: FixedTerm,
    /// What of it.
    pub of: Quantity,
}

/// The cost of an operation without axes, once.
pub const fn cost(operation: &'static str) -> Part {
    Part { term: FixedTerm { times: 1.0, operation, at: &[] }, of: Quantity::Time }
}

impl Part {
    /// At this point.
    pub const fn at(self, at: FixedPoint) -> Part {
        Part { term: FixedTerm { at, ..self.term }, ..self }
    }

    /// The same with this factor.
    pub const fn times(self, times: f64) -> Part {
        Part { term: FixedTerm { times, ..self.term }, ..self }
    }

    /// Its processor time.
    pub const fn processor(self) -> Part {
        Part { of: Quantity::Processor, ..self }
    }

    /// Its waiting time.
    pub const fn waiting(self) -> Part {
        Part { of: Quantity::Waiting, ..self }
    }

    /// This quantity of the cost. Processor time and waiting time have intervals of their own. Older runs have none:
    /// there the waiting time, which is the rest of the whole time, gets the interval of the whole time in ns, and the
    /// processor time gets it in proportion.
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
        if part == 0.0 || !time.is_told() {
            return if time.is_told() { Interval::exactly(value) } else { Interval::untold(value) };
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

    /// The cost it names in this run.
    pub fn find<'a>(&self, run: &'a Run) -> Option<&'a Cost> {
        self.term.term().find(&run.costs)
    }
}

/// One way to a cost: a sum of costs minus a sum of others, divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// What it compares, in words.
    pub name: &'static str,
    /// What is added.
    pub plus: &'static [Part],
    /// What is subtracted.
    pub minus: &'static [Part],
    /// How many times the difference contains the wanted cost.
    pub divide_by: f64,
}

impl Route {
    /// A route that is one measured cost.
    pub const fn of(plus: &'static [Part]) -> Route {
        Route { name: "", plus, minus: &[], divide_by: 1.0 }
    }

    /// Every part with its sign.
    pub fn parts(&self) -> impl Iterator<Item = (f64, &'static Part)> {
        let minus = self.minus.iter().map(|part| (-1.0, part));
        self.plus.iter().map(|part| (1.0, part)).chain(minus)
    }

    /// Its figure in ns with the interval of all its parts.
    ///
    /// # Errors
    /// The names of the costs that the run lacks.
    pub fn follow(&self, run: &Run) -> Result<Interval, Vec<String>> {
        let mut missing = Vec::new();
        for (_, part) in self.parts() {
            if part.find(run).is_none() {
                missing.push(part.name());
            }
        }
        let parts: Vec<(f64, Interval)> = self.found(run).map(|(factor, figure, _)| (factor, figure)).collect();
        if missing.is_empty() { Ok(sum(&parts)) } else { Err(missing) }
    }

    /// The doubts of the costs that matter to its figure.
    pub fn doubts(&self, run: &Run) -> Vec<Doubt> {
        let parts: Vec<(f64, Interval)> = self.found(run).map(|(factor, figure, _)| (factor, figure)).collect();
        doubts_in(&sum(&parts), self.found(run))
    }

    /// Its costs in this run, each with its factor.
    fn found<'a>(&self, run: &'a Run) -> impl Iterator<Item = (f64, Interval, &'a Cost)> {
        self.parts().filter_map(|(sign, part)| {
            let cost = part.find(run)?;
            Some((sign * part.term.times / self.divide_by, part.figure(cost), cost))
        })
    }

    /// The formula of ids and points, in the form in which they are typed.
    pub fn formula(&self) -> String {
        self.formula_of(Part::name)
    }

    /// The same for tables, with only the values of the points.
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

/// A cost that cannot be measured alone, and the routes to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derivation {
    /// The name of the derived cost.
    pub name: &'static str,
    /// The routes, the most direct first.
    pub routes: &'static [Route],
}

/// How far the routes to one cost agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The largest figure over the smallest.
    pub ratio: f64,
    /// Whether all intervals share a value.
    pub overlap: bool,
    /// True if every two of them are within a factor of [`AGREE`].
    pub agree: Answer,
}

/// The result of one route.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The route.
    pub route: Route,
    /// Its figure in ns, or the costs that the run lacks.
    pub figure: Result<Interval, Vec<String>>,
    /// The doubts of the costs that matter to it.
    pub doubts: Vec<Doubt>,
}

/// A derived cost of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The name of the derived cost.
    pub name: &'static str,
    /// Every route, including those with missing costs.
    pub routes: Vec<Followed>,
    /// `None` with fewer than two figures, or if one is not distinguishable from zero.
    pub agreement: Option<Agreement>,
}

/// Every derived cost: for a book its own, otherwise those of howslow's operations.
pub fn derive(run: &Run) -> Vec<Derived> {
    let any = |derivations: &[Derivation]| {
        let mut parts = derivations.iter().flat_map(|it| it.routes).flat_map(Route::parts);
        parts.any(|(_, part)| part.find(run).is_some())
    };
    let derivations = if any(RSX_DERIVATIONS) { RSX_DERIVATIONS } else { DERIVATIONS };
    derivations.iter().map(|derivation| follow(derivation, run)).collect()
}

/// One derived cost of a run.
pub fn follow(derivation: &Derivation, run: &Run) -> Derived {
    let followed = |route: &Route| Followed { route: *route, figure: route.follow(run), doubts: route.doubts(run) };
    let routes: Vec<Followed> = derivation.routes.iter().map(followed).collect();
    let figures: Vec<Interval> = routes.iter().filter_map(|followed| followed.figure.clone().ok()).collect();
    Derived { name: derivation.name, agreement: agreement(&figures), routes }
}

fn agreement(figures: &[Interval]) -> Option<Agreement> {
    let extreme = |pick: fn(f64, f64) -> f64, of: fn(&Interval) -> f64| figures.iter().map(of).reduce(pick);
    let (least, most) = (extreme(f64::min, |it| it.value)?, extreme(f64::max, |it| it.value)?);
    let told = figures.len() > 1 && figures.iter().all(|it| !it.is_at_most() && it.value > 0.0);
    let known = figures.iter().all(Interval::is_told);
    let overlap = known && extreme(f64::max, |it| it.low)? <= extreme(f64::min, |it| it.high)?;
    let pairs = figures.iter().enumerate().flat_map(|(place, one)| figures[..place].iter().map(move |two| (one, two)));
    let agree = pairs.map(|(one, two)| match quotient(*one, *two) {
        Some(ratio) => between(&ratio, (1.0 / AGREE, AGREE), 0.0),
        None => Answer::Inconclusive,
    });
    told.then(|| Agreement { ratio: most / least, overlap, agree: agree.fold(Answer::Yes, Answer::and) })
}

/// The part of a call that is the bare entry into the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryShare {
    /// Id and point of the call.
    pub name: String,
    /// The number of entries per iteration.
    pub entries: f64,
    /// The entries divided by the whole.
    pub share: Interval,
    /// The doubts of both.
    pub doubts: Vec<Doubt>,
}

/// The bare kernel entry's share of every call with a known number of entries, the largest share first.
pub fn entry_shares(run: &Run) -> Vec<EntryShare> {
    let null = |cost: &&Cost| cost.operation == "syscall.getppid" || cost.operation == "rsx.gssw";
    let Some(entry) = run.costs.iter().find(null) else { return Vec::new() };
    let mut shares: Vec<EntryShare> = run
        .costs
        .iter()
        .filter(|cost| cost.operation != entry.operation)
        .filter_map(|cost| {
            let entries = entries(cost, &entry.operation)?;
            let share = quotient(net(entry), net(cost))?.times(entries);
            let mut doubts = doubts_of(entry);
            join(&mut doubts, doubts_of(cost));
            Some(EntryShare { name: cost.name(), entries, share, doubts })
        })
        .collect();
    shares.sort_by(|one, other| other.share.value.total_cmp(&one.share.value));
    shares
}

/// How often a cost enters the kernel: the number that it states, otherwise once if its family consists of single
/// calls.
fn entries(cost: &Cost, entry: &str) -> Option<f64> {
    let said = cost.explained_by.iter().find(|term| term.operation == entry).map(|term| term.times);
    said.or_else(|| (cost.family() == "call" && cost.per == "call").then_some(1.0))
}

/// The headline figure of a cost, net, with its interval.
pub fn net(cost: &Cost) -> Interval {
    interval(&cost.net_ns, cost.headline)
}

#[cfg(test)]
mod tests;
