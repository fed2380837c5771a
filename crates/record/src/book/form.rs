//! A book in the form of a run.

use super::figure::{MS, PrintedFigure};
use super::{Book, Entry, Measured, Reference};
use crate::cost::{Cost, Cpu, Figures};
use crate::levels::Ends;
use crate::point::Point;
use crate::run::{CpuQuiet, Noise, Origin, Run, SCHEMA, Settings};
use crate::term::Term;
use crate::units::{Bytes, Nanoseconds};

impl Book {
    /// The book in the form of a run. Each published cost is as printed; its interval is the uncertainty of the printed
    /// digits. The costs of a reference machine have the intervals that they were measured with.
    pub fn run(&self) -> Run {
        if let Some(reference) = &self.reference {
            return run_of(reference, self);
        }
        let cycle_ns = self.ghz().map_or(0.0, |ghz| 1.0 / ghz);
        let clock = self.clock.iter().map(|clock| format!("clock: {}", clock.source));
        let source = format!("{}: {}", self.title, self.source);
        let mut run = Run {
            schema: SCHEMA.into(),
            id: self.name.clone(),
            started: self.measured.clone(),
            finished: self.measured.clone(),
            origin: Origin::Published,
            counted_in: self.counted_in,
            machine: self.machine.clone(),
            settings: Settings { patterns: std::iter::once(source).chain(clock).collect(), ..Settings::default() },
            noise: Noise { cycle_ns, ..Noise::default() },
            costs: self.costs.iter().filter_map(|entry| self.cost(entry)).collect(),
            ..Run::default()
        };
        crate::read::make_printable(&mut run);
        run
    }

    fn cost(&self, entry: &Entry) -> Option<Cost> {
        let ghz = self.ghz();
        let printed = entry.quoted(ghz)?;
        let net = match &entry.difference {
            None => printed,
            Some(difference) => {
                // A difference of two rounded figures is as uncertain as both of them together.
                let reach = |id: &str| self.entry(id)?.quoted(ghz).map(|figure| (figure.high - figure.low) / 2.0);
                let open = reach(&difference.of)? + reach(&difference.less)?;
                PrintedFigure { low: printed.value - open, high: printed.value + open, ..printed }
            }
        };
        let gross = match &entry.difference {
            None => net,
            Some(difference) => self.entry(&difference.of)?.quoted(ghz)?,
        };
        let subtracted = entry.difference.iter().map(|difference| Term {
            times: 1.0,
            operation: difference.less.clone(),
            at: Point::default(),
        });
        let summary = if entry.summary.is_empty() { &entry.name } else { &entry.summary };
        let per = if entry.per.is_empty() { "call" } else { &entry.per };
        Some(Cost {
            summary: entry.source.iter().fold(summary.clone(), |summary, source| format!("{summary} ({source})")),
            group: entry.group.clone(),
            like: entry.like.iter().chain(&entry.analogues).cloned().collect(),
            gross_ns: figures(gross),
            // Time that a publication does not split counts as time in user mode.
            cpu_ns: Cpu { user: Nanoseconds(entry.cpu().unwrap_or(0.0) * MS), system: Nanoseconds(0.0) },
            wait_ns: Nanoseconds(self.recomputed_delta_ms(entry).unwrap_or(0.0) * MS),
            cpu_interval_ns: entry.processor().map(|cpu| Ends { low: cpu.low, high: cpu.high }),
            wait_interval_ns: entry.processor().map(|cpu| waiting(printed, cpu)),
            cycles: ghz.map_or(0.0, |ghz| net.value * ghz),
            bytes: Bytes(entry.bytes),
            terms: subtracted.collect(),
            explained_by: entry.explained_by.clone(),
            ..Cost::given(&entry.operation, entry.at.clone(), per, figures(net))
        })
    }
}

/// The book of a reference machine in the form of a run.
fn run_of(reference: &Reference, book: &Book) -> Run {
    let quiet = reference.undisturbed.map(|quiet| CpuQuiet { cpu: 0, batches: 1, quiet });
    let mut run = Run {
        schema: SCHEMA.into(),
        id: book.name.clone(),
        started: book.measured.clone(),
        finished: book.measured.clone(),
        origin: Origin::Reference,
        howslow: reference.howslow.clone(),
        units: reference.units.clone(),
        machine: book.machine.clone(),
        settings: Settings { patterns: vec![format!("{}: {}", book.title, book.source)], ..Settings::default() },
        noise: Noise {
            cpus: quiet.into_iter().collect(),
            cycle_ns: reference.cycle_ns,
            others: reference.others.unwrap_or(0.0),
            ..Noise::default()
        },
        costs: book.measured_costs.iter().map(Measured::cost).collect(),
        ..Run::default()
    };
    run.apply_units();
    crate::read::make_printable(&mut run);
    run
}

/// The interval of a time minus its processor time. It is as uncertain as the digits of both together.
fn waiting(time: PrintedFigure, cpu: PrintedFigure) -> Ends {
    Ends { low: time.low - cpu.high, high: time.high - cpu.low }
}

fn figures(figure: PrintedFigure) -> Figures {
    Figures::given(figure.value, figure.low, figure.high)
}
