//! Which prices removed files have.

use record::{WaitReason, Waits};

use super::*;

/// What prices 10 removals of a program that wrote this to this many created files.
fn removed(written: u64, creates: u64) -> Vec<(String, f64)> {
    guessed(&[call("unlink", 10, 0, None), call("write", 5, 0, Some(written))], None, creates)
}

#[test]
fn a_removed_file_holds_what_the_program_wrote_to_each_file_that_it_created() {
    let new = |size: &str, times: f64| lines(&[(format!("called.unlink@content=new,size={size}").as_str(), times)]);
    assert_eq!(removed(0, 10), new("0", 10.0), "nothing was written");
    assert_eq!(removed(100, 10), new("4096", 10.0), "a file that holds anything holds a page");
    assert_eq!(removed(10 * 65_536, 10), new("65536", 10.0));
    assert_eq!(removed(20 * 65_536, 10), new("65536", 20.0), "beyond, giving back costs by the size");
    let between = removed(10 * (4096 + 65_536) / 2, 10);
    assert_eq!(between, [new("4096", 5.0), new("65536", 5.0)].concat(), "a straight line between the two sizes");
}

#[test]
fn files_that_the_program_did_not_create_are_on_the_device_and_hold_a_page() {
    let old = lines(&[("called.unlink@content=written,size=4096", 10.0)]);
    assert_eq!(removed(0, 0), old);
    assert_eq!(removed(10 * 65_536, 4), old, "4 created files are not the 10 removed ones");
    assert_eq!(removed(5 * 4096, 5)[0].0, "called.unlink@content=new,size=4096", "5 of 10 may be");
}

#[test]
fn where_removing_what_the_device_holds_sleeps_as_many_were_there_as_calls_slept() {
    let book = resolve::run("pdp-11-24").expect("a book");
    let written = Point::default().with("size", record::Value::Number(4096));
    let at = written.with("content", record::Value::Word("written".into()));
    let sleeping = |switches: f64| {
        let mut cost = record::Cost { operation: "called.unlink".into(), at: at.clone(), ..book.costs[0].clone() };
        cost.switches.voluntary = switches;
        list_of(Run { costs: vec![cost], ..book.clone() })
    };
    let priced = |list: &PriceList, call: &str, slept: u64| {
        let calls = vec![super::call("unlinkat", 10, 0, None)];
        let waits = vec![wait(Some(call), WaitReason::Kernel, slept)];
        let together = Requests { calls: calls.clone(), waits, ..Requests::default() };
        shown(&list.terms(&calls[0], &together, Met::One))
    };
    let [new, old] = ["called.unlink@content=new,size=4096", "called.unlink@content=written,size=4096"];
    assert_eq!(priced(&sleeping(1.0), "unlinkat", 3), lines(&[(new, 7.0), (old, 3.0)]));
    assert_eq!(priced(&sleeping(1.0), "read", 3), lines(&[(new, 10.0)]));
    assert_eq!(priced(&sleeping(0.0), "unlinkat", 3), lines(&[(old, 10.0)]), "sleeps show nothing there");
}

#[test]
fn files_that_were_written_anew_are_priced_by_their_open_their_write_and_what_closes_them() {
    let calls = [
        call("openat", 10, 0, None),
        call("write", 8, 0, Some(80)),
        call("close", 12, 0, None),
        call("dup2", 12, 0, None),
    ];
    let mut together = Requests { calls: calls.to_vec(), writing: 8, truncating: 8, ..Requests::default() };
    let priced = |together: &Requests, place: usize| {
        let terms = shown(&OPERATIONS.terms(&calls[place], together, Met::One));
        let part = terms.into_iter().filter(|(name, _)| name.contains("truncate") || name.contains("re"));
        part.filter(|(name, _)| !name.contains("create")).collect::<Vec<_>>()
    };
    assert_eq!(priced(&together, 0), lines(&[("called.open.truncate", 8.0)]));
    assert_eq!(priced(&together, 1), lines(&[("called.refill@size=4096", 8.0)]));
    // A shell puts each file in the place of its output and brings that back: as many as half of the copies close one.
    assert_eq!(priced(&together, 2), lines(&[("called.close.rewritten", 2.0)]));
    assert_eq!(priced(&together, 3), lines(&[("called.close.rewritten", 6.0)]));
    together.calls.truncate(3);
    assert_eq!(priced(&together, 2), lines(&[("called.close.rewritten", 8.0)]));
}

#[test]
fn files_are_replaced_as_often_as_renaming_slept() {
    let calls = [call("rename", 10, 0, None)];
    let slept = wait(Some("rename"), WaitReason::Kernel, 7);
    let priced =
        |waits: Vec<Waits>| chosen_of(Requests { calls: calls.to_vec(), waits, ..Requests::default() }, Met::One);
    assert_eq!(priced(vec![slept]), lines(&[("called.rename.over", 7.0), ("call.rename", 3.0)]));
    assert_eq!(priced(Vec::new()), lines(&[("call.rename", 10.0)]));
}

#[test]
fn what_went_into_pipes_is_in_no_file() {
    let writes = |name: &str| {
        let objects = vec![object("file", 10, Some(10 * 4096)), object("pipe", 90, Some(1 << 30))];
        CallCount { objects, ..call(name, 100, 0, Some(10 * 4096 + (1 << 30))) }
    };
    let priced = |calls: &[CallCount]| {
        chosen_of(Requests { calls: calls.to_vec(), creates: 10, ..Requests::default() }, Met::One)
    };
    let removed = priced(&[call("unlink", 10, 0, None), writes("write")]);
    assert_eq!(removed, lines(&[("called.unlink@content=new,size=4096", 10.0)]));
    // All writes to files are the first of one, by whichever call.
    for name in ["write", "writev"] {
        let priced = priced(&[writes(name)]);
        assert!(priced.contains(&("called.fill@size=4096".into(), 10.0)), "{priced:?}");
    }
}
