//! What many documents in files say, without their samples, read on several processors.

use std::path::{Path, PathBuf};

use record::{Machine, Origin};

use crate::entry::Entry;
use crate::rows::Series;

/// Documents that are read before the first of them is shown, for each processor.
const AT_ONCE: usize = 16;

/// What a document says of a run and its costs.
#[derive(Debug)]
pub struct Document {
    /// The run's id.
    pub id: String,
    /// When it started, RFC 3339, UTC.
    pub started: String,
    /// Where its figures come from.
    pub origin: Origin,
    /// The machine.
    pub machine: Machine,
    /// The core cycle that prevailed, in ns; 0 if unknown.
    pub cycle_ns: f64,
    /// The share of its batches in which the core was undisturbed, if it tells.
    pub undisturbed: Option<f64>,
    /// The costs.
    pub costs: Vec<DocumentCost>,
}

/// One cost of a document.
#[derive(Debug)]
pub struct DocumentCost {
    /// The operation and point, and how the figure was taken.
    pub series: Series,
    /// The headline figure, net, in the series' unit.
    pub value: f64,
    /// Lower end of its 95 % interval; minus infinity if there is none.
    pub low: f64,
    /// Upper end of its 95 % interval; infinity if there is none.
    pub high: f64,
    /// The kinds of its doubts with commas between them.
    pub doubts: String,
}

impl Document {
    /// True if other work ran on purpose.
    pub fn is_beside_work(&self) -> bool {
        self.costs.iter().any(|cost| cost.series.beside_work)
    }

    fn read(path: &Path) -> Result<Document, String> {
        let entry = crate::files::document(path).and_then(|document| Entry::read(&document))?;
        let costs = entry.costs.into_iter().map(|cost| {
            let [value, low, high, _] = cost.figures;
            DocumentCost { series: cost.series, value, low, high, doubts: cost.doubts }
        });
        Ok(Document {
            id: entry.id,
            started: entry.started,
            origin: entry.origin,
            machine: entry.machine,
            cycle_ns: entry.cycle_ns,
            undisturbed: entry.quiet,
            costs: costs.collect(),
        })
    }
}

/// Reads these documents and shows them in this order. A few of them are in memory at a time.
pub fn read_documents(files: &[PathBuf], each: &mut dyn FnMut(&Path, Result<Document, String>)) {
    let readers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    for files in files.chunks(readers * AT_ONCE) {
        let read: Vec<_> = std::thread::scope(|scope| {
            let all = |files: &[PathBuf]| files.iter().map(|file| Document::read(file)).collect::<Vec<_>>();
            let parts = files.chunks(files.len().div_ceil(readers));
            let reading: Vec<_> = parts.map(|files| scope.spawn(move || all(files))).collect();
            reading.into_iter().flat_map(|reader| reader.join().unwrap_or_default()).collect()
        });
        files.iter().zip(read).for_each(|(file, read)| each(file, read));
    }
}
