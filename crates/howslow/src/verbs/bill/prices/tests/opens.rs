//! Which prices opened files and epoll sets have.

use super::*;

#[test]
fn files_that_are_there_and_opened_to_be_written_have_prices_of_their_own() {
    let calls = [call("openat", 40, 0, None), call("close", 40, 0, None)];
    let together = Requests { calls: calls.to_vec(), writing: 25, creates: 5, ..Requests::default() };
    let priced = |call: &CallCount| shown(&OPERATIONS.terms(call, &together, Met::One));
    let expected = [("called.open@files=1", 10.0), ("called.create", 5.0), ("called.open.write", 25.0)];
    assert_eq!(priced(&calls[0]), lines(&expected));
    assert_eq!(priced(&calls[1]), lines(&[("called.close.write", 30.0), ("called.close", 10.0)]));
}

#[test]
fn files_of_proc_are_not_among_those_that_are_created() {
    let opens = CallCount { objects: vec![object("proc", 900, None)], ..call("openat", 1000, 0, None) };
    let together = Requests { calls: vec![opens], creates: 100, ..Requests::default() };
    assert_eq!(chosen_of(together, Met::One), lines(&[("called.open.proc", 900.0), ("called.create", 100.0)]));
}

#[test]
fn descriptors_are_added_to_an_epoll_set_and_removed() {
    let half = lines(&[("poll.epoll.add.delete", 5.0)]);
    // Changing the events takes half as long.
    assert_eq!(chosen(&[call("epoll_ctl", 10, 0, None)], Met::One), half);
}
