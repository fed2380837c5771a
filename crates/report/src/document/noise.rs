//! `howslow noise --json`.

use analysis::noise::{CpuAccount, Source};
use analysis::tails::{Percentile, SHARES};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use record::Machine;

/// How long a spinning task was taken away from each CPU, and by whom.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NoiseDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// True if all CPUs were watched at once; otherwise one after another.
    pub together: bool,
    /// One for each CPU.
    pub cpus: Vec<CpuNoise>,
}

/// What was seen on one CPU.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CpuNoise {
    /// Its number.
    pub cpu: u32,
    /// How long it was watched, in seconds.
    pub watched_s: f64,
    /// The usual step of the loop, in ns.
    pub step_ns: f64,
    /// A gap is a step that is longer than usual by more than this, in ns.
    pub threshold_ns: f64,
    /// The share of time lost in gaps, in windows without tracepoints.
    pub lost: f64,
    /// Gaps a second, in windows without tracepoints.
    pub gaps_per_second: f64,
    /// Percentiles of the lengths of gaps. Without a figure where too few gaps support its interval.
    pub percentiles: Vec<TailFigure>,
    /// Length of gaps in ns, and how many of that length, in windows without tracepoints.
    pub histogram: Vec<(f64, u64)>,
    /// The longest gaps of all windows.
    pub longest: Vec<LongGap>,
    /// `tracepoints` or `counters`.
    pub source: &'static str,
    /// Why there were no tracepoints.
    pub untraced: Option<String>,
    /// By how much tracepoints made gaps longer, in ns.
    pub tracing_adds_ns: Option<f64>,
    /// What time is charged to, the largest share first.
    pub causes: Vec<NoiseCause>,
    /// Gaps that come back with a period, the shortest period first.
    pub periods: Vec<NoisePeriod>,
    /// Interrupts and softirqs a second, by line.
    pub counted: Vec<CountedLine>,
    /// The core's lowest and its median frequency, as parts of its highest.
    pub frequency: Option<(f64, f64)>,
    /// What a gap takes beyond the work of another task, in ns: an interrupt and two switches.
    pub switching_ns: Option<f64>,
    /// The share of time in gaps with an involuntary switch.
    pub switched: f64,
    /// The share of time that the task waited for its CPU, by the scheduler's statistics.
    pub waited: Option<f64>,
    /// The share of time that the hypervisor reports as stolen.
    pub steal: Option<f64>,
    /// Events that the kernel dropped.
    pub lost_events: u64,
    /// Gaps that found no room.
    pub lost_gaps: u64,
}

/// One percentile with its 95 % interval; null where too few values support it.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TailFigure {
    /// From 0 to 1.
    pub share: f64,
    /// In ns.
    pub ns: Option<f64>,
    /// Lower end of the interval.
    pub low_ns: Option<f64>,
    /// Upper end of the interval.
    pub high_ns: Option<f64>,
}

/// One of the longest gaps.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LongGap {
    /// Seconds since the begin.
    pub at_s: f64,
    /// Its length.
    pub ns: f64,
    /// What most of it is charged to.
    pub cause: String,
}

/// What time is charged to.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NoiseCause {
    /// Its name.
    pub name: String,
    /// Its share of the time.
    pub share: f64,
    /// How often a second, if that is known.
    pub per_second: Option<f64>,
    /// What it takes each time, in ns: the median, or what counts say.
    pub each_ns: Option<f64>,
    /// The most in one gap, in ns.
    pub longest_ns: Option<f64>,
}

/// Gaps that come back.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NoisePeriod {
    /// The period.
    pub period_ns: f64,
    /// The median distance of single gaps from it.
    pub jitter_ns: f64,
    /// The median length of its gaps.
    pub length_ns: f64,
    /// If its gaps are turns of other tasks: how long these worked, which is the length less `switching_ns`.
    pub worked_ns: Option<f64>,
    /// One in ten of its gaps is shorter.
    pub p10_ns: f64,
    /// One in ten of its gaps is longer.
    pub p90_ns: f64,
    /// How many gaps it has.
    pub gaps: u64,
    /// How many it would have if none were missing.
    pub slots: u64,
    /// What it is, if that is known.
    pub name: Option<String>,
}

/// Interrupts or softirqs of one line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CountedLine {
    /// The line.
    pub name: String,
    /// How many a second.
    pub per_second: f64,
}

/// The usual percentiles of a tail.
pub(crate) fn figures(percentile: impl Fn(f64) -> Option<Percentile>) -> Vec<TailFigure> {
    let figure = |share| {
        let it = percentile(share);
        TailFigure { share, ns: it.map(|it| it.ns), low_ns: it.map(|it| it.low), high_ns: it.map(|it| it.high) }
    };
    SHARES.into_iter().map(figure).collect()
}

impl<'a> NoiseDocument<'a> {
    /// The document.
    pub fn of(machine: &'a Machine, accounts: &[CpuAccount], together: bool) -> NoiseDocument<'a> {
        NoiseDocument { machine, together, cpus: accounts.iter().map(CpuNoise::from).collect() }
    }
}

impl From<&CpuAccount> for CpuNoise {
    fn from(it: &CpuAccount) -> CpuNoise {
        let (source, untraced) = match &it.source {
            Source::Tracepoints => ("tracepoints", None),
            Source::Counters(why) => ("counters", Some(why.clone())),
        };
        let longest = it.longest.iter().map(|gap| LongGap { at_s: gap.at, ns: gap.length, cause: gap.cause.clone() });
        let causes = it.causes.iter().map(|cause| NoiseCause {
            name: cause.name.clone(),
            share: cause.share,
            per_second: cause.per_second,
            each_ns: cause.each,
            longest_ns: cause.longest,
        });
        let periods = it.repeated.iter().map(|it| NoisePeriod {
            period_ns: it.series.period,
            jitter_ns: it.series.jitter,
            length_ns: it.series.length,
            worked_ns: it.worked,
            p10_ns: it.series.shorter,
            p90_ns: it.series.longer,
            gaps: it.series.members.len() as u64,
            slots: it.series.slots,
            name: it.name.clone(),
        });
        let counted = it.counted.iter();
        CpuNoise {
            cpu: it.cpu,
            watched_s: it.watched,
            step_ns: it.step,
            threshold_ns: it.threshold,
            lost: it.lost,
            gaps_per_second: it.per_second,
            percentiles: figures(|share| it.tail.percentile(share)),
            histogram: it.tail.buckets(),
            longest: longest.collect(),
            source,
            untraced,
            tracing_adds_ns: it.tracing_adds,
            causes: causes.collect(),
            periods: periods.collect(),
            counted: counted.map(|line| CountedLine { name: line.name.clone(), per_second: line.per_second }).collect(),
            frequency: it.clock.map(|clock| (clock.lowest, clock.typical)),
            switching_ns: it.switching,
            switched: it.switched,
            waited: it.waited,
            steal: it.steal,
            lost_events: it.lost_events,
            lost_gaps: it.lost_gaps,
        }
    }
}
