//! `howslow file advise --json`, `howslow file tune --json` and `howslow study mpe --prefetch --json`.

use analysis::prefetch::{
    Advice, Candidate, FormulaVerdict, Inputs, MeasuredRates, PageLatency, Recommended, RelativeRate, THERE, Tuning,
    Window, distance,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// Advice on how to read one file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AdviceDocument<'a> {
    /// The file.
    pub path: &'a str,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// The most bytes in a pass.
    pub pass_bytes: u64,
    /// `sequential` or `random`.
    pub order: &'static str,
    /// The times of single reads; null if the file cannot be evicted from memory.
    pub latency: Option<ReadLatency>,
    /// The input of the arithmetic; null under the same condition.
    pub inputs: Option<PrefetchInputs<'a>>,
    /// The recommendations for the file out of memory, if possible, and in memory.
    pub states: Vec<StateAdvice<'a>>,
    /// Further notes for the reader.
    pub notes: &'a [String],
}

/// The recommendation for one state of the file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateAdvice<'a> {
    /// `cold` or `warm`.
    pub state: &'static str,
    /// The methods, the simplest first.
    pub candidates: Vec<MethodFigures<'a>>,
    /// The simplest method within 5 % of the fastest.
    pub method: Option<&'a str>,
    /// The reason, in a sentence.
    pub reason: &'a str,
}

/// The figures of one method.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MethodFigures<'a> {
    /// The method in words.
    pub method: &'a str,
    /// Bytes a second, one for each repetition.
    pub rates: &'a [f64],
    /// The share of the elapsed time during which the processor worked: the median.
    pub processor: f64,
    /// The reason why it was not tried.
    pub skipped: Option<&'a str>,
}

/// A sweep of windows over a file, and its verdict on the arithmetic.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TuningDocument<'a> {
    /// The file.
    pub path: &'a str,
    /// Its size in bytes.
    pub file_bytes: u64,
    /// The bytes of a pass, from the beginning.
    pub pass_bytes: u64,
    /// The times of single reads.
    pub latency: ReadLatency,
    /// The input of the arithmetic.
    pub inputs: PrefetchInputs<'a>,
    /// The distances of the sweep.
    pub distances: &'a [u64],
    /// The quantities of the sweep.
    pub quantities: &'a [u64],
    /// Every window with its rates.
    pub windows: Vec<Rates<'a, PrefetchWindow>>,
    /// Methods without explicit prefetch with their rates.
    pub plain: Vec<Rates<'a, &'a str>>,
    /// The best window of the sweep.
    pub best: PrefetchWindow,
    /// The verdict on each formula.
    pub verdicts: Vec<FormulaResult>,
    /// The window to use.
    pub recommended: PrefetchWindow,
    /// The number of passes, including those that did not begin with the file out of memory.
    pub passes: u64,
    /// Passes that began with pages of the file in memory.
    pub not_cold: u64,
    /// What was left out, and why.
    pub notes: &'a [String],
}

/// The measured rates of one window or method.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Rates<'a, Of> {
    /// The window or method.
    pub of: Of,
    /// Bytes a second, one for each repetition.
    pub rates: &'a [f64],
}

/// Bytes requested beyond the one being read, and bytes per request.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PrefetchWindow {
    /// Bytes ahead.
    pub distance: u64,
    /// Bytes per request.
    pub quantity: u64,
}

/// The times of single reads of a page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReadLatency {
    /// The median, in ns.
    pub median_ns: f64,
    /// Lower and upper quartile, in ns.
    pub quartiles_ns: [f64; 2],
    /// The time of all reads divided by their number, in ns.
    pub mean_ns: f64,
    /// The number of reads.
    pub reads: usize,
    /// True if they bypassed the page cache.
    pub direct: bool,
}

/// Measured values of a device and of the program that reads from it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PrefetchInputs<'a> {
    /// The mean time of one cold read of a page, in ns.
    pub latency_ns: f64,
    /// Bytes a second that the program consumes when it waits for nothing.
    pub consumption: f64,
    /// Sequential reads: bytes of each, and its mean time in ns, in order of size.
    pub in_order: &'a [(u64, f64)],
    /// The most bytes that the kernel reads ahead for one request.
    pub most: u64,
    /// Bytes of a page.
    pub page: u64,
}

/// The window of one formula beside the best of the sweep.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FormulaResult {
    /// `paper` or `saturation`.
    pub arithmetic: &'static str,
    /// Its window.
    pub window: PrefetchWindow,
    /// Its rate relative to that of the best window, measured again in turns.
    pub beside_best: RateRatio,
    /// True if it is within 5 %; null if the interval contains both answers.
    pub found: Option<bool>,
}

/// The ratio of two rates with its 95 % interval.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RateRatio {
    /// The rate divided by the other's.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The number of pairs.
    pub pairs: usize,
}

/// The paper's arithmetic for its machine, and the tuner on this machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PrefetchStudy<'a> {
    /// The paper's short name.
    paper: &'static str,
    /// The paper's arithmetic.
    there: PaperPrefetch,
    /// The sweep on this machine.
    prefetch: TuningDocument<'a>,
}

/// The input and the result of the paper's arithmetic.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct PaperPrefetch {
    /// The time of a read in ns.
    latency_ns: f64,
    /// Bytes a second.
    consumption: f64,
    /// Bytes to request ahead.
    distance: f64,
}

impl<'a> PrefetchStudy<'a> {
    /// The document.
    pub fn of(tuning: &'a Tuning) -> PrefetchStudy<'a> {
        let (latency_ns, consumption) = THERE;
        let distance = distance(latency_ns, consumption);
        PrefetchStudy {
            paper: "mpe",
            there: PaperPrefetch { latency_ns, consumption, distance },
            prefetch: tuning.into(),
        }
    }
}

impl<'a> From<&'a Advice> for AdviceDocument<'a> {
    fn from(it: &'a Advice) -> AdviceDocument<'a> {
        AdviceDocument {
            path: &it.path,
            file_bytes: it.file_bytes,
            pass_bytes: it.pass_bytes,
            order: it.order,
            latency: it.latency.as_ref().map(ReadLatency::from),
            inputs: it.inputs.as_ref().map(PrefetchInputs::from),
            states: it.states.iter().map(StateAdvice::from).collect(),
            notes: &it.notes,
        }
    }
}

impl<'a> From<&'a Recommended> for StateAdvice<'a> {
    fn from(it: &'a Recommended) -> StateAdvice<'a> {
        let candidates = it.candidates.iter().map(MethodFigures::from).collect();
        StateAdvice { state: it.state, candidates, method: it.method.as_deref(), reason: &it.reason }
    }
}

impl<'a> From<&'a Candidate> for MethodFigures<'a> {
    fn from(it: &'a Candidate) -> MethodFigures<'a> {
        let skipped = it.skipped.as_deref();
        MethodFigures { method: &it.method, rates: &it.rates, processor: it.processor, skipped }
    }
}

impl<'a> From<&'a Tuning> for TuningDocument<'a> {
    fn from(it: &'a Tuning) -> TuningDocument<'a> {
        let window = |tried: &'a MeasuredRates<Window>| Rates { of: tried.of.into(), rates: &tried.rates };
        let method = |tried: &'a MeasuredRates<String>| Rates { of: tried.of.as_str(), rates: &tried.rates };
        TuningDocument {
            path: &it.path,
            file_bytes: it.file_bytes,
            pass_bytes: it.pass_bytes,
            latency: (&it.latency).into(),
            inputs: (&it.inputs).into(),
            distances: &it.distances,
            quantities: &it.quantities,
            windows: it.windows.iter().map(window).collect(),
            plain: it.plain.iter().map(method).collect(),
            best: it.best.into(),
            verdicts: it.verdicts.iter().map(FormulaResult::from).collect(),
            recommended: it.recommended.into(),
            passes: it.passes,
            not_cold: it.not_cold,
            notes: &it.notes,
        }
    }
}

impl From<Window> for PrefetchWindow {
    fn from(it: Window) -> PrefetchWindow {
        PrefetchWindow { distance: it.distance, quantity: it.quantity }
    }
}

impl From<&PageLatency> for ReadLatency {
    fn from(it: &PageLatency) -> ReadLatency {
        let quartiles_ns = it.quartiles_ns.into();
        ReadLatency { median_ns: it.median_ns, quartiles_ns, mean_ns: it.mean_ns, reads: it.reads, direct: it.direct }
    }
}

impl<'a> From<&'a Inputs> for PrefetchInputs<'a> {
    fn from(it: &'a Inputs) -> PrefetchInputs<'a> {
        let Inputs { latency_ns, consumption, most, page, .. } = *it;
        PrefetchInputs { latency_ns, consumption, in_order: &it.in_order, most, page }
    }
}

impl From<&FormulaVerdict> for FormulaResult {
    fn from(it: &FormulaVerdict) -> FormulaResult {
        let RelativeRate { ratio, low, high, pairs } = it.beside_best;
        let beside_best = RateRatio { ratio, low, high, pairs };
        FormulaResult { arithmetic: it.arithmetic, window: it.window.into(), beside_best, found: it.found }
    }
}
