//! The arguments of `howslow file`.

use std::path::PathBuf;

use ::instruments::advise::ReadOrder;
use clap::{Args, Subcommand};

use super::value::{rate, record_bytes, seconds};

const EXPLAINED: &str = "\
Each verb acts only on the given files, and needs no permission beyond those of the file.
Examples:
  howslow file resident /var/log/syslog
  howslow file evict big.dat && howslow time -- wc big.dat
  howslow file advise big.dat --order random
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file; 3 some pages stay in memory
because something maps, locks or reads them.";

const RESIDENT: &str = "\
Examples:
  howslow file resident /usr/lib/os-release
  howslow file resident *.dat --json
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file.";

const EVICTED: &str = "\
Examples:
  howslow file evict big.dat
  howslow time --prepare 'howslow file evict big.dat' -- wc big.dat
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file; 3 some pages stay in memory
because something maps, locks or reads them.";

const SYNCED: &str = "\
Examples:
  howslow file sync big.dat
  howslow file sync *.db --json
Exit status: 0 done; 1 failed, also if the device reports an error; 2 misused: no such file, not a regular file.";

const ADVISED: &str = "\
Examples:
  howslow file advise big.dat
  howslow file advise big.dat --order random --record 4KiB
  howslow file advise big.dat --rate 200MB --budget 60s
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file, too small; 130 interrupted.";

const TUNED: &str = "\
Examples:
  howslow file tune big.dat
  howslow file tune big.dat --rate 1GB --budget 60s
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file, too small; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct FileArgs {
    #[command(subcommand)]
    pub verb: FileVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FileVerb {
    /// Show which pages are in memory, as counts, ranges and a map
    #[command(after_help = RESIDENT)]
    Resident(PathsArgs),
    /// Evict the file from memory; its dirty pages are written first
    #[command(after_help = EVICTED)]
    Evict(PathsArgs),
    /// Write the file's dirty pages to its device and wait for them
    #[command(after_help = SYNCED)]
    Sync(PathsArgs),
    /// Find the fastest way to read this file from its disk, cold and warm, by measuring the ways on it
    #[command(after_help = ADVISED)]
    Advise(AdviseArgs),
    /// Find how far ahead and how much at a time to prefetch this file: arithmetic, and a sweep around its result
    #[command(after_help = TUNED)]
    Tune(TuneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PathsArgs {
    /// Regular files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AdviseArgs {
    /// A regular file; it is evicted from memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// What the program reads at a time: 4096, 64KiB, 1MiB [default with --order random: 4KiB]
    #[arg(long, value_name = "BYTES", value_parser = record_bytes, allow_hyphen_values = true)]
    pub record: Option<u64>,
    /// The order in which the program reads its records
    #[arg(long, value_enum, default_value = "sequential")]
    pub order: ReadOrder,
    /// The most bytes a second that the program processes between its reads, such as 200MB
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time the measurement may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A regular file; it is evicted from memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The most bytes a second that the program processes between its reads, such as 200MB
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time the measurement may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "30s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
