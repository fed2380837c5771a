//! What a bill is written as: folded stacks, OpenMetrics, and files that are replaced in one step.

use super::*;

#[test]
fn folded_stacks_together_are_all_calls() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let file = |name: &str| place.path().join(name).display().to_string();
    let script = "/bin/true; /bin/true; :";
    let words = ["bill", "-o", &file("x.folded"), "-o", &file("x.json"), "--", "sh", "-c", script];
    howslow(&data).args(words).assert().success();
    let text = fs::read_to_string(file("x.folded")).expect("stacks");
    let weight = |line: &str| line.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()).expect("a count");
    let all: u64 = text.lines().map(weight).sum();
    let document: Value = serde_json::from_slice(&fs::read(file("x.json")).expect("the document")).expect("JSON");
    assert_eq!(all, calls(&document).values().map(|(count, _)| count).sum::<u64>());
    assert!(text.lines().any(|line| line.starts_with("true;true;mmap;mmap ")), "{text}");
}

#[test]
fn openmetrics_are_told_each_time_and_the_file_is_whole() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let file = place.path().join("bill.prom");
    let assert = howslow(&data)
        .args(["bill", "--format", "openmetrics", "--every", "200ms", "-o"])
        .arg(&file)
        .args(["--", "sh", "-c", "sleep 0.5; kill -TERM $$"])
        .assert()
        .code(143);
    let told = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let expositions: Vec<&str> = told.split_inclusive("# EOF\n").collect();
    assert!(expositions.len() >= 2 && expositions.iter().all(|it| it.ends_with("# EOF\n")), "{told}");
    let execs = |text: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix("howslow_executed_programs_total "));
        line.and_then(|count| count.parse().ok()).expect("a counter")
    };
    // Counters never go back.
    let counts: Vec<u64> = expositions.iter().map(|text| execs(text)).collect();
    assert!(counts.is_sorted() && counts.last() == Some(&2), "{counts:?}");
    let written = fs::read_to_string(&file).expect("the file");
    // The node exporter's textfile collector cannot read OpenMetrics, so the file is in the Prometheus text format.
    let told = |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect::<Vec<_>>();
    assert_eq!(told(&written), told(expositions.last().expect("one")));
    assert!(!written.contains("# EOF") && !written.contains(" info"), "{written}");
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1, "no part of a file is left");
}

#[test]
fn numbers_alone_are_the_same_numbers() {
    let place = files();
    let script = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; :";
    for source in ["ebpf", "ptrace"] {
        let Some(data) = counting(source) else { continue };
        for words in [
            &["find", "d"][..],
            &["sh", "-c", script],
            &["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=23", "status=none"],
        ] {
            let whole = billed_by(&data, place.path(), &["--source", source], words);
            let alone = billed_by(&data, place.path(), &["--source", source, "--counts-only"], words);
            let numbers = |document: &Value| -> BTreeMap<String, u64> {
                // How often a shell waits, and is told of a child, depends on which is faster.
                let calls = calls(document).into_iter().filter(|(call, _)| call != "wait4" && call != "rt_sigreturn");
                calls.map(|(call, (count, _))| (call, count)).collect()
            };
            assert_eq!(numbers(&whole), numbers(&alone), "{source}: {words:?}");
            assert_eq!(
                (&whole["seen"]["numbers_alone"], &alone["seen"]["numbers_alone"]),
                (&false.into(), &true.into())
            );
            assert_eq!(alone["seen"]["together"]["pairs"], Value::Array(Vec::new()));
            assert!(
                alone["seen"]["together"]["calls"]
                    .as_array()
                    .is_some_and(|it| it.iter().all(|it| it["bytes"].is_null()))
            );
        }
    }
}
