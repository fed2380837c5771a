//! The cost of a command as the kernel's scheduler reports it, independent of howslow: processor time and page faults of whole runs.
//! It is processor time because the commands wait for nothing, and because it does not include other programs on the machine.

use std::fs::read_to_string;
use std::path::Path;

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::subject::Subject;

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

/// Runs every command this number of times in this folder on each system, which is the words that start a command there. Like
/// howslow's measurement of operations, the runs of one command follow each other, after one run that only loads the caches.
/// Returns the first system's before the second's.
pub(crate) fn spent(
    subjects: &[Subject],
    systems: &[&[&str]],
    folder: &Path,
    times: usize,
) -> anyhow::Result<Vec<Spent>> {
    let all: Vec<_> = systems.iter().flat_map(|system| subjects.iter().map(move |subject| (system, subject))).collect();
    let mut runs = vec![Vec::new(); all.len()];
    for _ in 0..TURNS {
        for ((system, subject), runs) in all.iter().zip(&mut runs) {
            once(subject, system, folder)?;
            for _ in 0..times.div_ceil(TURNS) {
                runs.push(once(subject, system, folder)?);
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
fn once(subject: &Subject, system: &[&str], folder: &Path) -> anyhow::Result<(f64, f64)> {
    let mut child = subject.start(system, folder)?;
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let folder = format!("/proc/{}", child.id());
    let (scheduled, stat) = (read_to_string(format!("{folder}/schedstat")), read_to_string(format!("{folder}/stat")));
    let status = child.wait()?;
    ensure!(subject.may_end(status), "{status}");
    let (scheduled, stat) = (scheduled.context("the kernel tells no processor time (schedstat)")?, stat?);
    let ns: f64 = scheduled.split_whitespace().next().context("an empty schedstat")?.parse()?;
    // After the name, which may contain anything: state, parent, group, session, terminal, its group, flags, minor faults.
    let (_, fields) = stat.rsplit_once(')').context("a stat without a name")?;
    Ok((ns, fields.split_whitespace().nth(7).context("a short stat")?.parse()?))
}
