//! What keys change.

use std::time::Duration;

use clap::ValueEnum;

use super::{about, names, process, second, settings, some, state_of};
use crate::screen::{About, Action, Column, Key, Settings, State, View};

fn press(state: &mut State, text: &str) {
    for character in text.chars() {
        state.press(Key::Char(character));
    }
}

fn chosen(state: &State) -> String {
    state.chosen().expect("a row").account.name.clone()
}

#[test]
fn rows_are_sorted_by_the_column_of_the_key() {
    let mut state = state_of(some());
    assert_eq!(names(&state), ["cat", "true", "sh", "evil\u{fffd}[31m", "gone"], "by cost");
    press(&mut state, "R");
    assert_eq!(names(&state), ["gone", "evil\u{fffd}[31m", "sh", "true", "cat"]);
    press(&mut state, "N");
    assert_eq!(names(&state), ["cat", "sh", "gone", "evil\u{fffd}[31m", "true"], "by id; what has none comes last");
    press(&mut state, "9");
    assert_eq!(names(&state), ["cat", "evil\u{fffd}[31m", "gone", "sh", "true"]);
    press(&mut state, "9");
    assert_eq!(names(&state)[0], "true", "the same key reverses");
    for _ in 0..Column::value_variants().len() {
        press(&mut state, ">");
    }
    assert_eq!(state.settings.sort, Column::Name, "around");
    state.press(Key::Left);
    assert_eq!(state.settings.sort, Column::Switches);
}

#[test]
fn keys_sort_by_the_columns_that_are_shown() {
    let about = About { counts_calls: false, prices: None, ..about() };
    let mut state = State::new(about, Settings { sort: Column::Kernel, ..settings() });
    state.update(second(some()));
    state.press(Key::Left);
    assert_eq!(state.settings.sort, Column::Pid, "calls, errors and costs are not shown");
    press(&mut state, "2");
    assert_eq!(state.settings.sort, Column::Kernel);
    press(&mut state, "9");
    assert_eq!(state.settings.sort, Column::Kernel, "there is no ninth");
}

#[test]
fn the_chosen_row_is_followed_and_the_first_one_is_not() {
    let mut state = state_of(some());
    assert_eq!(chosen(&state), "cat");
    state.update(second(vec![process(10, "cat", 1), process(20, "sh", 400)]));
    assert_eq!(chosen(&state), "sh", "without a choice, whatever is first");
    press(&mut state, "jj");
    assert_eq!(chosen(&state), "evil\u{fffd}[31m", "the idle remain");
    state.update(second(vec![process(40, "evil", 9_000), process(20, "sh", 400)]));
    assert_eq!((names(&state)[0].as_str(), chosen(&state).as_str()), ("evil", "evil"));
    press(&mut state, "kkk");
    assert_eq!(chosen(&state), "evil");
    state.press(Key::End);
    assert_eq!(chosen(&state), "cat");
    state.press(Key::Home);
    state.update(second(vec![process(50, "new", 1_000_000)]));
    assert_eq!(chosen(&state), "new");
    for key in [Key::PageDown, Key::PageUp, Key::Down, Key::Up, Key::Char('G'), Key::Char('g')] {
        state.press(key);
    }
    let mut nothing = state_of(Vec::new());
    for key in [Key::PageDown, Key::Down, Key::Up, Key::End, Key::Home, Key::Char('c'), Key::Char('N')] {
        nothing.press(key);
        assert!(nothing.chosen().is_none());
    }
}

#[test]
fn a_filter_is_typed_kept_and_given_up() {
    let mut state = state_of(some());
    press(&mut state, "/SH");
    assert_eq!(names(&state), ["sh"]);
    state.press(Key::Backspace);
    press(&mut state, "q");
    assert_eq!(names(&state), Vec::<String>::new(), "q is a letter here");
    state.press(Key::Escape);
    assert_eq!(names(&state).len(), 5, "given up");
    press(&mut state, "/user.slice");
    state.press(Key::Enter);
    assert_eq!(names(&state).len(), 4, "by cgroup");
    press(&mut state, "/");
    state.press(Key::Control('u'));
    press(&mut state, "10");
    assert_eq!(names(&state), ["cat"], "by id");
    state.press(Key::Enter);
    state.press(Key::Escape);
    assert_eq!(names(&state).len(), 5);
    press(&mut state, &format!("/{}", "x".repeat(1000)));
    assert!(state.settings.filter.len() < 100);
}

#[test]
fn frozen_nothing_changes_but_the_view() {
    let mut state = state_of(some());
    press(&mut state, "f");
    state.update(second(vec![process(10, "cat", 1)]));
    assert_eq!(state.accounts().next().map(|account| account.calls), Some(100_003));
    press(&mut state, "c");
    assert_eq!(state.settings.view, View::Cgroups);
    assert_eq!(names(&state), ["/user.slice", "(no cgroup known)"]);
    press(&mut state, "t ");
    state.update(second(vec![process(10, "cat", 1)]));
    assert_eq!(state.accounts().next().map(|account| account.calls), Some(4));
}

#[test]
fn the_interval_is_typed_in_seconds() {
    let mut state = state_of(some());
    press(&mut state, "d2.5x");
    assert_eq!(state.press(Key::Enter), Some(Action::Every(Duration::from_millis(2500))));
    for wrong in ["0", "", "1.2.3", "99999", "0.01"] {
        press(&mut state, &format!("s{wrong}"));
        assert_eq!(state.press(Key::Enter), None, "{wrong}");
        assert_eq!(state.every(), Duration::from_millis(2500));
    }
    press(&mut state, "d5");
    state.press(Key::Escape);
    assert_eq!(state.press(Key::Enter), None, "given up");
}

#[test]
fn it_ends_and_stops_from_everywhere() {
    for before in ["", "/", "d", "?"] {
        let mut state = state_of(some());
        press(&mut state, before);
        assert_eq!(state.press(Key::Control('c')), Some(Action::Quit), "{before}");
        assert_eq!(state.press(Key::Control('z')), Some(Action::Suspend), "{before}");
        assert_eq!(state.press(Key::Control('l')), Some(Action::Redraw), "{before}");
    }
    let mut state = state_of(some());
    assert_eq!(state.press(Key::Function(1)), None);
    assert_eq!(state.press(Key::Char('q')), None, "any key leaves the help");
    assert_eq!(state.press(Key::Char('q')), Some(Action::Quit));
}
