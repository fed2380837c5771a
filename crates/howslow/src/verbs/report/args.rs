//! The arguments of `howslow report`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;

use crate::complete;

const REPORTED: &str = "\
The page is one file without network or script of others, and reads without its own script, on paper and on a telephone. It
holds its runs: howslow show PAGE.html and howslow compare PAGE.html @1 read the first, PAGE.html#2 the second.
Names of host, user, labels, files and commands, the day and the run's id are left out, as `howslow contribute` does.
Of several runs the first is the base. A DOCUMENT is what another verb printed with --json: bill, noise, interference, load,
file tune, fleet show, watch ... A FOLDER holds the runs of a fleet's nodes.
Examples:
  howslow report -o page.html
  howslow report before.json @1 -o page.html
  howslow report @1 bill.json noise.json --with-host -o page.html
  howslow report nodes/ -o fleet.html
  howslow report --gallery machines/ zen-4-kvm @1
Exit status: 0 done; 1 failed; 2 misused, or the file exists and --force is not given.";

/// Write a page to keep and share: a run, several runs, a fleet, what other verbs printed; or a site of many machines
#[derive(Debug, Args)]
#[command(after_help = REPORTED)]
pub(crate) struct ReportArgs {
    /// Runs, the base first; documents of --json; folders of a fleet's runs [default: the newest kept run; with --gallery the
    /// reference machines]
    #[arg(value_name = "RUN|DOCUMENT|FOLDER", add = ArgValueCompleter::new(complete::runs))]
    pub sources: Vec<String>,
    /// The page's file
    #[arg(short, long, value_name = "PAGE.html", required_unless_present = "gallery", conflicts_with = "gallery")]
    pub output: Option<PathBuf>,
    /// Write a site of many machines into this folder: an index, a page each, a page of any two
    #[arg(long, value_name = "FOLDER")]
    pub gallery: Option<PathBuf>,
    /// The machine beside the first run [default: the reference machine that is nearest]
    #[arg(long, value_name = "REFERENCE", conflicts_with = "gallery", add = ArgValueCompleter::new(complete::runs))]
    pub against: Option<String>,
    /// Split the ratio of each run to the base into factors, on the work of this mix
    #[arg(long, value_name = "MIX", conflicts_with = "gallery", add = ArgValueCompleter::new(complete::mixes))]
    pub mix: Option<String>,
    /// Keep the names of host, labels, files and commands, and the day
    #[arg(long)]
    pub with_host: bool,
    /// Replace what exists
    #[arg(long)]
    pub force: bool,
}
