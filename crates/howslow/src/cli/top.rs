//! The arguments of `howslow top`.

use analysis::predict::MachineState;
use clap::Args;
use observe::Source;

use super::value::seconds;
use crate::screen::Column;

const SHOWN: &str = "\
Shows processes by what they cost the system: the count of each of their requests times its price in a run. Below, the
chosen one with its calls, pairs, errors and trend. ? shows the keys; q ends it.
Calls are counted by programs in the kernel, which needs root. Without them, the columns are those that the kernel's
accounts tell: processor time, faults and switches.
--once prints one interval as a table, and needs no terminal.
Examples: howslow top
          howslow top --cgroups --sort calls
          howslow top --once --every 5s --json
Exit status: 0 done; 1 failed; 2 misused; 128 + n ended by signal n.";

#[derive(Debug, Args)]
#[command(after_help = SHOWN)]
pub(crate) struct TopArgs {
    /// The length of an interval
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "1s", allow_hyphen_values = true)]
    pub every: f64,
    /// Sort by this column [default: cost; without prices calls, without calls kernel]
    #[arg(long, value_name = "COLUMN", value_enum)]
    pub sort: Option<Column>,
    /// Show only processes whose name or cgroup has this, or whose id is this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// Show cgroups in place of processes
    #[arg(long)]
    pub cgroups: bool,
    /// Print one interval as a table, and end
    #[arg(long)]
    pub once: bool,
    /// The run whose costs are the prices [default: the most certain prices of this kernel]
    #[arg(long, value_name = "RUN", add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub on: Option<String>,
    /// The prices: of an undisturbed core, or of programs that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = MachineState::Typical)]
    pub by: MachineState,
    /// Count in this way only
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub source: Option<Source>,
    /// With --once: print JSON
    #[arg(long, requires = "once")]
    pub json: bool,
}
