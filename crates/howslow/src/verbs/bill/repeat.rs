//! `--repeat` and `--against`: a command that is watched several times, alternately with another one if one is named.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use anyhow::bail;
use observe::Target;
use record::{Observation, Repetition, printable};

use super::args::BillArgs;
use crate::output::{Misuse, Outcome, print_note};

/// How the watching ended.
pub(super) struct Watched {
    pub seen: Observation,
    pub status: Option<ExitStatus>,
    pub signal: Option<i32>,
}

impl Watched {
    pub(super) fn outcome(&self) -> Outcome {
        match (self.status, self.signal) {
            (Some(status), _) => Outcome::Passed(passed(status)),
            (None, Some(signal)) => Outcome::Interrupted(signal),
            (None, None) => Outcome::Done,
        }
    }
}

/// The status of a command as shells pass it on: 128 and the signal that ended it.
fn passed(status: ExitStatus) -> u8 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1) as u8
}

/// Checks what clap does not.
pub(super) fn check(args: &BillArgs) -> Result<(), Misuse> {
    let of_two = [("--fail-on", !args.fail_on.is_empty()), ("--markdown", args.markdown)];
    match of_two.iter().find(|(_, given)| *given) {
        Some((option, _)) if args.against.is_none() => {
            Err(Misuse(format!("{option} compares two bills: give two files, or --repeat 9 --against 'COMMAND LINE'")))
        }
        _ => Ok(()),
    }
}

/// Refuses more units of work than there are sides.
pub(super) fn check_units(args: &BillArgs) -> Result<(), Misuse> {
    match args.units.len() {
        0..=2 => Ok(()),
        _ => Err(Misuse("--units: one number, or two: before,after".into())),
    }
}

/// The command line of `--against`.
pub(super) fn against(args: &BillArgs) -> Result<Option<Target>, Misuse> {
    let Some(line) = &args.against else { return Ok(None) };
    match shell_words::split(line) {
        Ok(words) if !words.is_empty() => Ok(Some(Target::Command(words.into_iter().map(Into::into).collect()))),
        Ok(_) => Err(Misuse("--against: name a command".into())),
        Err(error) => Err(Misuse(format!("--against {}: {error}", printable(line)))),
    }
}

/// Watches the command so often, in turn with `against`. Returns the last watching of each, which holds all repetitions. Every
/// other pair begins with the other command, so that what drifts slows both. A run that failed is none of several, but its end is the end.
/// Fails if a command cannot be watched, or if one of an alternated pair fails.
pub(super) fn repeated(
    target: &Target,
    against: Option<&Target>,
    times: u32,
    mut watch: impl FnMut(&Target) -> anyhow::Result<Watched>,
) -> anyhow::Result<(Watched, Option<Observation>)> {
    let (mut own, mut other): (Vec<Watched>, Vec<Watched>) = (Vec::new(), Vec::new());
    'all: for round in 0..times {
        for is_own in [round % 2 == 1, round % 2 == 0] {
            let (place, target) = match (is_own, against) {
                (true, _) => (&mut own, target),
                (false, Some(against)) => (&mut other, against),
                (false, None) => continue,
            };
            let watched = watch(target)?;
            let failed = watched.signal.is_some() || watched.status.is_some_and(|status| !status.success());
            if !failed || times == 1 && against.is_none() {
                place.push(watched);
                continue;
            }
            let how = watched.status.map_or_else(|| "was interrupted".into(), |status| format!("ended with {status}"));
            if against.is_some() {
                bail!(
                    "run {} of {} {how}, so nothing is compared",
                    round + 1,
                    if is_own { "COMMAND" } else { "--against" }
                );
            }
            let billed = if place.is_empty() { "this run" } else { "the runs before it" };
            print_note(&format!("run {} of {times} {how}; the bill is of {billed}", round + 1));
            match place.last_mut() {
                Some(last) => (last.status, last.signal) = (watched.status, watched.signal),
                None => place.push(watched),
            }
            break 'all;
        }
    }
    let last = gathered(own, times > 1);
    let other = gathered(other, true).map(|watched| watched.seen);
    last.map(|last| (last, other)).ok_or_else(|| anyhow::anyhow!("nothing was run"))
}

/// The last one, with all as its repetitions.
fn gathered(mut all: Vec<Watched>, several: bool) -> Option<Watched> {
    let repetitions: Vec<Repetition> = all.iter().map(|watched| watched.seen.repetition()).collect();
    let mut last = all.pop()?;
    if several {
        last.seen.repetitions = repetitions;
    }
    Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_failed_is_no_repetition_and_its_status_is_passed_on() {
        let ended = |codes: &[i32]| {
            let mut codes = codes.iter();
            let watch = |_: &Target| {
                let code = *codes.next().expect("it ends at the first failure");
                let seen = Observation { elapsed_ns: f64::from(code), ..Observation::default() };
                Ok(Watched { seen, status: Some(ExitStatus::from_raw(code << 8)), signal: None })
            };
            let (last, _) = repeated(&Target::System, None, 3, watch).expect("runs");
            (last.seen.elapsed_ns, last.seen.repetitions.len(), last.outcome())
        };
        assert_eq!(ended(&[0, 0, 7]), (0.0, 2, Outcome::Passed(7)));
        assert_eq!(ended(&[7]), (7.0, 1, Outcome::Passed(7)));
        assert_eq!(ended(&[0, 0, 0]), (0.0, 3, Outcome::Passed(0)));
    }
}
