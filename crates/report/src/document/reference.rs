//! Costs compared with the reference machines, as `explain --json` prints them.

use analysis::reference::{Direction, Held, Oddity, Place};
use record::Cost;
use serde::Serialize;

use analysis::statistics::Interval;

/// A cost beside the same one of a reference machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostHeld {
    /// Its id and point.
    pub cost: String,
    /// The reference machine.
    pub reference: String,
    /// How many times the reference's cost it is: in cycles if it follows the clock, else in time.
    pub times: Interval,
}

/// Costs that are odd for one reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OddCosts {
    /// What is odd and by how much, in words.
    pub what: String,
    /// `slower` or `faster`.
    pub direction: &'static str,
    /// The costs, each beside the reference that is nearest to it.
    pub costs: Vec<CostHeld>,
    /// The likely reason; null if no fact of the machine speaks for one.
    pub reason: Option<String>,
    /// What to try.
    pub remedy: Option<String>,
}

impl CostHeld {
    /// The cost beside that reference.
    pub fn of(cost: &Cost, held: &Held<'_>) -> CostHeld {
        CostHeld { cost: cost.name(), reference: held.reference.id.clone(), times: held.times }
    }
}

impl OddCosts {
    /// The oddity as reported in this place.
    pub fn of(oddity: &Oddity<'_>, place: Place) -> OddCosts {
        OddCosts {
            what: oddity.claim(),
            direction: match oddity.direction {
                Direction::Slower => "slower",
                Direction::Faster => "faster",
            },
            costs: oddity.costs.iter().map(|odd| CostHeld::of(odd.cost, &odd.nearest)).collect(),
            reason: oddity.reason.clone(),
            remedy: oddity.remedy.map(|remedy| remedy.text(place)),
        }
    }
}
