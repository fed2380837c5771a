//! Whether `howslow noise` finds what disturbs a CPU on purpose: 10 us every 3 ms, 500 us once a second. A gap also holds
//! the switch to the disturbing task and back; `howslow noise` measures what these take and tells the task's work without them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analysis::noise::{CpuAccount, RepeatedSeries, account};
use analysis::statistics::median;
use anyhow::anyhow;
use instruments::noise::{Options, Tracing, record};

use operation::Scheduling;

use crate::Extent;
use crate::tool;

const TURNS: u32 = 3;
const SECONDS: u32 = 10;
const OFTEN: (Duration, Duration) = (Duration::from_millis(3), Duration::from_micros(10));
const SELDOM: (Duration, Duration) = (Duration::from_secs(1), Duration::from_micros(500));

pub(crate) fn disturbance(extent: &Extent) -> anyhow::Result<()> {
    let (turns, seconds) = (extent.times(TURNS), extent.budget(SECONDS));
    let cpu = *system::machine::describe().cpu.usable.last().unwrap_or(&0);
    println!("{turns} times {:.0} s on CPU {cpu}, with spinning disturbances", seconds.as_secs_f64());
    for _ in 0..turns {
        let Some(both) = disturbed(cpu, seconds, &[OFTEN, SELDOM])? else {
            tool::skip("a real-time class is refused", "run as root, or with ulimit -r 50");
            return Ok(());
        };
        let switching = both.0.switching.unwrap_or(f64::NAN);
        println!("lost {:.1} %; a switch to a task and back takes {:.2} us", both.0.lost * 100.0, switching / 1e3);
        for ((period, asked), length) in [OFTEN, SELDOM].into_iter().zip(&both.1) {
            // As the disturbing task itself saw it: the last look at its clock may come late.
            let length = *length;
            let Some(RepeatedSeries { series, worked, .. }) = nearest(&both.0, period) else {
                let told = |it: &RepeatedSeries| {
                    format!("{:.3} ms of {:.1} us", it.series.period / 1e6, it.series.length / 1e3)
                };
                let found: Vec<String> = both.0.repeated.iter().map(told).collect();
                println!("  {period:?} {asked:?}: not found, but {}", found.join(", "));
                continue;
            };
            let (found, gap, worked) = (series.period, series.length, worked.unwrap_or(f64::NAN));
            let off = |value: f64, wanted: Duration| (value / wanted.as_nanos() as f64 - 1.0) * 100.0;
            println!(
                "  {period:?}: found {:.4} ms ({:+.2} %); {asked:?}, in truth {:.2} us: found {:.2} us ({:+.2} %), as it is {:.2} us",
                found / 1e6,
                off(found, period),
                length.as_nanos() as f64 / 1e3,
                worked / 1e3,
                off(worked, length),
                gap / 1e3,
            );
        }
    }
    Ok(())
}

/// The series that is nearest to a period, within 5 %.
fn nearest(account: &CpuAccount, period: Duration) -> Option<&RepeatedSeries> {
    let off = |it: &RepeatedSeries| (it.series.period / period.as_nanos() as f64 - 1.0).abs();
    let series = account.repeated.iter().filter(|it| off(it) < 0.05);
    series.max_by(|one, other| one.series.length.total_cmp(&other.series.length))
}

/// What is seen on a CPU while these disturb it, and how long each of them really took; `None` where they may not.
fn disturbed(
    cpu: u32,
    time: Duration,
    by: &[(Duration, Duration)],
) -> anyhow::Result<Option<(CpuAccount, Vec<Duration>)>> {
    let end = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = by
        .iter()
        .map(|&(period, length)| {
            let end = Arc::clone(&end);
            std::thread::spawn(move || disturb(cpu, (period, length), &end))
        })
        .collect();
    let recorded = record(&[cpu], &Options { time, tracing: Tracing::Never, ..Options::default() });
    end.store(true, Ordering::Relaxed);
    let mut took = Vec::new();
    for task in tasks {
        took.push(task.join().map_err(|_| anyhow!("the bench panicked"))?);
    }
    let took: Option<Vec<Duration>> = took.into_iter().collect();
    Ok(recorded?.first().map(account).zip(took))
}

/// Disturbs until told to end. The median of what each time took; `None` if it may not.
fn disturb(cpu: u32, (period, length): (Duration, Duration), end: &AtomicBool) -> Option<Duration> {
    let first = Scheduling { policy: libc::SCHED_FIFO as u32, priority: 50, ..Scheduling::default() };
    if operation::pin(cpu).is_err() || first.set().is_err() {
        return None;
    }
    let (mut due, mut took) = (Instant::now(), Vec::new());
    while !end.load(Ordering::Relaxed) {
        due += period;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        let mut now = start.elapsed();
        while now < length {
            now = start.elapsed();
        }
        took.push(now.as_nanos() as f64);
    }
    Some(Duration::from_nanos(median(took)? as u64))
}
