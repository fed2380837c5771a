//! The arguments of `howslow noise`.

use std::path::PathBuf;

use clap::Args;

use super::value::{nanoseconds, seconds, whole};

const EXPLAINED: &str = "\
A task that only reads the clock notes every step that takes longer than usual. CPUs are watched one after
another, each for --time, so that other programs have the other CPUs; --together watches all at once.
As root, the kernel's tracepoints say what each gap was; otherwise counters do. Nothing is left switched on.
Examples:
  howslow noise
  howslow noise --cpu 1 --time 60s --threshold 5us
  howslow noise --together --json
Exit status: 0 done; 1 failed; 2 misused: no such CPU; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct NoiseArgs {
    /// Watch this CPU only
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub cpu: Option<u32>,
    /// How long each CPU is watched, up to 10 minutes
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds, allow_hyphen_values = true)]
    pub time: f64,
    /// How much longer than usual a step must be to count as a gap
    #[arg(long, value_name = "TIME", default_value = "100ns", value_parser = nanoseconds, allow_hyphen_values = true)]
    pub threshold: f64,
    /// Watch all CPUs at once
    #[arg(long, conflicts_with = "cpu")]
    pub together: bool,
    /// Use counters only, also where tracepoints are allowed
    #[arg(long)]
    pub no_trace: bool,
    /// Show how many gaps there are of at least each length, as a chart
    #[arg(long)]
    pub chart: bool,
    /// Write the chart into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
