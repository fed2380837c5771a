//! The arguments of `howslow load`.

use std::path::PathBuf;

use analysis::load::{PageDevice, Relief};
use clap::Args;
use load::{Memory, SHIPPED};

use crate::cli::value::{at_least_one, seconds, whole};

/// What stands below the help of `load`.
fn explained() -> String {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    format!(
        "\
PLAN is one that comes with howslow ({}) or a file in TOML; `howslow schema load-plan` describes it.
Each configuration has a control group of its own, and a page device made for it; both are removed after it, also when
howslow is killed, at the latest by its next start. The system's own swap is left alone. Limits of memory need root or a control
group of your own, page devices root.
Examples:
  howslow load developer --users 8 --memory 512MiB,none
  howslow load fortran --predict -o model.toml
  howslow load cliff --svg charts
  howslow load --size-for 'response p95 < 200ms' -- sort words.txt
Exit status: 0 done; 1 failed; 2 misused, or the plan needs what this machine does not allow; 130 interrupted.",
        names.join(", ")
    )
}

/// Scripted users with too little memory: what they wait for, where time goes, where memory breaks off
#[derive(Debug, Args)]
#[command(after_help = explained())]
pub(crate) struct LoadArgs {
    /// The plan: its name or its file
    #[arg(value_name = "PLAN", required_unless_present = "size_for", conflicts_with = "size_for", add = clap_complete::ArgValueCompleter::new(crate::complete::plans))]
    pub plan: Option<PathBuf>,
    /// Numbers of users, instead of the plan's
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = at_least_one::<u32>, allow_hyphen_values = true)]
    pub users: Vec<u32>,
    /// Limits of their memory: a size, or none
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = memory, conflicts_with = "size_for")]
    pub memory: Vec<Memory>,
    /// Numbers of CPUs
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = at_least_one::<u32>, allow_hyphen_values = true)]
    pub cpus: Vec<u32>,
    /// How many interactions may run at once, 0 for all
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub eligible: Vec<u32>,
    /// Page devices: none, swap, zram
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',', value_parser = load::device)]
    pub device: Vec<PageDevice>,
    /// Relief from page faults: none, pre-paging, post-purging, paging-out, both
    #[arg(long, value_name = "RELIEF,...", value_delimiter = ',', value_parser = load::relief, conflicts_with = "size_for")]
    pub relief: Vec<Relief>,
    /// How often each configuration is measured
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, allow_hyphen_values = true, conflicts_with = "size_for")]
    pub repetitions: Option<u32>,
    /// How long each configuration is measured
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// How long the users work before that
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub settle: Option<f64>,
    /// Predict every configuration by the model before it runs, from one user alone, and half of them from the other half
    #[arg(long, conflicts_with = "size_for")]
    pub predict: bool,
    /// With --predict: write the demands and what was measured into this file, for `howslow model`
    #[arg(short, long, value_name = "FILE", requires = "predict")]
    pub output: Option<PathBuf>,
    /// Print what would be done, and do nothing
    #[arg(long, conflicts_with = "size_for")]
    pub dry_run: bool,
    /// Begin even if it takes longer than an hour
    #[arg(long)]
    pub yes: bool,
    /// Find the least memory and CPUs for a command of your own: 'response p95 < 200ms' -- COMMAND
    #[arg(long, value_name = "BOUND", value_parser = bound, requires = "command")]
    pub size_for: Option<Bound>,
    /// The command for --size-for
    #[arg(last = true, value_name = "COMMAND", requires = "size_for", conflicts_with = "plan")]
    pub command: Vec<String>,
    /// Seed of the users' times to think
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Write the curves as SVG files into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "size_for")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A bound of the response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// The share that must keep it; `None` for the mean.
    pub share: Option<f64>,
    pub seconds: f64,
}

impl Bound {
    /// `p95 response`.
    pub(crate) fn label(&self) -> String {
        self.share.map_or_else(|| "mean response".into(), |share| format!("p{:.0} response", share * 100.0))
    }
}

fn memory(text: &str) -> Result<Memory, String> {
    Memory::try_from(text.to_string())
}

/// `response p95 < 200ms`, `response mean < 1s`.
fn bound(text: &str) -> Result<Bound, String> {
    const EXPECTED: &str = "say 'response p95 < 200ms', with mean, p50, p90, p95 or p99";
    let (figure, time) = text.split_once('<').ok_or(EXPECTED)?;
    let figure = figure.trim().strip_prefix("response").ok_or(EXPECTED)?.trim();
    let share = match figure {
        "mean" => None,
        "p50" | "median" => Some(0.5),
        "p90" => Some(0.9),
        "p95" => Some(0.95),
        "p99" => Some(0.99),
        _ => return Err(EXPECTED.into()),
    };
    let time = record::units::time_of(time.trim()).map(|(time, _)| time.0 / 1e9);
    let seconds = time.filter(|seconds| (1e-6..=600.0).contains(seconds)).ok_or(EXPECTED)?;
    Ok(Bound { share, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read() {
        assert_eq!(bound("response p95 < 200ms"), Ok(Bound { share: Some(0.95), seconds: 0.2 }));
        assert_eq!(bound("response mean<1s"), Ok(Bound { share: None, seconds: 1.0 }));
    }
}
