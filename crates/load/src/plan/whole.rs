//! The plan as a whole, read from TOML and checked.

use std::path::PathBuf;

use serde::Deserialize;

use super::axes::Axes;
use super::quantity::{Arrivals, Size, Time};
use super::script::{InputFile, Interaction, Job, Think};

/// A longer text is not a plan.
const MOST_BYTES: usize = 1 << 20;

/// How interactions are named that only push pages out of memory.
pub const FLUSH: &str = "flush ";

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("the plan is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    /// It is not TOML, or TOML without the fields of a plan.
    #[error("{}", malformed(*.line, .key, .why))]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// What stands before the equals sign, or the name of the table.
        key: String,
        why: String,
    },
    #[error("{what}: {why}")]
    Nonsense { what: String, why: String },
}

fn malformed(line: usize, key: &str, why: &str) -> String {
    let key = if key.is_empty() { String::new() } else { format!(", {key}") };
    format!("line {line}{key}: {why}")
}

/// What the users do, and in which configurations.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name in tables.
    pub name: String,
    /// What it is, in one sentence.
    #[serde(default)]
    pub about: String,
    /// How long each configuration is measured.
    #[serde(default = "seconds::<20>")]
    pub time: Time,
    /// How long the users work before that, so that memory is in its usual state.
    #[serde(default = "seconds::<3>")]
    pub settle: Time,
    /// An interaction that takes longer is stopped and counted as hung.
    #[serde(default = "seconds::<60>")]
    pub limit: Time,
    /// `closed`: each user thinks, asks, and waits for the answer. `5/s`: so many interactions arrive a second, at random,
    /// whether or not earlier ones have ended.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The size of the page device that is made for the experiment.
    #[serde(default = "default_device")]
    pub device_size: Size,
    /// True if the plan means nothing without its limits: it is refused where they cannot be set.
    #[serde(default)]
    pub needs_limits: bool,
    /// The axes.
    #[serde(default)]
    pub axes: Axes,
    /// The script: each user follows it in this order, over and over.
    #[serde(rename = "interaction")]
    pub interactions: Vec<Interaction>,
    /// Files that each user finds in the folder in which commands run.
    #[serde(default, rename = "file")]
    pub files: Vec<InputFile>,
    /// Commands that prepare that folder, once for each user.
    #[serde(default)]
    pub setup: Vec<Vec<String>>,
    /// Where commands run, if not each in its user's own folder.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

fn seconds<const SECONDS: u32>() -> Time {
    Time(SECONDS.into())
}

fn default_device() -> Size {
    Size(512 << 20)
}

impl Plan {
    /// Reads and checks a plan. Fails if the text is too long, is no plan, or makes no sense.
    pub fn from_toml(text: &str) -> Result<Plan, PlanError> {
        if text.len() > MOST_BYTES {
            return Err(PlanError::TooLarge);
        }
        let plan: Plan = toml::from_str(text).map_err(|error| located(text, &error))?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks what its type does not. Fails if a part makes no sense.
    pub fn check(&self) -> Result<(), PlanError> {
        const TWO: &str = "two have this name; rename one";
        let nonsense = |what: &str, why: &str| PlanError::Nonsense { what: record::printable(what), why: why.into() };
        let refuse = |what: &str, is_wrong, why: &str| if is_wrong { Err(nonsense(what, why)) } else { Ok(()) };
        let none = self.interactions.is_empty();
        refuse("interaction", none, "a plan needs at least one; add [[interaction]] with a name and a job")?;
        for (place, interaction) in self.interactions.iter().enumerate() {
            let what = format!("the interaction {:?}", interaction.name);
            interaction.check().map_err(|why| nonsense(&what, &why))?;
            let again = self.interactions[..place].iter().any(|other| other.name == interaction.name);
            refuse(&what, again, TWO)?;
        }
        for (place, file) in self.files.iter().enumerate() {
            let what = format!("the file {:?}", file.name);
            file.check().map_err(|why| nonsense(&what, &why))?;
            refuse(&what, self.files[..place].iter().any(|other| other.name == file.name), TWO)?;
        }
        refuse("setup", self.setup.iter().any(Vec::is_empty), "a command is empty; name a program")?;
        refuse("time", self.time.0 < 0.1, "say at least 100ms")?;
        refuse("device_size", self.device_size.0 < 1 << 20, "say at least 1MiB")?;
        self.axes.check().map_err(|(what, why)| nonsense(&format!("axes.{what}"), &why))
    }

    /// The same plan for one user who never thinks: what an interaction takes is seen soonest so.
    pub fn without_thinking(&self) -> Plan {
        let mut plan = self.clone();
        plan.interactions.iter_mut().for_each(|interaction| interaction.think = Think::default());
        plan.arrivals = Arrivals::Closed;
        plan
    }

    /// The same plan for users who think for this share of its times.
    pub fn thinking(&self, share: f64) -> Plan {
        let mut plan = self.clone();
        plan.interactions.iter_mut().for_each(|interaction| interaction.think = interaction.think.times(share));
        plan
    }

    /// The same plan for one user who never thinks and whose pages have all left memory before each interaction: in between,
    /// other pages of so many bytes are referred to. The interactions in between are named [`FLUSH`] and a number.
    pub fn flushed(&self, bytes: u64) -> Plan {
        let mut plan = self.without_thinking();
        let pages = (bytes / rustix::param::page_size() as u64).clamp(1, u64::from(u32::MAX / 4)) as u32;
        // Two references to each page on average leave an eighth of them out.
        let job = Job { cpu: Time(0.0), working_set: Size(bytes), references: 2 * pages, locality: 0.0, hot: 1.0 };
        let taken = |name: &String| self.interactions.iter().any(|interaction| interaction.name == *name);
        let mut names = (0..).map(|number| format!("{FLUSH}{number}")).filter(|name| !taken(name));
        let mut between = || Interaction {
            name: names.next().unwrap_or_default(),
            times: 1,
            think: Think::default(),
            job: Some(job.clone()),
            command: None,
            any_of: None,
            optional: false,
        };
        let each = plan.interactions.into_iter();
        plan.interactions = each.flat_map(|interaction| [between(), Interaction { times: 1, ..interaction }]).collect();
        plan
    }

    /// How long the whole experiment takes, in seconds, estimated.
    pub fn takes(&self, configurations: usize) -> f64 {
        /// Making groups, a page device and processes, and removing them.
        const AROUND: f64 = 1.5;
        configurations as f64 * (self.time.0 + self.settle.0 + AROUND)
    }
}

/// Says in which line and at which key the text is wrong.
fn located(text: &str, error: &toml::de::Error) -> PlanError {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let lines_before = text.get(..start).unwrap_or_default().matches('\n').count();
    let line_text = text.lines().nth(lines_before).unwrap_or_default().trim();
    let key = match line_text.split_once('=') {
        _ if line_text.starts_with('[') => line_text.to_string(),
        Some((key, _)) => format!("key {}", key.trim()),
        None => String::new(),
    };
    PlanError::Malformed {
        line: lines_before + 1,
        key: record::printable(&key),
        why: record::printable(error.message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "name = 'x'\n[[interaction]]\nname = 'a'\njob = { cpu = '1ms' }\n";

    #[test]
    fn errors_name_line_and_key() {
        let wrong = |text: &str| Plan::from_toml(text).expect_err(text).to_string();
        let reported = wrong(&LEAST.replace("job", "jab"));
        assert!(reported.starts_with("line 4, key jab: ") && reported.contains("unknown field"), "{reported}");
        let reported = wrong(&LEAST.replace("1ms", "1 parsec"));
        assert!(reported.starts_with("line 4, key job: ") && reported.contains("500ms"), "{reported}");
        let reported = wrong(&format!("{LEAST}[axes]\nusers = [1]\nmemry = ['none']\n"));
        assert!(reported.starts_with("line 7, key memry: "), "{reported}");
        let reported = wrong("name = ");
        assert!(reported.starts_with("line 1"), "{reported}");
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        let wrong = |text: String| Plan::from_toml(&text).expect_err(&text).to_string();
        assert!(wrong("name = 'x'\ninteraction = []".into()).contains("at least one"));
        assert!(wrong(format!("{LEAST}command = ['ls']\n")).contains("either a job or a command"));
        assert!(wrong(format!("{LEAST}[axes]\nusers = [0]\n")).contains("axes.users"));
        assert!(wrong(format!("{LEAST}[axes]\nusers = []\n")).contains("axes.users"));
        assert!(wrong(format!("{LEAST}[[interaction]]\nname = 'a'\njob = {{}}\n")).contains("two have this name"));
        assert!(wrong(format!("{LEAST}[[file]]\nname = '../x'\nlines = 1\n")).contains("../x"));
        let twice = "[[file]]\nname = 'x'\nlines = 1\n".repeat(2);
        assert!(wrong(format!("{LEAST}{twice}")).contains("the file \"x\": two have this name"));
    }

    #[test]
    fn a_flushed_plan_pushes_pages_out_before_each_interaction() {
        let plan =
            Plan::from_toml(&LEAST.replace("name = 'a'", "name = 'a'\ntimes = 3")).expect("a plan").flushed(8 << 20);
        plan.check().expect("it makes sense");
        let reported: Vec<_> =
            plan.interactions.iter().map(|interaction| (interaction.name.as_str(), interaction.times)).collect();
        assert_eq!(reported, [("flush 0", 1), ("a", 1)]);
        assert_eq!(plan.interactions[0].job.as_ref().map(|job| job.working_set.0), Some(8 << 20));
        let plan = Plan::from_toml(&LEAST.replace("name = 'a'", "name = 'flush 0'")).expect("a plan").flushed(8 << 20);
        plan.check().expect("a user's interaction may have such a name");
    }

    #[test]
    fn a_plan_is_what_its_text_states() {
        let plan = Plan::from_toml(LEAST).expect("a plan");
        assert_eq!(plan.arrivals, Arrivals::Closed);
        assert_eq!(plan.axes.configurations().len(), 1);
        assert_eq!(plan.interactions[0].job.as_ref().map(|job| job.cpu.0), Some(0.001));
        let open = Plan::from_toml(&format!("arrivals = '2.5/s'\n{LEAST}")).expect("a plan");
        assert_eq!(open.arrivals, Arrivals::Open(2.5));
    }
}
