//! What a first look costs its user: time and memory of the headline run, time of `howslow list`.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

use analysis::statistics::{median, sorted};
use anyhow::{Context, ensure};
use record::Bytes;
use rustix::pipe::fcntl_setpipe_size;

use crate::Extent;
use crate::tool::Howslow;

const RUNS: u32 = 5;
const LISTS: u32 = 20;

/// The smallest pipe there is holds less than the headline page.
const SMALLEST_PIPE: usize = 4096;

pub(crate) fn speed(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let times = extent.times(RUNS);
    println!("{times} headline runs, then {LISTS} times `howslow list`; about {} s", times * 15 + 1);
    let mut seconds = Vec::new();
    let mut peaks = Vec::new();
    for _ in 0..times {
        let (took, peak) = headline(howslow)?;
        println!("headline run      {took:6.2} s    peak memory of the parent {:6.1} MiB", mebibytes(peak));
        seconds.push(took);
        peaks.push(mebibytes(peak));
    }
    println!("headline run      {}", summary(&seconds, "s"));
    println!("parent's memory   {}", summary(&peaks, "MiB"));
    let lists = (0..LISTS).map(|_| list(howslow)).collect::<anyhow::Result<Vec<_>>>()?;
    println!("howslow list      {}", summary(&lists, "ms"));
    Ok(())
}

fn summary(values: &[f64], unit: &str) -> String {
    let most = sorted(values.iter().copied()).pop().unwrap_or(f64::NAN);
    format!("median {:.1} {unit}, largest {most:.1} {unit}", median(values.iter().copied()).unwrap_or(f64::NAN))
}

fn mebibytes(bytes: Bytes) -> f64 {
    bytes.0 as f64 / f64::from(1 << 20)
}

/// Seconds that one headline run takes, and the most memory the parent ever held. What wait() tells would not do: it
/// counts the largest of the children too, and they hold what they measure.
fn headline(howslow: &Howslow) -> anyhow::Result<(f64, Bytes)> {
    let start = Instant::now();
    let mut child = Command::new(Howslow::program())
        .env("HOWSLOW_DATA", howslow.data())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("howslow does not start")?;
    let mut page = child.stdout.take().context("a pipe was asked for")?;
    fcntl_setpipe_size(&page, SMALLEST_PIPE)?;
    // The page is the last thing it does. It does not fit into the pipe, so that after its first byte the program waits
    // for us, with all its work behind it.
    let mut first = [0];
    let begun = page.read_exact(&mut first).context("howslow printed no page");
    let peak = fs::read_to_string(format!("/proc/{}/status", child.id()));
    let mut rest = Vec::new();
    page.read_to_end(&mut rest)?;
    let status = child.wait()?;
    let took = start.elapsed().as_secs_f64();
    begun?;
    ensure!(status.success(), "the headline run failed: {status}");
    let peak = peak_of(&peak?).context("its memory could not be read: the page fitted into the pipe")?;
    Ok((took, peak))
}

/// `VmHWM` of a process's status, which ended processes lack.
fn peak_of(status: &str) -> Option<Bytes> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(Bytes(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10))
}

/// Milliseconds that `howslow list` takes.
fn list(howslow: &Howslow) -> anyhow::Result<f64> {
    let start = Instant::now();
    let output = howslow.command().arg("list").output()?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    ensure!(output.status.success() && !output.stdout.is_empty(), "howslow list failed: {}", output.status);
    Ok(took)
}
