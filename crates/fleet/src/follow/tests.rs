//! What becomes of a fleet of hosts that refuse, forget and fail.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::gather::tests::{EXAMPLE, fleet};
use crate::scheduler::{Seen, Sight, Submitted};

/// Hosts of which `far` cannot be reached, `silent` does not answer, and `known` has a job. It notes whose jobs were cancelled.
#[derive(Clone, Default)]
struct Hosts(Rc<RefCell<Vec<String>>>);

impl Scheduler for Hosts {
    fn submit(&self, _: &Fleet, _: &[Task], _: Submitted<'_>) -> Result<(), FleetError> {
        Ok(())
    }

    fn look(&self, _: &Fleet, tasks: &[Task]) -> Result<BTreeMap<usize, Seen>, FleetError> {
        let jobs = BTreeMap::from([("known", "7"), ("silent", "")]);
        let seen = |task: &Task| {
            let job = (*jobs.get(task.node.as_str())?).into();
            Some((task.place, Seen { job, sight: Sight::Running(0.0) }))
        };
        Ok(tasks.iter().filter_map(seen).collect())
    }

    fn cancel(&self, _: &Fleet, tasks: &[Task]) -> Vec<Result<(), String>> {
        self.0.borrow_mut().extend(tasks.iter().map(|task| task.node.clone()));
        let refused = |task: &Task| if task.node == "far" { Err("far: no route".into()) } else { Ok(()) };
        tasks.iter().map(refused).collect()
    }
}

#[test]
fn what_was_cancelled_is_noted_if_a_host_cannot_be_reached() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["near", "far", "next"]);
    let error = follower(&folder).cancel(&mut fleet, &mut Vec::new()).expect_err("one is not").to_string();
    assert!(error.contains("far: no route; cancelled on 2 nodes"), "{error}");
    assert_eq!(stages(&folder), [Stage::Cancelled, Stage::Running, Stage::Cancelled].map(Some));
}

#[test]
fn what_was_cancelled_is_noted_if_a_document_cannot_be_written() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["full", "next"]);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::write(&fleet.documents, "no folder").expect("a file");
    std::fs::write(fleet.shared.join("n0.a1.r1.json"), EXAMPLE).expect("a document");
    follower(&folder).cancel(&mut fleet, &mut Vec::new()).expect_err("one cannot be written");
    assert_eq!(stages(&folder), [Stage::Cancelled, Stage::Cancelled].map(Some));
}

#[test]
fn what_arrived_late_is_not_measured_again() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["late", "lost"]);
    fleet.nodes.iter_mut().for_each(|node| node.attempts[0].stage = Stage::Failed);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::write(fleet.shared.join("n0.a1.r1.json"), EXAMPLE).expect("a document");
    // The scheduler forgets what it was given, so that no attempt is added.
    let mut events = Vec::new();
    let count = follower(&folder).submit(&mut fleet, &mut |_| true, &mut events).expect("submitted");
    assert!(events.is_empty() && count == 0, "{events:?}");
    assert_eq!(stages(&folder), [Stage::Done, Stage::Failed].map(Some));
}

#[test]
fn a_job_that_exists_is_not_submitted_again() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["known", "lost"]);
    fleet.nodes.iter_mut().for_each(|node| node.attempts[0].stage = Stage::Submitting);
    // The scheduler forgets what it was given, so that an attempt that is submitted is removed.
    follower(&folder).submit(&mut fleet, &mut |_| true, &mut Vec::new()).expect("submitted");
    assert_eq!(stages(&folder), [Some(Stage::Waiting), None]);
    assert_eq!(fleet.nodes[0].attempts[0].job.as_deref(), Some("7"));
}

#[test]
fn what_was_decided_before_a_document_could_not_be_written_is_carried_out() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["damaged", "full", "next"]);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::write(&fleet.documents, "no folder").expect("a file");
    for (name, text) in [("n0.a1.r1.json", "{"), ("n1.a1.r1.json", EXAMPLE)] {
        std::fs::write(fleet.shared.join(name), text).expect("a document");
    }
    let hosts = Hosts::default();
    let scheduler = Box::new(hosts.clone());
    let mut events = Vec::new();
    Follower { scheduler, ..follower(&folder) }.step(&mut fleet, &mut events).expect_err("one cannot be written");
    assert!(
        matches!(events.as_slice(), [Event::Ended { node, stage: Stage::Failed, .. }] if node == "damaged"),
        "{events:?}"
    );
    assert_eq!(*hosts.0.borrow(), ["damaged"]);
    assert_eq!(stages(&folder), [Stage::Failed, Stage::Running, Stage::Running].map(Some));
}

/// Hosts of which none has a job. They note the stored stages at the time when jobs are cancelled.
struct Slow {
    folder: Folder,
    stored: Rc<RefCell<Vec<Option<Stage>>>>,
}

impl Scheduler for Slow {
    fn submit(&self, _: &Fleet, _: &[Task], _: Submitted<'_>) -> Result<(), FleetError> {
        Ok(())
    }

    fn look(&self, _: &Fleet, _: &[Task]) -> Result<BTreeMap<usize, Seen>, FleetError> {
        Ok(BTreeMap::new())
    }

    fn cancel(&self, _: &Fleet, tasks: &[Task]) -> Vec<Result<(), String>> {
        *self.stored.borrow_mut() = stages(&self.folder);
        tasks.iter().map(|_| Ok(())).collect()
    }
}

#[test]
fn what_arrived_is_noted_before_jobs_are_cancelled() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["good", "damaged"]);
    folder.write(&fleet).expect("a state");
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    for (name, text) in [("n0.a1.r1.json", EXAMPLE), ("n1.a1.r1.json", "{")] {
        std::fs::write(fleet.shared.join(name), text).expect("a document");
    }
    let stored = Rc::default();
    let scheduler = Box::new(Slow { folder: folder.clone(), stored: Rc::clone(&stored) });
    Follower { scheduler, ..follower(&folder) }.step(&mut fleet, &mut Vec::new()).expect("a step");
    assert_eq!(*stored.borrow(), [Stage::Done, Stage::Failed].map(Some));
}

#[test]
fn what_a_killed_program_did_not_note_is_decided_again() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, fleet) = begun(place.path(), &["good", "damaged"]);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    for (name, text) in [("n0.a1.r1.json", EXAMPLE), ("n1.a1.r1.json", "{")] {
        std::fs::write(fleet.shared.join(name), text).expect("a document");
    }
    for _ in 0..2 {
        let mut begun = fleet.clone();
        follower(&folder).step(&mut begun, &mut Vec::new()).expect("a step");
        assert_eq!(stages(&folder), [Stage::Done, Stage::Failed].map(Some));
        assert!(begun.nodes[1].attempts[0].reason.contains("cannot be read"), "{:?}", begun.nodes[1]);
    }
}

#[test]
fn a_damaged_document_fails_only_the_attempt_that_left_it() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["known"]);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::write(fleet.shared.join("n0.a1.r1.json"), "{").expect("a document");
    let attempt = Attempt { number: 2, ..fleet.nodes[0].attempts[0].clone() };
    fleet.nodes[0].attempts[0].stage = Stage::Failed;
    fleet.nodes[0].attempts.push(attempt);
    follower(&folder).step(&mut fleet, &mut Vec::new()).expect("a step");
    assert_eq!(fleet.nodes[0].stage(), Some(Stage::Running));
}

#[test]
fn a_host_that_does_not_answer_gives_an_attempt_no_job() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["silent"]);
    follower(&folder).step(&mut fleet, &mut Vec::new()).expect("a step");
    assert_eq!(fleet.nodes[0].attempts[0].job, None);
}

#[test]
fn a_run_before_one_that_cannot_be_written_is_kept_in_the_store() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["known"]);
    fleet.plan.repeat = 2;
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::create_dir_all(fleet.documents.join("known.r2.json")).expect("a folder in the place of a document");
    for name in ["n0.a1.r1.json", "n0.a1.r2.json"] {
        std::fs::write(fleet.shared.join(name), EXAMPLE).expect("a document");
    }
    let store = Store::in_folder(&place.path().join("data"));
    let mut follower = follower(&folder);
    follower.keep_in(store.clone());
    follower.step(&mut fleet, &mut Vec::new()).expect_err("one cannot be written");
    assert_eq!(store.list().expect("a list").len(), 1);
}

#[test]
fn cancelling_says_which_run_the_store_refused() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, mut fleet) = begun(place.path(), &["known"]);
    std::fs::create_dir_all(&fleet.shared).expect("a folder");
    std::fs::write(fleet.shared.join("n0.a1.r1.json"), EXAMPLE).expect("a document");
    std::fs::write(place.path().join("data"), "no folder").expect("a file");
    let mut follower = follower(&folder);
    follower.keep_in(Store::in_folder(&place.path().join("data")));
    let mut events = Vec::new();
    follower.cancel(&mut fleet, &mut events).expect("it is complete");
    assert!(
        matches!(events.as_slice(), [Event::Note(text)] if text.contains("is not kept in the store")),
        "{events:?}"
    );
    assert_eq!(stages(&folder), [Some(Stage::Done)]);
}

fn begun(place: &std::path::Path, names: &[&str]) -> (Folder, Fleet) {
    let folder = Folder::at(&place.join("fleet"));
    let fleet = fleet(place, names);
    folder.make(&fleet.id).expect("a folder");
    (folder, fleet)
}

fn follower(folder: &Folder) -> Follower<'_> {
    let (scheduler, patience): (Box<dyn Scheduler>, _) = (Box::new(Hosts::default()), Duration::ZERO);
    Follower { folder, scheduler, store: None, patience, marks: BTreeMap::new(), last_trouble: String::new() }
}

fn stages(folder: &Folder) -> Vec<Option<Stage>> {
    folder.read("f").expect("a state").nodes.iter().map(crate::Node::stage).collect()
}
