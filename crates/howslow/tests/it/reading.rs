//! The verbs that read: their output, and their behaviour with damaged, hostile and missing files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use tempfile::TempDir;

use crate::support::{EXAMPLE, folder, howslow};

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn list_shows_what_there_is() {
    let data = folder();
    howslow(&data).arg("list").assert().success().stdout(contains("* loop.empty")).stderr(is_empty());
    howslow(&data).args(["list", "loop"]).assert().success().stdout(contains("1 operation, 1 point;"));
    let json = howslow(&data).args(["list", "loop.*", "--json"]).assert().success();
    let listed: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(listed[0]["operation"], "loop.empty");
    assert_eq!(listed[0]["points"], serde_json::json!([{}]));
    assert!(fs::read_dir(data.path()).expect("read").next().is_none(), "listing leaves nothing behind");
}

#[test]
fn every_system_call_is_listed_with_what_times_it() {
    let data = folder();
    let all = howslow(&data).args(["list", "--syscalls"]).assert().success().stderr(is_empty());
    all.stdout(contains("openat2").and(contains("getppid")).and(contains("timed at work")));
    let json = howslow(&data).args(["list", "--syscalls", "--json"]).assert().success();
    let calls: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert!(calls.as_array().expect("an array").len() > 300);
    let call = |name: &str| {
        let calls = calls.as_array().expect("an array").iter();
        calls.into_iter().find(|call| call["call"] == name).cloned().expect("it is listed")
    };
    assert_eq!(call("getppid")["path"], "works");
    assert!(call("getppid")["operation"].is_string() && call("getppid")["reason"].is_null());
    let never = call("nfsservctl");
    assert!(never["operation"].is_null() && never["path"].is_null() && never["reason"].is_string(), "{never}");
    assert!(fs::read_dir(data.path()).expect("read").next().is_none(), "listing leaves nothing behind");
}

#[test]
fn the_list_of_system_calls_takes_patterns() {
    let data = folder();
    let number = libc::SYS_openat2.to_string();
    for pattern in ["openat2", "opena?2", "call.openat2", &number] {
        let result = howslow(&data).args(["list", "--syscalls", pattern]).assert().success();
        result.stdout(contains("openat2").and(contains("\n1 call: ")));
    }
    howslow(&data).args(["list", "--syscalls", "syscall.stat"]).assert().success();
    howslow(&data).args(["list", "--syscalls", "opennat2"]).assert().code(2).stderr(contains("did you mean openat2"));
    howslow(&data).args(["list", "--syscalls", "openat2@size=1"]).assert().code(2).stderr(contains("no points"));
    howslow(&data).args(["list", "--syscalls", "openat2", "9999"]).assert().code(2).stdout("");
}

#[test]
fn a_system_call_is_named_like_an_operation() {
    let data = folder();
    howslow(&data).args(["list", "close"]).assert().success().stdout(contains("syscall.open.close"));
    let result = howslow(&data).args(["run", "nfsservctl"]).assert().code(2).stdout("");
    result.stderr(contains("no operation times the system call 'nfsservctl': gone"));
}

#[test]
fn every_operation_stands_under_a_heading_in_the_list() {
    let json = howslow(&folder()).args(["list", "--json"]).assert().success();
    let listed: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    for operation in listed.as_array().expect("an array") {
        assert_ne!(operation["group"], "", "{operation}");
        assert_ne!(operation["summary"], "", "{operation}");
    }
}

#[test]
fn a_run_is_shown_from_a_file_by_place_and_by_its_beginning() {
    let data = folder();
    let path = file(&data, "runs/20261121-033006-qxtz.json", EXAMPLE);
    for name in [path.to_str().expect("text"), "@1", "2026", "20261121-033006-qxtz"] {
        let result = howslow(&data).args(["show", name]).assert().success().stderr(is_empty());
        result.stdout(starts_with("howslow 0.1.0   Intel Xeon 2.50 GHz").and(contains("\u{1b}").not()));
    }
    let json = howslow(&data).args(["show", "@1", "--json"]).assert().success();
    let shown = record::run_from_bytes(&json.get_output().stdout).expect("a run");
    assert_eq!(shown, record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run"));
    howslow(&data).arg("history").assert().success().stdout(contains("@1   20261121-033006-qxtz"));
    let json = howslow(&data).args(["history", "--json"]).assert().success();
    let kept: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(kept[0]["name"], "@1");
    assert_eq!(kept[0]["path"], path.to_str().expect("text"));
}

#[test]
fn a_run_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let data = folder();
    howslow(&data).args(["show", "@1"]).assert().code(2).stderr(contains("no run is kept"));
    file(&data, "runs/20261121-033006-qxtz.json", EXAMPLE);
    howslow(&data).args(["show", "@2"]).assert().code(2).stderr(contains("@1 = 20261121-033006-qxtz"));
    howslow(&data).args(["show", "1999"]).assert().code(2).stdout("").stderr(contains("names no run"));
    howslow(&data).args(["show", "missing.json"]).assert().code(2).stderr(contains("missing.json"));
    howslow(&data).arg("show").arg(data.path()).assert().code(1).stderr(contains("directory"));
}

#[test]
fn a_file_that_is_no_run_is_one_clear_sentence() {
    let data = folder();
    let half = &EXAMPLE[..EXAMPLE.len() / 2];
    for (text, says) in [
        ("", "empty"),
        ("\n\n", "empty"),
        (half, "damaged or truncated"),
        ("\u{0}\u{1}\u{2}", "damaged or truncated"),
        ("{}", "not a run"),
        (&EXAMPLE.replace("howslow-run/1", "howslow-run/7"), "its schema is howslow-run/7"),
        (&EXAMPLE.replacen("0.3312", "NaN", 1), "damaged or truncated"),
        (&EXAMPLE.replacen("0.3312", "1e999", 1), "out of range"),
        (&EXAMPLE.replacen("0.3312", "null", 1), "breaks the format"),
        (&EXAMPLE.replacen("\"loop.empty\"", "7", 1), "breaks the format"),
    ] {
        let path = file(&data, "bad.json", text);
        let result = howslow(&data).arg("show").arg(path).assert().code(1).stdout("");
        let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
        assert!(said.contains(says), "{said} does not say {says}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_file_of_absurd_size_is_refused_unread() {
    let data = folder();
    let path = data.path().join("huge.json");
    // Sparse: a terabyte that occupies no space.
    File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    howslow(&data).arg("show").arg(&path).assert().code(1).stderr(contains("larger than 256 MiB"));
}

#[test]
fn a_billion_costs_are_refused() {
    let data = folder();
    let run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    let cost = serde_json::to_string(&run.costs[0]).expect("JSON");
    let mut head = serde_json::to_value(&run).expect("JSON");
    head["costs"] = serde_json::json!([]);
    let many = vec![cost; 25_000].join(",");
    let path = file(&data, "many.json", &head.to_string().replace("\"costs\":[]", &format!("\"costs\":[{many}]")));
    howslow(&data).arg("show").arg(path).assert().code(1).stderr(contains("25000 costs, at most 20000"));
}

#[test]
fn hostile_strings_do_not_reach_the_terminal() {
    let data = folder();
    let hostile = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\n";
    let text = EXAMPLE
        .replace("Intel(R) Xeon(R)", hostile)
        .replace("syscall.getppid", &format!("syscall.{hostile}"))
        .replace("6.18.44", hostile)
        .replace("transparent huge pages are off", hostile)
        .replace("\"spectre_v1\"", &format!("\"{hostile}\""))
        .replace("\"size\": 512", &format!("\"{hostile}\": 512"))
        .replace("\"system calls\"", &format!("\"{hostile}\""));
    let path = file(&data, "runs/hostile.json", &text);
    let bad =
        |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c));
    for arguments in [&["show", path.to_str().expect("text")][..], &["show", "@1"], &["history"]] {
        let result = howslow(&data).args(arguments).assert().success();
        let shown = String::from_utf8_lossy(&result.get_output().stdout).into_owned();
        assert!(!bad(&shown), "{shown:?}");
    }
    let schema = file(&data, "schema.json", &format!(r#"{{"schema": "howslow-run/{hostile}"}}"#));
    let result = howslow(&data).arg("show").arg(schema).assert().code(1);
    let said = String::from_utf8_lossy(&result.get_output().stderr).into_owned();
    assert!(!bad(&said), "{said:?}");
}

/// A run that does not exist is misuse, whichever verb receives its name.
#[test]
fn an_unknown_run_is_a_misuse_for_every_verb() {
    let data = folder();
    for unknown in ["no-such-run", "@7", "no-such.json", "no/such.toml"] {
        for verb in [
            vec!["show", unknown],
            vec!["explain", unknown],
            vec!["explain", unknown, "pipe"],
            vec!["compare", unknown, "pdp-11-24"],
            vec!["compare", "pdp-11-24", unknown],
            vec!["predict", "true", "--on", unknown],
            vec!["predict", "call-save-return", "--on", "multics-645", "--measured", unknown],
            vec!["study", "rsx", "--run", unknown],
        ] {
            howslow(&data).args(&verb).assert().code(2).stdout("").stderr(contains(unknown));
        }
    }
}

/// Checks objects and arrays against a schema: no field that it lacks, no required field missing.
fn follows(value: &serde_json::Value, schema: &serde_json::Value, root: &serde_json::Value) {
    if let Some(name) = schema["$ref"].as_str() {
        let place = name.strip_prefix('#').expect("a reference within the schema");
        return follows(value, root.pointer(place).expect("it is defined"), root);
    }
    if let Some(properties) = schema["properties"].as_object() {
        let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
        for (key, inner) in object {
            follows(inner, properties.get(key).unwrap_or_else(|| panic!("{key} is not in {schema}")), root);
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(object.contains_key(key.as_str().expect("a name")), "{key} is missing");
        }
    }
    for inner in value.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        follows(inner, &schema["items"], root);
    }
    let of = |options: &serde_json::Value| {
        options.as_array().into_iter().flatten().find(|it| it["$ref"].is_string()).cloned()
    };
    if let Some(some) =
        of(&schema["anyOf"]).filter(|_| value.is_object() && schema["anyOf"].as_array().is_some_and(|it| it.len() == 2))
    {
        follows(value, &some, root);
    }
}

#[test]
fn what_is_printed_follows_its_schema() {
    let data = folder();
    let run = file(&data, "example.json", EXAMPLE);
    let run = run.to_str().expect("a path");
    for (document, verb) in [
        ("run", vec!["show", run]),
        ("list", vec!["list", "pipe"]),
        ("syscalls", vec!["list", "--syscalls", "openat2"]),
        ("history", vec!["history"]),
        ("doctor", vec!["doctor"]),
        ("compare", vec!["compare", "multics-645", "multics-6180", "--mix", "call-save-return"]),
        ("compare", vec!["compare", run, "pdp-11-24"]),
        ("explain", vec!["explain", run]),
        ("explain", vec!["explain", "golden-cove"]),
        ("explain-costs", vec!["explain", run, "syscall.*"]),
        ("predict", vec!["predict", "call-save-return", "--on", "multics-645", "--what-if", "*=x0.5"]),
        ("predict-several", vec!["predict", "call-save-return", "--on", "multics-645", "multics-6180"]),
        ("predict-factors", vec!["predict", "call-save-return", "--on", "multics-645", "multics-6180", "--factors"]),
        ("study", vec!["study", "6180", "--run", "multics-6180"]),
        ("study-all", vec!["study", "all", "--run", run]),
        ("file-resident", vec!["file", "resident", run]),
        ("file-sync", vec!["file", "sync", run]),
    ] {
        let json = |output: &[u8]| -> serde_json::Value { serde_json::from_slice(output).expect("JSON") };
        let printed = howslow(&data).args(&verb).arg("--json").assert().success();
        let schema = howslow(&data).args(["schema", document]).assert().success();
        let schema = json(&schema.get_output().stdout);
        follows(&json(&printed.get_output().stdout), &schema, &schema);
    }
    howslow(&data).args(["schema", "nonsense"]).assert().code(2).stdout("").stderr(contains("predict-factors"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let data = folder();
    let path = file(&data, "run.json", EXAMPLE);
    let program = assert_cmd::cargo::cargo_bin("howslow");
    let script = format!("{} show {} --json | true; exit ${{PIPESTATUS[0]}}", program.display(), path.display());
    let result = Command::new("bash").args(["-c", &script]).assert();
    result.success().stderr(is_empty());
}

#[test]
fn a_full_disk_behind_stdout_is_a_failure() {
    let data = folder();
    let full = File::options().write(true).open("/dev/full").expect("every Linux has /dev/full");
    let program = assert_cmd::cargo::cargo_bin("howslow");
    let result = std::process::Command::new(program)
        .args(["list"])
        .env("HOWSLOW_DATA", data.path())
        .stdout(full)
        .output()
        .expect("it runs");
    assert_eq!(result.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&result.stderr).contains("No space left"));
}

#[test]
fn no_home_is_an_error_for_history_and_none_for_a_file() {
    let data = folder();
    let path = file(&data, "run.json", EXAMPLE);
    let without = |arguments: &[&str]| {
        let mut command = howslow(&data);
        command.env_remove("HOWSLOW_DATA").env_remove("XDG_DATA_HOME").env("HOME", "").args(arguments);
        command
    };
    without(&["show", path.to_str().expect("text")]).assert().success();
    without(&["list"]).assert().success();
    let at = without(&["history"]).assert();
    // If HOME is empty, the password file may still give a home.
    let status = at.get_output().status.code();
    assert!(status == Some(0) || status == Some(1), "{status:?}");
}

#[test]
fn xdg_names_the_folder_unless_it_is_overridden() {
    let data = folder();
    file(&data, "howslow/runs/20261121-033006-qxtz.json", EXAMPLE);
    let mut command = howslow(&data);
    command.env_remove("HOWSLOW_DATA").env("XDG_DATA_HOME", data.path()).arg("history");
    command.assert().success().stdout(contains("20261121-033006-qxtz"));
}

#[test]
fn the_example_of_the_overview_works() {
    let overview = include_str!("../../src/main.rs").lines().filter_map(|line| line.strip_prefix("//! howslow "));
    let examples: Vec<&str> = overview.collect();
    assert_eq!(examples.len(), 1, "{examples:?}");
    howslow(&folder()).args(examples[0].split(' ')).assert().success().stdout(contains("ratio"));
}

#[test]
fn colours_are_for_terminals_unless_the_environment_says_otherwise() {
    let data = folder();
    let coloured = |variables: &[&str]| {
        let mut command = howslow(&data);
        command.args(["show", "pdp-11-24"]).envs(variables.iter().map(|name| (name, "1")));
        command.assert().success().get_output().stdout.contains(&0x1b)
    };
    assert!(!coloured(&[]), "into a pipe");
    assert!(coloured(&["CLICOLOR_FORCE"]));
    assert!(!coloured(&["CLICOLOR_FORCE", "NO_COLOR"]));
}

#[test]
fn doctor_describes_this_machine() {
    let data = folder();
    howslow(&data).arg("doctor").assert().success().stdout(is_empty().not());
    let json = howslow(&data).args(["doctor", "--json"]).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(said["machine"]["architecture"], std::env::consts::ARCH);
    assert!(said["findings"].is_array());
}

#[test]
fn generated_texts_are_whole() {
    let data = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        howslow(&data).args(["completions", shell]).assert().success().stdout(contains("howslow"));
    }
    howslow(&data).arg("man").assert().success().stdout(contains(".TH howslow 1"));
    howslow(&data).arg("man").arg(data.path()).assert().success().stdout("");
    for page in ["howslow.1", "howslow-run.1", "howslow-list.1", "howslow-show.1", "howslow-history.1"] {
        assert!(data.path().join(page).is_file(), "{page}");
    }
    let schema = howslow(&data).arg("schema").assert().success();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/howslow-run-2.schema.json");
    assert_eq!(
        String::from_utf8_lossy(&schema.get_output().stdout),
        fs::read_to_string(published).expect("the schema is in docs/")
    );
    howslow(&data).arg("--help").assert().success().stdout(contains("Exit status"));
    howslow(&data).arg("--version").assert().success().stdout(starts_with("howslow "));
}
