//! What a command takes, told by the kernel's scheduler and not by howslow: processor time and page faults of whole runs.
//! Processor time, because the commands wait for nothing, and whoever else keeps the machine busy is not in it.

use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// One command over its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// The lowest tenth of its processor time in ns ends here: as howslow's own figures it is to be free of what other programs on the
    /// machine do to the caches and the clock.
    pub ns: f64,
    /// The median, which tells how far that is from certain.
    pub median_ns: f64,
    /// Page faults the kernel served, of the median run.
    pub faults: f64,
}

/// Turns that the commands take, so that none of them alone meets a busy minute.
const TURNS: usize = 4;

/// Runs every command so many times in this folder. As howslow measures operations, one after another of the same, after one that only
/// brings what it needs into the caches.
pub(crate) fn spent(commands: &[Vec<String>], folder: &Path, times: usize) -> anyhow::Result<Vec<Spent>> {
    let mut runs = vec![Vec::new(); commands.len()];
    for _ in 0..TURNS {
        for (words, runs) in commands.iter().zip(&mut runs) {
            once(words, folder).with_context(|| words.join(" "))?;
            for _ in 0..times.div_ceil(TURNS) {
                runs.push(once(words, folder)?);
            }
        }
    }
    Ok(runs.into_iter().map(told).collect())
}

fn told(mut runs: Vec<(f64, f64)>) -> Spent {
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut faults: Vec<f64> = runs.iter().map(|run| run.1).collect();
    faults.sort_by(f64::total_cmp);
    Spent { ns: runs[runs.len() / 10].0, median_ns: runs[runs.len() / 2].0, faults: faults[faults.len() / 2] }
}

/// Processor time in ns and page faults of one run: read when it has ended and before it is buried.
fn once(words: &[String], folder: &Path) -> anyhow::Result<(f64, f64)> {
    let (program, arguments) = words.split_first().context("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let folder = format!("/proc/{}", child.id());
    let (scheduled, stat) = (read_to_string(format!("{folder}/schedstat")), read_to_string(format!("{folder}/stat")));
    let status = child.wait()?;
    ensure!(status.success(), "{status}");
    let (scheduled, stat) = (scheduled.context("the kernel tells no processor time (schedstat)")?, stat?);
    let ns: f64 = scheduled.split_whitespace().next().context("an empty schedstat")?.parse()?;
    // Behind the name, which may hold anything: state, parent, group, session, terminal, its group, flags, minor faults.
    let (_, fields) = stat.rsplit_once(')').context("a stat without a name")?;
    Ok((ns, fields.split_whitespace().nth(7).context("a short stat")?.parse()?))
}
