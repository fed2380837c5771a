//! The arguments of `howslow predict`.

use analysis::predict::MachineState;
use clap::Args;

const PREDICTED: &str = "\
MIX is a TOML file, or a mix that comes with howslow: true, git-status, nginx and others (docs/PREDICT.md).
CHANGE is OPERATION=COST or PATTERN=COST. COST is a time (70ns), a difference (+5us, -590ns), a factor
(x0.5), or a RUN whose cost is used.
Examples: howslow predict true --on @1
          howslow predict mine.toml --on @1 --measure
          howslow predict mine.toml --on @1 @2 --measured @1=1.2ms --what-if 'syscall.*=x0.5'
          howslow predict mine.toml --on @1 --what-if memory.load@set=32MiB=70ns
          howslow predict call-save-return --on multics-645 multics-6180 --factors
Exit status: 0 done; 1 failed; 2 misused, or a run lacks what the mix needs; 3 done without it (--partial).";

#[derive(Debug, Args)]
#[command(after_help = PREDICTED, arg_required_else_help = true, override_usage = "howslow predict <MIX>... --on <RUN>... [OPTIONS]")]
pub(crate) struct PredictArgs {
    /// How often a unit of work performs each operation: a file, or a mix that comes with howslow
    #[arg(value_name = "MIX", add = clap_complete::ArgValueCompleter::new(crate::complete::mixes))]
    pub mixes: Vec<String>,
    /// The runs whose costs are the prices. Without a MIX before it, the last word is the mix
    #[arg(long, value_name = "RUN", required = true, num_args = 1.., add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub on: Vec<String>,
    /// Suppose another value of a cost; may be repeated, and applies in the order given
    #[arg(long, value_name = "CHANGE")]
    pub what_if: Vec<String>,
    /// The measured time of a unit of work: 1.2ms, or a run that measured the mix's whole; RUN=1.2ms if there are several runs
    #[arg(long, value_name = "TIME")]
    pub measured: Vec<String>,
    /// The prices: of an undisturbed core, as costs are quoted, or of programs that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = MachineState::Quiet)]
    pub by: MachineState,
    /// Split the ratio of two runs, or of two mixes, into factors
    #[arg(long, conflicts_with_all = ["what_if", "partial"])]
    pub factors: bool,
    /// Measure what a run of this machine lacks; the run itself is not changed
    #[arg(long, conflicts_with = "partial")]
    pub measure: bool,
    /// Predict the rest if a run lacks some of the costs
    #[arg(long)]
    pub partial: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
