//! The tasks of newcomers, as the scripts in `docs/tasks` do them, with a short budget.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{QUICK, folder, howslow, path_with};

/// Runs a task in a folder of its own, where it finds howslow, and returns what it prints. It has three commands at most.
fn done(name: &str, data: &TempDir) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks").join(name);
    let script = fs::read_to_string(path).expect("the script");
    let commands = script.lines().filter(|line| line.starts_with("howslow "));
    assert!((1..=3).contains(&commands.count()), "{script}");
    let program = assert_cmd::cargo::cargo_bin("howslow");
    let path = path_with(program.parent().expect("a folder"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(data.path()).env("HOWSLOW_DATA", data.path());
    shell.envs([("PATH", path.as_str()), ("BUDGET", "4s"), ("HOWSLOW_STORE", "files")]);
    let output = shell.output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn each_script_of_the_tasks_does_what_it_promises() {
    a_lesson_is_a_page_and_a_picture();
    a_machine_is_judged_beside_a_reference_and_its_oddities_have_remedies();
    the_script_gates_a_pull_request();
}

/// The study measures what it needs and keeps the run.
fn a_lesson_is_a_page_and_a_picture() {
    let data = folder();
    let output = done("paper.sh", &data);
    assert!(output.contains("sentences still hold") && output.contains("now, to oneself"), "{output}");
    let picture = fs::read_to_string(data.path().join("lesson/rsx-messages.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains("then, to oneself"), "{picture}");
    assert!(output.contains("the paper's sentences, tested here"), "{output}");
    let kept = howslow(&data).args(["show", "@1", "--json"]).assert().success();
    let run = record::run_from_bytes(&kept.get_output().stdout).expect("a run");
    assert!(run.costs.iter().any(|cost| cost.name() == "poll.poll@descriptors=1"));
    assert!(run.costs.iter().any(|cost| cost.operation == "syscall.getppid"));
}

fn a_machine_is_judged_beside_a_reference_and_its_oddities_have_remedies() {
    let page = done("verdict.sh", &folder());
    // The findings come first, then the costs.
    let (heading, rest) = page.split_once("findings").expect("findings");
    assert!(heading.contains("undisturbed"), "{heading}");
    assert!(rest.contains("syscall.getppid") && rest.contains("x ref") && rest.contains("reference"), "{rest}");
    assert!(rest.contains("worth knowing") || rest.contains("noisy"), "the doctor's page: {rest}");
}

/// The script of the guide, as it is, on one kernel: whatever the verdict, it is reported and has its status.
fn the_script_gates_a_pull_request() {
    let data = folder();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks/gate.sh");
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display());
    let mut command = assert_cmd::Command::new("sh");
    command.arg(script).current_dir(data.path()).env("PATH", path).env("HOWSLOW_DATA", data.path().join("data"));
    let output = command.env("CALLS", "syscall.getppid").env("BUDGET", "3s").output().expect("a shell");
    let (errors, status) = (String::from_utf8_lossy(&output.stderr), output.status.code());
    let word = match status {
        Some(0) => "passed",
        Some(3) => "incomplete",
        Some(4) => "failed",
        _ => panic!("{status:?}: {errors}"),
    };
    assert!(errors.starts_with(&format!("howslow: gate {word}: ")), "{errors}");
    let comment = fs::read_to_string(data.path().join("comment.md")).expect("a comment");
    let begin = format!("### howslow: gate {word}\n");
    assert!(comment.starts_with(&begin) && comment.contains("syscall.getppid"), "{comment}");
    assert!(data.path().join("before.json").exists() && data.path().join("after.json").exists());
}

#[test]
fn the_task_with_pandas_is_done_in_three_commands() {
    if testing::is_for_later("readers") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join("target/readers/python");
    if !packages.join("pandas").is_dir() {
        testing::not_tested!("pandas is missing; python3 -m pip install --target target/readers/python {}", "pandas");
        return;
    }
    let (data, place) = (folder(), folder());
    let mut script = Command::new(root.join("docs/tasks/pandas.sh"));
    script.args(QUICK).current_dir(place.path()).env("HOWSLOW", assert_cmd::cargo::cargo_bin("howslow"));
    let output = script.env("HOWSLOW_DATA", data.path()).env("PYTHONPATH", packages).output().expect("the script runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("syscall.getppid") && text.contains("pipe.self") && text.contains("half"), "{text}");
}
