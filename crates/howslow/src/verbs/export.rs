//! `howslow export`: runs in the format of another program; and the tables that `--csv` prints.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use record::{Run, printable};
use store::exchange::{EXPORTERS, Exporter, Table};

use crate::cli::value::formats;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::resolve;

const EXPORTED: &str = "\
Examples: howslow export @1 -o run.csv
          howslow export @1 @2 @3 -o runs.parquet
          howslow export @1 -o /var/lib/node_exporter/textfile/howslow.prom
          howslow export @1 --format go > new.txt && benchstat old.txt new.txt
          howslow export @1 --format lmbench
Exit status: 0 done; 1 failed; 2 misused: an unknown run, several runs for a format that holds one.";

/// Write runs in the format of another program: CSV, Parquet, metrics, benchstat, lmbench ...
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

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let format = format(args)?;
    if !format.is_text && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Misuse(format!(
            "the format {} is no text; `howslow export` writes it to a file with -o FILE",
            format.name
        ))
        .into());
    }
    output::check_writable(&args.output)?;
    let runs = resolve::runs(&args.runs)?;
    let mut bytes = Vec::new();
    let notes = (format.write)(&runs, &mut bytes).map_err(|error| match error {
        store::exchange::ExportError::OneRun { .. } => Misuse(error.to_string()).into(),
        other => anyhow::Error::from(other),
    })?;
    for note in empty(&runs, &args.runs).into_iter().chain(notes) {
        print_note(&note);
    }
    match &args.output {
        Some(path) => store::write_whole(path, &bytes)?,
        None if format.is_text => output::print(&String::from_utf8_lossy(&bytes))?,
        None => output::print_bytes(&bytes)?,
    }
    Ok(Outcome::Done)
}

/// The format requested, or the one that the end of the file's name means.
fn format(args: &ExportArgs) -> Result<&'static Exporter, Misuse> {
    let name = args.output.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let found = match (&args.format, &name) {
        (Some(format), _) => store::exchange::exporter(format),
        (None, Some(name)) => store::exchange::exporter_for(name),
        (None, None) => store::exchange::exporter("csv"),
    };
    found.ok_or_else(|| {
        let known = EXPORTERS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        Misuse(format!(
            "the name {} says no format; say --format, one of {known}",
            printable(&name.unwrap_or_default())
        ))
    })
}

/// What to print of runs without a cost.
fn empty(runs: &[Run], names: &[String]) -> Vec<String> {
    let none = runs.iter().zip(names).filter(|(run, _)| run.costs.is_empty());
    none.map(|(_, name)| format!("{} has no cost, so nothing of it is exported", printable(name))).collect()
}

/// Prints the costs of runs as CSV.
pub(crate) fn print_costs(runs: &[Run]) -> anyhow::Result<()> {
    print_table(&store::exchange::cost_table(runs))
}

/// Prints a table as CSV.
pub(crate) fn print_table(table: &Table) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    store::exchange::csv(table, &mut bytes)?;
    output::print(&String::from_utf8_lossy(&bytes))
}
