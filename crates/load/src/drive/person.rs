//! One scripted user, as the driver sees it.

use std::os::unix::net::UnixStream;

use super::script::Script;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Request {
    /// Its number.
    pub interaction: usize,
    /// Who requests; `None` in an open system, where any free process serves.
    pub user: Option<u32>,
    /// When it arrived, in ns.
    pub arrived: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Served {
    pub request: Request,
    /// When it became eligible, in ns.
    pub admitted: f64,
    /// True once the user's process has its order.
    pub reported: bool,
}

#[derive(Debug)]
pub(super) struct Person {
    /// To its process; `None` until that has connected.
    pub stream: Option<UnixStream>,
    /// True once its process has written its pages, or was killed before it had.
    pub ready: bool,
    /// What it does at present.
    pub serves: Option<Served>,
    /// Its place in the script.
    place: u64,
    /// How often it has thought before each interaction.
    thoughts: Vec<u64>,
    random: fastrand::Rng,
    /// The numbers at random for its next times to think.
    shares: Vec<f64>,
}

impl Person {
    /// Users begin at different places of the script, so that they do not march in step.
    pub(super) fn new(number: u32, users: u32, script: &Script, seed: u64) -> Person {
        let place = u64::from(number) * script.sequence.len() as u64 / u64::from(users.max(1));
        let random = fastrand::Rng::with_seed(seed.wrapping_add(u64::from(number).wrapping_mul(0x9e37_79b9)));
        let thoughts = script.thinks.iter().map(|think| think.first(number, users)).collect();
        Person { stream: None, ready: false, serves: None, place, thoughts, random, shares: Vec::new() }
    }

    /// The next interaction, and the time in ns that the user thinks before it.
    pub(super) fn next(&mut self, script: &Script) -> (usize, f64) {
        let interaction = script.at(self.place);
        self.place += 1;
        let share = self.share();
        let thoughts = &mut self.thoughts[interaction];
        let think = script.thinks[interaction].time(*thoughts, share);
        *thoughts += 1;
        (interaction, think * 1e9)
    }

    /// A number from 0 to 1, at random. Of each eight in a row, one lies in each eighth: times to think are spread as
    /// they should be, but their mean over a short run scatters much less (stratified sampling).
    fn share(&mut self) -> f64 {
        const STRATA: u32 = 8;
        if self.shares.is_empty() {
            self.shares = (0..STRATA).map(|n| (f64::from(n) + self.random.f64()) / f64::from(STRATA)).collect();
            self.random.shuffle(&mut self.shares);
        }
        self.shares.pop().unwrap_or(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn every_time_of_a_trace_is_thought() {
        let one = |name: &str| {
            format!("[[interaction]]\nname = '{name}'\nthink = {{ trace = ['1s', '2s', '3s', '4s'] }}\njob = {{}}\n")
        };
        let plan = Plan::from_toml(&format!("name = 'x'\n{}{}", one("a"), one("b"))).expect("a plan");
        let script = Script::of(&plan).expect("a script");
        let mut person = Person::new(1, 2, &script, 7);
        let thought: Vec<_> = (0..8).map(|_| person.next(&script)).collect();
        let of = |interaction| thought.iter().filter(move |next| next.0 == interaction).map(|next| next.1 / 1e9);
        assert_eq!((of(0).collect::<Vec<_>>(), of(1).collect()), (vec![3.0, 4.0, 1.0, 2.0], vec![3.0, 4.0, 1.0, 2.0]));
    }

    #[test]
    fn times_to_think_are_exponential_and_their_mean_scatters_little() {
        let text = "name = 'x'\n[[interaction]]\nname = 'a'\nthink = { exponential = '1s' }\njob = {}\n";
        let script = Script::of(&Plan::from_toml(text).expect("a plan")).expect("a script");
        let times = |user: u32, count: usize| -> Vec<f64> {
            let mut person = Person::new(user, 100, &script, 7);
            (0..count).map(|_| person.next(&script).1 / 1e9).collect()
        };
        let many = times(0, 80_000);
        let longer = |than: f64| many.iter().filter(|time| **time > than).count() as f64 / many.len() as f64;
        assert!((longer(1.0) - (-1.0_f64).exp()).abs() < 0.01 && (longer(3.0) - (-3.0_f64).exp()).abs() < 0.01);
        // Independent ones would have a standard deviation of 0.25 over sixteen.
        let means: Vec<f64> = (0..100).map(|user| times(user, 16).iter().sum::<f64>() / 16.0).collect();
        let scatter = (means.iter().map(|mean| (mean - 1.0).powi(2)).sum::<f64>() / 100.0).sqrt();
        assert!(scatter < 0.15, "{scatter}");
    }
}
