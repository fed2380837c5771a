//! `howslow time --bench`: bench programs in C, Python and others, good and bad; two builds; a git revision; the script for CI.

mod limits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{cc, cost, count, folder, howslow, run_of};

/// Good benchmarks. `EXTRA` is how many percent more `chain` does.
const SOURCE: &str = include_str!("bench/good.c");

/// Those that harm their process.
const BAD: &str = include_str!("bench/bad.c");

fn harness(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../harness").join(path)
}

/// Compiles the program with so many percent more work; `None` without a compiler.
fn compiled(folder: &Path, extra: i32) -> Option<PathBuf> {
    let (from, to) = (folder.join("bench.c"), folder.join(format!("bench-{extra}")));
    fs::write(&from, format!("{SOURCE}{BAD}")).expect("written");
    let (define, include) = (format!("-DEXTRA={extra}"), harness("c"));
    cc(to, ["-O2", "-Wall", "-Wno-unused-result", text(&from), &define, "-I", text(&include)])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn time(data: &TempDir, words: &[&str]) -> assert_cmd::assert::Assert {
    howslow(data).args(["time", "--bench"]).args(words).assert()
}

fn benchmark<'d>(document: &'d Value, name: &str) -> &'d Value {
    let all = document["benchmarks"].as_array().expect("benchmarks");
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {document}"))
}

/// A comparison that is judged as expected, with more time if a busy host left it open or deceived it.
fn judged(compare: &mut dyn FnMut(&str) -> Value, is_right: &dyn Fn(&Value) -> bool) {
    let mut last = Value::Null;
    for budget in ["1s", "4s", "16s", "50s"] {
        last = benchmark(&compare(budget), "chain").clone();
        if is_right(&last) {
            return;
        }
    }
    panic!("{last}");
}

/// True if it is slower, and may be so by a factor in this range.
fn is_slower(one: &Value, [least, most]: [f64; 2]) -> bool {
    let end = |key: &str| one[key].as_f64().unwrap_or(f64::NAN);
    one["verdict"] == "slower" && end("low") < most && end("high") > least
}

fn is_no_change(one: &Value) -> bool {
    one["verdict"] == "same" || one["verdict"] == "inconclusive"
}

#[test]
fn a_program_is_measured_as_every_operation_is_and_what_misbehaves_costs_itself() {
    let data = folder();
    let Some(program) = compiled(data.path(), 0) else { return };
    let words = ["--filter", "nothing", "--filter", "chain", "--filter", "moves", "--filter", "leaks", "--json"];
    let mut command = howslow(&data);
    command.args(["time", "--budget", "3s"]).args(words).arg("--bench").arg(&program);
    let run = run_of(&command.output().expect("runs"));
    let [nothing, chain] = ["nothing", "chain"].map(|name| cost(&run, name).quoted().0);
    // 2000 turns of the inner loop take 2000 cycles or less, and nothing takes none.
    assert!(nothing.abs() < 0.02 * chain, "{nothing:?} {chain:?}");
    assert!(chain > 100.0, "{chain:?}");
    what_misbehaves_costs_itself_one_clear_line(&data, &program);
    limits::one_cpu_is_enough_and_so_is_no_permission_to_pin(&data, &program);
}

fn what_misbehaves_costs_itself_one_clear_line(data: &TempDir, program: &Path) {
    for (name, expected) in [
        ("bad_crash", "was killed by signal 11 while it ran bad_crash"),
        ("bad_exit", "ended with exit status 7 while it ran bad_exit: no more"),
        ("bad_hang", "did not answer within 1 s while it ran bad_hang; --patience gives it more"),
        ("bad_fork", "was killed by signal 9"),
        ("bad_empty", "it returned without HOWSLOW_REPEAT"),
    ] {
        let program = text(program);
        let words = [program, program, "--filter", name, "--exact", "--patience", "1s", "--budget", "300ms"];
        let found = time(data, &words).code(1).stdout("");
        let found = String::from_utf8_lossy(&found.get_output().stderr);
        assert!(found.contains(expected) && found.trim().lines().count() == 1, "{name}: {found}");
    }
    // What prints, or goes elsewhere, is measured beside one that fails.
    let filters = ["--filter", "prints", "--filter", "moves", "--filter", "bad_exit", "--budget", "1s"];
    let expected = contains("bad_exit: ").and(contains("PRINTED").not()).and(contains("3 benchmarks"));
    time(data, &[&[text(program); 2][..], &filters].concat()).code(3).stdout(expected);
}

#[test]
fn programs_in_python_and_of_other_harnesses_are_run_in_turn() {
    let data = folder();
    programs_of_go_test_are_run_in_turn(&data);
    let source = "import sys, time\nsys.path.insert(0, sys.argv[0] and 'HARNESS')\nimport howslow_bench\n\
        @howslow_bench.bench(args=[10, 100])\ndef total(count):\n    return sum(range(count))\n\
        @howslow_bench.bench(args=['a\\nb', 'a\\tb'])\ndef odd(text):\n    return text\n\
        @howslow_bench.bench\ndef sort():\n    numbers = [3, 1, 2]\n    yield lambda: sorted(numbers)\n    numbers.clear()\n\
        @howslow_bench.bench\ndef fails():\n    raise ValueError('never')\n\
        if __name__ == '__main__':\n    howslow_bench.main()\n";
    let program = data.path().join("bench.py");
    fs::write(&program, source.replace("HARNESS", text(&harness("python")))).expect("written");
    let python = |words: &[&str]| Command::new("python3").arg(&program).args(words).env("HOWSLOW", "").output();
    let Ok(listed) = python(&["--list"]) else {
        testing::not_tested!("there is no python3");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "total/10\ntotal/100\nodd/a?b\nodd/a?b#2\nsort\nfails\n");
    let results = data.path().join("results.json");
    let plain = python(&["total/10", "-o", text(&results)]).expect("it runs");
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let results: Value = serde_json::from_slice(&fs::read(results).expect("written")).expect("JSON");
    let first = &results["benchmarks"][0];
    assert!(first["metadata"]["name"] == "total/10" && first["runs"][0]["values"][0].as_f64() > Some(0.0), "{first}");
    // The first option that is not its own, and all behind it, are for howslow.
    let howslow = data.path().join("howslow");
    testing::executable(&howslow, &b"#!/bin/sh\necho \"$@\"\n"[..]);
    let mut handed = Command::new("python3");
    handed.arg(&program).args(["sort", "--against", "old.py", "-o", "x.json"]).env("HOWSLOW", howslow);
    let handed = handed.output().expect("it runs");
    let expected = format!("time --bench {} --filter sort --against old.py -o x.json\n", text(&program));
    assert_eq!(String::from_utf8_lossy(&handed.stdout), expected);
    let words = [text(&program), text(&program), "--filter", "sort", "--filter", "fails", "--budget", "1s"];
    time(&data, &words).code(3).stdout(contains("fails: ValueError: never").and(contains("sort  ")));
}

fn programs_of_go_test_are_run_in_turn(data: &TempDir) {
    // What `go test -c` gives, by its output: an ELF file is recognized by its marks, and this interpreter stands for it.
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(int count, char **words) {
            const char *mark = "test.benchtime";
            int filtered = 0;
            for (int i = 1; i < count; i++) filtered |= !strcmp(words[i], "-test.bench=Sum");
            if (!filtered) { fputs("no filter\n", stderr); return 1; }
            printf("goos: linux\nBenchmarkSum-2\t1000\t%d ns/op\nBenchmarkSum%d-2\t1000\t1 ns/op\nPASS\n", TIME + (mark[0] != 't'), TIME);
            return 0;
        }"#;
    let from = data.path().join("go.c");
    fs::write(&from, source).expect("written");
    let build = |time: i32| cc(data.path().join(format!("go-{time}")), [&format!("-DTIME={time}"), text(&from)]);
    let (Some(old), Some(new)) = (build(100), build(150)) else { return };
    let words = [text(&old), text(&new), "--filter", "Sum", "--budget", "100ms", "--fail-on", "slower"];
    let page = contains("BenchmarkSum-2  100 ns  150 ns").and(contains("only the old build has BenchmarkSum100-2"));
    time(data, &words).code(4).stdout(page).stderr(contains("the gate failed: BenchmarkSum-2"));
    let words = [text(&new), "--against", text(&old), "--layouts", "2"];
    time(data, &words).code(2).stderr(contains("--layouts: programs of go test are compared only as cargo links them"));
    time(data, &[text(&old), text(&new), "--filter", "None"]).code(1).stderr(contains("no filter"));
    time(data, &[text(&old)]).code(2).stderr(contains("a program of go test times itself"));
}

/// A new repository in this folder: what git prints there, which succeeds.
fn git_in(place: &Path) -> impl Fn(&[&str]) -> String {
    let git = move |words: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").args(identity).args(words).current_dir(place).output().expect("git");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["init", "-q"]);
    git
}

#[test]
fn the_script_for_ci_compares_two_commits_and_keeps_a_history() {
    let data = folder();
    if compiled(data.path(), 0).is_none() {
        return;
    }
    let place = data.path().join("repository");
    fs::create_dir(&place).expect("a folder");
    let git = git_in(&place);
    let commit = |extra: i32| {
        let source = SOURCE.replace("#define EXTRA 0", &format!("#define EXTRA {extra}"));
        fs::write(place.join("bench.c"), source).expect("written");
        git(&["add", "bench.c"]);
        git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    };
    // A change that a busy host shows within seconds.
    [0, 0, 20].into_iter().for_each(commit);
    let build = format!("cc -O2 -w -I'{}' -o bench bench.c", text(&harness("c")));
    let script = |words: &[&str]| {
        let mut script = Command::new(harness("ci/compare"));
        script.args(["--build", &build, "--program", "bench"]).args(words).current_dir(&place);
        script.env("HOWSLOW", assert_cmd::cargo::cargo_bin!("howslow")).env("HOWSLOW_DATA", data.path());
        script.env("TMPDIR", data.path()).env("GITHUB_STEP_SUMMARY", data.path().join("summary.md"));
        script.output().expect("the script runs")
    };
    let result = |base: &str, budget: &str| {
        let output = script(&["--base", base, "--budget", budget, "--history", "results"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document = fs::read(place.join("howslow-results/bench.json")).expect("written");
        serde_json::from_slice::<Value>(&document).expect("JSON")
    };
    judged(&mut |budget| result("HEAD~1", budget), &|one| is_slower(one, [1.15, 1.25]));
    let comment = fs::read_to_string(place.join("howslow-results/comment.md")).expect("a comment");
    assert!(comment.contains("slower** | <code>chain</code> |") && comment.contains("False alarms here:"), "{comment}");
    assert_eq!(git(&["ls-tree", "--name-only", "results"]), "badge.svg\nhistory.jsonl\n");
    let history = git(&["show", "results:history.jsonl"]);
    let first: Value = serde_json::from_str(history.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["commit"], git(&["rev-parse", "HEAD"]).trim());
    assert!(fs::read_to_string(data.path().join("summary.md")).expect("a summary").contains("<code>chain</code>"));
    let gate = script(&["--base", "HEAD~1", "--budget", "2s", "--fail-on", "slower", "--at-least", "50%"]);
    assert_eq!(gate.status.code(), Some(0), "{}", String::from_utf8_lossy(&gate.stderr));
    git(&["checkout", "-q", "HEAD~1"]);
    judged(&mut |budget| result("HEAD~1", budget), &is_no_change);
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1, "no work tree is left");
    assert_eq!(script(&["--base", "nothing"]).status.code(), Some(2));
    assert_eq!(script(&["--base", "HEAD~1", "--out", "."]).status.code(), Some(2), "it would remove files of others");
}

#[test]
fn cargo_bench_compares_with_a_revision_and_leaves_nothing() {
    let data = folder();
    let place = data.path().join("package");
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let source = |extra: u32| {
        format!(
            "fn main() {{ howslow_bench::main(); }}\n#[howslow_bench::bench]\nfn chain() -> u64 {{\n    \
             (0..20 * (100 + {extra})).fold(1, |sum: u64, _| howslow_bench::black_box(sum ^ 5))\n}}\n"
        )
    };
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench");
    let manifest = format!(
        "[package]\nname = 'p'\nedition = '2021'\n[dev-dependencies]\nhowslow-bench.path = '{}'\n[[bench]]\nname = 'all-sums'\n\
         harness = false\n[workspace]\n",
        text(&harness)
    );
    write("Cargo.toml", &manifest);
    write("src/lib.rs", "");
    write(".gitignore", "target\n");
    let git = git_in(&place);
    for bench in ["fn main() { does not build }".to_owned(), source(0)] {
        write("benches/all-sums.rs", &bench);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "work"]);
    }
    write("benches/all-sums.rs", &source(5));
    let scratch = data.path().join("scratch");
    fs::create_dir(&scratch).expect("a folder");
    let bench = |words: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(["bench", "--quiet", "--offline", "--bench", "all-sums", "--"]).args(words).current_dir(&place);
        cargo.env("HOWSLOW", assert_cmd::cargo::cargo_bin!("howslow")).env("HOWSLOW_DATA", data.path());
        cargo.env("TMPDIR", &scratch).env_remove("CARGO_TARGET_DIR");
        let output = cargo.output().expect("cargo");
        (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let compare = &mut |budget: &str| {
        let words = ["chain", "--against", "HEAD", "--layouts", "0", "--json", "--budget", budget];
        let (_, document, errors) = bench(&words);
        serde_json::from_slice(&document).unwrap_or_else(|_| panic!("{errors}"))
    };
    judged(compare, &|one| is_slower(one, [1.03, 1.07]));
    let (status, _, errors) = bench(&["--against", "HEAD~1"]);
    let expected = "--against HEAD~1: cargo cannot build it; its messages are above";
    assert!(status == Some(1) && errors.contains(expected), "{errors}");
    let (status, _, errors) = bench(&["--against", "nowhere"]);
    assert!(status == Some(2) && errors.contains("no git revision, folder or program is called so"), "{errors}");
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(count(&scratch), 0);
}
