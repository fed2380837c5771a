//! `howslow export`: runs in the format of another program; and the tables that `--csv` prints.

use std::io::IsTerminal;
use std::path::Path;

use record::{Run, printable};
use store::exchange::{Exporter, Table};

use crate::cli::ExportArgs;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::resolve;

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let format = format(args)?;
    if !format.is_text && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Misuse(format!("the format {} is no text; write it to a file with -o FILE", format.name)).into());
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
    let unknown = |what: String| Misuse(format!("{what}; say --format, one of {}", names().join(", ")));
    if let Some(name) = &args.format {
        return store::exchange::exporter(name)
            .ok_or_else(|| unknown(format!("there is no format '{}'", printable(name))));
    }
    let name = args.output.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match name {
        Some(name) => {
            let why = || unknown(format!("the name {} says no format", printable(&name)));
            store::exchange::exporter_for(&name).ok_or_else(why)
        }
        None => store::exchange::exporter("csv").ok_or_else(|| unknown("there is no CSV".into())),
    }
}

fn names() -> Vec<&'static str> {
    store::exchange::EXPORTERS.iter().map(|format| format.name).collect()
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
