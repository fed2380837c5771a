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
        let source = format!("{}: {}", self.title, self.source);
        let clock = self.clock.iter().map(|clock| format!("clock: {}", clock.source));
        let both = Run {
            schema: SCHEMA.into(),
            id: self.name.clone(),
            started: self.measured.clone(),
            finished: self.measured.clone(),
            machine: self.machine.clone(),
            ..Run::default()
        };
        let mut run = match &self.reference {
            Some(reference) => Run {
                origin: Origin::Reference,
                howslow: reference.howslow.clone(),
                units: reference.units.clone(),
                settings: Settings { patterns: vec![source], ..Settings::default() },
                noise: noise_of(reference),
                costs: self.measured_costs.iter().map(Measured::cost).collect(),
                ..both
            },
            None => Run {
                origin: Origin::Published,
                counted_in: self.counted_in,
                settings: Settings { patterns: [source].into_iter().chain(clock).collect(), ..Settings::default() },
                noise: Noise { cycle_ns: self.ghz().map_or(0.0, |ghz| 1.0 / ghz), ..Noise::default() },
                costs: self.costs.iter().filter_map(|entry| self.cost(entry)).collect(),
                ..both
            },
        };
        run.apply_units();
        crate::read::make_printable(&mut run);
        run
    }

    fn cost(&self, entry: &Entry) -> Option<Cost> {
        let ghz = self.ghz();
        let printed = entry.quoted(ghz)?;
        let (net, gross) = match &entry.difference {
            None => (printed, printed),
            Some(difference) => {
                // A difference of two rounded figures is as uncertain as both of them together.
                let [gross, less] = [&difference.of, &difference.less].map(|id| self.entry(id)?.quoted(ghz));
                let reach = |figure: PrintedFigure| (figure.high - figure.low) / 2.0;
                let open = reach(gross?) + reach(less?);
                (PrintedFigure { low: printed.value - open, high: printed.value + open, ..printed }, gross?)
            }
        };
        let subtracted = entry.difference.iter().map(|difference| difference.less.clone());
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
            // It is as uncertain as the digits of both together.
            wait_interval_ns: entry
                .processor()
                .map(|cpu| Ends { low: printed.low - cpu.high, high: printed.high - cpu.low }),
            cycles: ghz.map_or(0.0, |ghz| net.value * ghz),
            bytes: Bytes(entry.bytes),
            terms: subtracted.map(|operation| Term { times: 1.0, operation, at: Point::default() }).collect(),
            explained_by: entry.explained_by.clone(),
            ..Cost::given(&entry.operation, entry.at.clone(), per, figures(net))
        })
    }
}

fn noise_of(reference: &Reference) -> Noise {
    let quiet = reference.undisturbed.map(|quiet| CpuQuiet { cpu: 0, batches: 1, quiet });
    let (cpus, others) = (quiet.into_iter().collect(), reference.others.unwrap_or(0.0));
    Noise { cpus, cycle_ns: reference.cycle_ns, others, ..Noise::default() }
}

fn figures(figure: PrintedFigure) -> Figures {
    Figures::given(figure.value, figure.low, figure.high)
}
