//! The arguments of `howslow crossover`.

use ::instruments::advise::By;
use clap::Args;

use super::measure::MeasureArgs;
use super::value::range;

const EXPLAINED: &str = "\
Both operations are measured at the same numbers of the axis, round by round in turns, first coarsely
over the range, then about the crossing. The other axes take their first headline value, unless a
point says another: pipe.roundtrip@distance=other.
Examples: howslow crossover file.read file.map.read.unmap --axis size
          howslow crossover pipe.roundtrip shared.spin.roundtrip --axis size --range 1..64KiB
          howslow crossover tcp.send tcp.send.zerocopy --axis size --svg charts
          howslow crossover wait.spin wait.block --axis nanoseconds --by processor
Exit status: 0 done, whatever the answer is; 1 failed; 2 misused: an unknown operation, an axis that
they do not have in common, a range outside its bounds; 3 an operation cannot be measured here.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct CrossoverArgs {
    /// The first operation, optionally at a point: file.read, pipe.roundtrip@distance=other
    #[arg(value_name = "A", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub first: String,
    /// The second operation
    #[arg(value_name = "B", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub second: String,
    /// The axis along which they are compared, which both have
    #[arg(long)]
    pub axis: String,
    /// The numbers to look at, from the least to the greatest [default: all that both take]
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub range: Option<(u64, u64)>,
    /// What is compared
    #[arg(long, value_enum, default_value_t = By::Time)]
    pub by: By,
    #[command(flatten)]
    pub measure: MeasureArgs,
}
