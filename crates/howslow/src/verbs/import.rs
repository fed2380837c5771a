//! `howslow import`: what other tools measured, as runs that are kept.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;
use record::Run;
use record::units::counted;
use store::Store;
use store::exchange::{IMPORTERS, ImportError, MOST_BYTES};

use crate::cli::value::formats;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::session;

const IMPORTED: &str = "\
Every file becomes a run, which is kept; its id is printed. Its costs are called imported.TOOL.NAME, as the tool calls
them. `compare` holds them beside a run's own costs only where the loop is the same (docs/GUIDE.md). No interval is made
up: a file without scatter gives costs without intervals.
Examples: howslow import results/x86_64-linux-gnu/host.0
          howslow import hyperfine.json -o before.json
          howslow import target/criterion
Exit status: 0 done; 1 a file is damaged or of no known format; 2 misused.";

/// Read what another tool measured as a run: lmbench, hyperfine, google-benchmark, criterion
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

pub(crate) fn import(args: &ImportArgs) -> anyhow::Result<Outcome> {
    if args.output.is_some() && args.files.len() > 1 {
        return Err(Misuse("-o: every file becomes a run of its own; import one file at a time".into()).into());
    }
    output::check_writable(&args.output)?;
    // All are read before one is kept, so that a damaged file leaves nothing half done.
    let runs = args.files.iter().map(|path| read(path, args)).collect::<anyhow::Result<Vec<Run>>>()?;
    for run in &runs {
        match &args.output {
            Some(path) => store::write_run(run, path)?,
            None => session::keep_in(&Store::of_user()?, run)?,
        }
        for skip in &run.skipped {
            // Of a cost that is there, a part was left out.
            let is_there = run.costs.iter().any(|cost| cost.operation == skip.operation && cost.at == skip.at);
            let what = if is_there { "" } else { " is left out" };
            print_note(&format!("{}{what}: {}", skip.operation, skip.reason));
        }
        let costs = counted(run.costs.len() as u64, "cost");
        output::print(&format!("{}   {costs} from {}\n", run.id, run.tool))?;
    }
    Ok(Outcome::Done)
}

fn read(path: &Path, args: &ImportArgs) -> anyhow::Result<Run> {
    let shown = output::shown(path);
    let format = args.format.as_deref().and_then(store::exchange::importer);
    let (text, taken) = text(path).map_err(|error| of_missing(error, &shown))?;
    let mut run = store::exchange::import(&text, format).with_context(|| shown.clone())?;
    // A file that does not say when it was taken was written then.
    let started = run.started.parse::<Timestamp>().unwrap_or(taken);
    run.id = measure::run_id(started);
    run.started = format!("{started:.3}");
    run.finished.clone_from(&run.started);
    run.settings.patterns = vec![shown];
    run.note_units();
    Ok(run)
}

/// The text of a file or of criterion's folder, and when it was written.
fn text(path: &Path) -> Result<(String, Timestamp), ImportError> {
    let failed = |why| ImportError::Io { path: output::shown(path), why };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        return Ok((String::from_utf8_lossy(&bytes).into_owned(), Timestamp::now()));
    }
    let about = std::fs::metadata(path).map_err(failed)?;
    let taken = about.modified().unwrap_or_else(|_| SystemTime::now());
    let taken = Timestamp::try_from(taken).unwrap_or_else(|_| Timestamp::now());
    if about.is_dir() {
        return Ok((store::exchange::gather(path)?, taken));
    }
    let bytes = record::read_input(path, MOST_BYTES).map_err(|why| match why.kind() {
        std::io::ErrorKind::FileTooLarge => ImportError::TooLarge,
        _ => failed(why),
    })?;
    // lmbench's files hold what other programs print, in any encoding.
    Ok((String::from_utf8_lossy(&bytes).into_owned(), taken))
}

/// A file that is not there is misuse.
fn of_missing(error: ImportError, shown: &str) -> anyhow::Error {
    match error {
        ImportError::Io { ref why, .. } if why.kind() == std::io::ErrorKind::NotFound => {
            Misuse(error.to_string()).into()
        }
        ImportError::Io { .. } => error.into(),
        other => anyhow::Error::from(other).context(shown.to_string()),
    }
}
