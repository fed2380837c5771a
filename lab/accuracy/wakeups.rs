//! Wake-ups beside Debian's cyclictest: the same CPU, clock, class and interval, in turns. Both tell how late a task runs
//! after the moment that its timer was set to.

use std::process::Command;

use analysis::tails::Tail;
use anyhow::{anyhow, ensure};
use operation::Setting;
use record::{Point, Value};

use crate::Extent;
use crate::figures::beside;
use crate::tool;

const PAIRS: u32 = 8;
/// Wake-ups of one turn, and their distance in us.
const WAKEUPS: u64 = 2_000;
const INTERVAL: u64 = 1_000;
/// cyclictest counts up to here one by one, in us.
const COUNTED: &str = "20000";

pub(crate) fn wakeups(extent: &Extent) -> anyhow::Result<()> {
    if Command::new("cyclictest").arg("--help").output().is_err() {
        tool::skip("cyclictest is not installed", "`apt-get install rt-tests` (Debian) installs it");
        return Ok(());
    }
    let pairs = extent.times(PAIRS).max(2);
    let cpu = *system::machine::describe().cpu.usable.last().unwrap_or(&0);
    for class in ["fifo", "other"] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pair in 0..pairs {
            // Who comes first changes, so that neither always finds what the other left behind.
            for turn in 0..2 {
                match (pair + turn) % 2 {
                    0 => ours.push(own(cpu, class)?),
                    _ => theirs.push(cyclictest(cpu, class)?),
                }
            }
        }
        println!("{pairs} pairs of {WAKEUPS} wake-ups, {INTERVAL} us apart, class {class}, CPU {cpu}");
        beside(("howslow", &ours), ("cyclictest", &theirs));
    }
    Ok(())
}

/// How late our sleeper was, in whole us as cyclictest tells it.
fn own(cpu: u32, class: &'static str) -> anyhow::Result<Tail> {
    let work = move || -> anyhow::Result<Tail> {
        operation::pin(cpu).map_err(|failure| anyhow!("cannot run on CPU {cpu}: {failure}"))?;
        let words = [("clock", "monotonic"), ("slack", if class == "fifo" { "1ns" } else { "50us" }), ("class", class)];
        let point =
            words.into_iter().fold(Point::default(), |at, (axis, word)| at.with(axis, Value::Word(word.into())));
        let point = point.with("microseconds", Value::Number(INTERVAL));
        let sleep = catalogue::find("sleep.late").ok_or_else(|| anyhow!("there is no sleep.late"))?;
        let setting = Setting::new(point, std::env::temp_dir(), cpu, None, 1);
        let mut sleeper = sleep.set_up(&setting).map_err(|failure| anyhow!("sleep.late: {failure}"))?;
        let mut tail = Tail::default();
        for _ in 0..WAKEUPS {
            let told = sleeper.run_batch(1).map_err(|failure| anyhow!("sleep.late: {failure}"))?;
            tail.record((told.map_or(0.0, |told| told.elapsed) / 1e3).floor() * 1e3);
        }
        Ok(tail)
    };
    // The class belongs to the thread, and ends with it.
    std::thread::spawn(work).join().map_err(|_| anyhow!("the bench panicked"))?
}

fn cyclictest(cpu: u32, class: &str) -> anyhow::Result<Tail> {
    let mut command = Command::new("cyclictest");
    // Without its tuning of the system, which lasts while it runs and keeps CPUs from idling.
    command.args(["--default-system", "-q", "-m", "-t", "1", "-h", COUNTED]);
    command.args(["-a", &cpu.to_string(), "-i", &INTERVAL.to_string(), "-l", &WAKEUPS.to_string()]);
    command.arg(format!("--policy={class}"));
    if class == "fifo" {
        command.args(["-p", "50"]);
    }
    let output = command.output()?;
    ensure!(output.status.success(), "cyclictest failed: {}", tool::said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    let counted = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (us, count) = line.split_once(char::is_whitespace)?;
        Some((us.parse::<f64>().ok()? * 1e3, count.trim().parse::<u64>().ok()?))
    });
    let tail = Tail::of_buckets(&counted.filter(|(_, count)| *count > 0).collect::<Vec<_>>());
    ensure!(tail.samples() + 100 >= WAKEUPS, "cyclictest told {} wake-ups: {text}", tail.samples());
    Ok(tail)
}
