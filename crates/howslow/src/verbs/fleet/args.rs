//! The arguments of `howslow fleet`.

use std::path::PathBuf;

use analysis::fleet::MachinePart;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};

use crate::cli::value::{at_least_one, between, seconds, share};

const EXPLAINED: &str = "\
From a fresh cluster to a list of slow nodes (docs/FLEET.md).
Examples:
  howslow fleet run --slurm --nodes 'n[001-128]' --suite headline --repeat 3
  howslow fleet status
  howslow fleet show
A fleet's state is one file in the data folder, so every verb can be ended and begun again. ID is a fleet's name or the
beginning of it; without it, the newest.
Exit status: 0 done; 1 failed; 2 misused; 3 done, but some nodes gave no document; 130 interrupted (the jobs go on).";

/// Measure on every node of a cluster: through Slurm, SSH or Kubernetes
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub verb: FleetVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetVerb {
    /// Measure on every node, and gather one document per node and repetition
    Run(Box<FleetRunArgs>),
    /// Follow a fleet whose jobs go on, and gather its documents
    #[command(after_help = ATTACHED)]
    Attach(FollowArgs),
    /// Measure again on the nodes that gave no document
    #[command(after_help = RETRIED)]
    Retry(FollowArgs),
    /// Cancel the jobs of a fleet that have not ended
    #[command(after_help = CANCELLED)]
    Cancel(FleetArg),
    /// Show what became of each node
    #[command(after_help = STATUS)]
    Status(StatusArgs),
    /// Classes of nodes, slow nodes with reasons, a heat map, a list of nodes to drain
    Show(FleetShowArgs),
}

const RUN_USAGE: &str = "\
howslow fleet run --slurm [OPTIONS] [-- <OPTION>...]
       howslow fleet run --ssh <HOST,...> [OPTIONS]
       howslow fleet run --kubernetes [OPTIONS]";

const RUN: &str = "\
Examples:
  howslow fleet run --slurm --nodes 'n[001-128]' --suite headline --repeat 3
  howslow fleet run --ssh host-a,root@host-b:2222 --id rack-7
  howslow fleet run --kubernetes --image registry.example/howslow:1 --count 12 -o manifests
Exit status: 0 done; 1 failed; 2 misused; 3 done, but some nodes gave no document; 130 interrupted (the jobs go on).";

const ATTACHED: &str = "\
Examples:
  howslow fleet attach
  howslow fleet attach rack-7 --every 30s
Exit status: 0 done; 1 failed; 2 misused: no such fleet; 3 done, but some nodes gave no document; 130 interrupted (the jobs go on).";

const RETRIED: &str = "\
Examples:
  howslow fleet retry
  howslow fleet retry rack-7 --json
Exit status: 0 done; 1 failed; 2 misused: no such fleet; 3 done, but some nodes gave no document; 130 interrupted (the jobs go on).";

const CANCELLED: &str = "\
Examples:
  howslow fleet cancel
  howslow fleet cancel rack-7
Exit status: 0 done; 1 failed; 2 misused: no such fleet.";

const STATUS: &str = "\
Examples:
  howslow fleet status
  howslow fleet status rack-7 --json
Exit status: 0 done; 1 failed; 2 misused: no such fleet; 3 some nodes have given no document.";

#[derive(Debug, Args)]
#[command(after_help = RUN, override_usage = RUN_USAGE)]
#[command(group = ArgGroup::new("means").args(["slurm", "ssh", "kubernetes"]).required(true))]
pub(crate) struct FleetRunArgs {
    /// One exclusive job per node, through Slurm's sbatch
    #[arg(long)]
    pub slurm: bool,
    /// On these few hosts, through the OpenSSH client and keys that need no password: HOST, USER@HOST or HOST:PORT
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    pub ssh: Vec<String>,
    /// Write manifests for Kubernetes instead: a ConfigMap of the plan, an indexed Job and a DaemonSet
    #[arg(long, requires = "image")]
    pub kubernetes: bool,
    /// The fleet's name; one that exists is finished: only what is missing is measured [default: the time and four letters]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub plan: PlanArgs,
    #[command(flatten)]
    pub slurm_options: SlurmArgs,
    #[command(flatten)]
    pub kubernetes_options: KubernetesArgs,
    #[command(flatten)]
    pub follow: GatherArgs,
}

/// What to measure on each node, and with which program.
#[derive(Debug, Args)]
#[command(next_help_heading = "What runs on each node")]
pub(crate) struct PlanArgs {
    /// headline, full, or patterns as for `howslow run`
    #[arg(long, value_name = "SUITE", num_args = 1.., default_value = "headline")]
    pub suite: Vec<String>,
    /// Runs on each node, one document each
    #[arg(long, value_name = "N", default_value = "1", value_parser = between::<1, 1000>)]
    pub repeat: u32,
    /// Time that one run may take, as for `howslow run`
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// Fresh processes per cost, as for `howslow run`
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, allow_hyphen_values = true)]
    pub rounds: Option<u32>,
    /// The wanted precision, as for `howslow run`
    #[arg(long, value_name = "PERCENT", value_parser = share, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// After this time a run counts as hung and is ended [default: twice the budget and a minute]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub limit: Option<f64>,
    /// The program to send to the nodes, once for each architecture [default: this one, if it is static]
    #[arg(long, value_name = "FILE")]
    pub binary: Vec<PathBuf>,
    /// Send no program: use the howslow that is installed on the nodes
    #[arg(long, conflicts_with = "binary")]
    pub installed: bool,
}

/// Where and how Slurm runs it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Slurm")]
pub(crate) struct SlurmArgs {
    /// The nodes, as Slurm writes them: n[001-128],m3 [default: all of the partition]; for Kubernetes: their names
    #[arg(long, value_name = "LIST")]
    pub nodes: Option<String>,
    /// Partition
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub account: Option<String>,
    /// Features that a node must have
    #[arg(long, value_name = "FEATURES", requires = "slurm")]
    pub constraint: Option<String>,
    /// Slurm's time limit of each job, as sbatch reads it [default: from --limit]
    #[arg(long, value_name = "TIME", requires = "slurm")]
    pub time: Option<String>,
    /// A folder that all nodes share with this host, if the data folder is not shared
    #[arg(long, value_name = "DIR")]
    pub shared: Option<PathBuf>,
    /// Further options for sbatch, each one word: -- --qos=low --reservation=test
    #[arg(last = true, value_name = "SBATCH OPTION", requires = "slurm")]
    pub sbatch: Vec<String>,
}

/// What the manifests need.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kubernetes")]
pub(crate) struct KubernetesArgs {
    /// An image with howslow and a shell
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    pub image: Option<String>,
    /// Number of nodes that the Job measures, if --nodes does not name them
    #[arg(long, value_name = "N", requires = "kubernetes", conflicts_with = "nodes", value_parser = between::<1, 100_000>)]
    pub count: Option<u32>,
    /// Whole CPUs for each pod
    #[arg(long, value_name = "N", default_value = "2", conflicts_with_all = ["slurm", "ssh"], value_parser = between::<1, 4096>)]
    pub cpus: u32,
    /// Where the documents go: pvc:CLAIM, or postgres:SECRET/KEY, a Secret that holds the store's address
    #[arg(long, value_name = "PLACE", default_value = "pvc:howslow", conflicts_with_all = ["slurm", "ssh"])]
    pub collector: String,
    /// Print the DaemonSet, which measures on every node, instead of the Job
    #[arg(long, requires = "kubernetes", conflicts_with = "output")]
    pub daemon_set: bool,
    /// Namespace
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    pub namespace: Option<String>,
}

/// Gathering.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gathering")]
pub(crate) struct GatherArgs {
    /// Put the documents (with --kubernetes: the manifests) into this folder [default: in the data folder; stdout]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Submit and end; `howslow fleet attach` gathers
    #[arg(long)]
    pub detach: bool,
    #[command(flatten)]
    pub every: EveryArgs,
}

/// How often the nodes are asked.
#[derive(Debug, Args)]
pub(crate) struct EveryArgs {
    /// Time between two questions to the scheduler or the hosts
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = seconds, allow_hyphen_values = true)]
    pub every: f64,
    /// Print JSON at the end
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArg {
    /// The fleet [default: the newest]
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FollowArgs {
    #[command(flatten)]
    pub fleet: FleetArg,
    #[command(flatten)]
    pub every: EveryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub fleet: FleetArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const SHOWN: &str = "\
Without names: the documents of the newest fleet. In a folder, a file NODE.r1.json is a run of NODE, as `howslow fleet run`
names it. Nodes are compared within their class. docs/FLEET.md says by which test a node is called slow.
Examples:
  howslow fleet show
  howslow fleet show documents/ --svg pictures/
  howslow fleet show --drain-list
Exit status: 0 done; 1 failed; 2 misused.";

#[derive(Debug, Args)]
#[command(after_help = SHOWN)]
pub(crate) struct FleetShowArgs {
    /// Folders of run documents, fleets by their id, runs, or the word store for all kept runs
    #[arg(value_name = "FOLDER|ID|RUN|store")]
    pub runs: Vec<String>,
    /// Only this class of nodes: A, B, ...
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// The parts that make a class, instead of the rule of docs/FLEET.md
    #[arg(long, value_name = "PART,...", value_delimiter = ',', value_parser = parts())]
    pub by: Vec<MachinePart>,
    /// Call a node slow only by this much or more
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = share)]
    pub at_least: f64,
    /// The share of false ones to expect among the nodes called slow
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    pub false_share: f64,
    /// Print commands for Slurm that drain the slow nodes, with their reasons; nothing is run
    #[arg(long, conflicts_with = "json")]
    pub drain_list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write the heat map of each class into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Every node and cost, not only those that tell most
    #[arg(long)]
    pub all: bool,
}

/// The parts of a machine, by their names.
fn parts() -> impl TypedValueParser<Value = MachinePart> {
    let named = |name: String| MachinePart::ALL.into_iter().find(|part| part.word() == name).ok_or("no such part");
    PossibleValuesParser::new(MachinePart::ALL.map(MachinePart::word)).try_map(named)
}
