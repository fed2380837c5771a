//! Reads a run file defensively: for any bytes, the result is a run or one clear sentence.

use std::path::Path;

use crate::input::read_input;
use crate::run::{OLDER_SCHEMA, Origin, Run, SCHEMA};

/// Larger documents of runs are refused unread. A full run with all its samples has less than a tenth of this size.
pub const MOST_RUN_BYTES: u64 = 256 << 20;
/// More costs than any catalogue has points.
const MOST_COSTS: usize = 20_000;

/// The reasons why a run could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("cannot read the file: {0}")]
    Io(#[from] std::io::Error),
    /// It is empty.
    #[error("the file is empty")]
    Empty,
    /// It is too large to be a run.
    #[error("the file is larger than {} MiB, so it is not a run", MOST_RUN_BYTES >> 20)]
    TooLarge,
    /// It is not JSON, or cut off.
    #[error("not a whole JSON document (damaged or truncated?): {0}")]
    Damaged(serde_json::Error),
    /// It is JSON, but not a run.
    #[error("not a run: it has no \"schema\" that begins with howslow-run/")]
    NotARun,
    /// Its schema is unknown to this version.
    #[error(
        "its schema is {found}; this version of howslow reads {SCHEMA}: use the version that wrote it, or a newer one"
    )]
    Schema {
        /// The schema it names.
        found: String,
    },
    /// It is a run that breaks the format.
    #[error("breaks the format {SCHEMA}: {0}")]
    Malformed(String),
}

/// Reads and checks the run in a file.
///
/// # Errors
/// If the file cannot be read, is empty, too large or damaged, has another schema, or breaks the format.
pub fn read_run(path: &Path) -> Result<Run, ReadError> {
    // A sparse file of any size costs nothing to make, but would cost memory to read.
    let bytes = read_input(path, MOST_RUN_BYTES).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => ReadError::TooLarge,
        _ => ReadError::Io(error),
    })?;
    run_from_bytes(&bytes)
}

/// Reads and checks a run held in memory.
///
/// # Errors
/// The same as [`read_run`].
pub fn run_from_bytes(bytes: &[u8]) -> Result<Run, ReadError> {
    let mut run = checked(bytes)?;
    make_printable(&mut run);
    run.apply_units();
    // Before runs said so, books were known by their lack of a version.
    if run.howslow.is_empty() && run.origin == Origin::Measured {
        run.origin = Origin::Published;
    }
    Ok(run)
}

/// Checks a run held in memory, in half the time of reading it.
///
/// # Errors
/// The same as [`read_run`].
pub fn check_run(bytes: &[u8]) -> Result<(), ReadError> {
    checked(bytes).map(drop)
}

/// The run as it is written.
fn checked(bytes: &[u8]) -> Result<Run, ReadError> {
    if bytes.len() as u64 > MOST_RUN_BYTES {
        return Err(ReadError::TooLarge);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::Empty);
    }
    let run = match serde_json::from_slice::<Run>(bytes) {
        Ok(run) if [SCHEMA, OLDER_SCHEMA].contains(&run.schema.as_str()) => run,
        other => return Err(refusal(bytes, other.err())),
    };
    check(&run)?;
    Ok(run)
}

/// Why a document is no run: by its schema, if it has one, else by this error.
fn refusal(bytes: &[u8], error: Option<serde_json::Error>) -> ReadError {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: Option<serde_json::Value>,
    }
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(error) => {
            // Another whole document is none either, as a list.
            let is_json = error.classify() == serde_json::error::Category::Data
                || serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
            return if is_json { ReadError::NotARun } else { ReadError::Damaged(error) };
        }
    };
    match (head.schema.as_ref().and_then(|schema| schema.as_str()), error) {
        (Some(SCHEMA | OLDER_SCHEMA), Some(error)) => ReadError::Malformed(printable(&error.to_string())),
        (Some(other), _) if other.starts_with("howslow-run/") => ReadError::Schema { found: printable(other) },
        _ => ReadError::NotARun,
    }
}

fn check(run: &Run) -> Result<(), ReadError> {
    let malformed = |text: String| Err(ReadError::Malformed(printable(&text)));
    if run.costs.len() > MOST_COSTS {
        return malformed(format!("{} costs, at most {MOST_COSTS} are read", run.costs.len()));
    }
    if run.noise.cpus.iter().any(|cpu| !(0.0..=1.0).contains(&cpu.quiet)) {
        return malformed("noise: quiet is a share from 0 to 1".into());
    }
    for (index, cost) in run.costs.iter().enumerate() {
        if cost.operation.is_empty() {
            return malformed(format!("cost {index} names no operation"));
        }
        for figures in [&cost.net_ns, &cost.gross_ns] {
            if figures.low > figures.high {
                return malformed(format!("{}: the interval's low end is above its high end", cost.typed()));
            }
        }
        for round in &cost.rounds {
            let lengths = [round.cycle_ns.len(), round.width.len(), round.quiet.len()];
            if lengths.iter().any(|&length| length != round.ns.len()) {
                return malformed(format!("{}: a round's lists differ in length", cost.typed()));
            }
        }
    }
    Ok(())
}

/// True for C0 and C1 controls, and for marks that reorder the text on a terminal.
pub fn steers_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without control characters and limited in length, so that a file cannot control a terminal.
pub fn printable(text: &str) -> String {
    const MOST: usize = 2000;
    text.chars().take(MOST).map(|c| if steers_terminal(c) { '\u{fffd}' } else { c }).collect()
}

/// True for letters, digits, `-`, `_` and `.`, beginning with a letter or digit: harmless as the name of a file, a node or a job,
/// and without meaning to a shell. The caller limits the length.
pub fn is_plain_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed)
}

/// Makes every string of the run printable. It walks over the document, so that no field is forgotten.
pub(crate) fn make_printable(run: &mut Run) {
    fn walk(value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => *text = printable(text),
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Object(fields) => {
                fields.values_mut().for_each(walk);
                *fields = std::mem::take(fields).into_iter().map(|(name, value)| (printable(&name), value)).collect();
            }
            _ => {}
        }
    }
    // The samples contain no text and are most of the document, so they are set aside.
    let rounds: Vec<_> = run.costs.iter_mut().map(|cost| std::mem::take(&mut cost.rounds)).collect();
    let clean = serde_json::to_value(&*run).and_then(|mut value| {
        walk(&mut value);
        // By way of its text, as runs are read: a reader of values took longer to compile than the rest of this crate.
        serde_json::from_slice(&serde_json::to_vec(&value)?)
    });
    if let Ok(clean) = clean {
        *run = clean;
    }
    for (cost, mut rounds) in run.costs.iter_mut().zip(rounds) {
        for round in &mut rounds {
            round.lost = round.lost.as_deref().map(printable);
        }
        cost.rounds = rounds;
    }
}
