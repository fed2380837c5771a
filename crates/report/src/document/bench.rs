//! `howslow time --bench OLD NEW --json`: two builds benchmark by benchmark.

use analysis::statistics::Interval;
use serde::Serialize;

use crate::bench::{BenchRow, BenchShown, NullRuns};

/// Two builds, benchmark by benchmark.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchDocument {
    /// What the old and the new build are called.
    pub builds: [String; 2],
    /// The benchmarks.
    pub benchmarks: Vec<ComparedBenchmark>,
    /// The old build beside itself, if that was measured.
    pub null: Option<NullRuns>,
    /// What concerns all benchmarks.
    pub notes: Vec<String>,
}

/// One benchmark of both builds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedBenchmark {
    /// Its name.
    pub name: String,
    /// `faster`, `slower`, `same` or `inconclusive`; null if it could not be compared.
    pub verdict: Option<&'static str>,
    /// Median time of an iteration in ns, of the old and the new build.
    pub times_ns: Option<[f64; 2]>,
    /// How many times as long the new one takes.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval; null if there is no scatter to judge by.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Blocks behind the ratio.
    pub blocks: usize,
    /// Rounds behind the ratio. Each has processes of its own.
    pub rounds: usize,
    /// The share of blocks without a known disturbance.
    pub quiet: f64,
    /// About how many times the time would settle an inconclusive verdict, if any would.
    pub more: Option<f64>,
    /// Allocations per iteration, of the old and the new build, where they are counted.
    pub allocations: [Option<f64>; 2],
    /// Bytes allocated per iteration.
    pub allocated_bytes: [Option<f64>; 2],
    /// Bytes per iteration that are not given back.
    pub kept_bytes: [Option<f64>; 2],
    /// What else is to be known, such as why there is no verdict.
    pub notes: Vec<String>,
}

impl BenchDocument {
    /// The document of what a page shows.
    pub fn of(shown: &BenchShown) -> BenchDocument {
        BenchDocument {
            builds: shown.names.clone(),
            benchmarks: shown.rows.iter().map(compared).collect(),
            null: shown.null,
            notes: shown.notes.clone(),
        }
    }
}

fn compared(row: &BenchRow) -> ComparedBenchmark {
    let end = |end: fn(&Interval) -> f64| row.ratio().map(|ratio| end(&ratio)).filter(|end| end.is_finite());
    let counts = |place: usize| row.allocations.map(|each| each.map(|counts| counts[place]));
    ComparedBenchmark {
        name: row.name.clone(),
        verdict: row.compared.map(|compared| compared.verdict.word()),
        times_ns: row.times,
        ratio: end(|ratio| ratio.value),
        low: end(|ratio| ratio.low),
        high: end(|ratio| ratio.high),
        blocks: row.compared.map_or(0, |compared| compared.blocks),
        rounds: row.rounds,
        quiet: row.quiet,
        more: row.compared.and_then(|compared| compared.more),
        allocations: counts(0),
        allocated_bytes: counts(1),
        kept_bytes: counts(2),
        notes: row.notes.clone(),
    }
}
