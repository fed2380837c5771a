//! Bills of observations made by hand.

use record::{CallCount, CountingCost, NamedCount, Observation, PairCount, ProcessCounts, Requests, Usage};

use super::*;

fn call(name: &str, count: u64, bytes: Option<u64>) -> CallCount {
    CallCount { call: name.into(), count, bytes, ..CallCount::default() }
}

/// The sentences of a bill without prices.
fn texts(seen: &Observation) -> String {
    bill(seen, None).findings.into_iter().map(|finding| finding.text).collect::<Vec<_>>().join("\n")
}

fn seen(calls: Vec<CallCount>) -> Observation {
    let together = Requests { calls, ..Requests::default() };
    let usage = Usage { cpu_ns: Some(2e9), system_ns: Some(1e9), user_ns: Some(1e9), ..Usage::default() };
    Observation { together, usage, ..Observation::default() }
}

#[test]
fn without_prices_there_are_counts_and_findings() {
    let bill = bill(&seen(vec![call("read", 2000, Some(2000)), call("getpid", 1000, None)]), None);
    assert_eq!(bill.rows.iter().map(|row| row.what.as_str()).collect::<Vec<_>>(), ["read", "getpid"]);
    assert!(bill.rows.iter().all(|row| row.total.is_none()));
    assert_eq!(bill.explained.value, 0.0);
    let texts: Vec<&str> = bill.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(texts[0].contains("read moved 1.0 bytes a call"), "{texts:?}");
    assert!(texts[1].contains("getpid was called 1000 times"), "{texts:?}");
    assert!(bill.findings.iter().all(|finding| finding.saves_ns.is_none()));
    let clock = super::bill(&seen(vec![call("clock_gettime", 1000, None), call("read", 90, None)]), None);
    assert!(clock.findings[0].text.contains("clock was read") && clock.findings[0].calls == ["clock_gettime"]);
}

fn counting(together_ns: f64) -> CountingCost {
    let per_call_ns = together_ns / 10.0;
    CountingCost { per_call_ns, in_program_ns: None, together_ns, method: String::new(), probe: None, alternated: None }
}

#[test]
fn counting_is_part_of_what_was_charged() {
    let mut seen = seen(vec![call("read", 10, Some(10))]);
    seen.counting = Some(counting(3e8));
    let bill = bill(&seen, None);
    assert_eq!(bill.explained_share(), Some(0.3));
    assert_eq!(bill.residual_ns(), Some(7e8));
    assert_eq!(bill.charged, Some(Charged { ns: 1e9, kernel_alone: true, range_ns: None }));
    seen.usage.system_ns = Some(0.0);
    let unsampled = super::bill(&seen, None).charged;
    assert_eq!(unsampled, Some(Charged { ns: 2e9, kernel_alone: false, range_ns: None }), "no sample is no zero");
    seen.usage = Usage { cpu_ns: Some(2e9), system_ns: Some(3e8), user_ns: Some(1e8), ..Usage::default() };
    let scaled = super::bill(&seen, None).charged;
    assert_eq!(scaled, Some(Charged { ns: 1.5e9, kernel_alone: true, range_ns: None }), "samples tell shares");
    seen.processes = vec![ProcessCounts { processes: 1000, ..ProcessCounts::default() }];
    let short = super::bill(&seen, None).charged;
    assert_eq!(short, Some(Charged { ns: 2e9, kernel_alone: false, range_ns: None }), "2 ms are too short for samples");
}

#[test]
fn habits_are_reported_and_answers_are_no_failures() {
    let mut reads = call("read", 1000, Some(1 << 20));
    reads.errors = vec![NamedCount { name: "EAGAIN".into(), count: 400 }];
    let mut opens = call("openat", 500, None);
    opens.errors = vec![NamedCount { name: "ENOENT".into(), count: 300 }];
    let mut seen = seen(vec![reads, opens, call("poll", 900, None), call("lseek", 200, None)]);
    let pair = |first: &str, then: &str, count| PairCount { first: first.into(), then: then.into(), count };
    seen.together.pairs = vec![pair("poll", "read", 800), pair("lseek", "read", 150), pair("read", "poll", 800)];
    let all = texts(&seen);
    assert!(all.contains("300 of 500 openat failed, 300 of them with ENOENT"), "{all}");
    assert!(all.contains("poll came before 800 of 1000 read"), "{all}");
    assert!(all.contains("pread does both"), "{all}");
    assert!(!all.contains("EAGAIN"), "{all}");
}

#[test]
fn nothing_saves_more_than_the_charge_however_much_counting_seems_to_take() {
    let saves = |counting_ns: f64| {
        let mut seen = seen(vec![call("mmap", 20, None), call("munmap", 20, None)]);
        (seen.usage.minor_faults, seen.usage.cpu_ns) = (Some(65_536), Some(160e6));
        let each = record::CallTime { mean_ns: 4000.0, ..Default::default() };
        seen.together.faults = Some(record::FaultTime { count: 65_536, each, kinds: None });
        seen.counting = Some(counting(counting_ns));
        bill(&seen, None).findings[0].saves_ns.expect("a saving")[1]
    };
    assert_eq!((saves(20e6), saves(200e6)), (140e6, 160e6));
}

fn sentences(calls: Vec<CallCount>, set: impl FnOnce(&mut Observation)) -> String {
    let mut seen = seen(calls);
    set(&mut seen);
    texts(&seen)
}

#[test]
fn memory_in_small_pages_and_memory_given_back_are_distinguished() {
    let calls = |times| vec![call("mmap", times, None), call("munmap", times, None)];
    let large = sentences(calls(20), |seen| seen.usage.minor_faults = Some(65_536));
    assert!(large.contains("in pages of 4 KiB") && !large.contains("given back"), "{large}");
    let again = sentences(calls(2000), |seen| seen.usage.minor_faults = Some(65_536));
    assert!(again.contains("2000 times memory was given back") && !again.contains("in pages of 4 KiB"), "{again}");
    assert!(!again.contains("huge") && !again.contains("threads"), "{again}");
    let cleared = sentences(calls(200), |seen| {
        (seen.usage.minor_faults, seen.together.huge_pages) = (Some(328), 200);
        seen.processes = vec![ProcessCounts { processes: 1, thread_count: 3, ..ProcessCounts::default() }];
    });
    assert!(cleared.contains("200 huge pages among them") && cleared.contains("the other 2 threads"), "{cleared}");
    let two = sentences(calls(2000), |seen| {
        seen.usage.minor_faults = Some(65_536);
        seen.processes = vec![ProcessCounts { processes: 1, thread_count: 2, ..ProcessCounts::default() }];
    });
    assert!(two.contains("the CPU of the other thread is interrupted"), "{two}");
    let program = sentences(calls(200), |seen| seen.usage.minor_faults = Some(120));
    assert!(!program.contains("given back"), "a program that begins has faults: {program}");
}

#[test]
fn messages_that_take_turns_have_no_use_for_a_buffer() {
    let writes = |wakes, near_wakes| vec![CallCount { wakes, near_wakes, ..call("write", 5000, Some(5000)) }];
    let alone = sentences(writes(0, 0), |_| ());
    assert!(alone.contains("with a buffer of 4 KiB") && !alone.contains("another CPU"), "{alone}");
    let far = sentences(writes(4900, 100), |_| ());
    assert!(!far.contains("with a buffer") && far.contains("4800 of 5000 write woke a task of another CPU"), "{far}");
    let near = sentences(writes(4900, 4800), |_| ());
    assert!(!near.contains("with a buffer") && !near.contains("another CPU"), "{near}");
}

#[test]
fn threads_that_wait_are_known_by_their_sleeps_and_names_by_what_was_requested_of_them() {
    let futex = |slept| {
        sentences(vec![call("futex", 5000, None)], |seen| {
            let (call, reason) = (Some("futex".into()), record::WaitReason::Event);
            seen.together.waits =
                vec![record::Waits { call, reason, count: slept, total_ns: 1e9, p50_ns: 1e5, p99_ns: 1e5 }];
        })
    };
    assert!(futex(2000).contains("5000 futex calls, of which 2000 slept, 1.00 s in all"), "{}", futex(2000));
    assert!(!futex(20).contains("slept"), "few of them wait");
    let looked_up = |times| {
        sentences(vec![call("stat", 3000, None), call("openat", 3000, None)], |seen| {
            seen.together.attributes_first = times
        })
    };
    assert!(looked_up(2900).contains("2900 opens came right after a look-up of the same name"), "{}", looked_up(2900));
    assert!(!looked_up(5).contains("came right after"), "{}", looked_up(5));
}

#[test]
fn a_line_is_compared_by_what_was_measured_where_both_bills_measured_it() {
    let seen = seen(vec![call("read", 10, None), call("write", 10, None)]);
    let written = |read: f64, write: Option<f64>| {
        let mut bill = bill(&seen, None);
        for row in &mut bill.rows {
            let measured = if row.what == "read" { Some(read) } else { write };
            (row.cpu_ns, row.measured) = (Some(100.0), measured.map(crate::statistics::Interval::exactly));
        }
        WrittenBill::of(&seen, &bill)
    };
    let (one, other) = (written(250.0, Some(150.0)), written(300.0, None));
    let times = |own: &WrittenBill, other: &WrittenBill| {
        let lines = own.lines(1.0, other);
        ["read", "write"].map(|call| lines[call].cpu_ns.expect("a time"))
    };
    assert_eq!((times(&one, &other), times(&other, &one)), ([250.0, 100.0], [300.0, 100.0]));
}

#[test]
fn a_row_that_has_no_price_for_some_of_its_calls_has_none_for_one() {
    let run = crate::example::run();
    let mix = |second: &str| {
        let text = format!(
            "name = \"a\"\nunit = \"command\"\n[[operation]]\noperation = \"syscall.read\"\ntimes = 3\nnote = \"write\"\n\
             [[operation]]\noperation = \"{second}\"\ntimes = 4999\nnote = \"write\"\n"
        );
        record::Mix::from_toml(&text).expect("a mix")
    };
    let row = |second: &str| {
        let prediction = crate::predict::predict(&mix(second), &run, 0, &|_| &[]);
        bill(&seen(vec![call("write", 5002, None)]), Some(&prediction)).row("write").expect("the row").clone()
    };
    let whole = row("syscall.getppid");
    assert!(whole.lacking == 0.0 && whole.each().is_some() && whole.whole_cpu_ns() == whole.cpu_ns);
    let part = row("called.append");
    assert_eq!((part.lacking, part.each(), part.whole_cpu_ns()), (4999.0, None, None));
    assert!(part.cpu_ns.is_some_and(|cpu| cpu > 0.0), "at least that: {part:?}");
}
