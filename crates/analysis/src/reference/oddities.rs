//! Which costs of a run are odd: outside the spread of the references by a clear factor that all intervals carry.

use record::{Cost, Run, largest_first};

use super::facts::Facts;
use super::held::{Direction, Held, NotHeld, hold};
use super::knowledge::{self, SUBJECTS};
use super::remedy::Remedy;
use crate::by_key;

/// A cost is odd if it is this many times the slowest reference, or this part of the fastest. Machines of one year differ
/// by up to twice in most costs (docs/REFERENCES.md).
pub(super) const CLEAR: f64 = 2.0;
/// The near end of the interval of that ratio must reach this.
const CARRIED: f64 = 1.5;
/// The interval of a cost that is called usual ends within this factor.
pub(super) const WIDEST: f64 = 3.0;

/// A cost within the clear factor is worth a word if the near end of its ratio reaches this.
const NOTED: f64 = 1.25;

/// Costs of a run that are odd for one reason.
#[derive(Clone, Debug)]
pub struct Oddity<'a> {
    /// What is done, as the beginning of a sentence.
    pub title: &'static str,
    /// Above the references, or below.
    pub direction: Direction,
    /// The costs, the furthest from the references first.
    pub costs: Vec<OddCost<'a>>,
    /// The likely reason, if a fact of the machine speaks for one.
    pub reason: Option<String>,
    pub remedy: Option<Remedy>,
}

#[derive(Clone, Copy, Debug)]
pub struct OddCost<'a> {
    pub cost: &'a Cost,
    /// Beside the reference that is nearest to it.
    pub nearest: Held<'a>,
    /// The number of references that it was held against.
    pub references: usize,
}

/// A run compared with the references.
#[derive(Clone, Debug, Default)]
pub struct ReferenceVerdict<'a> {
    /// What is odd: first what can be acted on, then by how far it is off.
    pub odd: Vec<Oddity<'a>>,
    /// The references that have any of the run's costs.
    pub references: Vec<&'a Run>,
    /// Costs within the clear factor of the references' spread.
    pub within: usize,
    /// Costs below the references by the clear factor, for no known reason: good news.
    pub cheaper: usize,
    /// Of these, the one that is slowest beside its reference, if it is clearly slower.
    pub furthest: Option<OddCost<'a>>,
    /// Costs that a reference has but whose intervals or doubts leave the ratio open.
    pub open: Vec<&'a Cost>,
}

impl ReferenceVerdict<'_> {
    pub fn odd_costs(&self) -> usize {
        self.odd.iter().map(|oddity| oddity.costs.len()).sum()
    }
}

/// Holds every cost of a run against the references of its architecture. A book, and a run beside other work, is not judged.
pub fn judge<'a>(run: &'a Run, references: &'a [Run], facts: &Facts<'_>) -> ReferenceVerdict<'a> {
    let mut verdict = ReferenceVerdict::default();
    if run.is_book() || !run.settings.beside.is_empty() {
        return verdict;
    }
    let alike: Vec<&Run> =
        references.iter().filter(|reference| reference.machine.architecture == run.machine.architecture).collect();
    let mut beyond = Vec::new();
    for cost in &run.costs {
        match place(cost, &alike) {
            Standing::Unknown => continue,
            Standing::Open(cost) => verdict.open.push(cost),
            Standing::Within(odd) => {
                verdict.within += 1;
                let further = |known: &OddCost<'_>| odd.nearest.times.value > known.nearest.times.value;
                if odd.nearest.near_end(Direction::Slower) > NOTED && verdict.furthest.as_ref().is_none_or(further) {
                    verdict.furthest = Some(odd);
                }
            }
            Standing::Beyond(direction, odd) => beyond.push(((knowledge::subject(cost), direction), odd)),
        }
        let has = |reference: &&&Run| !matches!(hold(cost, reference), Err(NotHeld::NoMatch | NotHeld::OtherVersion));
        for reference in alike.iter().filter(has) {
            if !verdict.references.iter().any(|known| known.id == reference.id) {
                verdict.references.push(reference);
            }
        }
    }
    let oddity = |((subject, direction), mut costs): ((usize, Direction), Vec<OddCost<'a>>)| {
        largest_first(&mut costs, |one| off(&one.nearest));
        let (reason, remedy) = knowledge::cause(subject, direction, facts).unzip();
        Oddity { title: SUBJECTS[subject].title, direction, costs, reason, remedy }
    };
    verdict.odd = by_key(beyond).into_iter().map(oddity).collect();
    // What is faster than anything known and has no explanation is good news that nobody acts on.
    let is_good_news = |oddity: &mut Oddity<'_>| oddity.direction == Direction::Faster && oddity.reason.is_none();
    verdict.cheaper = verdict.odd.extract_if(.., is_good_news).map(|oddity| oddity.costs.len()).sum();
    verdict.odd.sort_by(|one, other| {
        let furthest = |oddity: &Oddity<'_>| oddity.costs.first().map_or(0.0, |odd| off(&odd.nearest));
        other.remedy.is_some().cmp(&one.remedy.is_some()).then(furthest(other).total_cmp(&furthest(one)))
    });
    verdict
}

/// Where a cost lies beside the references that have it.
enum Standing<'a> {
    Unknown,
    Open(&'a Cost),
    Within(OddCost<'a>),
    Beyond(Direction, OddCost<'a>),
}

fn place<'a>(cost: &'a Cost, references: &[&'a Run]) -> Standing<'a> {
    let all: Vec<Result<Held<'a>, NotHeld>> = references.iter().map(|reference| hold(cost, reference)).collect();
    let held: Vec<Held<'a>> = all.iter().filter_map(|held| held.as_ref().ok().copied()).collect();
    let open = all.iter().any(|held| matches!(held, Err(NotHeld::Open)));
    let by = |one: &&Held<'a>, other: &&Held<'a>| one.times.value.total_cmp(&other.times.value);
    let (Some(nearest_above), Some(nearest_below)) = (held.iter().min_by(by), held.iter().max_by(by)) else {
        return if open { Standing::Open(cost) } else { Standing::Unknown };
    };
    let beyond = |nearest: &Held<'a>| OddCost { cost, nearest: *nearest, references: held.len() };
    let ends = |direction: Direction| held.iter().map(move |held| held.near_end(direction));
    if nearest_above.times.value >= CLEAR && ends(Direction::Slower).all(|end| end >= CARRIED) {
        return Standing::Beyond(Direction::Slower, beyond(nearest_above));
    }
    if nearest_below.times.value <= 1.0 / CLEAR && ends(Direction::Faster).all(|end| end <= 1.0 / CARRIED) {
        return Standing::Beyond(Direction::Faster, beyond(nearest_below));
    }
    // Within by the figure, and not far outside by the interval. Else open.
    let at_most = cost.holds_zero() && nearest_above.times.high < CLEAR;
    let is_within = nearest_above.times.value < CLEAR
        && nearest_below.times.value > 1.0 / CLEAR
        && nearest_above.times.high < WIDEST
        && (nearest_below.times.low > 1.0 / WIDEST || at_most);
    if is_within { Standing::Within(beyond(nearest_above)) } else { Standing::Open(cost) }
}

/// How far a ratio lies from 1, as a factor.
fn off(held: &Held<'_>) -> f64 {
    held.times.value.max(1.0 / held.times.value)
}
