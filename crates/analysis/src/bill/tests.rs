//! Bills of observations made by hand.

use record::{CallCount, CountingCost, NamedCount, Observation, PairCount, ProcessCounts, Requests, Usage};

use super::*;

fn call(name: &str, count: u64, bytes: Option<u64>) -> CallCount {
    CallCount { call: name.into(), count, bytes, ..CallCount::default() }
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
}

#[test]
fn counting_is_part_of_what_was_charged() {
    let mut seen = seen(vec![call("read", 10, Some(10))]);
    seen.counting = Some(CountingCost {
        per_call_ns: 3e7,
        in_program_ns: None,
        together_ns: 3e8,
        method: String::new(),
        probe: None,
        alternated: None,
    });
    let bill = bill(&seen, None);
    assert_eq!(bill.explained_share(), Some(0.3));
    assert_eq!(bill.residual_ns(), Some(7e8));
    assert_eq!(bill.charged, Some(Charged { ns: 1e9, kernel_alone: true }));
    seen.usage.system_ns = Some(0.0);
    let unsampled = super::bill(&seen, None).charged;
    assert_eq!(unsampled, Some(Charged { ns: 2e9, kernel_alone: false }), "no sample is no zero");
    seen.usage = Usage { cpu_ns: Some(2e9), system_ns: Some(3e8), user_ns: Some(1e8), ..Usage::default() };
    let scaled = super::bill(&seen, None).charged;
    assert_eq!(scaled, Some(Charged { ns: 1.5e9, kernel_alone: true }), "samples tell shares");
    seen.processes = vec![ProcessCounts { processes: 1000, ..ProcessCounts::default() }];
    let short = super::bill(&seen, None).charged;
    assert_eq!(short, Some(Charged { ns: 2e9, kernel_alone: false }), "2 ms are too short for samples");
}

#[test]
fn habits_are_told_and_answers_are_no_failures() {
    let mut reads = call("read", 1000, Some(1 << 20));
    reads.errors = vec![NamedCount { name: "EAGAIN".into(), count: 400 }];
    let mut opens = call("openat", 500, None);
    opens.errors = vec![NamedCount { name: "ENOENT".into(), count: 300 }];
    let mut seen = seen(vec![reads, opens, call("poll", 900, None), call("lseek", 200, None)]);
    let pair = |first: &str, then: &str, count| PairCount { first: first.into(), then: then.into(), count };
    seen.together.pairs = vec![pair("poll", "read", 800), pair("lseek", "read", 150), pair("read", "poll", 800)];
    let texts: Vec<String> = bill(&seen, None).findings.into_iter().map(|finding| finding.text).collect();
    let all = texts.join("\n");
    assert!(all.contains("300 of 500 openat failed, 300 of them with ENOENT"), "{all}");
    assert!(all.contains("poll came before 800 of 1000 read"), "{all}");
    assert!(all.contains("pread does both"), "{all}");
    assert!(!all.contains("EAGAIN"), "{all}");
}

#[test]
fn a_row_that_has_no_price_for_some_of_its_calls_has_none_for_one() {
    const EXAMPLE: &str = include_str!("../../../record/tests/data/example-run.json");
    let run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("the example");
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
