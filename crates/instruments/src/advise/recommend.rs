//! Which way to read one file on its disk: every method is measured on that file, out of memory and in it.

use std::path::Path;
use std::time::Duration;

use analysis::prefetch::{Advice, Candidate, Inputs, MeasuredRates, Recommended, best, simplest_good};
use analysis::statistics::median;
use measure::Progress;
use record::Bytes;
use record::units::{percent, significant};

use crate::advise::candidates;
use crate::advise::error::AdviseError;
use crate::advise::limits::{LONGEST, SMALLEST};
use crate::advise::method::Method;
use crate::advise::passes::Passes;
use crate::advise::stretch::{FileState, Random, Stretch};
use crate::advise::target::MeasuredFile;

/// The fewest and the most repetitions.
const REPETITIONS: (usize, usize) = (3, 15);
/// Bytes of a record in random order if none are named.
const RECORD: u64 = 4 << 10;
/// Methods this close are as good as each other, and the simpler one is recommended.
const MARGIN: f64 = 0.05;
/// The most records that a pass visits in random order.
const VISITS: u64 = 100_000;

#[derive(Clone, Copy, Debug)]
pub struct AdviceRequest<'a> {
    /// The file. It is put out of memory, and not changed.
    pub path: &'a Path,
    /// Bytes the program reads at a time.
    pub record: Option<u64>,
    pub order: ReadOrder,
    /// Bytes a second that the program takes up; `None` for a program that only adds the bytes up.
    pub rate: Option<f64>,
    /// Time it may take.
    pub budget: Duration,
}

/// The order in which a program reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ReadOrder {
    /// From beginning to end
    Sequential,
    /// In random order
    Random,
}

/// Measures the ways to read the file and recommends one. Forks: call it while the process has one thread. Fails for a
/// file that cannot be read.
pub fn advice(requested: &AdviceRequest<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<Advice, AdviseError> {
    let target = MeasuredFile::open(requested.path)?;
    let record = requested.record.unwrap_or(RECORD).min(target.length / 8 * 8);
    let mut passes = Passes::new(&target, requested.rate, requested.budget, progress);
    let measured = match target.never_cold {
        None => Some(passes.inputs(requested.budget / 8)?),
        Some(_) => None,
    };
    let random = requested.order == ReadOrder::Random;
    let methods = match random {
        true => candidates::by_chance(record),
        false => candidates::in_order(
            requested.record,
            &windows(measured.as_ref().map(|(_, inputs)| inputs), requested.rate),
        ),
    };
    let mut trial = Trial { passes, methods, record: random.then_some(record), read: Vec::new() };
    let mut states = Vec::new();
    if target.never_cold.is_none() {
        let share = trial.passes.left().mul_f64(0.75);
        states.push(trial.state(FileState::Cold, share)?);
    }
    let share = trial.passes.left();
    states.push(trial.state(FileState::Warm, share)?);
    let notes = notes(&target, &trial, measured.as_ref().map(|(_, inputs)| inputs));
    let (latency, inputs) = measured.unzip();
    Ok(Advice {
        path: target.shown(),
        file_bytes: target.length,
        pass_bytes: trial.read.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
        order: if random { "random" } else { "sequential" },
        latency,
        inputs,
        states,
        notes,
    })
}

/// What either arithmetic says for a program of this rate.
fn windows(inputs: Option<&Inputs>, rate: Option<f64>) -> Vec<analysis::prefetch::Window> {
    let Some(inputs) = inputs else { return Vec::new() };
    let consumption = rate.map_or(inputs.consumption, |rate| rate.min(inputs.consumption));
    let inputs = Inputs { consumption, ..inputs.clone() };
    let mut windows = vec![inputs.by_saturation(), inputs.by_the_paper()];
    windows.dedup();
    windows
}

fn notes(target: &MeasuredFile, trial: &Trial<'_>, inputs: Option<&Inputs>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = &target.never_cold {
        notes.push(format!("The file cannot be cold, so this is for warm alone: {reason}."));
    } else {
        notes.push(
            "The file was put out of memory for this; its own dirty pages were written, nothing else was changed."
                .into(),
        );
    }
    notes.extend(trial.read.iter().filter_map(|&(state, bytes)| part(state, bytes, target.length, trial.record)));
    if trial.passes.not_cold > 0 {
        let (some, all) = (trial.passes.not_cold, trial.passes.taken);
        notes.push(format!(
            "{some} of {all} passes began with pages of the file in memory, because something maps, locks or reads them: cold figures are too good."
        ));
    }
    if let Some((best, consumption)) = inputs.and_then(|inputs| Some((inputs.best_rate()?, inputs.consumption))) {
        notes.push(format!(
            "Single requests in order reach {} MB/s; the sum over a mapping in memory {} MB/s.",
            significant(best / 1e6),
            significant(consumption / 1e6)
        ));
    }
    notes
}

/// What each pass of a state read of a file of `whole` bytes, in random order where there are records; `None` if that is all of it.
fn part(state: &str, bytes: u64, whole: u64, record: Option<u64>) -> Option<String> {
    let all = record.map_or(whole, |record| whole / record * record);
    let (part, whole) = (Bytes(bytes), Bytes(whole));
    (bytes < all).then(|| match record {
        Some(_) => format!("Each {state} pass read records of {part} in all, by chance all over the file's {whole}."),
        None => format!("Each {state} pass read {part} of the file's {whole}, in another place each repetition."),
    })
}

/// Repetitions of every method.
struct Trial<'a> {
    passes: Passes<'a>,
    methods: Vec<Method>,
    /// Bytes of a record in random order.
    record: Option<u64>,
    /// What a pass reads in each state, in bytes.
    read: Vec<(&'static str, u64)>,
}

#[derive(Default)]
struct Samples {
    rates: Vec<f64>,
    processor: Vec<f64>,
    skipped: Option<String>,
}

impl Trial<'_> {
    fn state(&mut self, state: FileState, share: Duration) -> Result<Recommended, AdviseError> {
        let methods: Vec<Method> =
            self.methods.iter().copied().filter(|method| state == FileState::Cold || !method.is_direct()).collect();
        let passes = (methods.len() * (REPETITIONS.0 + 2)) as u32;
        self.passes.program.limit = (share / passes).max(Duration::from_millis(20)) * 2;
        let bytes = self.length(state, methods[0], share / passes)?;
        let mut measured: Vec<Samples> = methods.iter().map(|_| Samples::default()).collect();
        let mut order: Vec<usize> = (0..methods.len()).collect();
        let end = self.passes.left().saturating_sub(share);
        for repetition in 0..REPETITIONS.1 {
            if repetition >= REPETITIONS.0 && self.passes.left() <= end {
                break;
            }
            let stretch = self.stretch(repetition, bytes);
            fastrand::shuffle(&mut order);
            for &index in &order {
                self.passes.show(word(state));
                let samples = &mut measured[index];
                if samples.skipped.is_none()
                    && let Some(passed) = self.passes.take(stretch, methods[index], state, &mut samples.skipped)?
                {
                    samples.rates.push(passed.rate());
                    samples.processor.push(passed.cpu_ns / passed.elapsed_ns.max(1.0));
                }
            }
        }
        Ok(recommended(state, &methods, measured))
    }

    /// Bytes of a pass, so that one takes about `time`.
    fn length(&mut self, state: FileState, plain: Method, time: Duration) -> Result<u64, AdviseError> {
        let all = self.passes.target.length;
        let first = self.stretch(0, all.min(LONGEST));
        let rate = self.passes.must(first, plain, state)?.rate();
        let bytes = (rate * 0.7 * time.as_secs_f64()) as u64;
        let page = rustix::param::page_size() as u64;
        let least = self.record.map_or(SMALLEST, |record| record * 16);
        let most = all.min(LONGEST);
        let bytes = bytes.next_multiple_of(page).clamp(least.min(most), most);
        self.read.push((word(state), self.record.map_or(bytes, |record| visits(bytes, record) * record)));
        Ok(bytes)
    }

    /// What a repetition reads: places spread evenly over the file, or records all over it.
    fn stretch(&self, repetition: usize, bytes: u64) -> Stretch {
        let all = self.passes.target.length;
        match self.record {
            Some(record) => {
                let visits = visits(bytes, record);
                let seed = repetition as u64 + 1;
                Stretch { start: 0, length: all, random: Some(Random { record, visits, seed }) }
            }
            None => {
                let page = rustix::param::page_size() as u64;
                let place = (all - bytes) as f64 * (repetition % 5) as f64 / 4.0;
                Stretch { start: place as u64 / page * page, length: bytes, random: None }
            }
        }
    }
}

/// How many records a pass visits that has room for these bytes.
fn visits(bytes: u64, record: u64) -> u64 {
    (bytes / record).clamp(1, VISITS)
}

fn word(state: FileState) -> &'static str {
    if state == FileState::Cold { "cold" } else { "warm" }
}

/// The simplest of the fastest, and why.
fn recommended(state: FileState, methods: &[Method], measured: Vec<Samples>) -> Recommended {
    let candidates = methods.iter().zip(measured).map(|(&method, samples)| Candidate {
        method: candidates::name(method),
        processor: median(samples.processor.iter().copied()).unwrap_or(0.0),
        rates: samples.rates,
        skipped: samples.skipped,
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let tried: Vec<MeasuredRates<&Candidate>> = candidates
        .iter()
        .filter(|candidate| !candidate.rates.is_empty())
        .map(|candidate| MeasuredRates { of: candidate, rates: candidate.rates.clone() })
        .collect();
    let chosen = simplest_good(&tried, MARGIN);
    let reason = match (chosen, best(&tried)) {
        (Some(chosen), Some(best)) => reason(state, chosen, best, &tried),
        _ => "No method could be measured.".into(),
    };
    let method = chosen.map(|chosen| chosen.of.method.clone());
    Recommended { state: word(state), method, reason, candidates }
}

fn reason(
    state: FileState,
    chosen: &MeasuredRates<&Candidate>,
    best: &MeasuredRates<&Candidate>,
    tried: &[MeasuredRates<&Candidate>],
) -> String {
    let rate = |tried: &MeasuredRates<&Candidate>| format!("{} MB/s", significant(tried.rate() / 1e6));
    let lead = if chosen.of.method == best.of.method {
        let others = tried.iter().filter(|other| other.of.method != best.of.method);
        let next = others.max_by(|one, other| one.rate().total_cmp(&other.rate()));
        let next = next
            .map(|next| format!(", {} times {} (the next)", significant(best.rate() / next.rate()), next.of.method));
        format!("it is the fastest here at {}{}", rate(best), next.unwrap_or_default())
    } else {
        let lag = percent((1.0 - chosen.rate() / best.rate()).max(0.0));
        format!(
            "at {} it is within {lag} of the fastest ({}, {}) and the simplest of those",
            rate(chosen),
            best.of.method,
            rate(best)
        )
    };
    let processor = chosen.of.processor;
    let limit = match processor {
        _ if state == FileState::Warm => "nothing is waited for but the processor",
        share if share > 0.9 => "the processor is the limit",
        share if share < 0.5 => "it waits for the device most of the time",
        _ => "processor and device share the time",
    };
    format!("{lead}; {limit} (processor busy {}).", percent(processor.min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pass_leaves_out_is_named_for_its_state() {
        let gib = 1 << 30;
        let cold = part("cold", 4 << 20, gib, None).expect("a part");
        assert!(cold.starts_with("Each cold pass read 4 MiB of the file's 1 GiB"), "{cold}");
        let read = visits(256 << 20, 512) * 512;
        let warm = part("warm", read, gib, Some(512)).expect("a part");
        assert!(warm.starts_with("Each warm pass read records of 50000 KiB in all"), "{warm}");
        assert_eq!(part("warm", gib, gib, None), None);
        assert_eq!(part("warm", 3000, 3500, Some(1000)), None, "no more records are whole");
    }
}
