//! The rows and claims of the study of RSX.

use super::*;

#[test]
fn only_a_message_to_oneself_with_a_signal_has_nothing_of_the_kind_here() {
    let without: Vec<&str> = rows().filter(|row| row.here.is_empty()).map(|row| row.paper).collect();
    assert_eq!(without, ["rsx.self.13.ast"]);
}

#[test]
fn the_study_names_what_it_needs_once() {
    let needs = RSX.needs(true);
    assert!(needs.len() > 30, "{needs:?}");
    for (index, need) in needs.iter().enumerate() {
        assert!(!needs[..index].contains(need), "{need:?}");
    }
    assert!(RSX.printed().iter().all(|id| id.starts_with("rsx.")));
}
