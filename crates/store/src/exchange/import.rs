//! The results of other tools, read as runs. A figure stays as its file has it, and its id stays in a namespace of its own,
//! `imported.TOOL.`: the same name does not mean the same work.

pub mod criterion;
pub mod google;
mod hyperfine;
mod imported;
mod importer;
mod lmbench;

use record::Run;

pub use importer::{ImportError, Importer, MOST_BYTES};

/// More costs than this are no result of a tool.
const MOST_COSTS: usize = 20_000;

/// Every format, in the order of the help.
pub const IMPORTERS: &[Importer] = &[lmbench::LMBENCH, hyperfine::HYPERFINE, google::GOOGLE, criterion::CRITERION];

pub fn importer(name: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|format| format.name == name)
}

/// The run that a text holds, in this format or in the one that its content shows. Fails if the text is too long, of no
/// known format, damaged, or without a cost.
pub fn import(text: &str, format: Option<&Importer>) -> Result<Run, ImportError> {
    if text.len() as u64 > MOST_BYTES {
        return Err(ImportError::TooLarge);
    }
    let known = || IMPORTERS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let format = format.or_else(|| IMPORTERS.iter().find(|format| (format.recognises)(text)));
    let Some(format) = format else { return Err(ImportError::Unknown { known: known() }) };
    let run = (format.read)(text)?;
    if run.costs.len() > MOST_COSTS {
        let why = format!("{} costs, at most {MOST_COSTS} are read", run.costs.len());
        return Err(ImportError::damaged(format.name, why));
    }
    if run.costs.is_empty() {
        return Err(ImportError::Nothing { format: format.name });
    }
    Ok(run)
}
