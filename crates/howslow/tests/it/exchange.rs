//! `export`, `import`, `--csv` and `--summary`, with the real binary. The formats themselves are tested in `exchange`.

use std::fs;
use std::path::Path;
use std::process::Command;

use record::Value;
use tempfile::TempDir;
use testing::not_tested;

use crate::support::{EXAMPLE, QUICK, REPLAY, folder, howslow};

/// The example run in a file of the folder.
fn example(place: &TempDir) -> String {
    let path = place.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("a file");
    path.display().to_string()
}

fn printed(data: &TempDir, words: &[&str]) -> String {
    let assert = howslow(data).args(words).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8")
}

fn refused(data: &TempDir, words: &[&str], status: i32, why: &str) {
    let assert = howslow(data).args(words).assert().code(status).stdout("");
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(told.contains(why), "{words:?}: {told}");
}

#[test]
fn a_run_is_exported_as_parquet_or_says_what_has_it() {
    let (data, place) = (folder(), folder());
    let run = example(&place);
    let file = place.path().join("costs.parquet").display().to_string();
    if cfg!(feature = "team") {
        howslow(&data).args(["export", &run, "pdp-11-24", "-o", &file]).assert().success().stdout("");
        let bytes = fs::read(&file).expect("the file");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    } else {
        refused(&data, &["export", &run, "-o", &file], 2, "no Parquet: released programs have it");
    }
    let files = if cfg!(feature = "team") { 2 } else { 1 };
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), files, "nothing half-written is left");
}

#[test]
fn tables_and_documents_without_samples_are_printed() {
    let (data, place) = (folder(), folder());
    let run = example(&place);
    let whole = printed(&data, &["show", &run, "--json"]);
    let whole = record::run_from_bytes(whole.as_bytes()).expect("a run");
    let short = printed(&data, &["show", &run, "--json", "--summary"]);
    let summary = record::run_from_bytes(short.as_bytes()).expect("a run");
    assert!(summary.costs.iter().all(|cost| cost.rounds.is_empty()));
    assert!(summary.costs.iter().zip(&whole.costs).all(|(one, other)| one.net_ns == other.net_ns));
    let rows = printed(&data, &["compare", "multics-645", "multics-6180", "--csv"]);
    assert!(rows.lines().count() > 5 && rows.contains(",faster,"), "{rows}");
    let cells = printed(&data, &["study", "rsx", "--run", &run, "--csv"]);
    assert!(cells.starts_with("study,table,row,") && cells.contains("rsx,findings,1,"), "{cells}");
    let measured = [&["run", "syscall.getppid", "--csv"], &REPLAY[..]].concat();
    assert!(printed(&data, &measured).contains("\nsyscall.getppid,"));
    for words in [
        &["run", "syscall.getppid", "--csv", "--json"][..],
        &["show", &run, "--csv", "--json"],
        &["show", &run, "--summary"],
    ] {
        refused(&data, words, 2, "--json");
    }
    refused(&data, &["scaling", "--csv"], 2, "--csv");
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

#[test]
fn runs_with_different_axes_are_one_table() {
    let (data, place) = (folder(), folder());
    let first = example(&place);
    let mut run = record::run_from_bytes(&fs::read(&first).expect("a run")).expect("a run");
    run.id = "20260101-000000-othr".into();
    // The first is a cost that both have.
    for cost in run.costs.iter_mut().skip(1) {
        cost.at = cost.at.clone().with("zebras", Value::Number(3)).with("a,b \"c\"", Value::Word("d,\n\"e\"".into()));
    }
    let second = place.path().join("second.json").display().to_string();
    fs::write(&second, serde_json::to_vec(&run).expect("JSON")).expect("written");
    let csv = printed(&data, &["export", &first, &second]);
    let mut rows = csv::ReaderBuilder::new().from_reader(csv.as_bytes());
    let head = rows.headers().expect("a head").clone();
    assert!(head.iter().any(|name| name == "zebras") && head.iter().any(|name| name == "size"), "{head:?}");
    let zebras = head.iter().position(|name| name == "zebras").expect("a column");
    // The reader refuses rows of another length.
    let read: Vec<csv::StringRecord> = rows.records().collect::<Result<_, _>>().expect("every row has every column");
    assert_eq!(read.len(), 2 * run.costs.len());
    assert_eq!(read.iter().filter(|row| &row[zebras] == "3").count(), run.costs.len() - 1);
    let compared = printed(&data, &["compare", &first, &second, "--csv"]);
    assert!(csv::ReaderBuilder::new().from_reader(compared.as_bytes()).records().all(|row| row.is_ok()));
}
