//! Two builds beside each other, as pages show them.

use analysis::compare::Verdict;
use analysis::lockstep::Lockstep;
use analysis::statistics::Interval;
use record::Nanoseconds;
use record::units::{counted, grouped, percent};
use serde::Serialize;

/// One benchmark of both builds.
#[derive(Clone, Debug)]
pub struct BenchRow {
    pub name: String,
    /// What an iteration takes in both, in ns.
    pub times: Option<[f64; 2]>,
    /// How many times as long the new one takes.
    pub compared: Option<Lockstep>,
    /// Rounds behind it. Each has processes of its own.
    pub rounds: usize,
    /// The share of blocks without a known disturbance.
    pub quiet: f64,
    /// What an iteration allocates in both: calls, bytes, and bytes that it keeps.
    pub allocations: [Option<[f64; 3]>; 2],
    /// What else is to be known, such as why there is no verdict.
    pub notes: Vec<String>,
}

/// Comparisons of a build with itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NullComparisons")]
pub struct NullRuns {
    /// How many.
    pub count: usize,
    /// How many of them were called changed.
    pub alarms: usize,
}

/// A comparison of two builds.
#[derive(Clone, Debug)]
pub struct BenchShown {
    /// What both are called.
    pub names: [String; 2],
    /// The benchmarks.
    pub rows: Vec<BenchRow>,
    /// The old build beside itself, if that was measured.
    pub null: Option<NullRuns>,
    /// What concerns all of them.
    pub notes: Vec<String>,
}

impl BenchRow {
    /// The verdict on the new build.
    pub fn verdict(&self) -> Verdict {
        self.compared.map_or(Verdict::Unknown, |compared| compared.verdict)
    }

    /// The ratio, new over old, with its interval.
    pub fn ratio(&self) -> Option<Interval> {
        self.compared.map(|compared| compared.ratio)
    }

    /// The verdict in words, with the size of a change.
    pub(crate) fn words(&self) -> String {
        let Some(ratio) = self.ratio() else { return "not compared".into() };
        let by = percent((ratio.value - 1.0).abs());
        match self.verdict() {
            Verdict::Slower => format!("{by} slower"),
            Verdict::Faster => format!("{by} faster"),
            other => other.word().into(),
        }
    }

    pub(crate) fn interval(&self) -> String {
        let Some(ratio) = self.ratio().filter(|ratio| ratio.high.is_finite()) else { return "-".into() };
        let decimals = decimals(ratio.high - ratio.low);
        format!("{:.decimals$} ({:.decimals$} to {:.decimals$})", ratio.value, ratio.low, ratio.high)
    }

    pub(crate) fn times(&self) -> [String; 2] {
        self.times.map_or(["-".into(), "-".into()], |times| times.map(|ns| Nanoseconds(ns).to_string()))
    }

    /// What changed in the allocations, which no noise moves; empty if nothing did, or if they are not counted.
    fn allocations(&self) -> String {
        let [Some(old), Some(new)] = self.allocations else { return String::new() };
        let mut changes = Vec::new();
        for (what, place) in [("allocations", 0), ("B allocated", 1), ("B kept", 2)] {
            if (old[place] - new[place]).abs() > 0.01 {
                changes.push(format!("{} -> {} {what}", grouped(old[place]), grouped(new[place])));
            }
        }
        changes.join(", ")
    }

    pub(crate) fn all_notes(&self) -> Vec<String> {
        let allocations = Some(self.allocations()).filter(|changes| !changes.is_empty());
        let more = self.compared.and_then(|compared| compared.more).map(|times| {
            format!("inconclusive: about {} times the time would settle it (--budget)", grouped(times.ceil()))
        });
        self.notes.iter().cloned().chain(allocations).chain(more).collect()
    }
}

/// Decimals that an interval of this width carries.
fn decimals(width: f64) -> usize {
    (1.0 - width.max(1e-4).log10().floor()).clamp(2.0, 4.0) as usize
}

impl BenchShown {
    /// Benchmarks with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict() == verdict).count()
    }

    /// `1 slower, 2 the same, 1 inconclusive of 4 benchmarks`.
    pub fn summary(&self) -> String {
        let named = [
            (Verdict::Slower, "slower"),
            (Verdict::Faster, "faster"),
            (Verdict::Same, "the same"),
            (Verdict::Inconclusive, "inconclusive"),
            (Verdict::Unknown, "not compared"),
        ];
        let parts = named.map(|(verdict, word)| (self.count(verdict), word));
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{} of {}", parts.join(", "), counted(self.rows.len() as u64, "benchmark"))
    }

    /// What the old build beside itself showed.
    pub(crate) fn null(&self) -> Option<String> {
        self.null.map(|null| {
            format!(
                "False alarms here: the old build beside itself was called changed in {} of {} in this session.",
                null.alarms,
                counted(null.count as u64, "comparison")
            )
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use analysis::lockstep::{Block, compare};

    use super::*;

    pub(crate) fn row(name: &str, ratio: f64, scatter: f64) -> BenchRow {
        let block = |at: u32| {
            let off = scatter * f64::from(at % 5) - 2.0 * scatter;
            Block { base: 100.0, other: 100.0 * ratio * (1.0 + off), quiet: true }
        };
        let compared = compare(&[(0..40).map(block).collect()]);
        BenchRow {
            name: name.into(),
            times: Some([100.0, 100.0 * ratio]),
            compared,
            rounds: 8,
            quiet: 1.0,
            allocations: [None; 2],
            notes: Vec::new(),
        }
    }

    pub(crate) fn example() -> BenchShown {
        let mut grown = row("hash/64", 1.0, 0.001);
        grown.allocations = [Some([1.0, 64.0, 0.0]), Some([2.0, 128.0, 64.0])];
        let mut broken = row("parse", 1.0, 0.0);
        (broken.compared, broken.times) = (None, None);
        broken.notes.push("it panicked: no input".into());
        BenchShown {
            names: ["main".into(), "this build".into()],
            rows: vec![row("sum", 1.05, 0.001), grown, row("read", 1.02, 0.3), broken],
            null: Some(NullRuns { count: 4, alarms: 0 }),
            notes: Vec::new(),
        }
    }
}
