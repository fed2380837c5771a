//! Tests of the choice of prices.

mod memory;
mod opens;
mod removals;
mod tasks;

use record::{CallCount, NamedCount, ObjectCount, PairCount, Point, Requests, Term};

use super::*;

fn call(name: &str, count: u64, missing: u64, bytes: Option<u64>) -> CallCount {
    let errors = vec![NamedCount { name: MISSING.into(), count: missing }];
    let errors = errors.into_iter().filter(|error| error.count > 0).collect();
    CallCount { call: name.into(), count, bytes, errors, ..CallCount::default() }
}

/// So many calls on this kind of object.
fn object(kind: &str, count: u64, bytes: Option<u64>) -> ObjectCount {
    ObjectCount { object: kind.into(), count, bytes }
}

/// The lines of the first call, as names and times.
fn chosen(calls: &[CallCount], met: Met) -> Vec<(String, f64)> {
    chosen_of(Requests { calls: calls.to_vec(), ..Requests::default() }, met)
}

/// The same, of these requests.
fn chosen_of(together: Requests, met: Met) -> Vec<(String, f64)> {
    shown(&OPERATIONS.terms(&together.calls[0], &together, met))
}

/// So often this call came after that one.
fn pair(first: &str, then: &str, count: u64) -> Vec<PairCount> {
    vec![PairCount { first: first.into(), then: then.into(), count }]
}

/// All operations at the prices of a run.
fn list_of(run: Run) -> PriceList {
    Prices::new(Kept::of(run), MachineState::Typical).list
}

fn shown(terms: &[Term]) -> Vec<(String, f64)> {
    terms.iter().map(|term| (term.name(), term.times)).collect()
}

fn lines(terms: &[(&str, f64)]) -> Vec<(String, f64)> {
    terms.iter().map(|(name, times)| ((*name).into(), *times)).collect()
}

/// What the rules take for many files and for a stream (`analysis::bill::pricing`).
const MANY: u64 = 1024;

const STREAM: u64 = 16 << 20;

const MISSING: &str = "ENOENT";

#[test]
fn look_ups_are_of_many_names_where_there_were_many() {
    let few = [call("newfstatat", 100, 0, None)];
    assert_eq!(chosen(&few, Met::AsCounted), lines(&[("called.stat@files=1", 100.0)]));
    assert_eq!(chosen(&few, Met::Many), lines(&[("called.stat@files=4096", 100.0)]));
    let many = [call("newfstatat", 900, 300, None), call("openat", 600, 50, None)];
    let expected = lines(&[("called.stat@files=4096", 100.0), ("called.stat.missing", 300.0), ("called.fstat", 500.0)]);
    let pairs = pair("openat", "newfstatat", 500);
    let together = Requests { calls: many.to_vec(), pairs, ..Requests::default() };
    assert_eq!(chosen_of(together.clone(), Met::AsCounted), expected);
    assert_eq!(chosen_of(together, Met::One)[0].0, "called.stat@files=1");
}

#[test]
fn only_the_first_look_up_of_a_name_misses_the_caches_unless_there_are_many() {
    let chosen = |names: u64| guessed(&[call("newfstatat", 2000, 0, None)], Some(names), 0);
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
    let priced = |name: &str, creates: u64| {
        let together = Requests { calls: calls.to_vec(), creates, ..Requests::default() };
        let call = calls.iter().find(|call| call.call == name).expect("a call");
        shown(&OPERATIONS.terms(call, &together, Met::One))
    };
    assert_eq!(priced("openat", 10), lines(&[("called.open@files=1", 20.0), ("called.create", 10.0)]));
    assert_eq!(priced("write", 10), lines(&[("called.fill@size=4096", 10.0), ("called.append@size=4096", 10.0)]));
    let copied = [("called.copy@size=4096", 10.0), ("call.copy_file_range", 10.0)];
    assert_eq!(priced("copy_file_range", 10), lines(&copied));
    let older = [("called.unlink@content=written,size=4096", 10.0), ("called.stat.missing", 2.0)];
    assert_eq!(priced("unlinkat", 0), lines(&older));
    assert_eq!(priced("unlinkat", 120)[0].0, "called.unlink@content=new,size=4096");
}

#[test]
fn closes_are_those_of_connections_of_files_and_of_copies() {
    let calls = [call("close", 100, 0, None), call("openat", 60, 20, None), call("accept4", 10, 0, None)];
    let expected = [("called.close.connection", 10.0), ("called.close", 40.0), ("called.close.copy", 50.0)];
    assert_eq!(chosen(&calls, Met::One), lines(&expected));
}

#[test]
fn connections_that_are_known_to_be_closed_are_closed_once() {
    let objects = vec![object("file", 60, None), object("tcp", 10, None)];
    let close = CallCount { objects, ..call("close", 70, 0, None) };
    let calls = [close, call("openat", 60, 0, None), call("accept4", 10, 0, None)];
    assert_eq!(chosen(&calls, Met::One), lines(&[("called.close.connection", 10.0), ("called.close", 60.0)]));
}

#[test]
fn zeros_are_read_and_an_empty_device_is_not() {
    let read = |bytes| chosen(&[on("read", "null", 10, Some(bytes))], Met::AsCounted);
    assert_eq!(read(0), lines(&[("syscall.read.null", 10.0)]));
    let random = chosen(&[on("read", "random", 10, Some(10 << 20))], Met::One);
    assert_eq!(random, lines(&[("called.read.random@size=4096", 2560.0)]));
    let of_a_file = chosen(&[call("read", 10, 0, Some(2 * STREAM))], Met::One);
    assert_eq!(read(2 * STREAM), of_a_file, "no file is streamed");
}

#[test]
fn a_listing_ends_by_a_call_that_finds_its_end() {
    let calls = vec![call("getdents64", 30, 0, Some(20 * 304))];
    let together = Requests { calls, pairs: pair("getdents64", "getdents64", 20), ..Requests::default() };
    let expected = [("called.list@entries=0", 10.0), ("called.list@entries=8", 20.0)];
    assert_eq!(chosen_of(together, Met::One), lines(&expected));
}

#[test]
fn sizes_lie_on_a_line_and_one_byte_is_no_page() {
    let half = chosen(&[call("read", 10, 0, Some(10 * (512 + 4096) / 2))], Met::One);
    assert_eq!(half, lines(&[("called.read@files=1,size=512", 5.0), ("called.read@files=1,size=4096", 5.0)]));
    let cold = |bytes: u64| chosen(&[call("read", 10, 0, Some(10 * bytes))], Met::Many);
    let both = [("called.read@files=256,size=65536", 5.0), ("called.read@files=16,size=1048576", 5.0)];
    assert_eq!(cold((65_536 + 1_048_576) / 2), lines(&both));
    assert_eq!(cold(2 << 20), lines(&[("called.read@files=16,size=1048576", 20.0)]), "beyond, by the bytes");
    assert_eq!(chosen(&[call("write", 7, 0, Some(7))], Met::One), lines(&[("syscall.write.null", 7.0)]));
}

#[test]
fn a_run_that_has_one_byte_alone_prices_no_pages() {
    let book = resolve::run("pdp-11-24").expect("a book");
    let one = record::Cost { operation: "syscall.write.null".into(), at: Point::default(), ..book.costs[0].clone() };
    let list = list_of(Run { costs: vec![one], ..book });
    let terms = |bytes: u64| list.terms(&call("write", 3, 0, Some(bytes)), &Requests::default(), Met::One);
    let large = terms(3 * 40_000);
    assert!(!large.is_empty() && large.iter().all(|term| term.operation != "syscall.write.null"), "{large:?}");
    assert_eq!(shown(&terms(3)), lines(&[("syscall.write.null", 3.0)]));
}

#[test]
fn other_calls_are_priced_by_what_times_them_alone() {
    assert_eq!(chosen(&[call("getppid", 3, 0, None)], Met::Many)[0].1, 3.0);
    // An iteration makes two of them.
    for (name, id) in [("flock", "call.flock"), ("shmat", "call.shmat")] {
        assert_eq!(chosen(&[call(name, 4, 0, None)], Met::Many), lines(&[(id, 2.0)]));
    }
    assert_eq!(chosen(&[call("mkdirat", 2, 0, None)], Met::Many), lines(&[("call.mkdirat", 2.0)]));
}

/// What prices the first of these calls, if this many names were looked up and this many files created.
fn guessed(calls: &[CallCount], distinct_names: Option<u64>, creates: u64) -> Vec<(String, f64)> {
    chosen_of(Requests { calls: calls.to_vec(), distinct_names, creates, ..Requests::default() }, Met::AsCounted)
}

/// A page of a file that stays in the caches, and one of a file among many.
const WARM: &str = "called.read@files=1,size=4096";

const COLD: &str = "called.read@files=4096,size=4096";

/// Pages that are read, of which these many opens came before.
fn pages(count: u64, opens: u64) -> [CallCount; 2] {
    [call("read", count, 0, Some(count * 4096)), call("openat", opens, 0, None)]
}

#[test]
fn the_first_read_of_a_file_that_is_new_to_the_program_misses_the_caches() {
    // 10 names, looked up 40 times: a quarter of the 40 opens is the first of its file, and each has one cold read.
    assert_eq!(guessed(&pages(100, 40), Some(10), 0), lines(&[(COLD, 10.0), (WARM, 90.0)]));
    // Each file was opened once, so what was read of them was new.
    assert_eq!(guessed(&pages(100, 40), Some(40), 0), lines(&[(COLD, 100.0)]));
    // So many files do not stay in the caches until they are read again.
    assert_eq!(guessed(&pages(100, 4000), Some(MANY + 1), 0), lines(&[(COLD, 100.0)]));
    assert_eq!(guessed(&pages(100, 4000), Some(1000), 0), lines(&[(COLD, 100.0)]), "more opens than reads");
    assert_eq!(guessed(&pages(100, 0), Some(10), 0), lines(&[(COLD, 100.0)]), "each look-up was of a new name");
}

#[test]
fn reads_are_cold_or_warm_by_the_opens_where_names_are_not_counted() {
    assert_eq!(guessed(&pages(100, MANY), None, 0), lines(&[(WARM, 100.0)]));
    assert_eq!(guessed(&pages(100, MANY + 1), None, 0), lines(&[(COLD, 100.0)]));
}

#[test]
fn what_is_read_on_and_on_comes_from_memory() {
    let stream = STREAM / 4096;
    let read = |count: u64, seeks: u64, name: &str| {
        let mut calls = pages(count, 2).to_vec();
        calls[0].call = name.into();
        calls.push(call("lseek", seeks, 0, None));
        // One of 200 opens was of a new name, so that nearly all would be warm.
        calls[1].count = 200;
        guessed(&calls, Some(1), 0)
    };
    assert_eq!(read(stream + 1, 0, "read"), lines(&[(COLD, (stream + 1) as f64)]));
    let first = lines(&[(COLD, 1.0), (WARM, stream as f64 - 1.0)]);
    assert_eq!(read(stream, 0, "read"), first, "what fits the caches may have stayed there");
    // With a seek before every other read, or with an offset in the call, the same bytes may be read again.
    let again = lines(&[(COLD, 1.0), (WARM, stream as f64)]);
    assert_eq!(read(stream + 1, stream / 2 + 1, "read"), again);
    assert_eq!(read(stream + 1, 0, "pread64"), again);
}

fn waking(call: CallCount, wakes: u64) -> CallCount {
    CallCount { wakes, ..call }
}

#[test]
fn messages_that_wake_their_receiver_cost_more_than_those_that_do_not() {
    let send = waking(call("sendto", 10, 0, Some(640)), 4);
    let expected = [
        ("called.send.other@distance=other,receiver=awake,size=64", 6.0),
        ("called.send.other@distance=other,receiver=asleep,size=64", 4.0),
    ];
    assert_eq!(chosen(std::slice::from_ref(&send), Met::One), lines(&expected));
    let book = resolve::run("pdp-11-24").expect("a book");
    let mut machine = book.machine.clone();
    machine.cpu.online = 1;
    let alone = list_of(Run { machine, ..book }).terms(&send, &Requests::default(), Met::One);
    assert!(alone.iter().all(|term| term.operation == "called.send"), "{alone:?}: there is no other CPU");
}

#[test]
fn calls_that_wake_somebody_cost_more() {
    let futex = [waking(call("futex", 10, 0, None), 3)];
    let expected = [("called.futex", 7.0), ("called.futex.waiting@distance=other", 3.0)];
    assert_eq!(chosen(&futex, Met::One), lines(&expected));
    let write = [waking(call("write", 5, 0, Some(5)), 2)];
    let expected = [("syscall.write.null", 5.0), ("called.futex.waiting@distance=other", 2.0)];
    assert_eq!(chosen(&write, Met::One), lines(&expected));
}

#[test]
fn a_server_sends_by_what_it_writes_with() {
    let is_send = |name: &str, others: &[CallCount], creates: u64| {
        let calls: Vec<CallCount> = std::iter::once(call(name, 9, 0, Some(576))).chain(others.to_vec()).collect();
        guessed(&calls, None, creates)[0].0.starts_with("called.send.other")
    };
    let accepts = call("accept4", 3, 0, None);
    let only = std::slice::from_ref(&accepts);
    assert!(is_send("writev", only, 7) && is_send("sendfile", only, 0));
    assert!(is_send("write", &[accepts.clone(), call("sendfile", 3, 0, None)], 0), "httpd of busybox");
    assert!(!is_send("write", &[accepts.clone(), call("writev", 3, 0, None)], 0), "nginx writes its log");
    assert!(!is_send("write", only, 1) && !is_send("write", &[accepts.clone(), call("sendto", 3, 0, None)], 0));
    assert!(!is_send("writev", &[], 0) && !is_send("write", &[], 0) && is_send("sendto", &[], 0));
}

#[test]
fn a_server_receives_by_what_it_reads_with() {
    let reads = |others: &[CallCount]| {
        let errors = vec![NamedCount { name: "EAGAIN".into(), count: 4 }];
        let read = CallCount { call: "read".into(), count: 12, bytes: Some(8 * 64), errors, ..CallCount::default() };
        let calls: Vec<CallCount> = std::iter::once(read).chain(others.to_vec()).collect();
        guessed(&calls, None, 0)
    };
    let accepts = call("accept4", 3, 0, None);
    let expected = lines(&[("called.receive@size=64", 8.0), ("called.read@files=1,size=0", 4.0)]);
    assert_eq!(reads(std::slice::from_ref(&accepts)), expected);
    for other in [call("recvfrom", 4, 0, None), call("openat", 4, 0, None)] {
        assert_ne!(reads(&[accepts.clone(), other]), expected);
    }
    assert_ne!(reads(&[]), expected);
}

/// A call that was made on one kind of object.
fn on(name: &str, kind: &str, count: u64, bytes: Option<u64>) -> CallCount {
    let objects = vec![object(kind, count, bytes)];
    CallCount { objects, ..call(name, count, 0, bytes) }
}

#[test]
fn calls_are_priced_by_what_they_are_made_on() {
    let priced = |calls: &[CallCount]| chosen(calls, Met::One);
    assert_eq!(priced(&[on("read", "pipe", 7, Some(7 * 4096))]), lines(&[("called.pipe@size=4096", 3.5)]));
    assert_eq!(priced(&[on("read", "proc", 7, Some(9000))]), lines(&[("called.read.proc", 7.0)]));
    assert_eq!(priced(&[on("write", "null", 7, Some(7))]), lines(&[("syscall.write.null", 7.0)]));
    assert_eq!(priced(&[on("connect", "tcp", 3, None)]), lines(&[("called.connect", 3.0)]));
    assert_eq!(priced(&[on("sendto", "unix", 8, Some(8 * 512))]), lines(&[("unix.self@size=512", 4.0)]));
    assert_eq!(priced(&[on("write", "eventfd", 8, Some(64))])[0].1, 4.0, "the other half is the read");
    let sent = priced(&[on("write", "tcp", 8, Some(8 * 64))]);
    assert_eq!(sent, lines(&[("called.send.other@distance=other,receiver=awake,size=64", 8.0)]));
    let sockets = [on("close", "tcp", 5, None), on("connect", "tcp", 3, None)];
    assert_eq!(priced(&sockets), lines(&[("called.close.connection", 3.0), ("called.close.socket", 2.0)]));
    let mut some = on("read", "pipe", 4, Some(4));
    some.count = 10;
    some.bytes = Some(4 + 6 * 4096);
    let expected = [("called.pipe@size=1", 2.0), ("called.read@files=1,size=4096", 6.0)];
    assert_eq!(priced(&[some]), lines(&expected), "the rest is priced by its name");
}

#[test]
fn a_call_that_finds_nothing_has_the_price_of_one() {
    let sent = "called.send.other@distance=other,receiver=awake,size=64";
    for (name, id) in [("recvfrom", "called.receive@size=64"), ("write", sent)] {
        let mut looks = on(name, "tcp", 10, Some(2 * 64));
        looks.errors = vec![NamedCount { name: "EAGAIN".into(), count: 8 }];
        assert_eq!(chosen(&[looks], Met::One), lines(&[(id, 2.0), ("called.receive.none", 8.0)]));
    }
}

#[test]
fn tasks_woken_on_the_same_cpu_cost_less_than_those_of_another() {
    let write = CallCount { wakes: 10, near_wakes: 8, ..on("write", "pipe", 10, Some(10)) };
    let [far, near] = ["called.futex.waiting@distance=other", "called.wakes@distance=same"];
    let expected = [("called.pipe@size=1", 5.0), (near, 4.0), (far, 2.0)];
    assert_eq!(chosen(std::slice::from_ref(&write), Met::One), lines(&expected));
    // A message holds one wake-up, and the others keep theirs.
    let objects = vec![object("tcp", 3, Some(3 * 64)), object("pipe", 10, Some(10))];
    let both = CallCount { objects, count: 13, wakes: 13, bytes: Some(202), ..write };
    let sent = ("called.send.other@distance=other,receiver=asleep,size=64", 3.0);
    assert_eq!(chosen(&[both], Met::One), lines(&[&[sent][..], &expected].concat()));
}

fn wait(call: Option<&str>, reason: record::WaitReason, count: u64) -> record::Waits {
    record::Waits { call: call.map(String::from), reason, count, total_ns: 1e6, p50_ns: 1e4, p99_ns: 1e4 }
}

#[test]
fn sleeps_for_a_device_are_transfers_unless_the_call_holds_them() {
    let kernel = record::WaitReason::Kernel;
    let waits = vec![
        wait(Some("newfstatat"), kernel, 200),
        wait(None, kernel, 30),
        wait(Some("fsync"), kernel, 50),
        wait(Some("read"), record::WaitReason::Event, 70),
    ];
    let seen = Observation { together: Requests { waits, ..Requests::default() }, ..Observation::default() };
    let all = OPERATIONS.lines(&seen, Met::One);
    let transfers: Vec<_> = all.iter().filter(|line| line.term.operation == "file.read.direct").collect();
    assert_eq!(transfers.iter().map(|line| line.term.times).collect::<Vec<_>>(), [230.0]);
    assert_eq!(transfers[0].note.as_deref(), Some("transfers"));
}

/// Whatever a program calls, on whatever object, `howslow prices` measures what prices it.
#[test]
fn all_that_can_price_a_call_is_among_what_is_measured() {
    let used: BTreeSet<String> =
        all_items().iter().map(|item| format!("{}{}", item.operation.id, item.point)).collect();
    let objects = [
        "pipe", "proc", "sys", "null", "random", "tcp", "udp", "unix", "socket", "eventfd", "timerfd", "tty", "memfd",
        "file",
    ];
    let errors = || ["ENOENT", "EAGAIN"].map(|name| NamedCount { name: name.into(), count: 2 }).to_vec();
    let names: BTreeSet<&str> = catalogue::all().flat_map(|operation| operation.system_calls()).collect();
    let mut calls: Vec<CallCount> = Vec::new();
    for name in &names {
        for bytes in [None, Some(0), Some(100), Some(100 * 300), Some(100 * 9000), Some(100 << 20)] {
            let object_of = |kind: &&str| object(kind, 5, bytes);
            let objects: Vec<ObjectCount> = objects.iter().map(object_of).collect();
            for objects in [Vec::new(), objects] {
                let made = call(name, 100, 0, bytes);
                calls.push(CallCount { objects, errors: errors(), wakes: 9, near_wakes: 4, ..made });
            }
        }
    }
    for creates in [0, 40, 4000] {
        let together = Requests { calls: calls.clone(), creates, distinct_names: Some(500), ..Requests::default() };
        for one in &calls {
            for met in [Met::One, Met::Many, Met::AsCounted] {
                for (name, _) in shown(&OPERATIONS.terms(one, &together, met)) {
                    assert!(used.contains(&name), "{name} prices {} and is not measured", one.call);
                }
            }
        }
    }
    let usage = record::Usage { minor_faults: Some(99_999), voluntary_switches: Some(9), ..record::Usage::default() };
    let waits = vec![wait(Some("newfstatat"), record::WaitReason::Kernel, 9)];
    let together = Requests { forks: 9, execs: 4, huge_pages: 9, copied_pages: 99, waits, ..Requests::default() };
    let seen = Observation { usage, together, ..Observation::default() };
    for line in [seen, memory::that_ended()].iter().flat_map(|seen| OPERATIONS.lines(seen, Met::AsCounted)) {
        assert!(used.contains(&line.name()), "{}", line.name());
    }
}

#[test]
fn what_shows_how_programs_compute_is_measured_with_the_prices() {
    let items = user_items();
    for (id, sets) in USER_KINDS.into_iter().flatten() {
        let measured: Vec<&Item> = items.iter().filter(|item| item.operation.id == *id).collect();
        assert_eq!(measured.len(), sets.len().max(1), "{id}");
        assert!(measured.iter().all(|item| item.operation.points(false).contains(&item.point)), "{id}");
    }
}
