//! The arguments of the verbs that exchange data with other programs: `export` and `import`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use store::exchange::{EXPORTERS, IMPORTERS};

const EXPORTED: &str = "\
Examples: howslow export @1 -o run.csv
          howslow export @1 @2 @3 -o runs.parquet
          howslow export @1 -o /var/lib/node_exporter/textfile/howslow.prom
          howslow export @1 --format go > new.txt && benchstat old.txt new.txt
          howslow export @1 --format lmbench
Exit status: 0 done; 1 failed; 2 misused: an unknown run, several runs for a format that holds one.";

const IMPORTED: &str = "\
Every file becomes a run, which is kept; its id is printed. Its costs are called imported.TOOL.NAME, as the tool calls
them. `compare` holds them beside a run's own costs only where the loop is the same (docs/GUIDE.md). No interval is made
up: a file without scatter gives costs without intervals.
Examples: howslow import results/x86_64-linux-gnu/host.0
          howslow import hyperfine.json -o before.json
          howslow import target/criterion
Exit status: 0 done; 1 a file is damaged or of no known format; 2 misused.";

#[derive(Debug, Args)]
#[command(after_help = EXPORTED)]
pub(crate) struct ExportArgs {
    /// Files, @1, beginnings of kept runs' ids, or books
    #[arg(value_name = "RUN", required = true, add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub runs: Vec<String>,
    /// The format [default: the one that the end of FILE names; without -o, csv]
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(EXPORTERS.iter().map(|format| (format.name, format.summary))))]
    pub format: Option<String>,
    /// Write this file, in one step, instead of printing
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = IMPORTED)]
pub(crate) struct ImportArgs {
    /// Results of another tool: files, or a folder of criterion; - is the input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The format [default: the one that the content shows]
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(IMPORTERS.iter().map(|format| (format.name, format.summary))))]
    pub format: Option<String>,
    /// Write the run document to this file, instead of keeping it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The names of formats, each with its help.
fn formats(known: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(known.map(|(name, summary)| PossibleValue::new(name).help(summary)))
}
