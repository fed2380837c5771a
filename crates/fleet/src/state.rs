//! What is known of a fleet: its plan, its nodes, and what became of each attempt. One JSON document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// The name and version of the document's format.
pub const SCHEMA: &str = "howslow-fleet/1";

/// One plan on many nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// `howslow-fleet/1`.
    pub schema: String,
    /// Its name: the time and four letters, or the user's.
    pub id: String,
    /// When it was created, RFC 3339, UTC.
    pub created: String,
    /// The version of howslow that created it.
    pub howslow: String,
    /// How its nodes are reached.
    pub means: Means,
    /// What each node does.
    pub plan: Plan,
    /// True if the nodes run the howslow that they have, not one that was sent.
    pub installed: bool,
    /// The folder that nodes write into. With SSH: the folder here that their files are copied into.
    pub shared: PathBuf,
    /// The folder of the gathered documents.
    pub documents: PathBuf,
    /// The nodes, in the order in which they were given.
    pub nodes: Vec<Node>,
}

/// How nodes are reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// One exclusive job per node.
    Slurm(SlurmOptions),
    /// The OpenSSH client.
    Ssh,
}

/// What Slurm is told beside the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlurmOptions {
    /// The partition, if told.
    pub partition: Option<String>,
    /// The account to charge, if told.
    pub account: Option<String>,
    /// Features that the node must have, if told.
    pub constraint: Option<String>,
    /// Slurm's time limit, if told.
    pub time: Option<String>,
    /// Further options of sbatch, passed on as they are.
    pub further: Vec<String>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Its name, as the scheduler or the user gives it.
    pub name: String,
    /// What was tried, oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// The documents that arrived.
    #[serde(default)]
    pub gathered: Vec<Gathered>,
}

/// One document that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gathered {
    /// Which of the plan's repetitions it is, from 1 on.
    pub repetition: u32,
    /// Its file name in the folder of documents.
    pub file: String,
    /// The run's id.
    pub run: String,
    /// The version of howslow that measured.
    pub howslow: String,
    /// The fingerprint of the program that measured.
    pub build: String,
    /// The boot id of the system that measured, if it has one: nodes that share it are one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Seconds that the node's clock is at least ahead of the clock here; negative if it is behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ahead_s: Option<i64>,
}

/// One attempt to measure on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// From 1 on.
    pub number: u32,
    /// The scheduler's job, or the process on the host; absent if there is none (yet).
    pub job: Option<String>,
    /// When it was submitted, RFC 3339, UTC, by the clock here.
    pub submitted: String,
    /// The repetitions that it is for.
    pub repetitions: Vec<u32>,
    /// What became of it.
    pub stage: Stage,
    /// Why, in words; empty while all is well.
    pub reason: String,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is about to be submitted, or this program ended meanwhile.
    Submitting,
    /// The scheduler has it.
    Waiting,
    /// It runs.
    Running,
    /// All documents arrived.
    Done,
    /// The node or the scheduler did not take it.
    Refused,
    /// It ran, and ended without a document.
    Failed,
    /// It took longer than it may.
    Hung,
    /// The node or the job died.
    Killed,
    /// Somebody cancelled it.
    Cancelled,
    /// The scheduler no longer knows it, and it left nothing.
    Lost,
}

impl Stage {
    /// True while the attempt may still end well.
    pub fn is_open(self) -> bool {
        matches!(self, Stage::Submitting | Stage::Waiting | Stage::Running)
    }

    pub fn word(self) -> &'static str {
        match self {
            Stage::Submitting => "submitting",
            Stage::Waiting => "waiting",
            Stage::Running => "running",
            Stage::Done => "done",
            Stage::Refused => "refused",
            Stage::Failed => "failed",
            Stage::Hung => "hung",
            Stage::Killed => "killed",
            Stage::Cancelled => "cancelled",
            Stage::Lost => "lost",
        }
    }
}

impl Node {
    /// A node on which nothing was tried.
    pub fn new(name: &str) -> Node {
        Node { name: name.into(), ..Node::default() }
    }

    /// The repetitions whose documents have not arrived.
    pub fn missing(&self, plan: &Plan) -> Vec<u32> {
        let arrived = |number: &u32| self.gathered.iter().any(|document| document.repetition == *number);
        (1..=plan.repeat).filter(|number| !arrived(number)).collect()
    }

    /// The attempt that may still end well.
    pub fn open(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.stage.is_open())
    }

    /// As [`Node::open`].
    pub fn open_mut(&mut self) -> Option<&mut Attempt> {
        self.attempts.last_mut().filter(|attempt| attempt.stage.is_open())
    }

    /// What became of the newest attempt; `None` if none was made.
    pub fn stage(&self) -> Option<Stage> {
        self.attempts.last().map(|attempt| attempt.stage)
    }
}

impl Fleet {
    /// The places of the nodes on which an attempt is open.
    pub fn open(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&place| self.nodes[place].open().is_some()).collect()
    }

    /// The places of the nodes that lack a document and on which no attempt is open.
    pub fn unfinished(&self) -> Vec<usize> {
        let lacks = |node: &Node| node.open().is_none() && !node.missing(&self.plan).is_empty();
        (0..self.nodes.len()).filter(|&place| lacks(&self.nodes[place])).collect()
    }

    /// Number of nodes whose documents are complete.
    pub fn complete(&self) -> usize {
        self.nodes.iter().filter(|node| node.missing(&self.plan).is_empty()).count()
    }

    /// How an attempt's files on the nodes begin. Names of nodes may hold anything, so their place is used.
    pub fn prefix(&self, place: usize, attempt: u32) -> String {
        format!("n{place}.a{attempt}")
    }

    /// The nodes that are one machine under several names, machine by machine.
    pub fn same_machines(&self) -> Vec<Vec<&str>> {
        let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in &self.nodes {
            if let Some(boot) = node.gathered.iter().find_map(|document| document.boot.as_deref()) {
                machines.entry(boot).or_default().push(&node.name);
            }
        }
        machines.into_values().filter(|names| names.len() > 1).collect()
    }

    /// The versions and builds of howslow that measured, if there are several: their runs are not quite comparable.
    pub fn mixed_versions(&self) -> Vec<String> {
        let all = self.nodes.iter().flat_map(|node| &node.gathered);
        let versions: BTreeSet<String> =
            all.map(|document| format!("{} (build {})", document.howslow, document.build)).collect();
        if versions.len() > 1 { versions.into_iter().collect() } else { Vec::new() }
    }
}
