//! What happens around every run of a command, outside the timing: a shell's steps, files that are evicted from memory.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;

use operation::{Failure, Loop};

use crate::file::residence;

/// What happens around every run of a command, outside the timing, and what the run reads.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Files that are evicted from memory before it.
    pub cold: Vec<PathBuf>,
    /// The file that is its standard input, instead of /dev/null.
    pub input: Option<PathBuf>,
    /// What a shell does before it.
    pub prepare: Option<String>,
    /// What a shell does after it.
    pub conclude: Option<String>,
}

/// Has a shell do this, if there is anything to do, with input and output on /dev/null. Fails with one sentence with
/// the name of the option, if it cannot be started or its exit status is not 0.
pub fn shell(option: &str, text: Option<&str>) -> Result<(), String> {
    let Some(text) = text else { return Ok(()) };
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", text]).stdin(Stdio::null()).stdout(Stdio::null());
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(match (status.code(), status.signal()) {
            (Some(code), _) => format!("{option} '{text}' ended with exit status {code}"),
            (None, signal) => format!("{option} '{text}' was killed by signal {}", signal.unwrap_or(0)),
        }),
        Err(error) => Err(format!("{option} '{text}': /bin/sh cannot be started: {error}")),
    }
}

/// With a step before or after it, every run is a batch.
pub(crate) fn with_steps(work: Loop, around: &Around) -> Loop {
    let step = |option: &'static str, text: &Option<String>| {
        text.clone().map(|text| move |_| shell(option, Some(&text)).map_err(Failure::wrong))
    };
    let cold = around.cold.clone();
    let work = match (step("--prepare", &around.prepare), cold.is_empty()) {
        (None, true) => work,
        (prepare, _) => work.at_most(1).before(move |times| {
            prepare.as_ref().map_or(Ok(()), |prepare| prepare(times))?;
            make_cold(&cold).map_err(Failure::wrong)
        }),
    };
    match step("--conclude", &around.conclude) {
        Some(step) => work.at_most(1).verify(step),
        None => work,
    }
}

/// Evicts these files from memory. Fails with one sentence if a page of one stays there.
pub fn make_cold(files: &[PathBuf]) -> Result<(), String> {
    for path in files {
        let why = |why: String| format!("--cold {}: {why}", path.display());
        let file = record::open_input(path).map_err(|error| why(error.to_string()))?;
        residence::can_be_cold(&file).map_err(|error| why(error.sentence()))?;
        match residence::evict(&file).map_err(|error| why(error.to_string()))?.resident {
            0 => {}
            left => return Err(why(format!("{left} of its pages stay in memory; another process maps or locks them"))),
        }
    }
    Ok(())
}
