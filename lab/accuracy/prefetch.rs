//! Whether the tuner's arithmetic finds the best window of its sweep: on the disk here, and on one that is slow on purpose.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use record::Bytes;
use record::units::{percent, significant};
use serde_json::Value;

use crate::Extent;
use crate::slow_disk::{SlowDisk, Slowness, filled};
use crate::tool::{Howslow, said, skip};

/// Seconds a sweep may take: a slow disk needs longer passes.
const SECONDS: (u32, u32) = (30, 60);
/// The slow disk, like a rented one of the cheapest kind.
const SLOW: Slowness = Slowness { latency: Duration::from_millis(3), requests: 500, bytes: (32_u32 << 20) as f64 };

pub(crate) fn prefetch(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    for _ in 0..extent.times(1) {
        let folder = tempfile::tempdir_in("/var/tmp")?;
        let path = folder.path().join("data");
        filled(&path, 256)?;
        let mut command = howslow.command();
        command.args(["file", "tune", "--json", "--budget", &format!("{}s", extent.budget(SECONDS.0).as_secs())]);
        tell("the disk here", command.arg(&path))?;
        drop(folder);
        match SlowDisk::new(160, SLOW) {
            Ok(disk) => on_the_slow_disk(howslow, extent, &disk)?,
            Err(error) => skip("the slow disk", &format!("{error:#}")),
        }
    }
    Ok(())
}

/// A program that is faster than the disk, one that is slower (as the paper's was), and advice.
fn on_the_slow_disk(howslow: &Howslow, extent: &Extent, disk: &SlowDisk) -> anyhow::Result<()> {
    let path = disk.mount().join("data");
    filled(&path, 96)?;
    let budget = format!("{}s", extent.budget(SECONDS.1).as_secs());
    let asked = |verb: &str| {
        let mut command = howslow.command();
        command.args(["file", verb, "--json", "--budget", &budget]).arg(&path);
        command
    };
    tell("a slow disk (3 ms of latency, 500 requests and 32 MiB a second, nothing saved up)", &mut asked("tune"))?;
    tell("the slow disk, a program that takes up 8 MB/s", asked("tune").args(["--rate", "8MB"]))?;
    let advice = json(&mut asked("advise"))?;
    for state in advice["states"].as_array().into_iter().flatten() {
        let text = |name: &str| state[name].as_str().unwrap_or("none").to_string();
        println!("  advice on the slow disk, {}: {}: {}", text("state"), text("method"), text("reason"));
    }
    Ok(())
}

/// What a command printed.
fn json(command: &mut assert_cmd::Command) -> anyhow::Result<Value> {
    let output = command.output().context("howslow does not start")?;
    ensure!(output.status.success(), "howslow failed: {}", said(&output));
    serde_json::from_slice(&output.stdout).context("howslow printed no JSON")
}

/// Computed points beside the best.
fn tell(disk: &str, command: &mut assert_cmd::Command) -> anyhow::Result<()> {
    let began = Instant::now();
    let tuning = json(command)?;
    let took = began.elapsed().as_secs_f64();
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let latency = number(&tuning["latency"]["mean_ns"]) / 1e3;
    let consumption = number(&tuning["inputs"]["consumption"]) / 1e6;
    println!(
        "{disk}: latency {} µs, consumption {} MB/s, {} passes over {} MiB, {} of them not cold, {took:.0} s",
        significant(latency),
        significant(consumption),
        tuning["passes"],
        significant(number(&tuning["pass_bytes"]) / 1_048_576.0),
        tuning["not_cold"]
    );
    println!("  best of the sweep: {}", window(&tuning["best"]));
    for verdict in tuning["verdicts"].as_array().into_iter().flatten() {
        let beside = &verdict["relative_to_best"];
        println!(
            "  {}: {}: {} beside the best ({} to {}, {} pairs){}",
            verdict["arithmetic"].as_str().unwrap_or_default(),
            window(&verdict["window"]),
            percent(number(&beside["ratio"]) - 1.0),
            percent(number(&beside["low"]) - 1.0),
            percent(number(&beside["high"]) - 1.0),
            beside["pairs"],
            match verdict["found"].as_bool() {
                Some(true) => "",
                Some(false) => ": missed",
                None => ": undecided",
            }
        );
    }
    println!("  recommended: {}", window(&tuning["recommended"]));
    Ok(())
}

fn window(window: &Value) -> String {
    let bytes = |name: &str| Bytes(window[name].as_u64().unwrap_or_default());
    format!("{} at a time, {} ahead", bytes("quantity"), bytes("distance"))
}
