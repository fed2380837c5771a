//! What is measured on each node, as the arguments that howslow gets there.

use serde::{Deserialize, Serialize};

use crate::error::FleetError;

/// The budget of a run that is given none, in seconds: the headline operations, patterns, the whole catalogue.
const HEADLINE_S: f64 = 9.0;
const PATTERNS_S: f64 = 60.0;
const FULL_S: f64 = 175.0;
/// What a run may take beyond twice its budget, in seconds: a node may be slow, and the program is loaded over a network.
const SLACK_S: f64 = 60.0;

/// Which operations are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// The headline operations.
    #[default]
    Headline,
    /// The whole catalogue.
    Full,
    /// Those that these patterns name.
    Patterns(Vec<String>),
}

impl Suite {
    /// The suite that these words name. Fails if `headline` or `full` stands beside other words, or a word is empty or
    /// begins with `-`.
    pub fn of(words: &[String]) -> Result<Suite, FleetError> {
        let is_odd =
            |word: &str| matches!(word, "headline" | "full" | "") || word.starts_with('-') || word.contains('\n');
        match words {
            [] => Ok(Suite::Headline),
            [word] if word == "headline" => Ok(Suite::Headline),
            [word] if word == "full" => Ok(Suite::Full),
            _ => match words.iter().find(|word| is_odd(word)) {
                Some(word) => Err(FleetError::Misuse(format!(
                    "--suite: {word:?} cannot stand among patterns; give headline, full, or patterns alone"
                ))),
                None => Ok(Suite::Patterns(words.into())),
            },
        }
    }
}

/// What every node does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Which operations.
    pub suite: Suite,
    /// Runs on each node, one document each.
    pub repeat: u32,
    /// Seconds that a run may take, if told.
    pub budget_s: Option<f64>,
    /// Rounds per cost, if told.
    pub rounds: Option<u32>,
    /// The wanted precision as a share, if told.
    pub precision: Option<f64>,
    /// Seconds after which a run counts as hung, if told.
    pub limit_s: Option<f64>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { suite: Suite::Headline, repeat: 1, budget_s: None, rounds: None, precision: None, limit_s: None }
    }
}

impl Plan {
    /// The arguments of howslow on a node. The file of the document is added there.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["run".to_owned()];
        let mut option = |name: &str, value: Option<String>| {
            arguments.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--budget", self.budget_s.map(|seconds| format!("{:.0}ms", seconds * 1000.0)));
        option("--rounds", self.rounds.map(|rounds| rounds.to_string()));
        option("--precision", self.precision.map(|share| format!("{}%", share * 100.0)));
        match &self.suite {
            Suite::Headline => {}
            Suite::Full => arguments.push("--full".into()),
            Suite::Patterns(patterns) => arguments.extend(patterns.iter().cloned()),
        }
        arguments
    }

    /// Seconds after which one run counts as hung.
    pub fn limit_s(&self) -> f64 {
        let usual = match self.suite {
            Suite::Headline => HEADLINE_S,
            Suite::Full => FULL_S,
            Suite::Patterns(_) => PATTERNS_S,
        };
        self.limit_s.unwrap_or(2.0 * self.budget_s.unwrap_or(usual) + SLACK_S).max(1.0)
    }

    /// Seconds that a job with this many repetitions may take by its own limits, before the node or the scheduler must
    /// be what hangs.
    pub fn job_limit_s(&self, repetitions: usize) -> f64 {
        const GRACE_S: f64 = 5.0;
        self.limit_s() * repetitions as f64 * 1.1 + GRACE_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn suites_are_words_or_patterns() {
        assert_eq!(Suite::of(&words("headline")).ok(), Some(Suite::Headline));
        assert_eq!(Suite::of(&words("full")).ok(), Some(Suite::Full));
        assert_eq!(Suite::of(&words("pipe.* memory.copy")).ok(), Some(Suite::Patterns(words("pipe.* memory.copy"))));
        for nonsense in ["full pipe.*", "pipe.* headline", "--full", "pipe.* -o", ""] {
            assert!(Suite::of(&words(nonsense)).is_err_and(|error| error.is_misuse()), "{nonsense}");
        }
    }

    #[test]
    fn the_arguments_on_a_node_are_those_of_the_plan() {
        assert_eq!(Plan::default().arguments(), ["run"]);
        let plan =
            Plan { suite: Suite::Full, budget_s: Some(0.5), rounds: Some(3), precision: Some(0.02), ..Plan::default() };
        assert_eq!(plan.arguments(), ["run", "--budget", "500ms", "--rounds", "3", "--precision", "2%", "--full"]);
    }

    #[test]
    fn a_job_may_take_longer_than_its_runs() {
        let plan = Plan { budget_s: Some(2.0), ..Plan::default() };
        assert_eq!(plan.limit_s(), 64.0);
        assert!(plan.job_limit_s(3) > 3.0 * plan.limit_s());
    }
}
