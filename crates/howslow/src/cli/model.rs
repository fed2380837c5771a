//! The arguments of `howslow model`.

use std::path::PathBuf;

use clap::Args;

use super::value::{at_least_one, seconds, size, time, whole};

const MODELLED: &str = "\
FILE is TOML with a table [system], or with measured configurations to fit, [[measured]], and the
[configuration] to predict (docs/LOAD.md lists every key). `howslow load PLAN --predict -o FILE` writes
one with measured demands; the document of its --json is read too. Options replace what the file says.
Without a file, at least --users and --user are needed.
Examples: howslow model --users 20 --think 10s --user 400ms --mean 2s
          howslow model --users 28 --think 27s --eligible 3 --user 395ms --handling 8ms
                        --between-faults 22ms,21ms,16ms --page-wait 28.4ms
          howslow model office.toml --users 40 --p95 5s --more-memory 256MiB --svg charts
          howslow model office.toml --page-wait 0s --page-cpu 13us
Exit status: 0 done; 1 failed; 2 misused: a parameter outside its range, an unknown key.";

#[derive(Debug, Args)]
#[command(after_help = MODELLED, arg_required_else_help = true)]
pub(crate) struct ModelArgs {
    /// A file with the parameters
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Users
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub users: Option<u32>,
    /// Mean think time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub think: Option<f64>,
    /// At most so many interactions hold memory at once; the others queue
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub eligible: Option<u32>,
    /// CPUs
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub cpus: Option<u32>,
    /// Memory of all interactions together
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// The page device, of those in the file
    #[arg(long, value_name = "NAME", requires = "file")]
    pub device: Option<String>,
    #[command(flatten)]
    pub demands: DemandArgs,
    #[command(flatten)]
    pub questions: QuestionArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also write the charts as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// What one interaction asks for.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "One interaction")]
pub(crate) struct DemandArgs {
    /// CPU time in user mode
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub user: Option<f64>,
    /// CPU time in the system, without page faults
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub system: Option<f64>,
    /// Waiting for other things than pages
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub other_wait: Option<f64>,
    /// Page faults, whatever memory there is
    #[arg(long, value_name = "N", conflicts_with = "between_faults", value_parser = number, allow_negative_numbers = true)]
    pub faults: Option<f64>,
    /// Mean CPU time between page faults, their handling included: one for all, or by depth of multiprogramming, 22ms,21ms,16ms
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = time)]
    pub between_faults: Vec<f64>,
    /// CPU time for handling one page fault
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub handling: Option<f64>,
    /// Wait for a page from the page device, without queueing there
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub page_wait: Option<f64>,
    /// CPU time that the page device takes for a page, as zram does
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub page_cpu: Option<f64>,
    /// Pages that the page device serves at once [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub channels: Option<u32>,
}

/// What is to be answered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Questions")]
pub(crate) struct QuestionArgs {
    /// How many users have a mean response within this time?
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub mean: Option<f64>,
    /// For how many users are 95 % of the responses within this time?
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub p95: Option<f64>,
    /// What is this much more memory worth?
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    pub more_memory: u64,
    /// Events of the simulation
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = events)]
    pub events: u64,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>)]
    pub seed: u64,
}

/// A number from 0 up.
fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "give a number from 0 to a billion, such as 43".into())
}

/// A number of events that ends within minutes.
fn events(text: &str) -> Result<u64, String> {
    let events = whole::<u64>(text)?;
    if (10_000..=1_000_000_000).contains(&events) { Ok(events) } else { Err("give 10000 to 1000000000 events".into()) }
}
