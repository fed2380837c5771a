//! Derived costs: differences of measured ones, each by as many routes as there are, and how far the routes agree.
//! The derivations are data; nothing here knows how an operation works.

mod derivations;

use record::{Cost, Point, Run, Value};

pub use derivations::{DERIVATIONS, RSX_DERIVATIONS, SIGNAL, SWITCH};

use crate::estimate::interval;
use crate::statistics::{Interval, ratio, weighted_sum};

/// A value an axis takes, as data writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Bytes or a count.
    Number(u64),
    /// A named choice.
    Word(&'static str),
}

/// What is taken of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The figure it is quoted by, net.
    Time,
    /// Processor time.
    Processor,
    /// Elapsed less processor time.
    Waiting,
}

/// So many times the cost of an operation at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// How often.
    pub times: f64,
    /// The operation's id.
    pub operation: &'static str,
    /// The whole point.
    pub at: &'static [(&'static str, At)],
    /// What of it.
    pub of: Quantity,
}

/// Once the cost of an operation without axes.
pub const fn cost(operation: &'static str) -> Part {
    Part { times: 1.0, operation, at: &[], of: Quantity::Time }
}

impl Part {
    /// At this point.
    pub const fn at(self, at: &'static [(&'static str, At)]) -> Part {
        Part { at, ..self }
    }

    /// So many times.
    pub const fn times(self, times: f64) -> Part {
        Part { times, ..self }
    }

    /// Its processor time.
    pub const fn processor(self) -> Part {
        Part { of: Quantity::Processor, ..self }
    }

    /// Its waiting.
    pub const fn waiting(self) -> Part {
        Part { of: Quantity::Waiting, ..self }
    }

    /// What is taken of this cost. A record holds no interval of processor time and waiting: they are taken for as
    /// open as the whole time is, each by its share.
    pub fn figure(&self, cost: &Cost) -> Interval {
        let time = net(cost);
        let value = match self.of {
            Quantity::Time => return time,
            Quantity::Processor => cost.cpu_ns.user.0 + cost.cpu_ns.system.0,
            Quantity::Waiting => cost.wait_ns.0,
        };
        let open = if time.value > 0.0 { value.abs() / time.value } else { 0.0 };
        Interval { value, low: value - (time.value - time.low) * open, high: value + (time.high - time.value) * open }
    }

    /// The point as a record holds it.
    pub fn point(&self) -> Point {
        self.at.iter().fold(Point::default(), |point, (axis, value)| {
            let value = match value {
                At::Number(number) => Value::Number(*number),
                At::Word(word) => Value::Word((*word).into()),
            };
            point.with(axis, value)
        })
    }

    /// Id and point as typed on the command line.
    pub fn name(&self) -> String {
        format!("{}{}", self.operation, self.point())
    }

    /// Id and the point's values, for tables.
    pub fn short(&self) -> String {
        format!("{} {}", self.operation, self.point().values()).trim_end().into()
    }

    /// The cost it names in this run.
    pub fn find<'a>(&self, run: &'a Run) -> Option<&'a Cost> {
        let point = self.point();
        run.costs.iter().find(|cost| cost.operation == self.operation && cost.at == point)
    }
}

/// One way to a cost: a sum of costs less a sum of others, divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// What it compares, in words.
    pub name: &'static str,
    /// What is added.
    pub plus: &'static [Part],
    /// What is taken away.
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
        let mut parts = Vec::new();
        let mut missing = Vec::new();
        for (sign, part) in self.parts() {
            match part.find(run) {
                Some(cost) => parts.push((sign * part.times / self.divide_by, part.figure(cost))),
                None => missing.push(part.name()),
            }
        }
        if missing.is_empty() { Ok(weighted_sum(&parts)) } else { Err(missing) }
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
            if part.times != 1.0 {
                text += &format!("{} x ", part.times);
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
    /// What is derived.
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
}

/// What one route gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The route.
    pub route: Route,
    /// Its figure in ns, or the costs that the run lacks.
    pub figure: Result<Interval, Vec<String>>,
}

/// A derived cost of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// What is derived.
    pub name: &'static str,
    /// Every route, also those that the run lacks the costs for.
    pub routes: Vec<Followed>,
    /// `None` with fewer than two figures, or where one cannot be told from zero.
    pub agreement: Option<Agreement>,
}

/// Every derived cost: of a book its own, else those of howslow's operations.
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
    let followed = |route: &Route| Followed { route: *route, figure: route.follow(run) };
    let routes: Vec<Followed> = derivation.routes.iter().map(followed).collect();
    let figures: Vec<Interval> = routes.iter().filter_map(|followed| followed.figure.clone().ok()).collect();
    Derived { name: derivation.name, agreement: agreement(&figures), routes }
}

fn agreement(figures: &[Interval]) -> Option<Agreement> {
    let extreme = |pick: fn(f64, f64) -> f64, of: fn(&Interval) -> f64| figures.iter().map(of).reduce(pick);
    let (least, most) = (extreme(f64::min, |it| it.value)?, extreme(f64::max, |it| it.value)?);
    let told = figures.len() > 1 && figures.iter().all(|it| !it.holds_zero() && it.value > 0.0);
    let overlap = extreme(f64::max, |it| it.low)? <= extreme(f64::min, |it| it.high)?;
    told.then(|| Agreement { ratio: most / least, overlap })
}

/// How much of a call is the bare entry into the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryShare {
    /// Id and point of the call.
    pub name: String,
    /// Entries that one iteration makes.
    pub entries: f64,
    /// The entries over the whole.
    pub share: Interval,
}

/// The bare kernel entry's share of every call that enters a known number of times, the largest share first.
pub fn entry_shares(run: &Run) -> Vec<EntryShare> {
    let null = |cost: &&Cost| cost.operation == "syscall.getppid" || cost.operation == "rsx.gssw";
    let Some(entry) = run.costs.iter().find(null) else { return Vec::new() };
    let mut shares: Vec<EntryShare> = run
        .costs
        .iter()
        .filter(|cost| cost.operation != entry.operation)
        .filter_map(|cost| {
            let entries = entries(cost, &entry.operation)?;
            let share = scaled(entries, ratio(net(entry), net(cost))?);
            Some(EntryShare { name: cost.name(), entries, share })
        })
        .collect();
    shares.sort_by(|one, other| other.share.value.total_cmp(&one.share.value));
    shares
}

/// How often a cost enters the kernel: as it says itself, else once for what is one call by its family.
fn entries(cost: &Cost, entry: &str) -> Option<f64> {
    let said = cost.explained_by.iter().find(|term| term.operation == entry).map(|term| term.times);
    said.or_else(|| (cost.family() == "call" && cost.per == "call").then_some(1.0))
}

/// The headline figure of a cost, net, with its interval.
pub fn net(cost: &Cost) -> Interval {
    interval(&cost.net_ns, cost.headline)
}

fn scaled(factor: f64, of: Interval) -> Interval {
    weighted_sum(&[(factor, of)])
}

#[cfg(test)]
mod tests {
    use record::Nanoseconds;

    use super::*;

    fn run(costs: &[(&str, &str, f64, f64)]) -> Run {
        let mut run =
            record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run");
        let pattern = run.costs[0].clone();
        run.costs = costs
            .iter()
            .map(|(operation, at, value, half)| {
                let mut cost = pattern.clone();
                cost.operation = (*operation).into();
                cost.at = at.split(',').filter_map(|choice| choice.split_once('=')).fold(
                    Point::default(),
                    |point, (axis, value)| {
                        let value = value.parse().map_or_else(|_| Value::Word(value.into()), Value::Number);
                        point.with(axis, value)
                    },
                );
                cost.net_ns.quiet = Nanoseconds(*value);
                (cost.net_ns.low, cost.net_ns.high) = (Nanoseconds(value - half), Nanoseconds(value + half));
                cost.explained_by.clear();
                cost
            })
            .collect();
        run
    }

    fn interval(value: f64, half: f64) -> Interval {
        Interval { value, low: value - half, high: value + half }
    }

    #[test]
    fn routes_carry_the_interval_of_every_part() {
        let run = run(&[
            ("pipe.roundtrip", "distance=same,size=26", 3000.0, 30.0),
            ("pipe.self", "size=26", 400.0, 20.0),
            ("switch.process", "set=0", 1050.0, 10.0),
            ("signal.deliver", "", 700.0, 3.0),
            ("signal.ignored", "", 200.0, 4.0),
        ]);
        let derived = derive(&run);
        let [signal, switch, wake] = derived.as_slice() else { panic!("{derived:?}") };
        assert_eq!(signal.routes[0].figure, Ok(interval(500.0, 5.0)));
        assert_eq!(signal.routes[1].figure, Err(vec!["async.read.signal".into(), "async.read.posix".into()]));
        assert_eq!(signal.agreement, None);
        // (3000 - 2 x 400) / 2, and half of the root of 30^2 + 40^2.
        assert_eq!(switch.routes[0].figure, Ok(interval(1100.0, 25.0)));
        assert_eq!(switch.routes[1].figure, Err(vec!["switch.yield".into(), "call.sched_yield".into()]));
        let agreement = switch.agreement.expect("two routes");
        assert!((agreement.ratio - 1100.0 / 1050.0).abs() < 1e-12 && !agreement.overlap);
        assert_eq!(wake.routes[0].figure, Err(vec!["pipe.roundtrip@distance=other,size=26".into()]));
    }

    #[test]
    fn routes_that_cannot_be_told_from_zero_agree_in_nothing() {
        let pair = |half| [interval(10.0, half), interval(11.0, 2.0)];
        assert_eq!(agreement(&pair(1.0)), Some(Agreement { ratio: 1.1, overlap: true }));
        assert_eq!(agreement(&pair(10.0)), None);
        assert_eq!(agreement(&pair(1.0)[..1]), None);
        assert_eq!(agreement(&[interval(-5.0, 1.0), interval(5.0, 1.0)]), None);
    }

    #[test]
    fn formulas_are_readable() {
        let texts: Vec<String> = DERIVATIONS[1].routes.iter().map(Route::formula).collect();
        assert_eq!(
            texts,
            [
                "(pipe.roundtrip@distance=same,size=26 - 2 x pipe.self@size=26) / 2",
                "switch.yield - call.sched_yield",
                "switch.process@set=0",
            ]
        );
        assert_eq!(DERIVATIONS[1].routes[0].short_formula(), "(pipe.roundtrip same 26 B - 2 x pipe.self 26 B) / 2");
    }

    #[test]
    fn the_entry_is_a_share_of_what_enters() {
        let mut run = run(&[
            ("syscall.getppid", "", 100.0, 1.0),
            ("syscall.fstat", "", 400.0, 4.0),
            ("call.mmap", "", 1000.0, 10.0),
            ("pair.seteuid", "", 500.0, 5.0),
        ]);
        for cost in &mut run.costs {
            cost.per = "call".into();
        }
        let term = |times| record::Term { times, operation: "syscall.getppid".into(), at: Point::default() };
        run.costs[1].explained_by = vec![term(1.0)];
        run.costs[3].explained_by = vec![term(2.0)];
        let shares: Vec<(String, f64, f64)> =
            entry_shares(&run).into_iter().map(|it| (it.name, it.entries, it.share.value)).collect();
        let expected = [("pair.seteuid", 2.0, 0.4), ("syscall.fstat", 1.0, 0.25), ("call.mmap", 1.0, 0.1)];
        assert_eq!(shares, expected.map(|(name, entries, share)| (name.to_string(), entries, share)));
        run.costs.remove(0);
        assert!(entry_shares(&run).is_empty());
    }
}
