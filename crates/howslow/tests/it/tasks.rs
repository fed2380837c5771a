//! The tasks of newcomers, as the scripts in `docs/tasks` do them, with a short budget. Those of a gate and of pandas are tested
//! with what they are about.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::folder;

/// Runs a task in a folder of its own, where it finds howslow, and returns what it prints. It has three commands at most.
fn done(name: &str, data: &TempDir) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks").join(name);
    let script = fs::read_to_string(path).expect("the script");
    let commands = script.lines().filter(|line| line.starts_with("howslow "));
    assert!((1..=3).contains(&commands.count()), "{script}");
    let program = assert_cmd::cargo::cargo_bin("howslow");
    let path =
        format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(data.path())
        .envs([("PATH", path.as_str()), ("BUDGET", "4s"), ("HOWSLOW_STORE", "files")])
        .env("HOWSLOW_DATA", data.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn a_lesson_is_a_page_and_a_picture() {
    let data = folder();
    let said = done("paper.sh", &data);
    assert!(said.contains("sentences still hold") && said.contains("now, to oneself"), "{said}");
    let picture = fs::read_to_string(data.path().join("lesson/rsx-messages.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains("then, to oneself"), "{picture}");
}

#[test]
fn a_machine_is_judged_beside_a_reference_and_its_oddities_have_remedies() {
    let said = done("verdict.sh", &folder());
    // The findings come first, then the costs.
    let (heading, rest) = said.split_once("findings").expect("findings");
    assert!(heading.contains("undisturbed"), "{heading}");
    assert!(rest.contains("syscall.getppid") && rest.contains("x ref") && rest.contains("reference"), "{rest}");
    assert!(rest.contains("worth knowing") || rest.contains("noisy"), "the doctor's page: {rest}");
}
