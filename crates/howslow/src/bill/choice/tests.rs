//! Tests of the choice of prices.

use record::{NamedCount, PairCount, Requests};

use super::*;

fn call(name: &str, count: u64, missing: u64, bytes: Option<u64>) -> CallCount {
    let errors = vec![NamedCount { name: MISSING.into(), count: missing }];
    let errors = errors.into_iter().filter(|error| error.count > 0).collect();
    CallCount { call: name.into(), count, bytes, errors }
}

/// The lines of the first call, as names and times.
fn chosen(calls: &[CallCount], pairs: &[(&str, &str, u64)], met: Met) -> Vec<(String, f64)> {
    let pair = |it: &(&str, &str, u64)| PairCount { first: it.0.into(), then: it.1.into(), count: it.2 };
    let pairs = pairs.iter().map(pair).collect();
    let together = Requests { calls: calls.to_vec(), pairs, ..Requests::default() };
    let seen = Observation { together, ..Observation::default() };
    let lines = Choice { kept: &Kept::nothing(), seen: &seen, met }.call(&calls[0]);
    assert!(lines.iter().all(|line| line.note.as_deref() == Some(calls[0].call.as_str())));
    lines.iter().map(|line| (line.name(), line.term.times)).collect()
}

fn lines(of: &[(&str, f64)]) -> Vec<(String, f64)> {
    of.iter().map(|(name, times)| ((*name).into(), *times)).collect()
}

#[test]
fn look_ups_are_of_many_names_where_there_were_many() {
    let few = [call("newfstatat", 100, 0, None)];
    assert_eq!(chosen(&few, &[], Met::AsCounted), lines(&[("called.stat@files=1", 100.0)]));
    assert_eq!(chosen(&few, &[], Met::Many), lines(&[("called.stat@files=4096", 100.0)]));
    let many = [call("newfstatat", 900, 300, None), call("openat", 600, 50, None)];
    let expected = lines(&[("called.stat@files=4096", 100.0), ("called.stat.missing", 300.0), ("called.fstat", 500.0)]);
    assert_eq!(chosen(&many, &[("openat", "newfstatat", 500)], Met::AsCounted), expected);
    assert_eq!(chosen(&many, &[("openat", "newfstatat", 500)], Met::One)[0].0, "called.stat@files=1");
}

#[test]
fn only_the_first_look_up_of_a_name_misses_the_caches_unless_there_are_many() {
    let chosen = |names: u64| {
        let calls = vec![call("newfstatat", 2000, 0, None)];
        let together = Requests { calls: calls.clone(), distinct_names: Some(names), ..Requests::default() };
        let seen = Observation { together, ..Observation::default() };
        let lines = Choice { kept: &Kept::nothing(), seen: &seen, met: Met::AsCounted }.call(&calls[0]);
        lines.iter().map(|line| (line.name(), line.term.times)).collect::<Vec<_>>()
    };
    assert_eq!(chosen(20), lines(&[("called.stat@files=4096", 20.0), ("called.stat@files=1", 1980.0)]));
    assert_eq!(chosen(1500), lines(&[("called.stat@files=4096", 2000.0)]));
}

#[test]
fn files_are_created_filled_and_removed_with_what_they_hold() {
    let calls = [
        call("openat", 30, 0, None),
        call("write", 20, 0, Some(20 * 4096)),
        call("unlinkat", 12, 2, None),
        call("copy_file_range", 20, 0, Some(10 * 4096)),
    ];
    let of = |name: &str, creates: u64| {
        let together = Requests { calls: calls.to_vec(), creates, ..Requests::default() };
        let seen = Observation { together, ..Observation::default() };
        let choice = Choice { kept: &Kept::nothing(), seen: &seen, met: Met::One };
        let call = calls.iter().find(|call| call.call == name).expect("a call");
        choice.call(call).iter().map(|line| (line.name(), line.term.times)).collect::<Vec<_>>()
    };
    assert_eq!(of("openat", 10), lines(&[("called.open@files=1", 20.0), ("called.create", 10.0)]));
    assert_eq!(of("write", 10), lines(&[("called.fill@size=4096", 10.0), ("called.append@size=4096", 10.0)]));
    let copied = [("called.copy@size=4096", 10.0), ("call.copy_file_range", 10.0)];
    assert_eq!(of("copy_file_range", 10), lines(&copied));
    let older = [("called.unlink@content=written,size=4096", 10.0), ("called.stat.missing", 2.0)];
    assert_eq!(of("unlinkat", 0), lines(&older));
    assert_eq!(of("unlinkat", 120)[0].0, "called.unlink@content=new,size=4096");
}

#[test]
fn closes_are_those_of_connections_of_files_and_of_copies() {
    let calls = [call("close", 100, 0, None), call("openat", 60, 20, None), call("accept4", 10, 0, None)];
    let expected = [("called.close.connection", 10.0), ("called.close", 40.0), ("called.close.copy", 50.0)];
    assert_eq!(chosen(&calls, &[], Met::One), lines(&expected));
}

#[test]
fn a_listing_ends_by_a_call_that_finds_its_end() {
    let calls = [call("getdents64", 30, 0, Some(20 * 304))];
    let twice = [("getdents64", "getdents64", 20)];
    let expected = [("called.list@entries=0", 10.0), ("called.list@entries=8", 20.0)];
    assert_eq!(chosen(&calls, &twice, Met::One), lines(&expected));
}

#[test]
fn sizes_lie_on_a_line_and_one_byte_is_no_page() {
    let half = chosen(&[call("read", 10, 0, Some(10 * 2048))], &[], Met::One);
    assert_eq!(half, lines(&[("called.read@files=1,size=0", 5.0), ("called.read@files=1,size=4096", 5.0)]));
    let cold = chosen(&[call("read", 10, 0, Some(10 << 17))], &[], Met::Many);
    assert_eq!(cold, lines(&[("called.read@files=256,size=65536", 20.0)]));
    assert_eq!(chosen(&[call("write", 7, 0, Some(7))], &[], Met::One), lines(&[("syscall.write.null", 7.0)]));
}

#[test]
fn a_run_that_has_one_byte_alone_prices_no_pages() {
    let book = crate::resolve::run("pdp-11-24").expect("a book");
    let one = record::Cost { operation: "syscall.write.null".into(), at: Point::default(), ..book.costs[0].clone() };
    let kept = Kept::of(record::Run { costs: vec![one], ..book });
    let seen = Observation::default();
    let choice = Choice { kept: &kept, seen: &seen, met: Met::One };
    let large = choice.call(&call("write", 3, 0, Some(3 * 40_000)));
    assert!(!large.is_empty() && large.iter().all(|line| line.term.operation != "syscall.write.null"), "{large:?}");
    let small = choice.call(&call("write", 7, 0, Some(7)));
    assert_eq!((small[0].term.operation.as_str(), small[0].term.times), ("syscall.write.null", 7.0));
}

#[test]
fn other_calls_are_priced_by_what_times_them_alone() {
    assert_eq!(chosen(&[call("getppid", 3, 0, None)], &[], Met::Many)[0].1, 3.0);
    assert_eq!(chosen(&[call("mkdirat", 2, 0, None)], &[], Met::Many), lines(&[("call.mkdirat", 2.0)]));
}
