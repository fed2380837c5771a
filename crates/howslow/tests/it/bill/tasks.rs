//! What tasks do for each other, and what they use while they end.

use serde_json::Value;

use super::{billed_program, programs};

#[test]
fn calls_that_wake_somebody_are_counted() {
    let Some(document) = billed_program("waker", programs::WAKER) else { return };
    let processes = document["seen"]["processes"].as_array().expect("processes");
    let waker = processes.iter().find(|process| process["name"] == "waker").expect("it");
    let calls = waker["requests"]["calls"].as_array().expect("calls");
    let write = calls.iter().find(|call| call["call"] == "write").expect("its writes");
    // Interrupts wake tasks, too, and count with the call that they interrupt; each of 23 short calls is hardly interrupted.
    let (count, wakes) = (write["count"].as_u64(), write["wakes"].as_u64().expect("a number"));
    assert!(count == Some(23) && (23..30).contains(&wakes), "{write}");
    let read = calls.iter().find(|call| call["call"] == "read").expect("its reads");
    let share = read["wakes"].as_f64().expect("a number") / read["count"].as_f64().expect("a number");
    assert!(share < 0.1, "a read wakes nobody: {read}");
}

/// The kernel tells what a thread used up to its last switch, so the ends of many short threads are missing in their sum.
#[test]
fn a_process_of_short_threads_is_told_all_that_it_used() {
    let Some(document) = billed_program("threads", programs::SHORT_THREADS) else { return };
    let processes = document["seen"]["processes"].as_array().expect("processes");
    assert_eq!((processes.len(), processes[0]["thread_count"].as_u64()), (1, Some(231)), "{processes:?}");
    assert_eq!(processes[0]["usage"], document["seen"]["usage"]);
}

/// Who waits for a command is not told what processes used that were never waited for.
#[test]
fn what_unawaited_processes_use_is_charged() {
    let Some(document) = billed_program("unawaited", programs::UNAWAITED) else { return };
    let processes = document["seen"]["processes"].as_array().expect("processes");
    let shell = processes.iter().find(|process| process["name"] == "sh").expect("the shell");
    let used = |of: &Value| of["usage"]["cpu_ns"].as_f64().expect("processor time");
    assert!(used(shell) > 1e6 && used(&document["seen"]) > used(shell), "{shell}");
}
