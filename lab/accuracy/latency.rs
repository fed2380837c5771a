//! Tails of single direct reads beside fio's: the same file, block size, engine and order, in turns.

use std::path::Path;
use std::process::Command;

use analysis::tails::Tail;
use anyhow::{Context, anyhow, ensure};
use operation::{Clock, Loop, Setting};
use record::{Point, Value};

use crate::Extent;
use crate::figures::beside;
use crate::tool;

const PAIRS: u32 = 8;
const SECONDS: u32 = 2;
const BLOCK: u64 = 4 << 10;
const LENGTH: u64 = 64 << 20;

pub(crate) fn latency(extent: &Extent) -> anyhow::Result<()> {
    if Command::new("fio").arg("--version").output().is_err() {
        tool::skip("fio is not installed", "`apt-get install fio` (Debian) installs it");
        return Ok(());
    }
    let (pairs, seconds) = (extent.times(PAIRS).max(2), extent.budget(SECONDS).as_secs());
    let cpu = *system::machine::describe().cpu.usable.first().unwrap_or(&0);
    // fio inherits the CPU; a thread of its own keeps the pinning from what comes after.
    let all = std::thread::spawn(move || compared(pairs, seconds, cpu));
    all.join().map_err(|_| anyhow!("the bench panicked"))?
}

fn compared(pairs: u32, seconds: u64, cpu: u32) -> anyhow::Result<()> {
    operation::pin(cpu).map_err(|failure| anyhow!("cannot run on CPU {cpu}: {failure}"))?;
    let folder = tempfile::tempdir()?;
    let point = [("size", BLOCK), ("file", LENGTH)].into_iter();
    let point = point.fold(Point::default(), |at, (axis, number)| at.with(axis, Value::Number(number)));
    let read = catalogue::find("file.read.direct").context("there is no file.read.direct")?;
    let setting = Setting::new(point, folder.path().join("scratch"), cpu, None, 1);
    let mut work = match read.set_up(&setting) {
        Ok(work) => work,
        Err(failure) => {
            tool::skip(&format!("file.read.direct: {failure}"), "howslow doctor");
            return Ok(());
        }
    };
    let path = folder.path().join("scratch/file");
    let turns = alternate(&mut work, &path, (pairs, seconds), cpu)?;
    println!("{pairs} pairs of {seconds} s of random O_DIRECT reads of 4 KiB, CPU {cpu}");
    beside(("howslow", &turns.0), ("fio psync clat", &turns.1));
    Ok(())
}

fn alternate(
    work: &mut Loop,
    path: &Path,
    (pairs, seconds): (u32, u64),
    cpu: u32,
) -> anyhow::Result<(Vec<Tail>, Vec<Tail>)> {
    let clock = Clock::calibrate();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        // Who comes first changes, so that neither always finds what the other left behind.
        for turn in 0..2 {
            match (pair + turn) % 2 {
                0 => ours.push(own(work, &clock, seconds as f64 * 1e9)?),
                _ => theirs.push(fio(path, seconds, cpu)?),
            }
        }
    }
    Ok((ours, theirs))
}

fn own(work: &mut Loop, clock: &Clock, time: f64) -> anyhow::Result<Tail> {
    let mut tail = Tail::default();
    let begin = clock.now();
    loop {
        let start = clock.now();
        work.run_batch(1).map_err(|failure| anyhow!("file.read.direct: {failure}"))?;
        let end = clock.now();
        tail.record(end - start - clock.cost);
        if end - begin > time {
            return Ok(tail);
        }
    }
}

fn fio(path: &Path, seconds: u64, cpu: u32) -> anyhow::Result<Tail> {
    let output = Command::new("fio")
        .args(["--name=beside", "--rw=randread", "--readonly", "--direct=1", "--ioengine=psync", "--bs=4k"])
        .args(["--norandommap", "--randrepeat=0", "--time_based", "--invalidate=0", "--thread"])
        .args(["--output-format=json+", "--filename"])
        .arg(path)
        .arg(format!("--runtime={seconds}"))
        .arg(format!("--cpus_allowed={cpu}"))
        .output()?;
    ensure!(output.status.success(), "fio failed: {}", tool::said(&output));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).context("fio printed no JSON")?;
    let bins = told["jobs"][0]["read"]["clat_ns"]["bins"].as_object().context("fio told no times of single reads")?;
    let bins = bins.iter().filter_map(|(ns, count)| Some((ns.parse::<f64>().ok()?, count.as_u64()?)));
    Ok(Tail::of_buckets(&bins.collect::<Vec<_>>()))
}
