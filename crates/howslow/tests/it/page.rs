//! `howslow report`: what a page holds, what it leaves out, what it refuses; and that the gallery in the docs is current.

use std::path::{Path, PathBuf};

use predicates::str::contains;
use record::Run;

use crate::support::{EXAMPLE, folder, howslow};

fn written(data: &tempfile::TempDir, change: impl Fn(&mut Run)) -> PathBuf {
    let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    change(&mut run);
    let file = data.path().join("run.json");
    std::fs::write(&file, serde_json::to_vec(&run).expect("JSON")).expect("written");
    file
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("written")
}

#[test]
fn a_page_holds_its_run_without_what_identifies_its_host() {
    let data = folder();
    let file = written(&data, |run| {
        run.machine.host = Some("web07".into());
        run.settings.label = Some("alice-laptop".into());
        run.machine.kernel.command_line = Some("root=UUID=1234-abcd".into());
    });
    let page = data.path().join("page.html");
    let report = |page: &Path| howslow(&data).arg("report").arg(&file).arg("-o").arg(page).assert();
    report(&page).success().stdout("").stderr(contains("names were left out"));
    let text = read(&page);
    assert!(text.len() <= 300 << 10, "{} bytes", text.len());
    // The names are not in the packed run either: it prints the same page of costs.
    let shown = howslow(&data).arg("show").arg(&page).args(["--json"]).assert().success();
    let held = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    for secret in ["web07", "alice", "1234-abcd"] {
        assert!(!text.contains(secret) && !held.contains(secret), "{secret}");
    }
    let run = record::run_from_bytes(held.as_bytes()).expect("a run");
    let original = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    assert_eq!(run.costs.len(), original.costs.len());
    assert!(
        run.costs
            .iter()
            .zip(&original.costs)
            .all(|(one, other)| one.net_ns == other.net_ns && one.rounds == other.rounds)
    );
    howslow(&data).arg("compare").arg(&page).arg(&file).assert().success().stdout(contains("0 slower, 0 faster"));
    // What exists is kept, unless it may be replaced.
    report(&page).code(2).stderr(contains("--force"));
    assert_eq!(read(&page), text);
    howslow(&data).arg("report").arg(&file).arg("-o").arg(&page).args(["--force", "--with-host"]).assert().success();
    assert_ne!(read(&page), text);
    let named = howslow(&data).arg("show").arg(&page).arg("--json").assert().success();
    assert!(String::from_utf8_lossy(&named.get_output().stdout).contains("web07"));
}

#[test]
fn several_runs_documents_and_faults() {
    let data = folder();
    let file = written(&data, |_| {});
    let page = data.path().join("several.html");
    let document = data.path().join("other.json");
    std::fs::write(&document, r#"{"question": "<b>why</b>", "answers": [{"a": 1}, {"a": 2}]}"#).expect("written");
    let sources = [file.as_os_str(), "pdp-11-24".as_ref(), document.as_os_str()];
    howslow(&data).arg("report").args(sources).arg("-o").arg(&page).assert().success();
    let text = read(&page);
    assert!(
        text.contains("id=\"compared\"") && text.contains("&lt;b&gt;why&lt;/b&gt;") && !text.contains("<b>why"),
        "{text}"
    );
    let second = format!("{}#2", page.display());
    howslow(&data).args(["show", &second]).assert().success().stdout(contains("pdp-11-24"));
    howslow(&data).args(["show", &format!("{}#3", page.display())]).assert().code(1).stderr(contains("2 runs"));
    // A file that is neither, and a page that does not fit where it should go.
    std::fs::write(&document, "[[[").expect("written");
    howslow(&data).arg("report").arg(&document).arg("-o").arg(data.path().join("x.html")).assert().code(1);
    let limited =
        format!("ulimit -f 4; exec \"$0\" report '{}' -o '{}/full.html'", file.display(), data.path().display());
    let program = assert_cmd::cargo::cargo_bin!("howslow");
    let full =
        std::process::Command::new("sh").args(["-c", &limited]).arg(program).env("HOWSLOW_DATA", data.path()).output();
    let full = full.expect("sh runs");
    assert_eq!(full.status.code(), Some(1), "{}", String::from_utf8_lossy(&full.stderr));
    let left: Vec<_> = std::fs::read_dir(data.path())
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert!(left.iter().all(|name| !name.contains("full.html") && !name.ends_with(".part")), "{left:?}");
}

/// Written by `howslow report --gallery docs/gallery --force`.
#[test]
fn the_gallery_is_that_of_the_reference_machines() {
    let data = folder();
    let made = data.path().join("gallery");
    howslow(&data).args(["report", "--gallery"]).arg(&made).assert().success();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery");
    let names = |folder: &Path| -> std::collections::BTreeSet<String> {
        let entries = std::fs::read_dir(folder).expect("howslow report --gallery docs/gallery --force");
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    };
    assert_eq!(names(&made), names(&kept), "howslow report --gallery docs/gallery --force");
    for name in names(&made) {
        let [made, kept] = [&made, &kept].map(|folder| std::fs::read(folder.join(&name)).expect("a page"));
        assert!(made == kept, "docs/gallery/{name} is not current: howslow report --gallery docs/gallery --force");
    }
}

#[test]
fn a_full_disk_leaves_no_half_page_and_keeps_the_old_one() {
    let data = folder();
    let (run, small) = (written(&data, |_| ()), data.path().join("small"));
    std::fs::create_dir(&small).expect("a folder");
    let script = "mount -t tmpfs -o size=16k none \"$1\" || exit 98; \"$0\" report \"$2\" -o \"$1/page.html\"; \
        echo \"$? $(ls -A \"$1\" | wc -l)\"; echo old >\"$1/page.html\"; \
        \"$0\" report --force \"$2\" -o \"$1/page.html\"; echo \"$? $(ls -A \"$1\" | wc -l) $(cat \"$1/page.html\")\"";
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .args([&assert_cmd::cargo::cargo_bin("howslow"), &small, &run])
        .env("HOWSLOW_DATA", data.path())
        .output()
        .expect("unshare runs");
    if matches!(output.status.code(), Some(1 | 98)) {
        testing::not_tested!("no mount in a namespace of its own; run the tests as root");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 0\n1 1 old\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("No space left on device").count(), 2);
}
