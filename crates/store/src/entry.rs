//! A run's document as the tables hold it: its facts, one line a cost, and the document itself. Samples are passed over,
//! so that thousands of documents are taken in a minute.

use record::{Estimate, Figures, Machine, OLDER_SCHEMA, Origin, Point, ReadError, Run, SCHEMA, printable};
use serde::Deserialize;
use twox_hash::XxHash3_128;

use crate::error::StoreError;
use crate::head::{NoisePart, SettingsPart};
use crate::id::check_id;
use crate::rows::{Row, Series};
use crate::write::document_of;

/// What a document holds of a run and its costs.
#[derive(Debug)]
pub struct Document {
    pub id: String,
    /// Tells documents of one id apart: nodes that start together can draw the same letters.
    pub(crate) digest: String,
    /// When it started, RFC 3339, UTC.
    pub started: String,
    pub(crate) finished: String,
    pub(crate) howslow: String,
    pub(crate) build: String,
    pub(crate) label: Option<String>,
    pub(crate) patterns: Vec<String>,
    pub(crate) full: bool,
    /// The core cycle that prevailed, in ns; 0 if unknown.
    pub cycle_ns: f64,
    /// The share of its batches in which the core was undisturbed, if it states that.
    pub undisturbed: Option<f64>,
    pub origin: Origin,
    pub machine: Machine,
    pub costs: Vec<DocumentCost>,
}

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
    /// The headline figure in core cycles.
    pub cycles: f64,
    /// The kinds of its doubts with commas between them.
    pub doubts: String,
}

impl Document {
    /// True if other work ran on purpose.
    pub fn is_beside_work(&self) -> bool {
        self.costs.iter().any(|cost| cost.series.beside_work)
    }

    /// What the document of this run holds. Fails if it could not be read again.
    pub fn of(run: &Run) -> Result<Document, StoreError> {
        let malformed = |error: ReadError| StoreError::Unwritable(error.to_string());
        Document::read(&document_of(run)?).map_err(malformed)
    }

    /// Reads a document that is to be kept and that this program has not written. Fails if any reader of runs would refuse it later.
    pub(crate) fn whole(bytes: &[u8]) -> Result<Document, ReadError> {
        record::check_run(bytes)?;
        Document::read(bytes)
    }

    /// Reads a document, but not its samples. Fails if it is not a whole run that this version of howslow can read.
    pub(crate) fn read(bytes: &[u8]) -> Result<Document, ReadError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::Empty);
        }
        let document: RunPart = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => ReadError::Malformed(printable(&error.to_string())),
            _ => ReadError::Damaged(error),
        })?;
        if ![OLDER_SCHEMA, SCHEMA].contains(&document.schema.as_str()) {
            return Err(ReadError::Schema { found: printable(&document.schema) });
        }
        check_id(&document.id).map_err(|error| ReadError::Malformed(error.to_string()))?;
        let mut costs = document.costs.into_iter().map(CostPart::cost).collect::<Result<Vec<_>, _>>()?;
        let settings = document.settings.shown();
        costs.iter_mut().for_each(|cost| cost.series.beside_work = !settings.beside.is_empty());
        Ok(Document {
            digest: digest(bytes),
            id: document.id,
            started: printable(&document.started),
            finished: printable(&document.finished),
            howslow: printable(&document.howslow),
            build: printable(&document.build),
            label: settings.label,
            patterns: settings.patterns,
            full: settings.full,
            cycle_ns: document.noise.cycle_ns,
            undisturbed: record::undisturbed(&document.noise.cpus),
            origin: document.origin,
            machine: document.machine,
            costs,
        })
    }
}

impl DocumentCost {
    pub(crate) fn row<Place>(&self, run: Place, series: Place, doubts: Place) -> Row<Place> {
        let DocumentCost { value, low, high, cycles, .. } = *self;
        Row { run, series, value, low, high, cycles, doubts }
    }
}

#[derive(Deserialize)]
struct RunPart {
    schema: String,
    id: String,
    started: String,
    #[serde(default)]
    finished: String,
    #[serde(default)]
    howslow: String,
    #[serde(default)]
    build: String,
    #[serde(default)]
    origin: Origin,
    machine: Machine,
    settings: SettingsPart,
    #[serde(default)]
    noise: NoisePart,
    costs: Vec<CostPart>,
}

#[derive(Deserialize)]
struct CostPart {
    operation: String,
    #[serde(default)]
    version: u32,
    at: Point,
    #[serde(default)]
    follows_clock: bool,
    headline: Estimate,
    net_ns: Figures,
    cycles: f64,
    #[serde(default)]
    doubts: Vec<DoubtPart>,
}

impl CostPart {
    fn cost(self) -> Result<DocumentCost, ReadError> {
        let operation = printable(&self.operation);
        let Figures { low, high, .. } = self.net_ns;
        if operation.is_empty() || low > high {
            let why = if low > high { ": low is above high" } else { "" };
            return Err(ReadError::Malformed(format!("{operation}{why}")));
        }
        let mut kinds: Vec<String> = self.doubts.iter().map(DoubtPart::kinds).collect();
        kinds.sort();
        kinds.dedup();
        let series = Series {
            operation,
            // What the columns of all databases hold.
            version: self.version.min(i32::MAX as u32),
            point: self.at.to_string().strip_prefix('@').map(printable).unwrap_or_default(),
            estimator: self.headline.word().into(),
            beside_work: false,
            unit: "ns".into(),
            follows_clock: self.follows_clock,
        };
        let (value, cycles) = (self.net_ns.get(self.headline).0, self.cycles);
        Ok(DocumentCost { series, value, low: low.0, high: high.0, cycles, doubts: kinds.join(",") })
    }
}

#[derive(Deserialize)]
struct DoubtPart {
    kind: String,
    #[serde(default)]
    doubt: Option<Box<DoubtPart>>,
}

impl DoubtPart {
    fn kinds(&self) -> String {
        let plain =
            |kind: &str| -> String { kind.chars().filter(|c| c.is_ascii_lowercase() || *c == '_').take(40).collect() };
        let own = plain(&self.kind);
        match &self.doubt {
            // What is inherited twice is inherited.
            Some(doubt) => format!("{own}:{}", plain(doubt.innermost())),
            None => own,
        }
    }

    fn innermost(&self) -> &str {
        self.doubt.as_deref().map_or(&self.kind, DoubtPart::innermost)
    }
}

/// A text that two different documents share by chance once in 2^64 pairs or less.
pub fn digest(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}

/// A digest of what a machine is and how it is set, by which its rows are distinguished.
pub(crate) fn state_of(machine: &Machine) -> String {
    let mut machine = machine.clone();
    // Some kernels report the present clock here.
    machine.cpu.frequency.nominal_mhz = None;
    digest(&serde_json::to_vec(&machine).unwrap_or_default())
}
