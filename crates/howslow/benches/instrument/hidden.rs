//! Whether charged and hidden processor time together are the CPUs' busy time: howslow's account, which spinners take,
//! beside the kernel's own account of idle time around a loop of this bench, without spinners, alternated.

use std::time::{Duration, Instant};

use analysis::statistics::median;
use anyhow::{Context, ensure};
use operation::{Setting, pin};

use crate::Extent;
use crate::tool::{self, Howslow};

const TIMES: u32 = 4;
const BUDGET: u32 = 3;
/// How long the loop of this bench works, and how long the machine rests after it.
const WINDOW: Duration = Duration::from_secs(1);

const OPERATIONS: [(&str, &[(&str, &str)]); 6] = [
    ("terminal.write", &[("distance", "same"), ("path", "processed"), ("size", "1024")]),
    ("terminal.write", &[("distance", "same"), ("path", "raw"), ("size", "65536")]),
    ("udp.self", &[("size", "512")]),
    ("tcp.self", &[("size", "4096")]),
    ("pipe.roundtrip", &[("distance", "same"), ("size", "512")]),
    ("file.fsync", &[]),
];

pub(crate) fn hidden(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let (times, budget) = (extent.times(TIMES), extent.budget(BUDGET));
    println!(
        "busy ns per operation: charged and hidden by howslow, and elapsed less idle by the kernel, {times} times each"
    );
    // Before anything is pinned: a pinned process may use one CPU.
    let cpus = machine::describe().cpu.usable;
    for (id, at) in OPERATIONS {
        let axes: Vec<String> = at.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = if axes.is_empty() { id.to_string() } else { format!("{id}@{}", axes.join(",")) };
        let (mut ratios, mut parts) = (Vec::new(), Vec::new());
        for _ in 0..times {
            let run = howslow.run(&[&name], Some(budget))?;
            let cost = tool::cost(&run, id)?;
            let Some(hidden) = cost.hidden else {
                tool::skip(&name, "its hidden time was not measured");
                break;
            };
            let everywhere = rustix::thread::sched_getaffinity(None)?;
            let own = busy(id, &cost.at, &cpus);
            // The next run of howslow inherits where this process may run.
            rustix::thread::sched_setaffinity(None, &everywhere)?;
            let own = own?;
            ratios.push((hidden.charged_ns.0 + hidden.ns.0) / own);
            parts.push((hidden.charged_ns.0, hidden.ns.0, own));
        }
        let middle = |of: fn(&(f64, f64, f64)) -> f64| median(parts.iter().map(of)).unwrap_or(f64::NAN);
        println!(
            "{name:<60} charged {:>9.1}  hidden {:>9.1}  busy {:>9.1}  ratio {:.3} ({})",
            middle(|part| part.0),
            middle(|part| part.1),
            middle(|part| part.2),
            median(ratios.iter().copied()).unwrap_or(f64::NAN),
            ratios.iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<_>>().join(" ")
        );
    }
    Ok(())
}

/// Busy time of all CPUs per operation, in ns, beyond that of a machine at rest.
fn busy(id: &str, point: &record::Point, cpus: &[u32]) -> anyhow::Result<f64> {
    let operation = operations::find(id).context("an operation")?;
    let scratch = tempfile::tempdir()?;
    let (first, last) = cpus.first().zip(cpus.last()).context("no CPU")?;
    ensure!(first != last, "two CPUs");
    pin(*last).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let setting = Setting::new(point.clone(), scratch.path().join("own"), *last, Some(*first), 1);
    let mut work = operation.set_up(&setting).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let mut times = 1;
    while work.timed(times).map_err(|failure| anyhow::anyhow!("{failure}"))? < Duration::from_millis(3)
        && times < work.most_iterations()
    {
        times *= 2;
    }
    let before = Idle::now(cpus)?;
    let (start, mut done) = (Instant::now(), 0);
    while start.elapsed() < WINDOW {
        work.perform(times).map_err(|failure| anyhow::anyhow!("{failure}"))?;
        done += times.min(work.most_iterations());
    }
    let middle = Idle::now(cpus)?;
    std::thread::sleep(WINDOW);
    let after = Idle::now(cpus)?;
    let (worked, rested) = (middle.busy_since(&before), after.busy_since(&middle));
    let share = (middle.at - before.at) / (after.at - middle.at);
    Ok((worked - rested * share) / (done * work.operations_per_iteration()) as f64)
}

/// The idle time of all CPUs so far, in ns.
struct Idle {
    at: f64,
    idle: f64,
    cpus: usize,
}

impl Idle {
    /// By the kernel's list of timers, which has nanoseconds and only root may read; else by /proc/stat, in ticks.
    fn now(cpus: &[u32]) -> anyhow::Result<Idle> {
        let home = rustix::thread::sched_getaffinity(None)?;
        // A visit ends the idle time of a CPU, which is counted only then.
        for &cpu in cpus {
            pin(cpu).map_err(|failure| anyhow::anyhow!("{failure}"))?;
        }
        rustix::thread::sched_setaffinity(None, &home)?;
        let text = std::fs::read_to_string("/proc/timer_list").unwrap_or_default();
        let number = |line: &str| line.split_once(':')?.1.split_whitespace().next()?.parse::<f64>().ok();
        let sleep = |line: &&str| line.contains(".idle_sleeptime") || line.contains(".iowait_sleeptime");
        let listed: Vec<f64> = text.lines().filter(sleep).filter_map(number).collect();
        let idle = match listed.is_empty() {
            false => listed.iter().sum(),
            true => ticks().context("/proc/stat")? * 1e9 / rustix::param::clock_ticks_per_second() as f64,
        };
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Ok(Idle { at: now.tv_sec as f64 * 1e9 + now.tv_nsec as f64, idle, cpus: cpus.len() })
    }

    fn busy_since(&self, earlier: &Idle) -> f64 {
        (self.at - earlier.at) * self.cpus as f64 - (self.idle - earlier.idle)
    }
}

/// Idle and waiting ticks of all CPUs.
fn ticks() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<f64> = text.lines().next()?.split_whitespace().skip(1).filter_map(|it| it.parse().ok()).collect();
    Some(fields.get(3)? + fields.get(4)?)
}
