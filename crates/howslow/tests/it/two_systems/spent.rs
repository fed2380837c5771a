//! The cost of a command as the kernel's scheduler reports it, independent of howslow: processor time and page faults of whole runs.
//! It is processor time because the commands wait for nothing, and because it does not include other programs on the machine.

use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The measurements of one command over its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// The tenth percentile of its processor time in ns: like howslow's own figures it should not contain what other programs do to
    /// the caches and the clock.
    pub ns: f64,
    /// The median, whose distance from that shows the uncertainty.
    pub median_ns: f64,
    /// Page faults of the median run.
    pub faults: f64,
}

/// The number of turns that the commands take, so that a busy minute does not hit only one of them.
const TURNS: usize = 4;

/// Runs every command this number of times in this folder. Like howslow's measurement of operations, the runs of one command follow
/// each other, after one run that only loads the caches.
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

/// Processor time in ns and page faults of one run, read after it has ended and before it is reaped.
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
    // After the name, which may contain anything: state, parent, group, session, terminal, its group, flags, minor faults.
    let (_, fields) = stat.rsplit_once(')').context("a stat without a name")?;
    Ok((ns, fields.split_whitespace().nth(7).context("a short stat")?.parse()?))
}
