//! The script: interactions, each a command or a built-in job, the time a user thinks before it, and files to work on.

use serde::Deserialize;

use super::quantity::{Size, Time};

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// Its name in tables.
    pub name: String,
    /// How often it occurs in a row.
    #[serde(default = "once")]
    pub times: u32,
    /// The time the user thinks before each one.
    #[serde(default)]
    pub think: Think,
    /// Work done by howslow itself.
    pub job: Option<Job>,
    /// A program with its arguments.
    pub command: Option<Vec<String>>,
    /// Programs with their arguments, of which the first that this machine has is taken.
    pub any_of: Option<Vec<Vec<String>>>,
    /// True if the interaction is left out where its program is missing; otherwise the plan is refused.
    #[serde(default)]
    pub optional: bool,
}

fn once() -> u32 {
    1
}

/// How long a user thinks.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Always as long.
    Constant(Time),
    /// Exponentially distributed with this mean.
    Exponential(Time),
    /// These times, one after another, over and over. Users begin at different places.
    Trace(Vec<Time>),
}

impl Default for Think {
    fn default() -> Think {
        Think::Constant(Time(0.0))
    }
}

impl Think {
    /// The number of the first thinking of one of so many users: traces are begun at different places.
    pub(crate) fn first(&self, user: u32, users: u32) -> u64 {
        let length = if let Think::Trace(times) = self { times.len() as u64 } else { 0 };
        u64::from(user) * length / u64::from(users.max(1))
    }

    /// The time in seconds of the thinking number `count`. `share` is a number at random, from 0 to 1.
    pub(crate) fn time(&self, count: u64, share: f64) -> f64 {
        match self {
            Think::Constant(time) => time.0,
            Think::Exponential(mean) => -mean.0 * (1.0 - share).ln(),
            Think::Trace(times) => {
                let place = count % times.len().max(1) as u64;
                times.get(place as usize).map_or(0.0, |time| time.0)
            }
        }
    }

    /// The mean, in seconds.
    pub fn mean(&self) -> f64 {
        match self {
            Think::Constant(time) | Think::Exponential(time) => time.0,
            Think::Trace(times) => times.iter().map(|time| time.0).sum::<f64>() / times.len().max(1) as f64,
        }
    }

    /// The same spread about this multiple of its times.
    pub fn times(&self, factor: f64) -> Think {
        let longer = |time: &Time| Time(time.0 * factor);
        match self {
            Think::Constant(time) => Think::Constant(longer(time)),
            Think::Exponential(time) => Think::Exponential(longer(time)),
            Think::Trace(times) => Think::Trace(times.iter().map(longer).collect()),
        }
    }
}

/// Work done by howslow itself: references to pages of the user's own, each followed by computation. The pages stay from one
/// interaction to the next, in memory or on the page device.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Job {
    /// Processor time of its computation, on a processor that it has for itself.
    pub cpu: Time,
    /// The pages that it refers to.
    pub working_set: Size,
    /// References to pages. Each writes.
    pub references: u32,
    /// The share of the references that go to the hot pages.
    pub locality: f64,
    /// The share of the pages that are hot.
    pub hot: f64,
}

impl Default for Job {
    fn default() -> Job {
        Job { cpu: Time(0.01), working_set: Size(1 << 20), references: 256, locality: 0.8, hot: 0.2 }
    }
}

/// A file of text, made of words at random, always the same.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    /// Its name in the user's folder.
    pub name: String,
    /// This many lines of random words.
    pub lines: Option<u32>,
    /// Exactly this text.
    pub text: Option<String>,
}

impl Interaction {
    /// The programs it may run, the preferred first.
    pub fn commands(&self) -> &[Vec<String>] {
        self.command.as_ref().map(std::slice::from_ref).or(self.any_of.as_deref()).unwrap_or_default()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let ways = [self.job.is_some(), self.command.is_some(), self.any_of.is_some()];
        let is_one = ways.iter().filter(|way| **way).count() == 1;
        refuse(!is_one, "give it either a job or a command or any_of, and one only")?;
        let is_empty = self.commands().is_empty() || self.commands().iter().any(Vec::is_empty);
        refuse(self.job.is_none() && is_empty, "its command is empty; name a program")?;
        refuse(!(1..=10_000).contains(&self.times), "times: give a number from 1 to 10000")?;
        let never = matches!(&self.think, Think::Trace(times) if times.is_empty());
        refuse(never, "think.trace: give at least one time")?;
        self.job.as_ref().map_or(Ok(()), Job::check)
    }
}

impl Job {
    fn check(&self) -> Result<(), String> {
        let are_shares = [self.locality, self.hot].iter().all(|share| (0.0..=1.0).contains(share));
        refuse(!are_shares, "job: locality and hot are shares from 0 to 1")?;
        let fits = (4096..=1 << 40).contains(&self.working_set.0);
        refuse(!fits, "job.working_set: say a size from 4KiB to 1024GiB")?;
        refuse(self.references == 0, "job.references: give at least 1")?;
        refuse(self.cpu.0 > 600.0, "job.cpu: say at most 10min")
    }
}

impl InputFile {
    pub(crate) fn content(&self) -> String {
        const WORDS_PER_LINE: usize = 8;
        if let Some(text) = &self.text {
            return text.clone();
        }
        let mut random = fastrand::Rng::with_seed(1970);
        let mut word = || -> String { (0..random.usize(2..9)).map(|_| random.lowercase()).collect() };
        let mut line = || (0..WORDS_PER_LINE).map(|_| word()).collect::<Vec<_>>().join(" ") + "\n";
        (0..self.lines.unwrap_or(0)).map(|_| line()).collect()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        const MOST_LINES: u32 = 2_000_000;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_plain = !self.name.is_empty() && !self.name.starts_with('.') && self.name.chars().all(plain);
        refuse(!is_plain, "name it with letters, digits, '-', '_' and '.' only")?;
        refuse(self.lines.is_some() == self.text.is_some(), "give it either lines or a text")?;
        let are_many = self.lines.is_some_and(|lines| lines > MOST_LINES);
        refuse(are_many, &format!("give it at most {MOST_LINES} lines"))
    }
}

/// What is wrong, if something is.
fn refuse(is_wrong: bool, why: &str) -> Result<(), String> {
    if is_wrong { Err(why.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_think_as_long_as_the_plan_states() {
        let mut random = fastrand::Rng::with_seed(5);
        let exponential = Think::Exponential(Time(2.0));
        let mean = (0..100_000).map(|n| exponential.time(n, random.f64())).sum::<f64>() / 1e5;
        assert!((mean - 2.0).abs() < 0.03, "{mean}");
        assert_eq!(Think::Constant(Time(1.5)).time(9, 0.9), 1.5);
        let trace = Think::Trace(vec![Time(1.0), Time(2.0), Time(6.0)]);
        let reported: Vec<f64> = (0..4).map(|n| trace.time(n, 0.5)).collect();
        assert_eq!(reported, [1.0, 2.0, 6.0, 1.0]);
        assert_eq!((0..6).map(|user| trace.first(user, 6)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(trace.mean(), 3.0);
    }

    #[test]
    fn files_are_always_the_same() {
        let file = InputFile { name: "words".into(), lines: Some(100), text: None };
        assert_eq!(file.content(), file.content());
        assert_eq!(file.content().lines().count(), 100);
        assert_eq!(InputFile { lines: None, text: Some("int x;".into()), ..file }.content(), "int x;");
    }
}
