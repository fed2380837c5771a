//! What many documents in files hold, without their samples, read on several processors.

use std::path::{Path, PathBuf};

use analysis::parallel::answers;
use record::ReadError;

use crate::entry::Document;
use crate::files::document;

/// Documents that are read before the first of them is shown, for each processor.
const AT_ONCE: usize = 16;

/// Reads these documents and shows them in this order. A few of them are in memory at a time.
pub fn read_documents(files: &[PathBuf], each: &mut dyn FnMut(&Path, Result<Document, ReadError>)) {
    let readers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    for files in files.chunks(readers * AT_ONCE) {
        let documents = answers(files, |file| Some(read(file)));
        files.iter().zip(documents).for_each(|(file, read)| each(file, read));
    }
}

fn read(file: &Path) -> Result<Document, ReadError> {
    Document::read(&document(file)?)
}
