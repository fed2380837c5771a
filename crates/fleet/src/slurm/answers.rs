//! Reads what Slurm's commands answer. A line that is not as expected is returned as the error.

use std::collections::{BTreeMap, BTreeSet};

use crate::scheduler::{End, Refusing, Seen, Sight};

/// A node as `sinfo` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeLine {
    name: String,
    state: String,
    partition: String,
    reason: String,
}

/// Reads `%N|%T|%P|%E`. The reason may hold anything, so it is last.
pub(super) fn nodes(text: &str) -> Result<Vec<NodeLine>, String> {
    let line = |line: &str| {
        let mut fields = line.splitn(4, '|').map(|field| record::printable(field.trim()));
        let mut next = || fields.next().ok_or_else(|| line.to_owned());
        Ok(NodeLine { name: next()?, state: next()?, partition: next()?, reason: next()? })
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(line).collect()
}

/// The nodes of the default partition, or with `named` of all that were answered, each once.
pub(super) fn partition_nodes(lines: &[NodeLine], named: bool) -> Vec<String> {
    let mut known = BTreeSet::new();
    let own = lines.iter().filter(|line| named || line.partition.ends_with('*'));
    own.filter(|line| known.insert(&line.name)).map(|line| line.name.clone()).collect()
}

/// The nodes that take no job now, with the reason. The marks behind a state are explained in `man sinfo`: `*` does not
/// answer.
pub(super) fn refusing(lines: &[NodeLine]) -> Refusing {
    const REFUSE: [&str; 8] = ["down", "drained", "draining", "error", "fail", "failing", "inval", "unknown"];
    let mut refusing = BTreeMap::new();
    for line in lines {
        let state = line.state.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let silent = line.state.contains('*');
        if REFUSE.contains(&state) || silent {
            let mut text = format!("Slurm has the node {state}");
            if silent && !line.reason.eq_ignore_ascii_case("not responding") {
                text += ", not responding";
            }
            if !matches!(line.reason.as_str(), "" | "none") {
                text += &format!(": {}", line.reason);
            }
            refusing.insert(line.name.clone(), text);
        }
    }
    refusing
}

/// Reads the id that `sbatch --parsable` prints: `12` or `12;cluster`. Anything else is unknown.
pub(super) fn submitted(text: &str) -> Option<String> {
    let id = text.lines().last()?.split(';').next()?.trim();
    (!id.is_empty() && id.len() < 20 && id.chars().all(|c| c.is_ascii_digit())).then(|| id.into())
}

/// Reads `%i|%T|%M|%j|%r`: the jobs whose names begin with `own`. The user's other jobs may have any name, with line ends in
/// it.
pub(super) fn queue(text: &str, own: &str) -> Result<Vec<(String, Seen)>, String> {
    let line = |line: &str| -> Result<(String, Seen), String> {
        let line = record::printable(line);
        let mut fields = line.splitn(5, '|').map(str::trim);
        let mut next = || fields.next().ok_or_else(|| line.to_owned());
        let (job, state, elapsed, name, reason) = (next()?, next()?, next()?, next()?, next()?);
        Ok((name.into(), Seen { job: job.into(), sight: sight(state, elapsed, reason) }))
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    if let Some(odd) = lines.peek().filter(|first| !first.contains('|')) {
        return Err(record::printable(odd));
    }
    let jobs = lines.filter(|line| line.contains(own)).map(line).collect::<Result<Vec<_>, _>>()?;
    Ok(jobs.into_iter().filter(|(name, _)| name.starts_with(own)).collect())
}

/// A state that is not known is that of a job that has not ended.
fn sight(state: &str, elapsed: &str, reason: &str) -> Sight {
    match state {
        // While its node starts, its time runs already.
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            Sight::Waiting(reason.into())
        }
        "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
            Sight::Running(seconds(elapsed).unwrap_or(0.0))
        }
        other => match end(other) {
            Some(end) => Sight::Ended(end, described(other, reason)),
            None => Sight::Waiting(described(other, reason)),
        },
    }
}

/// What a state of a job that ended means.
fn end(state: &str) -> Option<End> {
    // Accounting adds who cancelled: `CANCELLED by 1000`, and marks what was cut off: `CANCELLED+`.
    let word = state.split([' ', '+']).next().unwrap_or_default();
    Some(match word {
        "COMPLETED" => End::Finished,
        "FAILED" => End::Failed,
        "TIMEOUT" | "DEADLINE" => End::TimedOut,
        "CANCELLED" | "REVOKED" => End::Cancelled,
        "NODE_FAIL" | "BOOT_FAIL" | "LAUNCH_FAILED" | "OUT_OF_MEMORY" | "PREEMPTED" => End::Killed,
        _ => return None,
    })
}

fn described(state: &str, reason: &str) -> String {
    match reason {
        "" | "None" => state.into(),
        reason => format!("{state}, {reason}"),
    }
}

/// `MM:SS`, `HH:MM:SS`, `D-HH:MM:SS` in seconds.
fn seconds(elapsed: &str) -> Option<f64> {
    let (days, clock) = elapsed.split_once('-').unwrap_or(("0", elapsed));
    let parts: Vec<f64> =
        clock.split(':').map(|part| part.parse::<u32>().ok().map(f64::from)).collect::<Option<_>>()?;
    let seconds = parts.iter().fold(0.0, |seconds, part| seconds * 60.0 + part);
    (parts.len() <= 3).then_some(f64::from(days.parse::<u32>().ok()?) * 86_400.0 + seconds)
}

/// Reads `JobIDRaw|State|ExitCode|NodeList` of sacct. Jobs that have not ended are left out.
pub(super) fn accounting(text: &str) -> BTreeMap<String, (End, String)> {
    let line = |line: &str| {
        let mut fields = line.split('|').map(str::trim);
        let (job, state, exit) = (fields.next()?, fields.next()?, fields.next()?);
        let detail = if exit == "0:0" { String::new() } else { format!("exit {exit}") };
        Some((job.to_owned(), (end(state)?, record::printable(&described(state, &detail)))))
    };
    text.lines().filter_map(line).collect()
}

/// Reads `scontrol --oneliner show job`. `None` if the job has not ended, or nothing is known.
pub(super) fn job(text: &str) -> Option<(End, String)> {
    let field = |name: &str| text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let (state, reason, exit) = (field("JobState")?, field("Reason").unwrap_or("None"), field("ExitCode"));
    let exit = exit.filter(|exit| *exit != "0:0").map(|exit| format!(", exit {exit}")).unwrap_or_default();
    Some((end(state)?, record::printable(&format!("{}{exit}", described(state, reason)))))
}

/// Reads what a command of Slurm could have printed, as the answer of each of them. Nothing in it may control a terminal.
#[cfg(feature = "fuzz")]
pub fn fuzz_slurm(text: &str) {
    let mut texts: Vec<String> = refusing(&nodes(text).unwrap_or_default()).into_values().collect();
    let _ = partition_nodes(&nodes(text).unwrap_or_default(), true);
    texts.extend(submitted(text));
    texts.extend(accounting(text).into_values().map(|(_, described)| described));
    texts.extend(job(text).map(|(_, described)| described));
    texts.extend(queue(text, "").unwrap_or_default().into_iter().filter_map(|(_, seen)| match seen.sight {
        Sight::Waiting(reason) | Sight::Ended(_, reason) => Some(reason),
        Sight::Running(seconds) => {
            assert!(seconds.is_finite(), "{seconds}");
            None
        }
    }));
    assert!(!texts.concat().contains(record::steers_terminal), "{texts:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_take_no_job_are_reported_with_their_reason() {
        let text = "n1|idle|all*|none\nn1|idle|big|none\nn2|drained|all*|bad | DIMM\nn3|down*|all*|Not responding\nn4|mixed*|big|none\n";
        let lines = nodes(text).expect("lines");
        assert_eq!(partition_nodes(&lines, false), ["n1", "n2", "n3"]);
        assert_eq!(partition_nodes(&lines, true), ["n1", "n2", "n3", "n4"]);
        let refusing = refusing(&lines);
        assert_eq!(refusing.keys().collect::<Vec<_>>(), ["n2", "n3", "n4"]);
        assert_eq!(refusing["n2"], "Slurm has the node drained: bad | DIMM");
        assert_eq!(refusing["n3"], "Slurm has the node down: Not responding");
        assert_eq!(refusing["n4"], "Slurm has the node mixed, not responding");
        assert_eq!(nodes("what is this?"), Err("what is this?".into()));
    }

    #[test]
    fn jobs_wait_run_and_end() {
        let text = "1|PENDING|0:00|a|ReqNodeNotAvail, UnavailableNodes:n7\n2|RUNNING|1-02:03:04|b|None\n3|NODE_FAIL|0:26|c|NodeDown\n4|COMPLETED|0:03|d|None\n5|CONFIGURING|9:59|e|None\n";
        let sights: Vec<Sight> = queue(text, "").expect("jobs").into_iter().map(|(_, seen)| seen.sight).collect();
        assert_eq!(
            sights,
            [
                Sight::Waiting("ReqNodeNotAvail, UnavailableNodes:n7".into()),
                Sight::Running(93_784.0),
                Sight::Ended(End::Killed, "NODE_FAIL, NodeDown".into()),
                Sight::Ended(End::Finished, "COMPLETED".into()),
                Sight::Waiting("None".into()),
            ]
        );
        for odd in ["slurm_load_jobs error", "1|PENDING|0:00|a"] {
            assert_eq!(queue(odd, ""), Err(odd.into()));
        }
    }

    #[test]
    fn an_odd_job_of_the_same_user_hides_no_other() {
        let text = "1|PENDING|0:00|two\nlines|None\n2|DANCING|0:00|mine.a|None\n3|RUNNING|0:07|his.mine.a|None\n";
        let jobs = queue(text, "mine.").expect("jobs");
        let wanted = Seen { job: "2".into(), sight: Sight::Waiting("DANCING".into()) };
        assert_eq!(jobs, [("mine.a".into(), wanted)]);
        assert_eq!(queue("slurm_load_jobs error", "mine."), Err("slurm_load_jobs error".into()));
    }

    #[test]
    fn a_time_of_any_length_is_read_or_refused() {
        for (elapsed, read) in
            [("0:07", Some(7.0)), ("2-00:00:01", Some(172_801.0)), ("4294967295:00:00", Some(15_461_882_262_000.0))]
        {
            assert_eq!(seconds(elapsed), read, "{elapsed}");
        }
        for odd in ["1:0:0:0", "4294967296:00", "-1:00", "INVALID"] {
            assert_eq!(seconds(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_state_cannot_control_the_terminal() {
        let lines = queue("3|CANCELLED by \u{1b}[2J|0:26|c\u{7}|Node\u{1b}Down", "").expect("a job");
        let described = Sight::Ended(End::Cancelled, "CANCELLED by \u{fffd}[2J, Node\u{fffd}Down".into());
        assert_eq!((lines[0].0.as_str(), &lines[0].1.sight), ("c\u{fffd}", &described));
    }

    #[test]
    fn ids_are_numbers() {
        assert_eq!(submitted("12\n"), Some("12".into()));
        assert_eq!(submitted("warning\n12;east\n"), Some("12".into()));
        for odd in ["", "\n", "ok", "-1", "Submitted batch job 12", "99999999999999999999999"] {
            assert_eq!(submitted(odd), None, "{odd}");
        }
    }

    /// What `sacct` of Slurm 22.05 printed with a database behind it: `true`, `exit 71`, a cancelled job, one that killed itself,
    /// one that waits, one that runs, one whose node was set down, and two of an array.
    const RECORDED: &str = "1|COMPLETED|0:0|node1\n2|FAILED|71:0|node1\n3|CANCELLED by 0|0:0|node2\n4|FAILED|0:9|node2\n\
        5|PENDING|0:0|None assigned\n6|RUNNING|0:0|node2\n7|NODE_FAIL|0:0|node1\n9|FAILED|1:0|node2\n8|FAILED|1:0|node2\n";

    #[test]
    fn rows_of_a_real_accounting_are_read() {
        let known = accounting(RECORDED);
        let described = |job: &str| known.get(job).map(|(end, text)| (*end, text.as_str()));
        assert_eq!(described("1"), Some((End::Finished, "COMPLETED")));
        assert_eq!(described("2"), Some((End::Failed, "FAILED, exit 71:0")));
        assert_eq!(described("3"), Some((End::Cancelled, "CANCELLED by 0")));
        assert_eq!(described("4"), Some((End::Failed, "FAILED, exit 0:9")));
        assert_eq!((described("5"), described("6")), (None, None), "they have not ended");
        assert_eq!(described("7"), Some((End::Killed, "NODE_FAIL")));
        assert_eq!((described("8"), described("9")), (Some((End::Failed, "FAILED, exit 1:0")), described("8")));
        // Without accounting, and without its database, stdout is empty: the complaint is on stderr, with status 1.
        assert!(accounting("").is_empty() && accounting("nonsense\n").is_empty());
    }

    #[test]
    fn ended_jobs_are_explained_by_the_controller() {
        let line =
            "JobId=9 JobName=x JobState=FAILED Reason=NonZeroExitCode Dependency=(null) ExitCode=71:0 NodeList=n3";
        assert_eq!(job(line), Some((End::Failed, "FAILED, NonZeroExitCode, exit 71:0".into())));
        assert_eq!(job("JobId=9 JobState=RUNNING Reason=None ExitCode=0:0"), None);
        assert_eq!(job("slurm_load_jobs error: Invalid job id specified"), None);
    }
}
