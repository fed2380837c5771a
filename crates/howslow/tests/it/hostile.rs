//! Nothing that a database, a file or a name holds controls the terminal or makes howslow wait, whatever the verb.

use std::path::{Path, PathBuf};
use std::process::Command;

use record::steers_terminal;
use tempfile::TempDir;

use crate::help::every_verb;
use crate::support::{EXAMPLE, REPLAY, folder, howslow, json};
use crate::world;

/// A title, a cleared screen, an 8-bit colour, reordered text, a return, a backspace.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\u{8}x";

fn steering(text: &str) -> Vec<char> {
    text.chars().filter(|c| steers_terminal(*c) && !matches!(c, '\n' | '\t')).collect()
}

/// Runs a command, and returns what of its output controls a terminal.
fn printed(data: &TempDir, store: &Path, words: &[&str]) -> Option<String> {
    let output = howslow(data).current_dir(data.path()).env("HOWSLOW_STORE", store).args(words).output();
    let output = output.expect("it runs");
    let all = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(!all.contains("panicked"), "{words:?}: {all}");
    let found = steering(&all);
    (!found.is_empty()).then(|| format!("{words:?}: {found:?} in {all:?}"))
}

/// A store in which each text of each row ends in hostile characters.
fn database(data: &TempDir) -> PathBuf {
    let file = data.path().join("team.sqlite");
    let nights = world::folder();
    let mut taken = howslow(data);
    taken.env("HOWSLOW_STORE", &file).current_dir(nights.path()).args(["history", "--take-in", "nights"]);
    taken.assert().success();
    let connection = rusqlite::Connection::open(&file).expect("a database");
    let columns = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND c.type = 'TEXT' AND m.name NOT LIKE 'refinery%' AND m.name <> 'step'";
    let columns: Vec<(String, String)> = connection
        .prepare(columns)
        .and_then(|mut columns| columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .expect("columns");
    assert!(columns.len() > 20, "{columns:?}");
    for (table, column) in columns {
        let update = format!("UPDATE {table} SET {column} = {column} || ?1");
        connection.execute(&update, [HOSTILE]).expect("hostile rows");
    }
    file
}

/// Files of every kind whose texts are hostile, as are their names. Returns their names, and one that no file has.
fn files(data: &TempDir) -> Vec<String> {
    let quoted = serde_json::to_string(HOSTILE).expect("JSON");
    let inner = quoted.trim_matches('"');
    let mut run = EXAMPLE.replace("\"size\": 512", &format!("{quoted}: 512"));
    for text in [
        "Intel(R) Xeon(R)", "6.18.44", "syscall.getppid", "transparent huge pages are off", "spectre_v1",
        "system calls",
    ] {
        run = run.replace(text, inner);
    }
    let schema = format!(r#"{{"schema": "howslow-run/{inner}"}}"#);
    let toml = format!("name = {quoted}\nunit = {quoted}\n[[operation]]\noperation = {quoted}\ntimes = 2\n");
    let tool = format!(r#"{{"results":[{{"command":{quoted},"mean":0.1,"median":0.1,"times":[0.1,0.2]}}]}}"#);
    let bill = format!(r#"{{"seen":{{"what":{quoted}}},"rows":[{{"what":{quoted},"count":1}}]}}"#);
    let texts =
        [("run.json", run), ("mix.toml", toml), ("tool.json", tool), ("bill.json", bill), ("schema.json", schema)];
    let texts = texts.map(|(end, text)| (format!("a\u{1b}[2J\u{9b}1m{end}"), text));
    std::fs::create_dir(data.path().join("nodes\u{1b}[2J")).expect("a folder");
    std::fs::write(data.path().join("nodes\u{1b}[2J/n\u{7}.json"), &texts[0].1).expect("written");
    texts.iter().for_each(|(name, text)| std::fs::write(data.path().join(name), text).expect("written"));
    texts.into_iter().map(|(name, _)| name).chain(["nodes\u{1b}[2J", HOSTILE].map(String::from)).collect()
}

#[test]
fn no_row_file_or_name_controls_the_terminal_on_any_verb() {
    let data = folder();
    let (store, mut names) = (database(&data), files(&data));
    names.push(format!("--{HOSTILE}"));
    let after =
        |verb: &'static [String]| names.iter().map(move |name| verb.iter().chain([name]).map(String::as_str).collect());
    let mut lines: Vec<Vec<&str>> = every_verb().flat_map(after).collect();
    let run = names[0].as_str();
    let reading: [&[&str]; 20] = [
        &["history"],
        &["history", "--json"],
        &["history", "--csv"],
        &["watch"],
        &["doctor"],
        &["show", "@1"],
        &["show", "@1", "--all"],
        &["show", "@1", "--json", "--summary"],
        &["show", run, "--csv"],
        &["compare", "@1", run],
        &["compare", "@1", run, "--csv"],
        &["explain", run],
        &["export", "@1"],
        &["export", run, "--format", "openmetrics"],
        &["fleet", "show", "store"],
        &["fleet", "show", "store", "--json"],
        &["fleet", "status"],
        &["predict", &names[1], "--on", "@1"],
        &["scaling", "--run", run],
        &["study", "rsx", "--run", run],
    ];
    lines.extend(reading.map(<[&str]>::to_vec));
    assert!(lines.len() > 150, "{}", lines.len());
    let found: Vec<String> = lines.iter().filter_map(|words| printed(&data, &store, words)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_data_folder_with_pipes_and_devices_is_used_all_the_same() {
    let data = folder();
    std::fs::create_dir(data.path().join("runs")).expect("a folder");
    for name in ["figures.json", "runs/pipe.json", "another's"] {
        assert!(Command::new("mkfifo").arg(data.path().join(name)).status().expect("mkfifo runs").success());
    }
    // Never a link to a device in the place of what is written: a mistake would replace the device.
    std::os::unix::fs::symlink("another's", data.path().join("known.json")).expect("a link");
    std::os::unix::fs::symlink("/dev/zero", data.path().join("runs/zero.json")).expect("a link");
    howslow(&data).args(["run", "loop.empty"]).args(REPLAY).assert().success();
    let kept = json(howslow(&data).args(["history", "--json"]));
    assert_eq!(kept.as_array().map(Vec::len), Some(1), "{kept}");
    for name in ["figures.json", "known.json"] {
        let found = std::fs::symlink_metadata(data.path().join(name)).expect("a file");
        assert!(found.is_file(), "{name} is what was learnt, not what stood in its place");
    }
    let other = std::fs::symlink_metadata(data.path().join("another's")).expect("the pipe");
    assert!(!other.is_file(), "what a link led to was replaced");
}
