//! `howslow import`: what other tools measured, as runs that are kept.

use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Context;
use jiff::Timestamp;
use record::units::counted;
use record::{Run, printable};
use store::Store;
use store::exchange::{ImportError, MOST_BYTES};

use crate::cli::ImportArgs;
use crate::output::{self, Misuse, Outcome, print_note};
use crate::session;

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
    let shown = printable(&path.display().to_string());
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
    let failed = |why| ImportError::Io { path: printable(&path.display().to_string()), why };
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
