//! One thing that touches the numbers, and how.

use serde::{Deserialize, Serialize};

use crate::reference::Place;

/// How a finding touches the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs lie outside the spread of the reference machines.
    Odd,
    /// Numbers will scatter or drift, or describe something else than the machine.
    Noise,
    /// Some operations or columns will be missing.
    Missing,
    /// Costs are as they are here for this reason; good to know when comparing.
    Note,
}

/// One thing that touches the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How it touches them.
    pub severity: Severity,
    /// What is so here, and what follows.
    pub what: String,
    /// What to do, often as a command; empty where nothing needs doing.
    pub remedy: String,
    /// True if the remedy is a setting of the kernel or the hardware, which nobody changes from within a container.
    #[serde(skip)]
    pub is_setting: bool,
}

impl Finding {
    /// A finding of these three.
    pub(super) fn new(severity: Severity, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { severity, what: what.into(), remedy: remedy.into(), is_setting: false }
    }

    /// The finding as worded for this place: within a container, settings are the host's.
    pub(super) fn worded_for(mut self, place: Place) -> Finding {
        if self.is_setting && place == Place::Inside && !self.remedy.is_empty() {
            self.remedy = format!("the host's setting, outside this container: {}", self.remedy.replace("sudo ", ""));
        }
        self
    }
}

/// What is found, in the order of the search.
#[derive(Default)]
pub(super) struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn noise(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding::new(Severity::Noise, what, remedy));
    }

    pub fn missing(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding::new(Severity::Missing, what, remedy));
    }

    pub fn note(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding::new(Severity::Note, what, remedy));
    }

    /// What a setting of the kernel or the hardware would change.
    pub fn setting(&mut self, severity: Severity, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding { is_setting: true, ..Finding::new(severity, what, remedy) });
    }
}
