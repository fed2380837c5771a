//! States from intervals and keys, and frames of them on a terminal in memory.

mod frames;
mod keys;
mod memory;

use std::time::Duration;

use analysis::bill::{Account, AccountLine, Stretch, Who};
use record::{NamedCount, PairCount, Usage};

use crate::screen::{About, Column, Settings, State};

/// What is known where everything is counted and priced.
fn about() -> About {
    About {
        source: "eBPF".into(),
        counts_calls: true,
        prices: Some("typical, run 20260101-000000-abcd".into()),
        counting_ns: Some(42.0),
        cpus: 2,
        notes: Vec::new(),
    }
}

/// A process that makes `calls` reads in a second, each of 500 ns.
fn process(pid: u32, name: &str, calls: u64) -> Account {
    let lines = vec![
        AccountLine { what: "read".into(), count: calls, failed: calls / 10, cost_ns: Some(500.0 * calls as f64) },
        AccountLine { what: "unheard_of".into(), count: 3, failed: 0, cost_ns: None },
    ];
    Account {
        who: Who::Process(pid),
        name: name.into(),
        cgroup: Some("/user.slice".into()),
        processes: 1,
        running: true,
        calls: calls + 3,
        failed: calls / 10,
        cost_ns: Some(500.0 * calls as f64),
        lines,
        pairs: vec![PairCount { first: "read".into(), then: "read".into(), count: calls.saturating_sub(1) }],
        errors: vec![NamedCount { name: "EAGAIN".into(), count: calls / 10 }],
        usage: Usage {
            cpu_ns: Some(900.0 * calls as f64),
            user_ns: Some(300.0 * calls as f64),
            system_ns: Some(600.0 * calls as f64),
            sampled_ns: None,
            minor_faults: Some(7),
            major_faults: Some(0),
            voluntary_switches: Some(5),
            involuntary_switches: Some(1),
        },
    }
}

/// What shows the processes of each second, by their costs.
fn settings() -> Settings {
    Settings { every: Duration::from_secs(1), ..Settings::default() }
}

fn second(processes: Vec<Account>) -> Stretch {
    Stretch { elapsed_ns: 1e9, processes }
}

fn some() -> Vec<Account> {
    let short = Who::Short { parent: Some(20), name: "true".into() };
    vec![
        process(10, "cat", 100_000),
        process(20, "sh", 400),
        Account { who: short, running: false, processes: 23, cgroup: None, ..process(0, "true", 2000) },
        Account { running: false, ..process(30, "gone", 1) },
        process(40, "evil\u{1b}[31m", 50),
    ]
}

/// A state that has seen one second of these.
fn state_of(processes: Vec<Account>) -> State {
    let mut state = State::new(about(), settings());
    state.update(second(processes));
    state
}

fn names(state: &State) -> Vec<String> {
    state.accounts().map(|account| account.name.clone()).collect()
}

#[test]
fn a_page_is_the_table_without_a_screen() {
    insta::assert_snapshot!(crate::screen::page(&state_of(some()), 4));
}

#[test]
fn what_is_not_counted_has_no_column() {
    let mut state = State::new(
        About { counts_calls: false, prices: None, source: "accounts".into(), ..about() },
        Settings { sort: Column::Kernel, ..settings() },
    );
    state.update(second(vec![Account { cost_ns: None, lines: Vec::new(), ..process(10, "cat", 5) }]));
    let page = crate::screen::page(&state, 9);
    assert!(page.contains("KERNEL %") && !page.contains("CALLS") && !page.contains("COST"), "{page}");
}
