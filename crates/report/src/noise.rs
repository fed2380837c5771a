//! The page of `howslow noise`: for each CPU what is lost, how it spreads, what it is charged to, what comes back.

use analysis::noise::{CpuAccount, NoiseCause, RepeatedSeries};
use analysis::tails::{SHARES, samples_needed};
use record::Nanoseconds;
use record::units::{self, Amount, grouped, percent};

use crate::chart::{Axis, Chart, Series, Unit};
use crate::grid::{Grid, RowKind};
use crate::interval::time;
use crate::text::{Style, times};

/// Causes and lines beyond these are only counted.
const MOST_CAUSES: usize = 14;
const MOST_LINES: usize = 10;
const MOST_PERIODS: usize = 10;

/// Where the causes come from with tracepoints, and without.
const TRACED: &str = "Causes: by the kernel's tracepoints (perf_event_open), which were on in every other window of about 50 ms. \
     Lengths of gaps and the time lost are from the windows between, because tracepoints make gaps longer; causes and the longest gaps \
     with their moments are from all. What no event explains and the hypervisor does not report as stolen is unexplained (hypervisor, \
     SMI).";
const COUNTED: &str = "by the switches of each gap, and by how much time each window of about 50 ms lost and how often each \
     line interrupted in it (/proc/interrupts, /proc/softirqs). Lines that always come together cannot be distinguished.";

/// The page. `together` means that all CPUs were watched at once; `charts` has the width of charts, if they are wanted.
pub fn noise(accounts: &[CpuAccount], together: bool, charts: Option<usize>, style: Style) -> String {
    let order = if together { "all CPUs at once" } else { "one CPU after another, the others left to other programs" };
    let what = format!("A task that only reads the clock, on {order}. A gap is a step that takes longer than usual.");
    let mut text = style.paragraph("", &what) + "\n";
    for account in accounts {
        text += &(of_one(account, style) + "\n");
    }
    if let Some(width) = charts {
        text += &(noise_chart(accounts).text(width) + "\n");
    }
    text + &style.paragraph("", &source(accounts))
}

fn of_one(account: &CpuAccount, style: Style) -> String {
    let head = format!(
        "CPU {}: {} of its time lost in {} gaps a second; the longest took {}",
        account.cpu,
        percent(account.lost),
        amount(account.per_second),
        Nanoseconds(account.tail.longest()),
    );
    let mut text = style.bold(&head) + "\n";
    text += &style.paragraph("  ", &conditions(account));
    text += &lengths(account).render(style);
    text += &causes(account).render(style);
    if !account.repeated.is_empty() {
        text += &periods(&account.repeated).render(style);
    }
    text += &style.paragraph("  longest  ", &longest(account));
    let counted = (!account.counted.is_empty()).then(|| counted(account));
    text + &style.paragraphs("  counted by the kernel, a second  ", counted)
}

fn conditions(account: &CpuAccount) -> String {
    let mut parts = vec![
        format!("watched for {}", Nanoseconds(account.watched * 1e9)),
        format!("a step takes {}", Nanoseconds(account.step)),
        format!("gaps are longer by more than {}", Nanoseconds(account.threshold)),
    ];
    parts.extend(account.clock.map(|clock| {
        let (lowest, typical) = (percent(clock.lowest), percent(clock.typical));
        format!("frequency {typical} of its highest, at least {lowest}")
    }));
    parts.push(format!("switched out {} of the time", percent(account.switched)));
    parts.extend(account.switching.map(|ns| format!("a switch to a task and back takes {}", Nanoseconds(ns))));
    parts.extend(account.waited.map(|waited| format!("waiting for the CPU {}, says the scheduler", percent(waited))));
    parts.extend(account.steal.map(|steal| format!("stolen {}, says the hypervisor", percent(steal))));
    parts.extend(account.tracing_adds.map(|adds| format!("tracepoints add {} to a gap", Nanoseconds(adds))));
    if account.lost_gaps > 0 {
        parts.push(format!("{} gaps found no room; raise --threshold", account.lost_gaps));
    }
    if account.lost_events > 0 {
        parts.push(format!("the kernel dropped {} events", account.lost_events));
    }
    parts.join("; ")
}

/// The lengths of gaps at the usual percentiles.
fn lengths(account: &CpuAccount) -> Grid {
    let mut grid = Grid::new("<>>>>>>", [vec![2], vec![4], vec![5]]);
    let name = |share: &f64| format!("p{}", share * 100.0);
    grid.heading(["  gaps".into()].into_iter().chain(SHARES.iter().map(name)).chain(["longest".into()]));
    let percentiles = SHARES.map(|share| account.tail.percentile(share));
    let figures = percentiles.iter().map(|known| time(known.map(|percentile| percentile.value)));
    let longest = Nanoseconds(account.tail.longest()).to_string();
    grid.row([format!("  {}", times(account.tail.samples()))].into_iter().chain(figures).chain([longest]));
    let intervals = percentiles.iter().zip(SHARES).map(|(known, share)| match known {
        Some(known) => format!("{} - {}", Nanoseconds(known.low), Nanoseconds(known.high)),
        None => format!("takes {}", grouped(samples_needed(share) as f64)),
    });
    grid.add(RowKind::Aside, ["  95 % interval".into()].into_iter().chain(intervals));
    grid
}

fn causes(account: &CpuAccount) -> Grid {
    let mut grid = Grid::new("<>>>>", [vec![2], vec![4]]);
    grid.heading(["  cause", "of the time", "a second", "each", "longest"]);
    for cause in account.causes.iter().take(MOST_CAUSES) {
        let NoiseCause { name, per_second, share, each, longest } = cause;
        let rate = per_second.map_or("-".into(), amount);
        grid.row([format!("  {name}"), percent(*share), rate, time(*each), time(*longest)]);
    }
    let rest = account.causes.iter().skip(MOST_CAUSES);
    let (count, share) = rest.fold((0, 0.0), |sum, cause| (sum.0 + 1, sum.1 + cause.share));
    if count > 0 {
        grid.add(RowKind::Aside, [&format!("  {}", units::counted(count, "other")), &percent(share), "-", "-", "-"]);
    }
    grid
}

fn periods(repeated: &[RepeatedSeries]) -> Grid {
    let mut grid = Grid::new("<>>>>>>", [vec![5], vec![3]]);
    grid.heading(["  comes back every", "gap of", "task's work", "nine in ten below", "there", "off by", "it is"]);
    // Those that take the most time, the shortest period first.
    let weight = |found: &RepeatedSeries| found.series.members.len() as f64 * found.series.length;
    let mut weights: Vec<f64> = repeated.iter().map(weight).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(MOST_PERIODS - 1).copied().unwrap_or(0.0);
    for RepeatedSeries { series, name, worked } in repeated.iter().filter(|found| weight(found) >= least) {
        let there = series.members.len() as f64 / series.slots.max(1) as f64;
        let [period, length, longer, jitter] =
            [series.period, series.length, series.longer, series.jitter].map(|ns| Nanoseconds(ns).to_string());
        let name = name.clone().unwrap_or_else(|| "unknown".into());
        grid.row([format!("  {period}"), length, time(*worked), longer, percent(there.min(1.0)), jitter, name]);
    }
    grid
}

fn longest(account: &CpuAccount) -> String {
    let gaps =
        account.longest.iter().map(|gap| format!("{} at {:.3} s ({})", Nanoseconds(gap.length), gap.at, gap.cause));
    let gaps: Vec<String> = gaps.collect();
    if gaps.is_empty() { "no gap at all".into() } else { gaps.join("; ") }
}

fn counted(account: &CpuAccount) -> String {
    let lines =
        account.counted.iter().take(MOST_LINES).map(|line| format!("{} {}", line.name, amount(line.per_second)));
    let mut lines: Vec<String> = lines.collect();
    if account.counted.len() > MOST_LINES {
        lines.push(units::counted((account.counted.len() - MOST_LINES) as u64, "other"));
    }
    lines.join("; ")
}

fn amount(value: f64) -> String {
    if value < 100.0 { units::significant(value) } else { Amount(value).of("") }
}

fn source(accounts: &[CpuAccount]) -> String {
    let why = |account: &CpuAccount| Some((account.cpu, account.untraced.clone()?));
    let without: Vec<(u32, String)> = accounts.iter().filter_map(why).collect();
    let Some((_, why)) = without.first() else { return (if accounts.is_empty() { "" } else { TRACED }).into() };
    if without.len() == accounts.len() {
        return format!("Causes: {COUNTED} Tracepoints would tell each gap's cause; they were not used: {why}.");
    }
    let cpus: Vec<String> = without.iter().map(|(cpu, _)| cpu.to_string()).collect();
    format!("{TRACED} CPU {} had no tracepoints ({why}); there, causes are {COUNTED}", cpus.join(", "))
}

/// Gaps a second by the least length, a curve for each CPU.
pub fn noise_chart(accounts: &[CpuAccount]) -> Chart {
    let curve = |account: &CpuAccount| {
        let buckets = account.tail.buckets().into_iter().map(|(ns, count)| (ns, count as f64)).collect();
        gaps_at_least(&account.cpu.to_string(), buckets, account.per_second)
    };
    gaps_chart(accounts.iter().map(curve).collect())
}

/// The chart of these curves.
pub(crate) fn gaps_chart(series: Vec<Series>) -> Chart {
    Chart {
        title: "Gaps at least so long".into(),
        x: Axis::log("length", Unit::Nanoseconds),
        y: Axis::log("gaps", Unit::PerSecond),
        series,
    }
}

/// The curve of a CPU, from its gaps by length in ns, in ascending order, and how many there were a second.
pub(crate) fn gaps_at_least(cpu: &str, buckets: Vec<(f64, f64)>, per_second: f64) -> Series {
    let mut left: f64 = buckets.iter().map(|(_, count)| count).sum();
    let per_gap = per_second / left.max(1.0);
    let point = |(ns, count)| {
        let point = (ns, left * per_gap);
        left -= count;
        point
    };
    Series::new(format!("CPU {cpu}"), thinned(buckets.into_iter().map(point).collect()))
}

/// A few points of a curve: the first at or above each step of a tenth, and the last.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let far = kept.last().is_none_or(|last| point.0 >= last.0 * 1.1);
        if far || place + 1 == points.len() {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use analysis::noise::{Gap, Recording, SpinWindow, account};

    use super::*;

    fn recording(untraced: Option<&str>) -> Recording {
        let windows = (0..40).map(|number| f64::from(number) * 5e7).map(|start| SpinWindow {
            start,
            end: start + 4.99e7,
            traced: untraced.is_none() && start > 1e9,
            counts: vec![12],
            counting: 5e7,
            chain: 100.0,
        });
        let gaps = (0..500).map(|tick| f64::from(tick) * 4e6 + 1e5).map(|start| Gap {
            start,
            length: if start == 1e5 { 2e6 } else { 1_500.0 },
            switched: start == 1e5,
        });
        Recording {
            cpu: 1,
            step: 21.0,
            threshold: 100.0,
            windows: windows.collect(),
            gaps: gaps.collect(),
            lines: vec!["interrupt LOC (local timer interrupts)".into()],
            untraced: untraced.map(String::from),
            steal: Some(0.0),
            waited: Some(2e6),
            tick_hz: Some(250),
            ..Recording::default()
        }
    }

    #[test]
    fn the_page_shows_what_is_lost_by_what_and_how_often() {
        let page = noise(&[account(&recording(Some("not as this user")))], false, None, Style::PLAIN);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn cpus_without_tracepoints_among_others_are_named_with_the_reason() {
        let text = source(&[account(&recording(None)), account(&recording(Some("too many open files")))]);
        assert!(
            text.contains("CPU 1 had no tracepoints (too many open files)") && text.contains("perf_event_open"),
            "{text}"
        );
    }

    #[test]
    fn few_gaps_are_a_whole_number() {
        let mut few = recording(Some("no"));
        few.gaps.truncate(55);
        let page = noise(&[account(&few)], false, None, Style::PLAIN);
        assert!(page.contains("\n  55  ") && !page.contains("55.0"), "{page}");
    }

    #[test]
    fn the_chart_counts_gaps_of_at_least_a_length() {
        let chart = noise_chart(&[account(&recording(None))]);
        let points = &chart.series[0].points;
        assert!((points[0].1 / 250.0 - 1.0).abs() < 0.05, "{points:?}");
        assert!(points.last().is_some_and(|last| last.0 > 1.9e6 && last.1 < 2.0), "{points:?}");
    }
}
