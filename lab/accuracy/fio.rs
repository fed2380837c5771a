//! The readers beside fio's: the same file, engine, block size and state, in turns. fio throws away what it reads and
//! ours add it up, so each ratio stands there twice: ours that leaves the bytes alone as well, and ours as it is. (What a
//! mapping brings, fio copies into a buffer of its own: neither leaves it alone.)

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use analysis::statistics::median;
use analysis::tails::median_interval;
use anyhow::{Context, anyhow, ensure};
use catalogue::reading::UserFile;
use catalogue::residence;
use operation::{Loop, Setting};
use record::{Point, Value};

use crate::Extent;
use crate::tool;

const PAIRS: u32 = 15;
const LENGTH: u64 = 256 << 20;
const RECORD: u64 = 128 << 10;
/// Passes of one timing in memory, since fio tells its time in ms.
const PASSES: u64 = 16;
/// Requests under way where an engine has several.
const DEPTH: u64 = 16;
const AIM: f64 = 0.97;

/// A reader of ours and what fio calls the same.
struct Pair {
    operation: &'static str,
    /// The same that leaves the bytes alone, as fio does.
    unused: Option<&'static str>,
    engine: &'static str,
    state: &'static str,
    direct: bool,
    depth: u64,
}

impl Pair {
    const READ: Pair = Pair {
        operation: "read.read",
        unused: Some("read.read.unused"),
        engine: "psync",
        state: "warm",
        direct: false,
        depth: 1,
    };
    const RING: Pair = Pair {
        operation: "read.uring",
        unused: Some("read.uring.unused"),
        engine: "io_uring",
        state: "cold",
        direct: false,
        depth: DEPTH,
    };
}

const CASES: [Pair; 6] = [
    Pair::READ,
    Pair { operation: "read.mmap", unused: None, engine: "mmap", ..Pair::READ },
    Pair { state: "cold", ..Pair::READ },
    Pair::RING,
    Pair { operation: "read.direct", unused: Some("read.direct.unused"), state: "cold", direct: true, ..Pair::READ },
    Pair { operation: "read.uring.direct", unused: Some("read.uring.direct.unused"), direct: true, ..Pair::RING },
];

pub(crate) fn fio(extent: &Extent) -> anyhow::Result<()> {
    if Command::new("fio").arg("--version").output().is_err() {
        tool::skip("fio is not installed", "`apt-get install fio` (Debian) installs it");
        return Ok(());
    }
    let pairs = extent.times(PAIRS).max(5);
    let cpu = *system::machine::describe().cpu.usable.last().unwrap_or(&0);
    println!("{pairs} pairs on CPU {cpu}, {} in records of {}", record::Bytes(LENGTH), record::Bytes(RECORD));
    println!("{:<24} {:<22} {:>12} {:>12}   ours / fio in bandwidth, aimed at {AIM}", "", "", "fio", "howslow");
    let folder = tempfile::tempdir()?;
    let path = made(folder.path())?;
    // fio inherits the CPU; a thread of its own keeps the pinning from what comes after.
    let end = std::thread::scope(|scope| {
        let all = scope.spawn(|| {
            operation::pin(cpu).map_err(|failure| anyhow!("cannot run on CPU {cpu}: {failure}"))?;
            CASES.iter().try_for_each(|case| case.compare(&path, cpu, pairs))
        });
        all.join()
    });
    end.map_err(|_| anyhow!("the bench panicked"))?
}

/// The file that both read.
fn made(folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join("file");
    let mut file = std::fs::File::create(&path)?;
    for piece in 0..LENGTH / RECORD {
        let words = (0..RECORD / 8).map(|word| (piece * RECORD + word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        file.write_all(&words.flat_map(u64::to_ne_bytes).collect::<Vec<u8>>()).context("no room for the file")?;
    }
    file.sync_all()?;
    Ok(path)
}

impl Pair {
    fn compare(&self, path: &Path, cpu: u32, pairs: u32) -> anyhow::Result<()> {
        let title = format!("{} {}", self.operation, self.state);
        let theirs = format!("fio {}{}", self.engine, if self.direct { " direct=1" } else { "" });
        let mut ours = match self.readers(path, cpu) {
            Ok(ours) => ours,
            Err(why) => {
                tool::skip(&format!("{title}: {why}"), "howslow doctor");
                return Ok(());
            }
        };
        let passes = if self.state == "warm" { PASSES } else { 1 };
        let mut seconds = vec![Vec::new(); ours.len() + 1];
        for pair in 0..pairs as usize {
            // Who comes first changes, so that nobody always finds what the same one left behind.
            for turn in 0..seconds.len() {
                let whose = (pair + turn) % seconds.len();
                seconds[whose].push(match ours.get_mut(whose) {
                    Some(reader) => timed(reader, passes)?,
                    None => self.ask_fio(path, passes)?,
                });
            }
        }
        let rate = |seconds: &[f64]| (LENGTH * passes) as f64 / median(seconds.to_vec()).unwrap_or(f64::NAN) / 1e6;
        let Some((fio, ours)) = seconds.split_last() else { return Ok(()) };
        let beside = |ours: &Vec<f64>| {
            let ratios: Vec<f64> = ours.iter().zip(fio).map(|(ours, fio)| fio / ours).collect();
            format!("{:>7.0} MB/s {}", rate(ours), told(&ratios))
        };
        let columns: Vec<String> = ours.iter().map(beside).collect();
        println!("{title:<24} {theirs:<22} {:>7.0} MB/s   {}", rate(fio), columns.join("; with the sum "));
        Ok(())
    }

    /// Our loops: first the one that leaves the bytes alone, where there is one.
    fn readers(&self, path: &Path, cpu: u32) -> anyhow::Result<Vec<Loop>> {
        let readers = self.unused.into_iter().chain([self.operation]);
        readers.map(|id| self.reader(id, path, cpu)).collect()
    }

    /// Our loop over the file.
    fn reader(&self, id: &str, path: &Path, cpu: u32) -> anyhow::Result<Loop> {
        let operation = catalogue::find(id).with_context(|| format!("there is no {id}"))?;
        let words = [("state", self.state), ("order", "sequential")];
        let numbers = [("record", RECORD), ("file", LENGTH), ("depth", self.depth)];
        let words = words.map(|(axis, word)| (axis, Value::Word(word.into())));
        let values = words.into_iter().chain(numbers.map(|(axis, number)| (axis, Value::Number(number))));
        let point = values.fold(Point::default(), |point, (axis, value)| point.with(axis, value));
        // The operation wants it for good, and a bench ends soon.
        let given: &'static UserFile = Box::leak(Box::new(UserFile::read(path)?));
        let setting = Setting::new(point, std::env::temp_dir(), cpu, None, 1).with_argument(Some(given));
        operation.set_up(&setting).map_err(|failure| anyhow!("{id}: {failure}"))
    }

    /// Seconds of fio's passes, the file put into the same state before.
    fn ask_fio(&self, path: &Path, passes: u64) -> anyhow::Result<f64> {
        let file = residence::open(path)?;
        let is_right = match self.state {
            "cold" => residence::evict(&file)?.resident == 0,
            _ => {
                UserFile::read(path)?;
                let cached = residence::resident(&file)?;
                cached.resident == cached.pages
            }
        };
        ensure!(is_right, "the file is not {} in spite of all", self.state);
        // Without times of single requests, which is the least that fio can do; no putting out of memory of its own.
        let output = Command::new("fio")
            .args(["--name=beside", "--rw=read", "--readonly", "--gtod_reduce=1", "--invalidate=0", "--thread"])
            .args(["--output-format=json", "--filename"])
            .arg(path)
            .arg(format!("--ioengine={}", self.engine))
            .arg(format!("--bs={RECORD}"))
            .arg(format!("--iodepth={}", self.depth))
            .arg(format!("--direct={}", u8::from(self.direct)))
            .arg(format!("--loops={passes}"))
            .output()?;
        ensure!(output.status.success(), "fio failed: {}", tool::said(&output));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).context("fio printed no JSON")?;
        let read = &told["jobs"][0]["read"];
        let (bytes, ms) = (read["io_bytes"].as_u64(), read["runtime"].as_f64().filter(|ms| *ms > 0.0));
        ensure!(bytes == Some(LENGTH * passes), "fio read {bytes:?} bytes, not {}", LENGTH * passes);
        Ok(ms.context("fio told no time")? / 1e3)
    }
}

/// Seconds of this many passes.
fn timed(work: &mut Loop, passes: u64) -> anyhow::Result<f64> {
    let took = work.timed(passes).map_err(|failure| anyhow!("{failure}"))?;
    Ok(Duration::as_secs_f64(&took))
}

/// Median of some ratios and its 95 % interval.
fn told(ratios: &[f64]) -> String {
    median_interval(ratios.iter().copied())
        .map_or_else(|| "none".into(), |ratio| format!("{:.3} [{:.3}, {:.3}]", ratio.value, ratio.low, ratio.high))
}
