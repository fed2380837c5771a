//! What `howslow file` can be told.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::value::{rate, record_bytes, seconds};

const EXPLAINED: &str = "\
Each acts on the files named and on no other, and needs no right beyond the file's own.
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file; 3 pages of it stay in memory
because something maps, locks or reads them.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct FileArgs {
    #[command(subcommand)]
    pub verb: FileVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FileVerb {
    /// Which pages are in memory, as counts, ranges and a map
    Resident(PathsArgs),
    /// Put the file out of memory, dirty pages written first
    Evict(PathsArgs),
    /// Write the file's dirty pages to its device and wait for them
    Sync(PathsArgs),
    /// Which way to read this file on its disk, cold and warm, by measuring the ways on it
    Advise(AdviseArgs),
    /// How far ahead and how much at a time to ask for this file: arithmetic, and a sweep around what it says
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
    /// A regular file; it is put out of memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// What the program reads at a time: 4096, 64KiB, 1MiB [by chance: 4KiB]
    #[arg(long, value_name = "BYTES", value_parser = record_bytes, allow_hyphen_values = true)]
    pub record: Option<u64>,
    /// The order in which the program reads its records
    #[arg(long, value_enum, default_value = "sequential")]
    pub order: RecordOrder,
    /// Bytes a second that the program takes up at most, such as 200MB: it works between its reads
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A regular file; it is put out of memory, and not changed
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Bytes a second that the program takes up at most, such as 200MB: it works between its reads
    #[arg(long, value_name = "BYTES/s", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Time it may take
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "30s", allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordOrder {
    /// From beginning to end
    Sequential,
    /// By chance
    Random,
}
