//! The requests that the users of a configuration will make, before they make them: the driver draws them from the same seed.

use analysis::load::Configuration;
use analysis::model::{Request, Script as Requests};

use super::person::Person;
use super::script::Script;
use crate::error::LoadError;
use crate::plan::{Arrivals, Plan};

/// No user makes more in a configuration.
const MOST: usize = 20_000;

/// The seed of a configuration, of that of the experiment: each repetition has its own.
pub fn seed_of(seed: u64, configuration: &Configuration) -> u64 {
    seed.wrapping_add(u64::from(configuration.repetition))
}

/// What decides which requests the users of an experiment will make.
pub struct Draw {
    script: Script,
    seed: u64,
    settle_s: f64,
    time_s: f64,
}

impl Draw {
    /// Those of an experiment with this plan and seed; `None` where requests arrive by themselves. Fails if a program
    /// is missing that the plan does not call optional, or nothing is left.
    pub fn of(plan: &Plan, seed: u64) -> Result<Option<Draw>, LoadError> {
        if plan.arrivals != Arrivals::Closed {
            return Ok(None);
        }
        Ok(Some(Draw { script: Script::of(plan)?, seed, settle_s: plan.settle.0, time_s: plan.time.0 }))
    }

    /// What the users of this configuration will do.
    pub fn requests(&self, configuration: &Configuration) -> Requests {
        let Draw { script, settle_s, time_s, .. } = self;
        let (seed, whole_s) = (seed_of(self.seed, configuration), settle_s + time_s);
        let user = |number: u32| {
            let mut person = Person::new(number, configuration.users, script, seed);
            let (mut requests, mut thought_s) = (Vec::new(), 0.0);
            while requests.is_empty() || thought_s < whole_s && requests.len() < MOST {
                let (kind, think) = person.next(script);
                let think_s = think / 1e9;
                requests.push(Request { think_s, kind });
                thought_s += think_s;
            }
            requests
        };
        let users = (0..configuration.users).map(user).collect();
        Requests { users, settle_s: *settle_s, time_s: *time_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_are_those_of_the_driver() {
        let text = "name = 'x'\ntime = '20s'\n[[interaction]]\nname = 'a'\ntimes = 2\nthink = { exponential = '1s' }\njob = {}\n\
            [[interaction]]\nname = 'b'\nthink = { constant = '0s' }\njob = {}\n";
        let mut plan = Plan::from_toml(text).expect("a plan");
        let configuration = Configuration { users: 3, repetition: 2, ..Configuration::default() };
        let requests =
            |seed| Draw::of(&plan, seed).expect("a script").expect("users who think").requests(&configuration);
        let found = requests(7);
        let script = Script::of(&plan).expect("a script");
        for (number, requests) in (0..).zip(&found.users) {
            let mut person = Person::new(number, 3, &script, 9);
            assert!(requests.len() > 10);
            for request in requests {
                let (kind, think) = person.next(&script);
                assert_eq!((request.kind, request.think_s), (kind, think / 1e9));
            }
        }
        assert_ne!(found.users[0], requests(8).users[0]);
        plan.arrivals = Arrivals::Open(5.0);
        assert!(Draw::of(&plan, 7).expect("a script").is_none());
    }
}
