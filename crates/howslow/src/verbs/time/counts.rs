//! What commands ask of the kernel, counted in one more run of each: figures that noise does not move, and a gate on them.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use analysis::bill::{ChangedFigure, WorkUnit, changed_figures};
use catalogue::command::{make_cold, shell};
use measure::Signals;
use observe::{Detail, ObserveError, Observer, Options, State, Target};
use record::{Repetition, printable};
use report::BillChanges;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use signal_hook::consts::SIGKILL;

use super::args::TimeArgs;
use super::works::{Kind, Work, Works};
use crate::output::{self, Misuse, Outcome, print_note};
use crate::verbs::bill::changes::gate;
use crate::verbs::bill::{LAST, PassedOn};

/// How often the end of a command is looked for.
const STEP: std::time::Duration = std::time::Duration::from_millis(20);

/// The changes of counts, as text, and how a gate ended.
pub(super) struct Counted {
    pub text: String,
    pub outcome: Outcome,
}

/// Counts the commands whose trial went well, if that was requested, and compares each with the first; with none if that one failed.
/// Refuses counting that is impossible here.
pub(super) fn counted(works: &Works, tried: &[&Work], args: &TimeArgs, signals: &Signals) -> anyhow::Result<Counted> {
    let nothing = Counted { text: String::new(), outcome: Outcome::Done };
    let first = works.all.iter().find(|work| matches!(work.kind, Kind::Command(_)));
    let is_tried = first.is_some_and(|first| tried.iter().any(|work| std::ptr::eq(*work, first)));
    if !is_tried || !args.counts && args.fail_on_counts.is_empty() {
        return Ok(nothing);
    }
    let mut counted = Vec::new();
    for work in tried {
        if signals.come().is_none()
            && let Kind::Command(words) = &work.kind
        {
            counted.push((work.name.as_str(), repetition(work, words, signals)?));
        }
    }
    if signals.come().is_some() {
        return Ok(nothing);
    }
    let Some(((first, base), others)) = counted.split_first() else { return Ok(nothing) };
    let mut text = String::new();
    let mut outcome = Outcome::Done;
    for (name, other) in others {
        let all = changed_figures(std::slice::from_ref(base), std::slice::from_ref(other), &WorkUnit::Whole, false);
        // One run each says nothing of times.
        let figures: Vec<ChangedFigure> = all.into_iter().filter(|figure| figure.figure.is_count()).collect();
        let gate = gate(&args.fail_on_counts, None).map(|gate| gate.judged(&figures));
        outcome = match &gate {
            Some(gate) if !gate.failed.is_empty() => Outcome::GateFailed,
            Some(gate) if !gate.unjudged.is_empty() && outcome == Outcome::Done => Outcome::Skipped,
            _ => outcome,
        };
        // Neither has the text.
        if let Some(gate) = gate.as_ref().filter(|_| args.measure.json || args.measure.csv) {
            for (what, figures) in [("failed", &gate.failed), ("has no verdict", &gate.unjudged)] {
                let words: Vec<&str> = figures.iter().map(|figure| figure.words()).collect();
                if !words.is_empty() {
                    print_note(&format!("the gate {what}: {}: {}", printable(name), words.join(", ")));
                }
            }
        }
        let view = BillChanges {
            bills: [first, name],
            unit: "command",
            units: [1.0; 2],
            repetitions: [1; 2],
            figures: &figures,
            rows: &[],
            gate,
        };
        text += &format!("\n{}", report::bill_changes(&view, output::style()));
    }
    Ok(Counted { text, outcome })
}

/// Checks, before anything runs, that the gate is one on counts, of two commands or more.
/// Refuses a gate on times, or with nothing to compare.
pub(super) fn check(works: &Works, args: &TimeArgs) -> Result<(), Misuse> {
    let commands = works.all.iter().filter(|work| matches!(work.kind, Kind::Command(_))).count();
    if (args.counts || !args.fail_on_counts.is_empty()) && commands < 2 {
        return Err(Misuse("--counts and --fail-on-counts compare commands; give two or more with -c".into()));
    }
    match args.fail_on_counts.iter().flat_map(|growth| growth.figures()).find(|figure| !figure.is_count()) {
        Some(figure) => Err(Misuse(format!(
            "--fail-on-counts: {} is no count; here it can be more-calls, more-faults or more-switches (`howslow bill --repeat 9 \
             --against OLD -- NEW --fail-on more-time` repeats runs)",
            figure.words()
        ))),
        None => Ok(()),
    }
}

/// One run of a command, counted in the best way that is possible here.
fn repetition(work: &Work, words: &[String], signals: &Signals) -> anyhow::Result<Repetition> {
    let sentence = |why: String| anyhow::anyhow!("{}", printable(&why));
    let step = |option, text: &Option<String>| shell(option, text.as_deref()).map_err(sentence);
    step("--prepare", &work.around.prepare)?;
    make_cold(&work.around.cold).map_err(sentence)?;
    let target = Target::Command(words.iter().map(Into::into).collect());
    let options = Options { detail: Detail::Numbers, ..Options::default() };
    let silent = Silence::keep(work.around.input.as_deref())?;
    let seen = (|| -> Result<_, ObserveError> {
        let mut observer = Observer::start(target, &options)?;
        let mut passed_on = PassedOn { signals, come: None };
        while observer.step(STEP)? == State::Running {
            if passed_on.is_over(&observer, LAST) {
                observer.signal(SIGKILL);
            }
        }
        observer.finish()
    })();
    drop(silent);
    step("--conclude", &work.around.conclude)?;
    seen?
        .all_repetitions()
        .into_iter()
        .last()
        .ok_or_else(|| anyhow::anyhow!("{}: nothing was counted", printable(&work.name)))
}

/// While it lives, what is started inherits /dev/null, or the file of `--input`, as its streams.
struct Silence([OwnedFd; 3]);

impl Silence {
    fn keep(input: Option<&std::path::Path>) -> io::Result<Silence> {
        let own = [
            fcntl_dupfd_cloexec(rustix::stdio::stdin(), 0)?,
            fcntl_dupfd_cloexec(rustix::stdio::stdout(), 0)?,
            fcntl_dupfd_cloexec(rustix::stdio::stderr(), 0)?,
        ];
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let silence = Silence(own);
        match input {
            Some(path) => dup2_stdin(File::open(path)?)?,
            None => dup2_stdin(&null)?,
        }
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;
        Ok(silence)
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        let [input, output, errors] = &self.0;
        // What was open can be had again.
        let _ = dup2_stdin(input);
        let _ = dup2_stdout(output);
        let _ = dup2_stderr(errors);
    }
}
