//! What became of an attempt, by what the scheduler reports and what the node left. Pure.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::gather::Left;
use crate::scheduler::{End, Sight};
use crate::state::Stage;

/// Statuses of `node.sh`.
const NO_FOLDER: i32 = 71;
const HUNG: i32 = 74;
const KILLED: i32 = 137;
const ENDED_BY_SIGNAL: i32 = 143;

/// Reasons of Slurm for which a job waits without end.
const NEVER: [&str; 9] = [
    "AccountNotAllowed", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS",
    "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit", "launch failed requeued held",
];

/// Looks at a job that must agree before it counts as refused or lost.
const LOOKS: u32 = 3;

pub(crate) struct Facts<'a> {
    /// What the scheduler reports; `None` if it does not know the job.
    pub sight: Option<&'a Sight>,
    /// Why the node takes no job now.
    pub refusing: Option<&'a str>,
    /// What the node left.
    pub left: Left,
    /// True if all documents have arrived.
    pub complete: bool,
    /// What is wrong with a document.
    pub damaged: Option<&'a str>,
    /// Seconds that the job may take.
    pub limit_s: f64,
    /// True if the scheduler gave the job an id.
    pub has_job: bool,
    /// The folder that the node writes into.
    pub shared: &'a Path,
    /// How long its files may take to appear.
    pub patience: Duration,
}

/// What earlier looks saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// How many looks in a row have not seen its job, and when the first was.
    unseen: Option<(u32, Instant)>,
    refused: u32,
    ended: Option<Instant>,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Still(Stage, String),
    Over {
        stage: Stage,
        reason: String,
        /// True if its job must be cancelled.
        cancel: bool,
    },
}

fn over(stage: Stage, reason: impl Into<String>) -> Verdict {
    Verdict::Over { stage, reason: reason.into(), cancel: false }
}

/// Decides. `mark` is what this function noted at earlier looks.
pub(crate) fn decide(facts: &Facts, mark: &mut Mark) -> Verdict {
    if facts.complete {
        return over(Stage::Done, "");
    }
    if let Some(damaged) = facts.damaged {
        return Verdict::Over { stage: Stage::Failed, reason: damaged.into(), cancel: true };
    }
    // The script's own word is exact, but for a signal, whose sender the scheduler may know.
    match &facts.left.exit {
        Some((0, _)) => return ended(facts, mark, End::Finished, "the job ended"),
        Some((HUNG, reason)) => return over(Stage::Hung, with_complaint(reason, facts)),
        Some((KILLED, reason)) => return over(Stage::Killed, with_complaint(reason, facts)),
        Some((ENDED_BY_SIGNAL, reason)) => {
            return match facts.sight {
                Some(Sight::Ended(End::Finished | End::Failed, _)) | None => over(Stage::Failed, reason),
                Some(Sight::Ended(end, detail)) => ended(facts, mark, *end, detail),
                // The scheduler may know why once the job is over; its node may never say that it is.
                Some(_) if mark.ended.get_or_insert_with(Instant::now).elapsed() < facts.patience => {
                    Verdict::Still(Stage::Running, String::new())
                }
                Some(_) => over(Stage::Failed, reason),
            };
        }
        Some((_, reason)) => return over(Stage::Failed, with_complaint(reason, facts)),
        None => {}
    }
    match facts.sight {
        None => unseen(facts, mark),
        Some(Sight::Waiting(reason)) => waiting(facts, mark, reason),
        Some(Sight::Running(elapsed)) if *elapsed > facts.limit_s => Verdict::Over {
            stage: Stage::Hung,
            reason: format!(
                "its job has run for {elapsed:.0} s and should have ended after {:.0} s{}; it was cancelled",
                facts.limit_s,
                if facts.left.started { "" } else { ", and has not begun to measure" }
            ),
            cancel: true,
        },
        Some(Sight::Running(_)) => {
            (mark.unseen, mark.refused) = (None, 0);
            Verdict::Still(Stage::Running, String::new())
        }
        Some(Sight::Ended(end, detail)) => ended(facts, mark, *end, detail),
    }
}

fn with_complaint(reason: &str, facts: &Facts) -> String {
    match facts.left.complaint.as_str() {
        "" => reason.into(),
        complaint => format!("{reason}: {complaint}"),
    }
}

fn unseen(facts: &Facts, mark: &mut Mark) -> Verdict {
    let (looks, since) = mark.unseen.get_or_insert_with(|| (0, Instant::now()));
    *looks += 1;
    if *looks < LOOKS || since.elapsed() < facts.patience / 6 {
        return Verdict::Still(if facts.has_job { Stage::Waiting } else { Stage::Submitting }, String::new());
    }
    let began = if facts.left.started { "it began, and left no result" } else { "it left nothing" };
    match facts.has_job {
        true => over(Stage::Lost, format!("the scheduler no longer knows its job; {began}")),
        false => over(Stage::Lost, "its job was never seen: submitting was interrupted, or the scheduler lost it"),
    }
}

fn waiting(facts: &Facts, mark: &mut Mark, reason: &str) -> Verdict {
    mark.unseen = None;
    let why = match facts.refusing {
        Some(refusing) => refusing.to_owned(),
        None if NEVER.iter().any(|never| reason.contains(never)) => format!("its job would wait without end: {reason}"),
        None => {
            mark.refused = 0;
            return Verdict::Still(Stage::Waiting, reason.into());
        }
    };
    mark.refused += 1;
    match mark.refused < LOOKS {
        true => Verdict::Still(Stage::Waiting, reason.into()),
        false => Verdict::Over { stage: Stage::Refused, reason: why, cancel: true },
    }
}

/// The job ended, and a document is missing. Files may appear late.
fn ended(facts: &Facts, mark: &mut Mark, end: End, detail: &str) -> Verdict {
    let since = mark.ended.get_or_insert_with(Instant::now).elapsed();
    // Without an error of its own, the files must come; with one, an exit file may still explain it.
    let patience = if end == End::Finished { facts.patience } else { facts.patience / 6 };
    if since < patience {
        return Verdict::Still(Stage::Running, String::new());
    }
    let shared = facts.shared.display();
    match end {
        End::Finished if facts.left.exit.is_some() => {
            over(Stage::Failed, format!("it ended well, but its documents did not appear in {shared}"))
        }
        End::Failed if detail.contains(&format!("exit {NO_FOLDER}:")) => over(
            Stage::Failed,
            format!("the node cannot write to {shared}; name a folder that all nodes share: --shared DIR"),
        ),
        End::Finished => over(
            Stage::Failed,
            format!("its job ended ({detail}), and nothing appeared in {shared}; is this folder shared with the node?"),
        ),
        End::Failed => over(Stage::Failed, with_complaint(&format!("its job failed ({detail})"), facts)),
        End::TimedOut => over(Stage::Hung, format!("it took longer than it may: {detail}")),
        End::Killed => over(Stage::Killed, facts.refusing.map_or(detail.into(), |node| format!("{detail}; {node}"))),
        End::Cancelled => match facts.refusing.filter(|_| !facts.left.started) {
            Some(node) => over(Stage::Refused, format!("its job did not begin; {node}")),
            None => over(Stage::Cancelled, format!("somebody cancelled its job ({detail})")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_lost_only_after_its_files_have_had_time_to_appear() {
        for (patience, is_lost) in [(Duration::ZERO, true), (Duration::from_secs(86_400), false)] {
            let (left, shared) = (Left::default(), Path::new("/none"));
            let (sight, refusing, damaged, complete, has_job, limit_s) = (None, None, None, false, true, 60.0);
            let facts = Facts { sight, refusing, left, complete, damaged, limit_s, has_job, shared, patience };
            let mut mark = Mark::default();
            let last = (0..20).map(|_| decide(&facts, &mut mark)).last();
            let lost = matches!(last, Some(Verdict::Over { stage: Stage::Lost, .. }));
            assert_eq!(lost, is_lost, "{patience:?}: {last:?}");
        }
    }
}
