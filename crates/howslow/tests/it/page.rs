//! `howslow report`: what a page holds, what it leaves out, what it refuses; and that the gallery in the docs is current.

use std::path::Path;

use crate::support::{EXAMPLE, folder, howslow};

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
    let [run, small] = ["run.json", "small"].map(|name| data.path().join(name));
    std::fs::write(&run, EXAMPLE).expect("written");
    std::fs::create_dir(&small).expect("a folder");
    let script = "mount -t tmpfs -o size=16k none \"$1\" || exit 98; \"$0\" report \"$2\" -o \"$1/page.html\"; \
        echo \"$? $(ls -A \"$1\" | wc -l)\"; echo old >\"$1/page.html\"; \
        \"$0\" report --force \"$2\" -o \"$1/page.html\"; echo \"$? $(ls -A \"$1\" | wc -l) $(cat \"$1/page.html\")\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).args([&assert_cmd::cargo::cargo_bin("howslow"), &small, &run]);
    let output = command.env("HOWSLOW_DATA", data.path()).output().expect("unshare runs");
    if matches!(output.status.code(), Some(1 | 98)) {
        return testing::not_tested!("no mount in a namespace of its own; run the tests as root");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 0\n1 1 old\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("No space left on device").count(), 2);
}
