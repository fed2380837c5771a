//! Whether the tuner's arithmetic finds the best window of its sweep: on the disk here, and on one that is slow on purpose.

use anyhow::{Context, ensure};
use record::Bytes;
use record::units::{percent, significant};
use serde_json::Value;

use crate::Extent;
use crate::slow_disk::{SlowDisk, filled};
use crate::tool::{Howslow, said, skip};

/// Seconds a sweep may take: a slow disk needs passes of a second each.
const SECONDS: (u32, u32) = (30, 120);
/// The slow disk: 32 MiB and 500 requests a second, like a rented one of the cheapest kind.
const SLOW: (u64, u64) = (32 << 20, 500);

pub(crate) fn prefetch(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    for _ in 0..extent.times(1) {
        let folder = tempfile::tempdir_in("/var/tmp")?;
        let path = folder.path().join("data");
        filled(&path, 256)?;
        let mut command = howslow.command();
        command.args(["file", "tune", "--json", "--budget", &format!("{}s", extent.budget(SECONDS.0).as_secs())]);
        tell("the disk here", command.arg(&path))?;
        drop(folder);
        match SlowDisk::new(160, SLOW.0, SLOW.1) {
            Ok(disk) => {
                let path = disk.mount().join("data");
                filled(&path, 96)?;
                let mut command = disk.slowed(Howslow::program());
                let budget = format!("{}s", extent.budget(SECONDS.1).as_secs());
                command.env("HOWSLOW_DATA", howslow.data()).args(["file", "tune", "--json", "--budget", &budget]);
                tell("a slow disk (loop device, 32 MiB/s and 500 requests/s)", command.arg(&path))?;
            }
            Err(error) => skip("the slow disk", &format!("{error:#}")),
        }
    }
    Ok(())
}

/// Computed points beside the best.
fn tell(disk: &str, command: &mut assert_cmd::Command) -> anyhow::Result<()> {
    let output = command.output().context("howslow does not start")?;
    ensure!(output.status.success(), "howslow failed: {}", said(&output));
    let tuning: Value = serde_json::from_slice(&output.stdout).context("howslow printed no JSON")?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let latency = number(&tuning["latency"]["mean_ns"]) / 1e3;
    let consumption = number(&tuning["inputs"]["consumption"]) / 1e6;
    println!(
        "{disk}: latency {} µs, consumption {} MB/s, {} passes over {} MiB, {} of them not cold",
        significant(latency),
        significant(consumption),
        tuning["passes"],
        significant(number(&tuning["pass_bytes"]) / 1_048_576.0),
        tuning["not_cold"]
    );
    println!("  best of the sweep: {}", window(&tuning["best"]));
    for verdict in tuning["verdicts"].as_array().into_iter().flatten() {
        let beside = &verdict["beside_best"];
        println!(
            "  {}: {}: {} beside the best ({} to {}, {} pairs){}",
            verdict["arithmetic"].as_str().unwrap_or_default(),
            window(&verdict["window"]),
            percent(number(&beside["ratio"]) - 1.0),
            percent(number(&beside["low"]) - 1.0),
            percent(number(&beside["high"]) - 1.0),
            beside["pairs"],
            if verdict["found"] == true { "" } else { ": missed" }
        );
    }
    println!("  recommended: {}", window(&tuning["recommended"]));
    Ok(())
}

fn window(window: &Value) -> String {
    let bytes = |name: &str| Bytes(window[name].as_u64().unwrap_or_default());
    format!("{} at a time, {} ahead", bytes("quantity"), bytes("distance"))
}
