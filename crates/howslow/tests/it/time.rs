//! `howslow time`: well-behaved and misbehaving routines, commands, and misuse that is reported before anything runs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use record::Run;
use tempfile::TempDir;

use crate::support::{self, cc, cost, folder, howslow, prints_nothing};

const OBJECT: &str = include_str!("time/object.c");

struct Place {
    folder: TempDir,
    object: Option<PathBuf>,
}

/// A folder with the object, if there is a C compiler.
fn place() -> Place {
    let folder = folder();
    let object = compiled(folder.path(), "object", OBJECT);
    Place { folder, object }
}

fn compiled(folder: &Path, name: &str, source: &str) -> Option<PathBuf> {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    fs::write(&from, source).expect("written");
    cc(to, ["-O1", "-w", "-shared", "-fPIC"].map(OsStr::new).into_iter().chain([from.as_os_str()]))
}

impl Place {
    fn time(&self) -> Command {
        let mut command = howslow(&self.folder);
        let scratch = self.folder.path().join("scratch");
        fs::create_dir_all(&scratch).expect("a folder");
        command.env("HOWSLOW_DATA", self.folder.path().join("data")).env("TMPDIR", &scratch);
        command.current_dir(self.folder.path()).arg("time");
        command
    }

    fn nothing_left(&self) {
        let scratch = fs::read_dir(self.folder.path().join("scratch")).expect("a folder");
        let left: Vec<_> = scratch.flatten().map(|entry| entry.file_name()).collect();
        assert!(left.is_empty(), "left in the scratch folder: {left:?}");
        // Any process that still runs would have this folder as its working folder.
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let folder = self.folder.path().canonicalize().expect("a path");
        let here: Vec<_> =
            processes.filter(|one| fs::read_link(one.path().join("cwd")).is_ok_and(|cwd| cwd == folder)).collect();
        assert!(here.is_empty(), "still running: {here:?}");
    }
}

const QUICK: [&str; 6] = ["--rounds", "1", "--precision", "100%", "--budget", "3s"];

fn run_of(result: Assert) -> Run {
    support::run_of(result.get_output())
}

/// Routines of the test, and those of the guide.
#[test]
fn routines_are_timed_called_and_counted() {
    let place = place();
    let guide = guide(&place);
    if place.object.is_none() {
        return;
    }
    let names: Vec<&str> = ["./object.so:good", "object.so:good_times"].into_iter().chain(guide).collect();
    let run = run_of(place.time().args(&names).args(QUICK).arg("--json").assert().success());
    assert_eq!(run.settings.patterns, names);
    let (called, counted) = (cost(&run, names[0]), cost(&run, names[1]));
    assert!(called.quoted().0 > 0.0 && counted.quoted().0 > 0.0);
    assert_eq!((called.per.as_str(), called.heading()), ("call", "routines"));
    assert_eq!((counted.per.as_str(), counted.terms.len()), ("iteration", 0));
    assert_eq!(called.terms[0].operation, "loop.empty");
    // All are quoted in block moves, so the block move is measured with them.
    assert!(run.costs.iter().any(|cost| cost.name() == "memory.copy@size=512"));
    // The net of such a short time, from a single round, can be below zero; the gross cannot.
    assert!(names.iter().all(|name| cost(&run, name).gross_ns.best.0 > 0.0));
    place.nothing_left();
}

/// The compiled examples of the guide.
fn guide(place: &Place) -> Vec<&'static str> {
    let guide =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/GUIDE.md")).expect("the guide");
    let example = |language: &str| {
        let after = guide.split(&format!("```{language}\n")).nth(1).expect("an example");
        after.split("```").next().expect("its end").to_owned()
    };
    let mut names = Vec::new();
    if compiled(place.folder.path(), "mine", &example("c")).is_some() {
        names.extend(["./mine.so:sum", "./mine.so:sum_times"]);
    }
    fs::write(place.folder.path().join("fast.rs"), example("rust")).expect("written");
    let mut compiler = std::process::Command::new("rustc");
    compiler.args(["--edition", "2024", "-O", "--crate-type", "cdylib", "-o", "fast.so", "fast.rs"]);
    match compiler.current_dir(place.folder.path()).status() {
        Ok(status) => {
            assert!(status.success(), "rustc refuses the guide's example");
            names.extend(["./fast.so:sum", "./fast.so:sum_times"]);
        }
        Err(_) => testing::not_tested!("there is no rustc; install it from rustup.rs"),
    }
    names
}

#[test]
fn routines_that_misbehave_lose_their_rounds_and_nothing_else() {
    let place = place();
    if place.object.is_none() {
        return;
    }
    let names = ["good", "print", "handlers", "daemon_left", "crash", "hang", "leave", "copy"];
    let result = place.time().args(names.map(|name| format!("./object.so:{name}"))).args(["--budget", "10s"]).assert();
    let measured = contains("object.so:good ").and(contains("object.so:print ")).and(contains("object.so:handlers "));
    let lost = contains("object.so:crash: every round was lost: it crashed: killed by SIGSEGV")
        .and(contains("object.so:leave: every round was lost: it left with exit status 0"))
        .and(contains("object.so:hang: every round was lost: it hung: no result within"))
        .and(contains("(--patience)"))
        .and(
            // It forks at every call, and so do its copies; which of them is detected first varies.
            contains("object.so:copy: every round was lost: while running: it forked")
                .or(contains("object.so:copy: every round was lost: it started processes without end")),
        );
    result.code(3).stdout(measured.and(lost).and(contains("PRINTED").not())).stderr(prints_nothing());
    place.time().arg("./object.so:crash").args(QUICK).assert().code(1).stderr(contains("nothing could be timed"));
    place.nothing_left();
}

#[test]
fn what_cannot_be_loaded_or_has_no_such_routine_is_refused() {
    let place = place();
    if place.object.is_none() {
        return;
    }
    // Constructors run apart.
    let source = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void start(void) \
                  { puts(\"PRINTED\"); fflush(stdout); abort(); }\nvoid routine(void) {}";
    compiled(place.folder.path(), "abrupt", source);
    let refused = |words: &[&str], expected: &str| {
        place.time().args(words).assert().code(2).stdout(is_empty()).stderr(contains(expected));
    };
    refused(&["./abrupt.so:routine"], "abrupt.so cannot be loaded: it crashed: killed by SIGABRT");
    refused(&["./object.so:good", "./object.so:bad"], "object.so has no routine 'bad'");
    refused(&["./object.so:good", "./object.so:good"], "given twice");
    place.nothing_left();
}

/// One run: its page shows what commands use, its document the command that does nothing beside them.
#[test]
fn commands_are_timed_beside_the_command_that_does_nothing() {
    let place = place();
    // It sleeps for longer than a busy machine delays the other.
    let prints = "sh -c 'sleep 0.2; echo PRINTED; echo PRINTED >&2'";
    let result =
        place.time().args(["-c", prints, "-o", "run.json"]).args(QUICK).args(["--", "true"]).assert().success();
    let page = contains("command.nothing").and(contains("user")).and(contains("switches"));
    result.stdout(page.and(contains(prints)).and(contains("\nPRINTED").not())).stderr(prints_nothing());
    let run = record::read_run(&place.folder.path().join("run.json")).expect("a run");
    let (long, short) = (cost(&run, &format!("command: {prints}")), cost(&run, "command: true"));
    let nothing = cost(&run, "command.nothing");
    assert!(long.gross_ns.typical.0 > short.gross_ns.typical.0 && nothing.quoted().0 > 0.0);
    assert!(long.wait_ns.0 > short.wait_ns.0 && long.headline == record::Estimate::Typical);
    assert!([long, short].iter().all(|cost| cost.terms[0].operation == "command.nothing"));
    assert!([long, short, nothing].iter().all(|cost| cost.heading() == "commands" && cost.faults.minor > 0.0));
    place.nothing_left();
}
