//! Whether charged and hidden processor time together are the CPUs' busy time: howslow's account beside the kernel's idle time
//! around a loop of this bench, alternated. The loop works and rests in windows as long as howslow's: what an operation takes
//! depends on the rest before it. What a loop without rests takes is told too.

use std::time::{Duration, Instant};

use analysis::statistics::{median, quantile, sorted};
use anyhow::Context;
use operation::{Loop, Setting, pin};

use crate::Extent;
use crate::tool::{self, Howslow};

const TIMES: u32 = 10;
const BUDGET: u32 = 4;
/// How long the loop of this bench works at a time, and how long it works without rests.
const WINDOW: Duration = Duration::from_millis(6);
const STEADY: Duration = Duration::from_millis(300);
/// Pairs of a window of work and one of rest, and how often they are taken anew in each turn.
const PAIRS: u32 = 8;
const PROCESSES: u32 = 3;
/// What an operation leaves to the kernel is done by then.
const GRACE: Duration = Duration::from_micros(300);

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
    let cpus = system::machine::describe().cpu.usable;
    let everywhere = rustix::thread::sched_getaffinity(None)?;
    for (id, at) in OPERATIONS {
        let axes: Vec<String> = at.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = if axes.is_empty() { id.to_string() } else { format!("{id}@{}", axes.join(",")) };
        if extent.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let mut turns = Vec::new();
        for turn in 0..times {
            let arguments = [&name, "--rounds", "1", "--precision", "100%"];
            let run = howslow.run(&arguments, Some(budget))?;
            let cost = tool::cost(&run, id)?;
            let Some(hidden) = cost.hidden else {
                tool::skip(&name, "its hidden time was not measured");
                break;
            };
            let own = own(id, &cost.at, &cpus, turn as usize);
            // The next run of howslow inherits where this process may run.
            rustix::thread::sched_setaffinity(None, &everywhere)?;
            let (own, steady) = own?;
            turns.push(Turn { charged: hidden.charged_ns.0, hidden: hidden.ns.0, own, steady });
        }
        tell(&name, &turns);
    }
    Ok(())
}

/// What one turn found, in ns per operation.
struct Turn {
    charged: f64,
    hidden: f64,
    own: f64,
    steady: f64,
}

fn tell(name: &str, turns: &[Turn]) {
    let middle = |of: fn(&Turn) -> f64| median(turns.iter().map(of)).unwrap_or(f64::NAN);
    let ratios = sorted(turns.iter().map(|turn| (turn.charged + turn.hidden) / turn.own));
    let quarter = |share: f64| quantile(&ratios, share).unwrap_or(f64::NAN);
    println!(
        "{name:<46} charged {:>9.1}  hidden {:>8.1}  busy {:>9.1} (without rests {:.1})  ratio of medians {:.3}; of turns {:.3} ({:.3} to {:.3}), half of them {:.3} to {:.3}",
        middle(|turn| turn.charged),
        middle(|turn| turn.hidden),
        middle(|turn| turn.own),
        middle(|turn| turn.steady),
        middle(|turn| turn.charged + turn.hidden) / middle(|turn| turn.own),
        quarter(0.5),
        quarter(0.0),
        quarter(1.0),
        quarter(0.25),
        quarter(0.75),
    );
}

/// Busy time of all CPUs per operation, in ns, beyond that of a machine at rest: in windows, and without rests.
fn own(id: &str, point: &record::Point, cpus: &[u32], turn: usize) -> anyhow::Result<(f64, f64)> {
    let (mut windows, mut steady) = (Vec::new(), Vec::new());
    for process in 0..PROCESSES as usize {
        // howslow's rounds take turns on the CPUs too.
        let cpu = cpus[(turn + process) % cpus.len()];
        let other = cpus.iter().copied().find(|other| *other != cpu).context("two CPUs")?;
        pin(cpu).map_err(|failure| anyhow::anyhow!("{failure}"))?;
        let scratch = tempfile::tempdir()?;
        let setting = Setting::new(point.clone(), scratch.path().join("own"), cpu, Some(other), 1);
        let operation = catalogue::find(id).context("an operation")?;
        let mut work = operation.set_up(&setting).map_err(|failure| anyhow::anyhow!("{failure}"))?;
        let mut times = 1;
        while work.timed(times).map_err(|failure| anyhow::anyhow!("{failure}"))? < WINDOW
            && times < work.most_iterations()
        {
            times *= 2;
        }
        for _ in 0..PAIRS {
            windows.push(pair(&mut work, times, Duration::ZERO, cpus)?);
        }
        steady.push(pair(&mut work, times, STEADY, cpus)?);
    }
    let windows = sorted(windows);
    // As howslow does, without the quarter at either end.
    let middle = &windows[windows.len() / 4..windows.len() - windows.len() / 4];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Ok((mean(middle), mean(&steady)))
}

/// Busy time per operation of one window of work of at least this length, less that of one of rest.
fn pair(work: &mut Loop, times: u64, least: Duration, cpus: &[u32]) -> anyhow::Result<f64> {
    let before = Idle::now(cpus)?;
    let (start, mut done) = (Instant::now(), 0);
    while done == 0 || start.elapsed() < least {
        work.perform(times).map_err(|failure| anyhow::anyhow!("{failure}"))?;
        done += times.min(work.most_iterations());
    }
    std::thread::sleep(GRACE);
    let middle = Idle::now(cpus)?;
    std::thread::sleep(start.elapsed());
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
