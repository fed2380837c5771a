//! Frames on a terminal in memory.

use analysis::bill::Account;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::{about, process, second, settings, some, state_of};
use crate::screen::{About, Key, State, draw};

fn drawn(state: &mut State, width: u16, height: u16) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
    terminal.draw(|frame| draw(state, frame)).expect("a frame");
    terminal.backend().clone()
}

fn frame(state: &mut State, width: u16, height: u16) -> String {
    drawn(state, width, height).to_string()
}

#[test]
fn processes_with_the_pane_of_the_first() {
    let mut state = state_of(some());
    state.update(second(vec![process(10, "cat", 50_000), process(20, "sh", 400)]));
    insta::assert_snapshot!(frame(&mut state, 110, 24));
}

#[test]
fn cgroups_filtered_and_frozen() {
    let mut state = state_of(some());
    for key in "cf/user".chars() {
        state.press(Key::Char(key));
    }
    insta::assert_snapshot!(frame(&mut state, 80, 24));
}

#[test]
fn help() {
    let mut state = state_of(some());
    state.press(Key::Char('?'));
    insta::assert_snapshot!(frame(&mut state, 110, 24));
}

#[test]
fn without_counts_and_prices_it_shows_what_is_missing() {
    let notes = vec!["No calls are counted, so calls are missing. eBPF: this process may not.".into()];
    let about = About { counts_calls: false, prices: None, source: "accounts".into(), notes, ..about() };
    let mut state = State::new(about, settings());
    let waiting = frame(&mut state, 60, 12);
    assert!(waiting.contains("waiting for the first interval"), "{waiting}");
    state.update(second(vec![Account { lines: Vec::new(), cost_ns: None, ..process(10, "cat", 5) }]));
    insta::assert_snapshot!(frame(&mut state, 60, 12));
}

#[test]
fn no_size_is_too_small() {
    for height in (0..12).chain([17, 18, 30]) {
        for width in [0, 1, 2, 5, 9, 20, 31, 76, 77, 200] {
            for keys in ["", "?", "/x", "d1", "c", "G"] {
                let mut state = state_of(some());
                for key in keys.chars() {
                    state.press(Key::Char(key));
                }
                drawn(&mut state, width, height);
            }
        }
    }
    let small = frame(&mut state_of(some()), 20, 5);
    assert!(small.contains("cat") && small.contains("sh"), "{small}");
}

#[test]
fn the_chosen_row_stays_in_sight() {
    let mut state = state_of((0..100).map(|pid| process(pid, &format!("p{pid}"), 1000 - u64::from(pid))).collect());
    for (key, name) in [(Key::End, "p99"), (Key::PageUp, "p9"), (Key::Home, "p0"), (Key::PageDown, "p")] {
        state.press(key);
        let shown = frame(&mut state, 100, 12);
        let chosen = state.chosen().expect("a row").account.name.clone();
        assert!(chosen.starts_with(name) && shown.contains(&chosen), "{chosen}: {shown}");
    }
    state.press(Key::End);
    let shown = frame(&mut state, 100, 40);
    assert!(shown.contains("p99"), "{shown}");
}
