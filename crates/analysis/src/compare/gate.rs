//! A gate: which costs of a comparison fail it, and which of them have no verdict. Decides nothing about exit statuses.

use std::collections::HashSet;

use record::{Cost, largest_first};
use serde::Serialize;

use super::comparison::{Comparison, ComparisonRow};
use super::verdict::{Against, RatioToBase, Verdict};

/// The verdicts that fail a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FailOn {
    /// Slower than in the base
    Slower,
    /// Slower or faster
    Changed,
}

impl FailOn {
    /// `slower` or `changed`.
    pub fn word(self) -> &'static str {
        match self {
            FailOn::Slower => "slower",
            FailOn::Changed => "changed",
        }
    }

    /// True if a cost of this verdict fails.
    pub fn fails(self, verdict: Verdict) -> bool {
        match self {
            FailOn::Slower => verdict == Verdict::Slower,
            FailOn::Changed => verdict.is_change(),
        }
    }
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// The verdicts.
    pub fail_on: FailOn,
    /// The smallest difference, as a share. A ratio of 1.05 and one of 1 / 1.05 differ by 0.05.
    pub at_least: f64,
}

/// A cost that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'c> {
    pub base: &'c Cost,
    /// The place of the run in which it failed.
    pub run: usize,
    /// Its ratio to the base, and the verdict.
    pub against: &'c Against,
}

/// A cost without a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UnjudgedCost")]
pub struct Unjudged {
    /// Operation and point.
    pub name: String,
    /// The place of the run that lacks it, or in which it has no verdict.
    pub run: usize,
    /// Why.
    pub why: String,
}

/// What a gate found.
#[derive(Clone, Debug)]
pub struct Gated<'c> {
    /// What was asked.
    pub gate: Gate,
    /// The number of verdicts: one for each cost in each run but the base.
    pub judged: usize,
    /// How many of them are inconclusive.
    pub inconclusive: usize,
    /// The costs that failed, the worst first: the slowest, then the fastest.
    pub failed: Vec<Failed<'c>>,
    /// The costs without a verdict. Each must have one, so they make the gate incomplete.
    pub unjudged: Vec<Unjudged>,
    /// How many more costs have no verdict and need none.
    pub left_out: usize,
}

/// Holds a comparison against a gate.
pub fn gate<'c>(comparison: &'c Comparison<'_>, gate: Gate) -> Gated<'c> {
    let mut gated = Gated { gate, judged: 0, inconclusive: 0, failed: Vec::new(), unjudged: Vec::new(), left_out: 0 };
    for row in &comparison.rows {
        for (place, other) in row.others.iter().enumerate() {
            match other {
                None if is_of_another_version(comparison, row.base, place + 1) => {}
                None => gated.unjudged.push(missing(comparison, row.base, place + 1)),
                Some((_, against)) => gated.judge(row, place + 1, against),
            }
        }
    }
    for (place, only) in comparison.only.iter().enumerate() {
        for one in only {
            // A cost that the base lacks is missing there; one of the base alone is missing in every other run.
            let lack = if place == 0 { 1..comparison.runs.len() } else { 0..1 };
            gated.unjudged.extend(lack.map(|run| missing(comparison, one.cost, run)));
        }
    }
    gated.unjudged.extend(comparison.versions.iter().map(|one| Unjudged {
        name: one.base.name(),
        run: one.run,
        why: format!("its work is another: version {} in the base, {} there", one.base.version, one.other.version),
    }));
    // What several runs have and the base lacks is missing there once.
    let mut known = HashSet::new();
    gated.unjudged.retain(|one| known.insert((one.name.clone(), one.run)));
    largest_first(&mut gated.failed, |one| badness(one.against));
    gated
}

impl<'c> Gated<'c> {
    /// True if there are verdicts, and no cost lacks one that must have it.
    pub fn is_complete(&self) -> bool {
        self.judged > 0 && self.unjudged.is_empty()
    }

    /// The same, where no cost must have a verdict: they are only counted.
    #[must_use]
    pub fn any(self) -> Gated<'c> {
        Gated { left_out: self.unjudged.len(), unjudged: Vec::new(), ..self }
    }

    fn judge(&mut self, row: &'c ComparisonRow<'_>, run: usize, against: &'c Against) {
        if let (Verdict::Unknown, RatioToBase::Unknown(why)) = (against.verdict, &against.ratio) {
            self.unjudged.push(Unjudged { name: row.base.name(), run, why: why.clone() });
            return;
        }
        self.judged += 1;
        self.inconclusive += usize::from(!against.verdict.is_change() && against.verdict != Verdict::Same);
        if self.gate.fail_on.fails(against.verdict) && effect(against).abs() > self.gate.at_least.ln_1p() {
            self.failed.push(Failed { base: row.base, run, against });
        }
    }
}

/// The logarithm of a ratio, or of its bound.
fn effect(against: &Against) -> f64 {
    match &against.ratio {
        RatioToBase::Times(ratio) => ratio.value.ln(),
        RatioToBase::AtMost(bound) | RatioToBase::AtLeast(bound) => bound.ln(),
        RatioToBase::Unknown(_) => 0.0,
    }
}

/// The sort key: what became slower is worse than what became faster, and of both the larger change.
fn badness(against: &Against) -> f64 {
    let effect = effect(against);
    if effect > 0.0 { 1.0 + effect } else { -effect / (1.0 - effect) }
}

/// True if the run has the cost, in another version.
fn is_of_another_version(comparison: &Comparison<'_>, base: &Cost, run: usize) -> bool {
    comparison.versions.iter().any(|one| one.run == run && std::ptr::eq(one.base, base))
}

fn missing(comparison: &Comparison<'_>, cost: &Cost, run: usize) -> Unjudged {
    let skips = comparison.skips_of(usize::MAX, &cost.operation, &cost.at);
    let why = skips.iter().find(|(place, _)| *place == run).map(|(_, skip)| format!("skipped there: {}", skip.reason));
    Unjudged { name: cost.name(), run, why: why.unwrap_or_else(|| "the run lacks it".into()) }
}
