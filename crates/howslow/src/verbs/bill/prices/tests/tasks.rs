//! Which prices processes have.

use record::ProcessCounts;

use super::*;

/// A process that executed so many programs. Each was looked for in two other folders first, and no error was counted.
fn process(parent: Option<u32>, execs: u64) -> ProcessCounts {
    let requests = Requests { calls: vec![call("execve", 3 * execs, 0, None)], execs, ..Requests::default() };
    ProcessCounts { parent, processes: 1, requests, ..ProcessCounts::default() }
}

/// The prices of copies, and of programs, if this many processes were created in the time.
fn priced(processes: Vec<ProcessCounts>, forks: u64) -> [f64; 2] {
    let execs = processes.iter().map(|process| process.requests.execs).sum();
    let together = Requests { calls: vec![call("execve", 3 * execs, 0, None)], execs, forks, ..Requests::default() };
    let seen = Observation { processes, together, ..Observation::default() };
    let lines = OPERATIONS.lines(&seen, Met::One);
    ["process.vfork", "process.exec"].map(|id| {
        let own = lines.iter().filter(|line| line.term.operation == id);
        own.map(|line| line.term.times).sum()
    })
}

#[test]
fn children_that_were_there_before_are_not_created() {
    assert_eq!(priced(vec![process(Some(1), 0); 20], 0), [0.0, 0.0]);
    assert_eq!(priced(vec![process(Some(1), 0); 20], 3), [3.0, 0.0]);
}

#[test]
fn a_child_that_executes_a_program_is_priced_by_it_whether_its_parent_has_or_not() {
    let children = |own: u64, each: u64| vec![process(None, own), process(Some(1), each), process(Some(1), each)];
    assert_eq!(priced(children(0, 1), 2), [0.0, 2.0], "a shell that was there");
    assert_eq!(priced(children(1, 1), 2), [0.0, 3.0], "a command");
    assert_eq!(priced(children(1, 0), 2), [2.0, 1.0]);
}
