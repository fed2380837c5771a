//! `howslow terminal`: the crate `terminal` measures, this prints.

use std::time::Duration;

use ::terminal::{TerminalError, own};
use report::document::TerminalDocument;

use crate::cli::TerminalArgs;
use crate::output::{self, Misuse, Outcome};

/// The signal that tells of a terminal that was closed: `SIGHUP`.
const HANGUP: i32 = 1;

pub(crate) fn terminal(args: &TerminalArgs) -> anyhow::Result<Outcome> {
    let variable = |name: &str| std::env::var(name).ok();
    let measured = match own::measure(Duration::from_secs_f64(args.budget), variable) {
        Ok(measured) => measured,
        Err(TerminalError::Interrupted(signal)) => return Ok(Outcome::Interrupted(signal)),
        Err(TerminalError::Closed) => return Ok(Outcome::Interrupted(HANGUP)),
        Err(error) if error.is_misuse() => return Err(Misuse(error.to_string()).into()),
        Err(error) => return Err(error.into()),
    };
    match args.json {
        true => output::print_document(&TerminalDocument::from(&measured))?,
        false => output::print(&report::own_terminal(&measured, output::style()))?,
    }
    Ok(Outcome::Done)
}
