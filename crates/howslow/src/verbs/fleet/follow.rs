//! Follows a fleet until no job is open, and reports what happens meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::fleet::{Event, Fleet, Folder, Follower, Stage};
use indicatif::{ProgressBar, ProgressStyle};
use measure::Signals;
use record::units::counted;
use store::Store;

use super::args::{EveryArgs, FleetArg, FollowArgs};
use super::status::show;
use crate::output::{self, Outcome, print_note};

/// Follows a kept fleet, after submitting this.
pub(super) fn again(args: &FollowArgs, begin: Begin) -> anyhow::Result<Outcome> {
    let folder = Folder::of_user()?;
    let id = folder.find(args.fleet.id.as_deref())?;
    let _lock = folder.lock(&id)?;
    follow(&folder, folder.read(&id)?, &args.every, begin)
}

/// Cancels the jobs of a fleet.
pub(super) fn cancel(args: &FleetArg) -> anyhow::Result<Outcome> {
    let folder = Folder::of_user()?;
    let id = folder.find(args.id.as_deref())?;
    let _lock = folder.lock(&id)?;
    let mut fleet = folder.read(&id)?;
    if fleet.open().is_empty() {
        print_note(&format!("the fleet {id} has no open job"));
        return Ok(Outcome::Done);
    }
    let mut follower = follower(&fleet, &folder, Duration::from_secs(1))?;
    let mut events = Vec::new();
    let cancelled = follower.cancel(&mut fleet, &mut events);
    events.iter().filter_map(line).for_each(|text| print_note(&text));
    let nodes = cancelled?;
    let nodes = counted(nodes.len() as u64, "node");
    print_note(&format!("cancelled on {nodes}; `howslow fleet retry {id}` measures there again"));
    Ok(Outcome::Done)
}

/// What is submitted before a fleet is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    Nothing,
    /// An attempt on every node that lacks a document.
    Missing,
    /// The same; then this program ends.
    MissingAndEnd,
}

/// The signals that request the end of this program, noted from now on. What nohup(1) lets it ignore stays ignored.
struct Ending(Vec<(i32, Arc<AtomicBool>)>);

impl Ending {
    fn watch() -> std::io::Result<Ending> {
        let watch = |signal: i32| {
            let came = Arc::new(AtomicBool::new(false));
            // The second one ends the program as it would without this.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&came))?;
            signal_hook::flag::register(signal, Arc::clone(&came))?;
            Ok((signal, came))
        };
        Ok(Ending(Signals::ending().map(watch).collect::<std::io::Result<_>>()?))
    }

    /// From now on the first one ends the program.
    fn over(&self) {
        self.0.iter().for_each(|(_, came)| came.store(true, Ordering::Relaxed));
    }

    fn came(&self) -> Option<i32> {
        self.0.iter().find(|(_, came)| came.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
    }
}

fn follower<'a>(fleet: &Fleet, folder: &'a Folder, every: Duration) -> anyhow::Result<Follower<'a>> {
    let mut follower = Follower::new(fleet, folder, every)?;
    match Store::of_user() {
        Ok(store) => follower.keep_in(store),
        Err(error) => print_note(&format!("the runs are only in {}: {error}", fleet.documents.display())),
    }
    Ok(follower)
}

/// Submits what is wanted, follows the fleet until no job is open, and prints what became of it.
pub(super) fn follow(folder: &Folder, mut fleet: Fleet, args: &EveryArgs, begin: Begin) -> anyhow::Result<Outcome> {
    let every = Duration::from_secs_f64(args.every);
    let ending = Ending::watch()?;
    let mut follower = follower(&fleet, folder, every)?;
    let mut progress = FleetProgress::new(&fleet);
    if begin != Begin::Nothing {
        let mut go_on = |sent| {
            progress.submitted(sent);
            ending.came().is_none()
        };
        let mut events = Vec::new();
        let sent = follower.submit(&mut fleet, &mut go_on, &mut events);
        progress.report(&events);
        let sent = sent?;
        if sent > 0 {
            let jobs = counted(sent as u64, "job");
            progress.note(&format!("{jobs} submitted; `howslow fleet attach {}` follows if this ends", fleet.id));
        }
    }
    while begin != Begin::MissingAndEnd && !fleet.open().is_empty() {
        let mut events = Vec::new();
        let looked = follower.step(&mut fleet, &mut events);
        progress.report(&events);
        looked?;
        progress.show(&fleet);
        let since = Instant::now();
        while since.elapsed() < every && !fleet.open().is_empty() && ending.came().is_none() {
            std::thread::sleep(SLICE.min(every));
        }
        if ending.came().is_some() {
            break;
        }
    }
    progress.end();
    if let Some(signal) = ending.came() {
        let (open, id) = (counted(fleet.open().len() as u64, "open job"), &fleet.id);
        let ways = format!("`howslow fleet attach {id}` follows, `howslow fleet cancel {id}` cancels");
        print_note(&format!("interrupted, with {open}; {ways}"));
        return Ok(Outcome::Interrupted(signal));
    }
    ending.over();
    if let Some(note) = follower.clean(&fleet) {
        print_note(&note);
    }
    show(&fleet, args.json)
}

/// What is printed of an event.
fn line(event: &Event) -> Option<String> {
    match event {
        Event::Ended { stage: Stage::Done, .. } => None,
        Event::Ended { node, stage, reason } => Some(record::printable(&format!("{node}: {}: {reason}", stage.word()))),
        Event::Note(text) => Some(record::printable(text)),
    }
}

/// How soon a signal is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// Shows how far a fleet is: a bar on a terminal, else a line whenever something has changed.
struct FleetProgress {
    bar: ProgressBar,
    last: String,
}

impl FleetProgress {
    fn new(fleet: &Fleet) -> FleetProgress {
        let bar = ProgressBar::with_draw_target(Some(fleet.nodes.len() as u64), output::target());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} nodes  {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        FleetProgress { bar: bar.with_style(style), last: String::new() }
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| print_note(text));
    }

    fn submitted(&self, sent: usize) {
        self.bar.set_message(format!("{sent} submitted"));
    }

    fn report(&self, events: &[Event]) {
        events.iter().filter_map(line).for_each(|text| self.note(&text));
    }

    fn show(&mut self, fleet: &Fleet) {
        let summary = report::fleet_summary(fleet);
        self.bar.set_position(fleet.complete() as u64);
        self.bar.set_message(summary.clone());
        if self.bar.is_hidden() && summary != self.last {
            print_note(&summary);
        }
        self.last = summary;
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
