//! Derived costs: differences of measured ones. Each is computed by every available route, and the routes are compared.
//! The derivations are data; nothing here knows how an operation works.

mod derivations;
mod route;
pub(crate) mod written;

use record::{Bytes, Cost, Doubt, Run, largest_first};
use serde::Serialize;

pub use derivations::{DERIVATIONS, Derivation, Derivations, SIGNAL, SWITCH};
pub use route::{Part, Quantity, Route, cost, net};

use crate::answer::{Answer, between};
use crate::form::{As, Form, TimeFigure};
use crate::statistics::Interval;
use crate::sums::{doubts_of_all, quotient};

/// Routes to one cost agree if the largest is certainly less than this many times the smallest. The paper's two routes
/// to the cost of an AST meet this.
pub const AGREE: f64 = 1.25;

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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Followed {
    /// The route.
    #[serde(flatten, with = "As::<RouteWritten>")]
    pub route: Route,
    /// Its figure in ns, or the costs that the run lacks.
    #[serde(flatten, with = "As::<FigureOrMissing>")]
    pub figure: Result<Interval, Vec<String>>,
    /// The doubts of the costs that matter to it.
    pub doubts: Vec<Doubt>,
}

/// A derived cost of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Derived {
    /// The name of the derived cost.
    #[serde(rename = "derived")]
    pub name: String,
    /// Every route, including those with missing costs.
    pub routes: Vec<Followed>,
    /// Whether the routes agree; null with fewer than two figures, or if one is not distinguishable from zero.
    #[serde(with = "As::<Option<RoutesAgree>>")]
    pub agreement: Option<Agreement>,
}

/// Every derived cost: for a book its own, otherwise those of howslow's operations.
pub fn derive(run: &Run) -> Vec<Derived> {
    let any = |derivations: &[Derivation]| {
        let mut parts = derivations.iter().flat_map(|derivation| derivation.routes).flat_map(Route::parts);
        parts.any(|(_, part)| part.find(run).is_some())
    };
    let derivations = if any(&DERIVATIONS.rsx) { &DERIVATIONS.rsx } else { &DERIVATIONS.derived };
    let mut derived: Vec<Derived> = derivations.iter().map(|derivation| follow(derivation, run)).collect();
    derived.extend(DERIVATIONS.if_measured.iter().filter_map(|derivation| if_measured(derivation, run)));
    derived
}

/// A derived cost, with the size of its set if a part reports one. `None` if the run has no figure for it.
fn if_measured(derivation: &Derivation, run: &Run) -> Option<Derived> {
    let derived = follow(derivation, run);
    derived.routes.iter().find(|route| route.figure.is_ok())?;
    let mut sets = derivation.routes.iter().flat_map(|route| route.plus).filter_map(|part| part.find(run));
    let bytes = sets.find_map(|cost| cost.tallies.get("set bytes").copied());
    let size = bytes.map(|bytes| format!(": {}", Bytes(bytes as u64))).unwrap_or_default();
    Some(Derived { name: derived.name + &size, ..derived })
}

pub fn follow(derivation: &Derivation, run: &Run) -> Derived {
    let followed = |route: &Route| Followed { route: *route, figure: route.follow(run), doubts: route.doubts(run) };
    let routes: Vec<Followed> = derivation.routes.iter().map(followed).collect();
    let figures: Vec<Interval> = routes.iter().filter_map(|followed| followed.figure.clone().ok()).collect();
    Derived { name: derivation.name.into(), agreement: agreement(&figures), routes }
}

fn agreement(figures: &[Interval]) -> Option<Agreement> {
    let extreme = |pick: fn(f64, f64) -> f64, of: fn(&Interval) -> f64| figures.iter().map(of).reduce(pick);
    let (least, most) = (extreme(f64::min, |figure| figure.value)?, extreme(f64::max, |figure| figure.value)?);
    let comparable = figures.len() > 1 && figures.iter().all(|figure| !figure.is_at_most() && figure.value > 0.0);
    let known = figures.iter().all(Interval::is_bounded);
    let overlap = known && extreme(f64::max, |figure| figure.low)? <= extreme(f64::min, |figure| figure.high)?;
    let pairs = figures.iter().enumerate().flat_map(|(place, one)| figures[..place].iter().map(move |two| (one, two)));
    let agree = pairs.map(|(one, two)| match quotient(*one, *two) {
        Some(ratio) => between(&ratio, (1.0 / AGREE, AGREE), 0.0),
        None => Answer::Inconclusive,
    });
    comparable.then(|| Agreement { ratio: most / least, overlap, agree: agree.fold(Answer::Yes, Answer::and) })
}

/// The part of a call that is the bare entry into the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EntryShare {
    /// Id and point of the call.
    #[serde(rename = "cost")]
    pub name: String,
    /// Id and point of the cheapest call, which stands for the entry.
    pub entry: String,
    /// The number of entries per iteration.
    pub entries: f64,
    /// The entries divided by the whole.
    pub share: Interval,
    /// The doubts of both.
    pub doubts: Vec<Doubt>,
}

/// The bare kernel entry's share of every call with a known number of entries, the largest share first. The call with the
/// smallest upper end of its interval stands for the entry: nothing shows how much less than that call it is.
pub fn entry_shares(run: &Run) -> Vec<EntryShare> {
    let Some(null) = NULL.into_iter().find(|id| run.costs.iter().any(|cost| cost.operation == *id)) else {
        return Vec::new();
    };
    let calls: Vec<(f64, &Cost)> = run.costs.iter().filter_map(|cost| Some((entries(cost, null)?, cost))).collect();
    let timed = |cost: &Cost| cost.terms.iter().all(|term| term.operation == "loop.empty") && cost.quoted().0 > 0.0;
    let single = calls.iter().filter(|(entries, cost)| *entries == 1.0 && timed(cost));
    let Some((_, entry)) = single.min_by(|one, other| net(one.1).high.total_cmp(&net(other.1).high)) else {
        return Vec::new();
    };
    let share = |(entries, cost): &(f64, &Cost)| {
        let share = quotient(net(entry), net(cost))?.times(*entries);
        let doubts = doubts_of_all([*entry, *cost]);
        Some(EntryShare { name: cost.name(), entry: entry.name(), entries: *entries, share, doubts })
    };
    let mut shares: Vec<EntryShare> =
        calls.iter().filter(|(_, cost)| !std::ptr::eq(*cost, *entry)).filter_map(share).collect();
    largest_first(&mut shares, |one| one.share.value);
    shares
}

/// The calls that do almost nothing, by which others state how often they enter the kernel.
const NULL: [&str; 2] = ["syscall.getppid", "rsx.gssw"];

/// How often a cost enters the kernel: the number that it states, otherwise once if it is a single call.
fn entries(cost: &Cost, null: &str) -> Option<f64> {
    let explained = cost.explained_by.iter().find(|term| term.operation == null).map(|term| term.times);
    let single = cost.operation == null || cost.family() == "call" && cost.per == "call";
    explained.or_else(|| single.then_some(1.0))
}

/// A route.
#[derive(Serialize, JsonSchema)]
struct RouteWritten {
    /// What it compares, in words.
    route: &'static str,
    /// Its formula.
    formula: String,
}

/// Where a route leads.
#[derive(Serialize, JsonSchema)]
struct FigureOrMissing {
    /// Where it leads.
    figure: Option<TimeFigure>,
    /// The costs that the run lacks for it.
    missing: Option<Vec<String>>,
}

/// Whether two routes agree.
#[derive(Serialize, JsonSchema)]
struct RoutesAgree {
    /// The ratio of their figures.
    ratio: f64,
    /// Whether their intervals overlap.
    overlap: bool,
    /// The ratio within which they agree.
    within: f64,
    /// Whether they agree; null where their intervals leave it open.
    agree: Option<bool>,
    /// The same as a word: `yes`, `no` or `inconclusive`.
    answer: &'static str,
}

impl Form<Route> for RouteWritten {
    fn of(route: &Route) -> RouteWritten {
        RouteWritten { route: route.name, formula: route.formula() }
    }
}

impl Form<Result<Interval, Vec<String>>> for FigureOrMissing {
    fn of(figure: &Result<Interval, Vec<String>>) -> FigureOrMissing {
        FigureOrMissing { figure: figure.as_ref().ok().map(TimeFigure::from), missing: figure.as_ref().err().cloned() }
    }
}

impl Form<Agreement> for RoutesAgree {
    fn of(&Agreement { ratio, overlap, agree }: &Agreement) -> RoutesAgree {
        RoutesAgree { ratio, overlap, within: AGREE, agree: agree.is_yes(), answer: agree.word() }
    }
}

#[cfg(test)]
mod tests;
