//! What `howslow predict` can be told.

use clap::{Args, ValueEnum};

const PREDICTED: &str = "\
MIX is a TOML file, or a mix that comes with howslow: call-save-return, true, echo (docs/PREDICT.md).
CHANGE is an operation or pattern, =, and what its cost is supposed to become: a time (70ns), more or
less time (+5us, -590ns), a factor (x0.5), or the RUN whose cost to take.
Examples: howslow predict true --on @1
          howslow predict mine.toml --on @1 @2 --measured @1=1.2ms --what-if 'syscall.*=x0.5'
          howslow predict mine.toml --on @1 --what-if memory.load@set=32MiB=70ns
          howslow predict call-save-return --on multics-645 multics-6180 --factors
Exit status: 0 done; 1 failed; 2 misused: also a run that lacks what the mix needs; 3 done without it (--partial).";

/// The state of a machine that prices are of.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PriceState {
    /// While the core was ours alone
    Quiet,
    /// Whatever else the machine was doing
    Typical,
}

#[derive(Debug, Args)]
#[command(after_help = PREDICTED, arg_required_else_help = true)]
pub(crate) struct PredictArgs {
    /// How often a unit of work does what: a file, or a mix that comes with howslow
    #[arg(value_name = "MIX", required = true)]
    pub mixes: Vec<String>,
    /// The runs whose costs to take
    #[arg(long, value_name = "RUN", required = true, num_args = 1..)]
    pub on: Vec<String>,
    /// Suppose that a cost were another; may be repeated, and applies in the order given
    #[arg(long, value_name = "CHANGE")]
    pub what_if: Vec<String>,
    /// What a unit of work took: 1.2ms, or the run that has the mix's whole; RUN=1.2ms where there are several runs
    #[arg(long, value_name = "TIME")]
    pub measured: Vec<String>,
    /// The state whose prices to take: undisturbed, as costs are quoted, or as programs get it that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = PriceState::Quiet)]
    pub by: PriceState,
    /// Split the ratio of two runs, or of two mixes, into factors
    #[arg(long, conflicts_with_all = ["what_if", "partial"])]
    pub factors: bool,
    /// Predict without what a run lacks
    #[arg(long)]
    pub partial: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
