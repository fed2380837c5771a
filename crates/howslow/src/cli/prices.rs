//! The arguments of `howslow prices`.

use std::path::PathBuf;

use clap::Args;

use super::value::seconds;

const PRICED: &str = "\
Prices are kept apart from your runs, for this kernel, command line and processor. `howslow bill` and `top` use the most certain
one of each, whether a run has it or this. Without --for, all that bills use is measured anew.
Examples: howslow prices
          howslow prices --for mix.toml -o there.json
          howslow predict mix.toml --on there.json
Exit status: 0 done; 1 failed; 2 misused; 3 done, but not all could be measured; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = PRICED)]
pub(crate) struct PricesArgs {
    /// Measure only what this mix lacks: a file, or a mix that comes with howslow; may be repeated
    #[arg(long = "for", value_name = "MIX", add = clap_complete::ArgValueCompleter::new(crate::complete::mixes))]
    pub mixes: Vec<String>,
    /// Write the prices as a run, which `bill --on` and `predict --on` take on any machine
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How long to measure
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: f64,
}
