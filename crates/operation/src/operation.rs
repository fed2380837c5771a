//! What an operation is: one block of data and the function that prepares its loop.

use std::any::Any;

use record::{Bytes, Estimate, FixedPoint, FixedTerm, Point, Term};
use system::machine::Topology;

use crate::axis::{Axis, ONE_CPU, PartnerPlace, Role};
use crate::failure::Failure;
use crate::repeat::Loop;
use crate::setting::Setting;

/// One thing a computer can be asked to do. A block sets only the fields that differ from the family's default.
pub struct Operation {
    /// `family.name`; never changes once released.
    pub id: &'static str,
    /// One sentence, without a full stop.
    pub summary: &'static str,
    /// Raised when the timed work changes. Costs of different versions are not compared.
    pub version: u32,
    /// What one iteration is.
    pub per: &'static str,
    /// The papers' names for it.
    pub aliases: &'static [&'static str],
    /// The system calls that one iteration makes, by the kernel's names, each as often as it makes it:
    /// [`Operation::system_calls`] gives those of an operation that does not list them.
    pub calls: Option<&'static [&'static str]>,
    /// True if the calls are timed on the path that refuses them, because success would change the machine.
    pub refused: bool,
    pub axes: &'static [Axis],
    /// True if it belongs to the headline run (at the axes' `headline` values).
    pub headline: bool,
    /// True if it runs only when named. `--full` alone leaves out operations that take minutes.
    pub opt_in: bool,
    /// True for the combinations of axis values that are points.
    pub has_point: fn(&Point) -> bool,
    /// The figure that its cost is quoted by.
    pub quoted: Estimate,
    /// True if its time scales with the core clock: work inside the core and its private caches. Its quiet figure is
    /// then taken in cycles and quoted at the clock that prevailed in the run. False for operations on two CPUs.
    pub follows_clock: fn(&Point) -> bool,
    /// True if all of its own tasks sleep at some moments at this point, because it waits for a device, a timer or a
    /// kernel thread. Otherwise a batch counts as interrupted when its tasks did not have their CPU. Points on several
    /// CPUs, and operations quoted by their typical figure, do not need this.
    pub waits: fn(&Point) -> bool,
    /// Payload per iteration in bytes.
    pub moves: fn(&Point) -> u64,
    /// Costs that are contained in gross and not meant. They are subtracted.
    pub terms: &'static [TermOf],
    /// The costs that its net cost should consist of.
    pub explained_by: &'static [TermOf],
    /// Operations that can never cost more than this one, at the values of the axes that both have.
    pub at_least: &'static [&'static str],
    /// Axes along which the cost never falls.
    pub monotonic_in: &'static [&'static str],
    pub needs: &'static [Need],
    /// Address space it may use, in bytes.
    pub memory: u64,
    /// Seconds that one round may take beyond its share of the time. After that it counts as hung.
    pub patience: f64,
    /// What to do if every round hung.
    pub hung_remedy: &'static str,
    /// User-supplied input, such as a routine named on the command line. [`Setting::argument`] passes it to `prepare`.
    /// Empty in the registry.
    pub argument: Option<&'static (dyn Any + Send + Sync)>,
    /// Sets up outside the timing and returns the loop; dropping the loop cleans up.
    pub prepare: Prepare,
}

pub type Prepare = fn(&Setting) -> Result<Loop, Failure>;

impl Operation {
    /// The default for every field.
    pub const DEFAULT: Operation = Operation {
        id: "",
        summary: "",
        version: 1,
        per: "call",
        aliases: &[],
        calls: None,
        refused: false,
        axes: &[],
        headline: false,
        opt_in: false,
        has_point: |_| true,
        quoted: Estimate::Quiet,
        follows_clock: |_| true,
        waits: |_| false,
        moves: |_| 0,
        terms: &[],
        explained_by: &[],
        at_least: &[],
        monotonic_in: &[],
        needs: &[],
        memory: 4 << 30,
        patience: 10.0,
        hung_remedy: "",
        argument: None,
        prepare: |_| Err(Failure::Wrong(String::new())),
    };

    /// Sets the operation up in this setting, which learns its axes, and returns the loop. Fails with what the set-up
    /// meets.
    pub fn set_up(&self, setting: &Setting) -> Result<Loop, Failure> {
        setting.learn(self.axes);
        (self.prepare)(setting)
    }

    /// The system calls that one iteration makes, by the kernel's names. The list of all calls names this operation for
    /// them. An operation of the family `call` that lists none makes the call of its name; others make none in particular.
    pub fn system_calls(&self) -> impl Iterator<Item = &'static str> {
        let named = self.id.strip_prefix("call.").filter(|_| self.calls.is_none());
        self.calls.unwrap_or_default().iter().copied().chain(named)
    }

    /// The part of the id before its first dot.
    pub fn family(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }

    /// All points, in the order of the axes' values: those of the headline run only, or all.
    pub fn points(&self, headline_only: bool) -> Vec<Point> {
        let mut points = Vec::new();
        self.collect(self.axes, headline_only, &mut Point::default(), &mut points);
        points
    }

    /// Adds the points that have these values so far. One is changed in place: of 9,000 combinations in the registry 2,300 are points.
    fn collect(&self, axes: &[Axis], headline_only: bool, point: &mut Point, points: &mut Vec<Point>) {
        let Some((axis, further)) = axes.split_first() else {
            points.extend((self.has_point)(point).then(|| point.clone()));
            return;
        };
        let values = if headline_only && !axis.headline.is_empty() { axis.headline } else { axis.values };
        for value in values {
            point.set(axis.name, value.value().in_unit(axis.unit));
            self.collect(further, headline_only, point, points);
        }
    }

    pub fn axis(&self, name: &str) -> Option<&'static Axis> {
        self.axes.iter().find(|axis| axis.name == name)
    }

    /// True if a partner works on another CPU at this point.
    pub fn uses_other_cpu(&self, point: &Point) -> bool {
        PartnerPlace::at(self.axes, point) != PartnerPlace::Same
            || self.needs.contains(&Need::TwoCpus)
            || self.busy_cpus(point).is_some_and(|cpus| cpus > 1)
    }

    /// True if other tasks can delay it although no batch of its CPU shows that: it sleeps, or works on other CPUs as well.
    pub fn is_delayed_unseen(&self, point: &Point) -> bool {
        (self.waits)(point) || self.quoted == Estimate::Typical || self.uses_other_cpu(point)
    }

    /// How many CPUs it keeps busy at this point: what an axis of CPUs says, or two where a partner has one of its own.
    pub fn cpus(&self, point: &Point) -> u32 {
        self.busy_cpus(point).unwrap_or(if self.uses_other_cpu(point) { 2 } else { 1 })
    }

    /// How many CPUs an axis of CPUs says, at least one. A word means all of the machine.
    fn busy_cpus(&self, point: &Point) -> Option<u32> {
        let axis = self.axes.iter().find(|axis| axis.role == Role::Cpus)?;
        if point.word(axis.name).is_some_and(|word| word != ONE_CPU) {
            return Some(Topology::here().count().max(1));
        }
        Some(u32::try_from(point.number(axis.name).unwrap_or(1)).unwrap_or(u32::MAX).max(1))
    }

    pub fn payload(&self, point: &Point) -> Bytes {
        Bytes((self.moves)(point))
    }
}

/// A term as the registry writes it. At each point it is taken at its own point, plus those axes of `same` that the
/// operation's own point has.
#[derive(Clone, Copy, Debug)]
pub struct TermOf {
    /// How often one operation contains it, its operation and its point.
    pub term: FixedTerm,
    /// Axes whose value it shares with the operation.
    pub same: &'static [&'static str],
}

/// A term: `times` times this operation, which has no axes.
pub const fn term(times: f64, operation: &'static str) -> TermOf {
    TermOf { term: FixedTerm { times, operation, at: &[] }, same: &[] }
}

impl TermOf {
    pub const fn at(self, at: FixedPoint) -> TermOf {
        TermOf { term: FixedTerm { at, ..self.term }, ..self }
    }

    /// Taken at the operation's own value on these axes.
    pub const fn same(self, same: &'static [&'static str]) -> TermOf {
        TermOf { same, ..self }
    }

    /// The term of an operation at `point`.
    pub fn resolve(&self, point: &Point) -> Term {
        let mut term = self.term.term();
        for axis in self.same {
            if let Some(value) = point.0.get(*axis) {
                term.at.0.insert((*axis).into(), value.clone());
            }
        }
        term
    }
}

/// One operation at one point.
#[derive(Clone)]
pub struct Item {
    pub operation: &'static Operation,
    pub point: Point,
}

impl Item {
    /// An operation at each of its points.
    pub fn all_of(operation: &'static Operation) -> impl Iterator<Item = Item> {
        operation.points(false).into_iter().map(move |point| Item { operation, point })
    }
}

/// A requirement of an operation. Other missing things show when the set-up fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A second CPU for a partner.
    TwoCpus,
    /// The effective user root, if a try without it would do harm or mislead.
    Root,
    /// A program at this path.
    Program(&'static str),
}

impl Need {
    /// Why the requirement is not met here, and what would meet it. `None` if it is met.
    pub fn missing(self, other_cpu: Option<u32>) -> Option<(String, String)> {
        let not = |reason: String, remedy: &str| Some((reason, remedy.to_owned()));
        match self {
            Need::TwoCpus if other_cpu.is_none() => {
                not("only one CPU may be used".into(), "allow a second CPU (taskset, cpuset)")
            }
            Need::Root if !rustix::process::geteuid().is_root() => not("needs root".into(), "run as root"),
            Need::Program(path) if !std::path::Path::new(path).exists() => {
                not(format!("there is no {path}"), "install it")
            }
            _ => None,
        }
    }
}
