//! Exports that need more than this program: Parquet, and pandas. The others are in tests/cases.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use testing::not_tested;

use crate::support::{EXAMPLE, QUICK, folder, howslow};

/// The example run in a file of the folder.
fn example(place: &TempDir) -> String {
    let path = place.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("a file");
    path.display().to_string()
}

#[test]
fn a_run_is_exported_as_parquet() {
    let (data, place) = (folder(), folder());
    let run = example(&place);
    let file = place.path().join("costs.parquet").display().to_string();
    howslow(&data).args(["export", &run, "pdp-11-24", "-o", &file]).assert().success().stdout("");
    let bytes = fs::read(&file).expect("the file");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 2, "nothing half-written is left");
}

#[test]
fn the_task_with_pandas_is_done_in_three_commands() {
    if testing::is_for_later("readers") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join("target/readers/python");
    if !packages.join("pandas").is_dir() {
        not_tested!("pandas is missing; python3 -m pip install --target target/readers/python {}", "pandas");
        return;
    }
    let (data, place) = (folder(), folder());
    let output = Command::new(root.join("docs/tasks/pandas.sh"))
        .args(QUICK)
        .current_dir(place.path())
        .env("HOWSLOW", assert_cmd::cargo::cargo_bin("howslow"))
        .env("HOWSLOW_DATA", data.path())
        .env("PYTHONPATH", packages)
        .output()
        .expect("the script runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("syscall.getppid") && told.contains("pipe.self") && told.contains("half"), "{told}");
}
