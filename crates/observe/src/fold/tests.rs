//! Simulated tasks that become processes.

use super::*;
use crate::counts::Times;

fn task(id: u64, process: u32, thread: u32, ended: bool) -> Task {
    let calls = BTreeMap::from([(Call::Native(39), Times { count: 2, results: 0 })]);
    let counts = Counts { calls, ..Counts::default() };
    let end_ns = ended.then_some(5);
    Task { id, parent: Some(1), process, thread, name: format!("p{process}"), end_ns, counts, ..Task::default() }
}

/// What was seen, with these tasks running.
fn seen(fold: &Fold, running: &[Task]) -> Processes {
    fold.with_running(running, &CallNames::default(), &mut cgroup::Names::default())
}

#[test]
fn threads_become_their_process_and_ids_come_again() {
    let mut fold = Fold::default();
    fold.add(&task(2, 10, 11, true));
    fold.add(&task(3, 10, 10, true));
    fold.add(&task(4, 10, 10, true));
    let processes = seen(&fold, &[task(1, 9, 9, false)]);
    let shown = |one: &ProcessCounts| (one.pid, one.requests.total(), one.threads.len(), one.running);
    let shown: Vec<_> = processes.processes.iter().map(shown).collect();
    assert_eq!(shown, [(Some(10), 4, 2, false), (Some(10), 2, 0, false), (Some(9), 2, 0, true)]);
    assert_eq!(processes.processes[0].parent, Some(9));
    assert_eq!(processes.together.total(), 8);
}

#[test]
fn a_process_whose_first_thread_ends_first_ends_with_the_others() {
    let mut fold = Fold::default();
    fold.add(&task(2, 10, 10, true));
    let running = |fold: &Fold, tasks: &[Task]| {
        let found = seen(fold, tasks);
        found.processes.iter().map(|process| (process.requests.total(), process.running)).collect::<Vec<_>>()
    };
    let other = |thread, ended| Task { parent: Some(2), ..task(u64::from(thread), 10, thread, ended) };
    assert_eq!(running(&fold, &[other(11, false)]), [(4, true)]);
    fold.add(&other(11, true));
    fold.add(&other(12, true));
    assert_eq!(running(&fold, &[]), [(6, false)]);
    assert_eq!(fold.ended, 1);
}

#[test]
fn a_number_that_another_thread_gets_has_what_both_used() {
    let mut fold = Fold::default();
    let usage = Some(Usage { minor_faults: Some(3), ..Usage::default() });
    fold.add(&Task { usage, ..task(2, 10, 10, false) });
    fold.add(&Task { usage, ..task(3, 10, 11, true) });
    fold.add(&Task { name: "later".into(), usage, ..task(4, 10, 11, true) });
    let found = seen(&fold, &[]);
    let thread = &found.processes[0].threads[1];
    assert_eq!((thread.name.as_str(), thread.usage.minor_faults, thread.requests.total()), ("later", Some(6), 4));
}

#[test]
fn a_day_of_processes_by_many_creators_is_kept_in_bounded_memory() {
    let mut fold = Fold::default();
    for id in (10..200_000).step_by(2) {
        let name = "true".to_string();
        fold.add(&Task { parent: None, name: name.clone(), ..task(id, id as u32, id as u32, true) });
        let child = task(id + 1, id as u32 + 1, id as u32 + 1, true);
        fold.add(&Task { parent: Some(id), name, ..child });
    }
    assert!(fold.folded.len() <= FOLDED + 1 && fold.owners.len() <= OWNERS, "{}", fold.folded.len());
    let found = seen(&fold, &[]);
    assert_eq!(found.processes.iter().map(|process| process.processes).sum::<u64>(), 199_990);
}

#[test]
fn a_thread_that_executes_a_program_goes_on_as_its_process() {
    let mut fold = Fold::default();
    fold.add(&task(2, 10, 10, true));
    let follower = Task { parent: Some(2), name: "true".into(), ..task(3, 10, 10, true) };
    fold.add(&follower);
    let processes = seen(&fold, &[]);
    assert_eq!(processes.processes.len(), 1);
    assert_eq!((processes.processes[0].name.as_str(), processes.processes[0].requests.total()), ("true", 4));
}

#[test]
fn many_ended_processes_are_added_up_and_none_is_lost() {
    let mut fold = Fold::default();
    let many = KEPT as u32 + 1000;
    for id in 0..many {
        let mut ended = task(u64::from(id) + 10, id + 100, id + 100, true);
        ended.name = "true".into();
        ended.usage = Some(Usage { minor_faults: Some(3), ..Usage::default() });
        fold.add(&ended);
    }
    let processes = seen(&fold, &[]);
    assert_eq!(processes.processes.len(), KEPT + 1);
    assert_eq!(processes.processes.iter().map(|process| process.processes).sum::<u64>(), u64::from(many));
    assert_eq!(processes.together.total(), 2 * u64::from(many));
    assert_eq!(processes.processes[0].usage.minor_faults, Some(3000));
    assert_eq!((processes.processes[0].processes, processes.processes[0].pid), (1000, None));
}
