//! How far howslow and `perf bench` scatter when they measure the same in turns, in one window of time.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::Extent;
use crate::figures::{share, variation};
use crate::tool::{self, Howslow};

const ROUNDS: u32 = 20;
const BUDGET: u32 = 1;

/// One of perf's benches, and what howslow calls the same.
struct Contest {
    title: &'static str,
    /// Words before `perf`.
    under: Vec<String>,
    bench: [&'static str; 2],
    pattern: &'static str,
    operation: &'static str,
    /// What perf is told to repeat, so that it takes as long as howslow may.
    loops: u64,
    perf: Vec<f64>,
    howslow: Vec<f64>,
}

pub(crate) fn perf(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let Some(program) = find() else {
        tool::skip("no perf that runs on this kernel", "`apt-get install linux-perf` (Debian) installs one");
        return Ok(());
    };
    let (times, budget) = (extent.times(ROUNDS).max(2), extent.budget(BUDGET));
    let mut contests = contests()?;
    let bound = contests.len() as f32 * 2.0 * times as f32 * budget.as_secs_f32();
    println!("{times} rounds of {} pairs, {program} and howslow in turns; about {bound:.0} s", contests.len());
    for contest in &mut contests {
        contest.calibrate(&program, budget)?;
    }
    for round in 0..times {
        for contest in &mut contests {
            // Who comes first changes, so that neither always finds what the other left behind.
            if round % 2 == 0 {
                contest.ask_perf(&program)?;
                contest.ask_howslow(howslow, budget)?;
            } else {
                contest.ask_howslow(howslow, budget)?;
                contest.ask_perf(&program)?;
            }
        }
    }
    println!("{:<52} {:>24} {:>24}", "", "perf bench", "howslow");
    contests.iter().for_each(Contest::conclude);
    Ok(())
}

/// A perf that works: Debian names it after the kernel it was built with, Ubuntu's is a script that looks for another.
fn find() -> Option<String> {
    let versions =
        ["/usr/bin", "/usr/lib/linux-tools"].into_iter().filter_map(|folder| Path::new(folder).read_dir().ok());
    let files = versions.flatten().filter_map(Result::ok).map(|entry| entry.path());
    let inside = files.filter_map(|path| match path.file_name()?.to_str()? {
        name if name.starts_with("perf_") => Some(path),
        _ => Some(path.join("perf")).filter(|program| program.is_file()),
    });
    let names = std::iter::once("perf".to_string()).chain(inside.map(|path| path.display().to_string()));
    names.into_iter().find(|name| microseconds(name, &[], ["syscall", "basic"], 1000).is_ok())
}

fn contests() -> anyhow::Result<Vec<Contest>> {
    let cpu = *system::machine::describe().cpu.usable.first().context("no CPU")?;
    let pinned = ["taskset", "-c", &cpu.to_string()].map(String::from).to_vec();
    let pipe = |title, under: &[String], pattern| Contest {
        title,
        under: under.to_vec(),
        bench: ["sched", "pipe"],
        pattern,
        operation: "pipe.roundtrip",
        ..Contest::SYSCALL
    };
    let mut contests = vec![
        Contest::SYSCALL,
        pipe("sched pipe, unpinned; round trip to another CPU", &[], "pipe.roundtrip@distance=other"),
        pipe("sched pipe, unpinned; round trip on one CPU", &[], "pipe.roundtrip@distance=same"),
    ];
    if Command::new("taskset").arg("--version").output().is_ok() {
        let title = "sched pipe, both on one CPU; round trip on one CPU";
        contests.push(pipe(title, &pinned, "pipe.roundtrip@distance=same"));
    } else {
        tool::skip("perf bench sched pipe on one CPU", "`apt-get install util-linux` installs taskset");
    }
    Ok(contests)
}

/// What perf says one operation takes, in µs.
fn microseconds(program: &str, under: &[String], bench: [&str; 2], loops: u64) -> anyhow::Result<f64> {
    let mut words = under.iter().map(String::as_str).chain([program]);
    let output = Command::new(words.next().unwrap_or(program))
        .args(words)
        .arg("bench")
        .args(bench)
        .args(["--loop", &loops.to_string()])
        .output()?;
    let text = tool::said(&output);
    ensure!(output.status.success(), "{program} failed: {text}");
    let figure = text.lines().find_map(|line| line.trim().strip_suffix("usecs/op"));
    figure.and_then(|figure| figure.trim().parse().ok()).with_context(|| format!("no usecs/op in: {text}"))
}

impl Contest {
    const SYSCALL: Contest = Contest {
        title: "syscall basic; syscall.getppid",
        under: Vec::new(),
        bench: ["syscall", "basic"],
        pattern: "syscall.getppid",
        operation: "syscall.getppid",
        loops: 0,
        perf: Vec::new(),
        howslow: Vec::new(),
    };

    fn calibrate(&mut self, program: &str, budget: Duration) -> anyhow::Result<()> {
        const FIRST: u64 = 10_000;
        let each = microseconds(program, &self.under, self.bench, FIRST)?;
        self.loops = ((budget.as_micros() as f64 / each.max(0.001)) as u64).max(FIRST);
        Ok(())
    }

    fn ask_perf(&mut self, program: &str) -> anyhow::Result<()> {
        self.perf.push(microseconds(program, &self.under, self.bench, self.loops)? * 1e3);
        Ok(())
    }

    fn ask_howslow(&mut self, howslow: &Howslow, budget: Duration) -> anyhow::Result<()> {
        let run = howslow.run(&[self.pattern], Some(budget))?;
        self.howslow.push(tool::cost(&run, self.operation)?.quoted().0);
        Ok(())
    }

    fn conclude(&self) {
        let column = |values: &[f64]| {
            let mean = record::Nanoseconds(values.iter().sum::<f64>() / values.len() as f64);
            format!("{mean}, CV {}", share(variation(values)))
        };
        let ratio = variation(&self.perf).zip(variation(&self.howslow)).map_or(f64::NAN, |(perf, ours)| perf / ours);
        let (perf, ours) = (column(&self.perf), column(&self.howslow));
        println!("{:<52} {perf:>24} {ours:>24}   {ratio:.1} times steadier", self.title);
    }
}
