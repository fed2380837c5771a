//! Results that the tools themselves wrote, as runs.

use howslow_store::exchange::{IMPORTERS, ImportError, MOST_BYTES, import};
use record::{Cost, Doubt, Origin, Run, Value};

const LMBENCH: &str = include_str!("../../data/lmbench.0");
const HYPERFINE: &str = include_str!("../../data/hyperfine.json");
const GOOGLE: &str = include_str!("../../data/google-benchmark.json");
const GOOGLE_SINGLE: &str = include_str!("../../data/google-benchmark-single.json");
const GOOGLE_AGGREGATES: &str = include_str!("../../data/google-benchmark-aggregates.json");
const CRITERION: &str = include_str!("../../data/criterion.jsonl");

fn read(text: &str) -> Run {
    let run = import(text, None).expect("a result");
    assert_eq!(run.origin, Origin::Imported);
    assert!(run.costs.iter().all(|cost| cost.operation.starts_with("imported.")));
    // What is imported can be kept and read again.
    let bytes = serde_json::to_vec(&Run { id: "a".into(), ..run.clone() }).expect("JSON");
    let again = record::run_from_bytes(&bytes).expect("a run");
    assert_eq!((again.origin, &again.tool, again.costs.len()), (run.origin, &run.tool, run.costs.len()));
    run
}

fn cost<'a>(run: &'a Run, id: &str, at: &[(&str, Value)]) -> &'a Cost {
    run.cost(id, at)
        .unwrap_or_else(|| panic!("{id} is not in {:?}", run.costs.iter().map(Cost::name).collect::<Vec<_>>()))
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs()
}

#[test]
fn lines_and_blocks_of_lmbench_are_costs_without_intervals() {
    let run = read(LMBENCH);
    assert_eq!((run.tool.as_str(), run.machine.kernel.release.as_str()), ("lmbench 3.0", "6.18.44"));
    let number = |axis, value| [(axis, Value::Number(value))];
    let figures = [
        ("simple.syscall", vec![], 176.2),
        ("simple.open.close", vec![], 3673.3),
        ("process.fork.exit", vec![], 748_941.2),
        ("select", number("descriptors", 100).to_vec(), 6190.2),
        ("double.mul", vec![], 0.82),
        ("pagefaults", vec![], 70.8),
        ("mappings", number("size", 524_288).to_vec(), 23_000.0),
        ("file.create", number("size", 0).to_vec(), 1e9 / 29_109.0),
        ("pipe.bandwidth", vec![], 1e9 / 2419.99),
        ("memory.read.bandwidth", number("size", 16_384).to_vec(), 16_384.0 * 1e3 / 6364.91),
        ("context.switch", vec![("processes", Value::Number(8)), ("set", Value::Number(16_384))], 4080.0),
        ("memory.load.latency", vec![("set", Value::Number(131_072)), ("stride", Value::Number(128))], 7.459),
        // Rounded to two and five digits.
        ("read.bandwidth", number("size", 1_048_576).to_vec(), 1_048_576.0 * 1e3 / 10_013.10),
        ("memory.load.latency", vec![("set", Value::Number(1024)), ("stride", Value::Number(128))], 3.549),
    ];
    for (id, at, ns) in figures {
        let cost = cost(&run, &format!("imported.lmbench.{id}"), &at);
        assert!(close(cost.quoted().0, ns), "{id}: {} instead of {ns}", cost.quoted().0);
        assert!(!cost.has_interval() && cost.doubts == [Doubt::NoScatter], "{id}: {:?}", cost.doubts);
    }
    // lmbench's own compiler removes that loop, so that it prints 0.00.
    assert!(run.skipped.iter().any(|skip| skip.operation == "imported.lmbench.int64.add"), "{:?}", run.skipped);
    let like = |id: &str| cost(&run, &format!("imported.lmbench.{id}"), &[]).like.clone();
    assert_eq!(like("simple.syscall"), ["syscall.getppid"]);
    assert!(like("simple.stat").is_empty(), "it looks up another path");
    // Lines that stand there twice are two runs of a program.
    let twice = cost(&run, "imported.lmbench.file.create", &[("size", Value::Number(10_240))]);
    assert!(twice.has_interval() && twice.rounds.len() == 2, "{twice:?}");
}

#[test]
fn rounded_sizes_of_lmbench_are_those_that_it_takes() {
    let text = "[lmbench3.0]\nlibc bcopy unaligned\n67.11 19737.90\n10.485760 4000\n\nMemory load latency\n\"stride=16\n\
                0.00049 1.5\n0.00293 1.6\n0.00879 1.7\n";
    let run = read(text);
    let sizes: Vec<String> = run.costs.iter().map(|cost| cost.at.to_string()).collect();
    let sets = [512, 3072, 9216].map(|set| format!("@set={set},stride=16"));
    assert_eq!(sizes, [&["@size=67108864".to_string(), "@size=10485760".to_string()][..], &sets].concat());
    assert!(run.costs[0].like == ["memory.copy@size=67108864"] && run.costs[0].bytes.0 == 67_108_864);
}

#[test]
fn times_of_hyperfine_are_rounds() {
    let run = read(HYPERFINE);
    let cost = cost(&run, "imported.hyperfine.sleep 0.001", &[("n", Value::Number(1))]);
    assert!(close(cost.quoted().0, 2_081_957.5), "the median of its times: {}", cost.quoted().0);
    assert!(cost.has_interval() && cost.rounds.len() == 8, "{:?}", cost.net_ns);
    assert!(close(cost.cpu_ns.user.0, 852_500.0) && close(cost.cpu_ns.system.0, 102_625.0));
    let without =
        r#"{"results":[{"command":"x","mean":0.5,"stddev":0.1,"median":0.4,"user":0,"system":0,"min":0.1,"max":1}]}"#;
    let run = read(without);
    assert!(close(run.costs[0].quoted().0, 4e8) && run.costs[0].doubts == [Doubt::NoScatter]);
    // What is below the time of a shell becomes 0.
    let clamped = without.replace("\"user\"", "\"times\":[0.0,0.4,0.5],\"exit_codes\":[0,2,null],\"user\"");
    let run = read(&clamped);
    assert!(close(run.costs[0].quoted().0, 4e8) && run.costs[0].doubts == [Doubt::NoScatter]);
    assert_eq!(run.skipped[0].reason, "2 of its 3 runs failed, which are among its times");
}

#[test]
fn parameters_of_hyperfine_stay_as_they_were_given() {
    let result =
        |n: &str, code: u8| format!(r#"{{"command":"x","mean":0.5,"exit_codes":[{code}],"parameters":{{"n":"{n}"}}}}"#);
    let results = [result("8", 0), result("08", 1), result("+8", 0), result("007", 0)];
    let run = read(&format!(r#"{{"results":[{}]}}"#, results.join(",")));
    let points: Vec<String> = run.costs.iter().map(|cost| cost.at.to_string()).collect();
    assert_eq!(points, ["@n=8", "@n=08", "@n=+8", "@n=007"]);
    assert_eq!(run.costs[0].at.number("n"), Some(8));
    // What is said of runs that failed is said of their cost.
    assert_eq!(run.skipped.iter().map(|skip| &skip.at).collect::<Vec<_>>(), [&run.costs[1].at]);
}

#[test]
fn repetitions_of_google_benchmark_come_from_one_process() {
    let run = read(GOOGLE);
    let memcpy = cost(&run, "imported.google-benchmark.BM_memcpy/64", &[]);
    assert!(memcpy.has_interval() && memcpy.doubts.contains(&Doubt::OneProcess { samples: 6 }), "{:?}", memcpy.doubts);
    assert_eq!((memcpy.rounds.len(), memcpy.rounds[0].ns.len(), memcpy.bytes.0), (1, 6, 64));
    assert_eq!((run.started.as_str(), run.machine.cpu.online), ("2026-11-22T20:54:15+00:00", 2));
    let aggregates = read(GOOGLE_AGGREGATES);
    let memcpy = cost(&aggregates, "imported.google-benchmark.BM_memcpy/64", &[]);
    assert!(memcpy.has_interval() && memcpy.rounds.is_empty(), "{memcpy:?}");
    let single = read(GOOGLE_SINGLE);
    assert!(single.costs.iter().all(|cost| !cost.has_interval() && cost.doubts == [Doubt::NoScatter]));
    let micro = cost(&single, "imported.google-benchmark.slow", &[]).quoted().0;
    let nano = cost(&single, "imported.google-benchmark.BM_getppid", &[]).quoted().0;
    assert!((0.1..10.0).contains(&(micro / nano)), "units are converted: {micro} {nano}");
    let counters = r#""time_unit": "ns", "threads": 2.5, "name": 7.0, "skipped": 3.0, "error_occurred": 1.0, "aggregate_name": 2.0, "skip_message": 1.0,"#;
    let named_alike = GOOGLE_SINGLE.replace("\"time_unit\": \"ns\",", counters);
    assert!(named_alike != GOOGLE_SINGLE && read(&named_alike).costs == single.costs, "counters are no fields");
    let nan = GOOGLE_SINGLE.replacen("\"real_time\": ", "\"real_time\": NaN, \"was\": ", 1);
    let run = read(&nan);
    assert_eq!((run.costs.len(), run.skipped.len()), (3, 1), "what is no number is left out, and said");
}

#[test]
fn aggregates_of_an_older_google_benchmark_are_known_by_their_names() {
    let entry =
        |name: &str, ns: f64| format!(r#"{{"name":"{name}","real_time":{ns},"cpu_time":{ns},"time_unit":"ns"}}"#);
    let imported = |entries: &[String]| {
        let context = r#""context":{"date":"2018-05-01 10:20:30","num_cpus":8}"#;
        read(&format!(r#"{{{context},"benchmarks":[{}]}}"#, entries.join(",")))
    };
    let ids = |run: &Run| run.costs.iter().map(|cost| cost.operation.clone()).collect::<Vec<_>>();
    let aggregates = ["BM_x_mean", "BM_x_median", "BM_x_stddev"].map(|name| entry(name, 2.0));
    let run = imported(&[&[entry("BM_x", 100.0), entry("BM_x", 102.0)][..], &aggregates].concat());
    assert_eq!((ids(&run), run.costs[0].rounds[0].ns.len()), (vec!["imported.google-benchmark.BM_x".into()], 2));
    assert_eq!((run.started.as_str(), run.costs[0].cpu_ns.user.0), ("2018-05-01T10:20:30Z", 101.0));
    assert_eq!(ids(&imported(&aggregates)), ["imported.google-benchmark.BM_x"], "only aggregates were printed");
    let other = imported(&[entry("BM_x", 100.0), entry("BM_x_mean", 50.0)]);
    assert_eq!(other.costs.len(), 2, "one repetition has no aggregate");
}

#[test]
fn what_google_benchmark_has_no_figure_of_is_left_out_with_its_reason() {
    let entry = |name: &str, more: &str| {
        format!(
            r#"{{"name":"{name}","run_name":"{name}","run_type":"iteration","real_time":100.0,"time_unit":"ns"{more}}}"#
        )
    };
    let entries = [
        entry("BM_r", r#","loss": -Infinity"#),
        entry("BM_r", r#","error_occurred":true,"error_message":"boom""#),
        entry("BM_r", ""),
        entry("BM_gone", r#","skipped":true,"skip_message":"no gpu""#),
    ];
    let run = read(&format!(r#"{{"context":{{}},"benchmarks":[{}]}}"#, entries.join(",")));
    assert_eq!((run.costs.len(), run.costs[0].rounds[0].ns.len()), (1, 2));
    let name = |skip: &record::Skip| skip.operation.replace("imported.google-benchmark.", "");
    let skips: Vec<String> = run.skipped.iter().map(|skip| format!("{}: {}", name(skip), skip.reason)).collect();
    assert_eq!(skips, ["BM_r: one repetition is left out: boom", "BM_gone: no gpu"]);
}

#[test]
fn criterion_keeps_the_interval_of_its_file() {
    let run = read(CRITERION);
    assert_eq!(run.costs.len(), 3);
    let clone = cost(&run, "imported.criterion.copy/clone/64", &[]);
    assert!(clone.has_interval() && clone.bytes.0 == 64 && clone.rounds[0].ns.len() == 10, "{clone:?}");
    assert!(matches!(clone.doubts[..], [Doubt::OneProcess { samples: 10 }]));
    let message = cost(&run, "imported.criterion.sum", &[]);
    assert_eq!((message.quoted().0, message.net_ns.low.0, message.net_ns.high.0), (1500.0, 1400.0, 1700.0));
}

#[test]
fn a_folder_of_criterion_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = folder.path().join("copy/clone/64/new");
    std::fs::create_dir_all(&new).expect("a folder");
    assert!(matches!(howslow_store::exchange::gather(folder.path()), Err(ImportError::Nothing { .. })));
    let line: serde_json::Value = serde_json::from_str(CRITERION.lines().next().expect("a line")).expect("JSON");
    for part in ["benchmark", "estimates", "sample"] {
        std::fs::write(new.join(format!("{part}.json")), line[part].to_string()).expect("a file");
    }
    let run = read(&howslow_store::exchange::gather(folder.path()).expect("a benchmark"));
    assert_eq!(run.costs[0].operation, "imported.criterion.copy/clone/4096");
    std::fs::write(new.join("estimates.json"), "{\"mean\":").expect("a file");
    assert!(matches!(howslow_store::exchange::gather(folder.path()), Err(ImportError::Damaged { .. })));
}

#[test]
fn damaged_results_are_errors() {
    for text in [HYPERFINE, GOOGLE, CRITERION, LMBENCH] {
        for part in 0..40 {
            let mut end = text.len() * part / 40;
            end -= (0..4).find(|back| text.is_char_boundary(end.saturating_sub(*back))).unwrap_or(0).min(end);
            // An error, or, of formats by line, the lines that are whole.
            if let Ok(run) = import(&text[..end], None) {
                assert!(!run.costs.is_empty() && (text == LMBENCH || text == CRITERION), "{end}");
            }
        }
    }
    let cut = import(&HYPERFINE[..900], None).expect_err("half a document").to_string();
    assert!(cut.starts_with("not a whole hyperfine result (damaged or truncated?): EOF"), "{cut}");
    for text in ["", "{}", "[]", "hello", "{\"results\":3}", "\u{0}\u{1}"] {
        assert!(matches!(import(text, None), Err(ImportError::Unknown { .. })), "{text}");
    }
    for format in IMPORTERS {
        assert!(import("hello", Some(format)).is_err(), "{}", format.name);
    }
}

#[test]
fn hostile_results_stay_data() {
    let text = r#"{"results":[{"command":"a@b=1\u001b[2J\n=x","mean":1,"times":[1,2,3]},{"command":"neg","mean":-1},
        {"command":"neg","mean":2},{"command":"big","mean":1e308,"times":[1e308,1e308]}]}"#;
    let run = read(text);
    let ids: Vec<&str> = run.costs.iter().map(|cost| cost.operation.as_str()).collect();
    // What had no figure does not stand in the way of what has one.
    assert_eq!(ids, ["imported.hyperfine.a_b=1\u{fffd}[2J\u{fffd}=x", "imported.hyperfine.neg"]);
    assert_eq!(run.skipped.len(), 2, "{:?}", run.skipped);
    let large = " ".repeat(MOST_BYTES as usize + 1);
    assert!(matches!(import(&large, None), Err(ImportError::TooLarge)));
}
