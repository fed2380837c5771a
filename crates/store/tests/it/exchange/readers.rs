//! Exports read by the programs that they are written for.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use howslow_store::exchange::{BillMetrics, bill_metrics};
use record::{CallCount, Observation, Requests};
use testing::not_tested;

use super::support::{example, hostile, readers, text, written};

/// The bill of a program that made one call.
fn bill(form: BillMetrics) -> String {
    let call = CallCount { call: "read".into(), count: 23, bytes: Some(4096), ..CallCount::default() };
    let together = Requests { calls: vec![call], ..Requests::default() };
    let what = "sh -c \"a\\b\"".into();
    let seen = Observation { what, source: "eBPF".into(), elapsed_ns: 1.5e9, together, ..Observation::default() };
    bill_metrics(&seen, &analysis::bill::bill(&seen, None), form)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("a file");
}

#[test]
fn pandas_duckdb_and_python_read_what_is_exported() {
    if testing::is_for_later("readers") {
        return;
    }
    let packages = readers().join("python");
    if !packages.join("duckdb").is_dir() {
        let install = "pandas duckdb pyarrow prometheus_client";
        not_tested!("the Python packages are missing; python3 -m pip install --target target/readers/python {install}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (run, odd) = (example(), hostile());
    put(folder.path(), "run.json", &serde_json::to_vec(&run).expect("JSON"));
    for format in ["csv", "parquet"] {
        put(folder.path(), &format!("both.{format}"), &written(format, &[run.clone(), odd.clone()]));
    }
    for format in ["openmetrics", "bencher", "github-action", "hyperfine", "lmbench"] {
        put(folder.path(), &format!("run.{format}"), &written(format, std::slice::from_ref(&run)));
    }
    put(folder.path(), "hostile.openmetrics", &written("openmetrics", &[odd]));
    put(folder.path(), "bill.openmetrics", bill(BillMetrics::OpenMetrics).as_bytes());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/exchange/read.py");
    let output = Command::new("python3").arg(script).arg(folder.path()).env("PYTHONPATH", packages).output();
    let output = output.expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Gives a program its input.
fn fed(program: &Path, words: &[&str], input: &str) -> Output {
    let pipe = Stdio::piped;
    let child = Command::new(program).args(words).stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn();
    let mut child = child.expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn promtool_finds_no_fault_with_the_metrics() {
    if testing::is_for_later("readers") {
        return;
    }
    let promtool = readers().join("bin/promtool");
    if !promtool.is_file() {
        not_tested!("target/readers/bin/promtool is missing; it is in Debian's package prometheus");
        return;
    }
    let runs = [example(), hostile()];
    let expositions = [text("prometheus", &runs[..1]), text("prometheus", &runs), bill(BillMetrics::Prometheus)];
    for exposition in &expositions {
        let output = fed(&promtool, &["check", "metrics"], exposition);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && reported.trim().is_empty(), "{reported}\n{exposition}");
    }
    // It does find faults: the same with a line that no label could make.
    let output = fed(&promtool, &["check", "metrics"], &(expositions[0].clone() + "root{x=\"} 1\n"));
    assert!(!output.status.success());
}

#[test]
fn benchstat_reads_every_cost() {
    if testing::is_for_later("readers") {
        return;
    }
    let benchstat = readers().join("bin/benchstat");
    if !benchstat.is_file() {
        not_tested!("target/readers/bin/benchstat is missing; go install golang.org/x/perf/cmd/benchstat@latest");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let run = example();
    put(folder.path(), "run.txt", &written("go", std::slice::from_ref(&run)));
    put(folder.path(), "odd.txt", &written("go", &[hostile()]));
    let read = |name: &str| {
        let output = Command::new(&benchstat).args(["-format", "csv"]).arg(folder.path().join(name)).output();
        let output = output.expect("benchstat runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let reported = read("run.txt");
    let seconds = reported.lines().find_map(|line| line.strip_prefix("Syscall.getppid-1,")).expect("a line");
    let seconds: f64 = seconds.split(',').next().and_then(|text| text.parse().ok()).expect("a number");
    let own = run.cost("syscall.getppid", &[]).expect("a cost").quoted().0;
    assert!((seconds * 1e9 / own - 1.0).abs() < 0.02, "{seconds} {own}");
    let positive = run.costs.iter().filter(|cost| cost.quoted().0 > 0.0).count();
    let lines = reported.lines().filter(|line| line.contains("-1,") || line.contains("-2,")).count();
    assert!(lines >= positive, "{lines} of {positive}:\n{reported}");
    // Two runs are compared with each other.
    let other = record::Run { id: "other".into(), ..run };
    put(folder.path(), "other.txt", &written("go", &[other]));
    let output = Command::new(&benchstat).arg("run.txt").arg("other.txt").current_dir(folder.path()).output();
    let compared = String::from_utf8_lossy(&output.expect("benchstat runs").stdout).into_owned();
    assert!(compared.contains("vs base"), "{compared}");
    // A value with a blank or a line end stays in its name.
    let odd = read("odd.txt");
    assert!(odd.contains("Odd_name") && odd.contains("2_axes=a_b-7,_") && !odd.contains("\nX"), "{odd}");
}
