//! Whose rights count: a howslow without rights, and programs that work as another user.

use std::os::unix::fs::PermissionsExt;

use super::programs::program;
use super::*;
use crate::support::without_rights;

/// The program that works as this user, whoever executes it; `None` where that is not possible.
fn owned_by(data: &TempDir, user: u32) -> Option<String> {
    let owned = data.path().join("owned");
    testing::executable(&owned, fs::File::open(program("owned")).expect("it is compiled"));
    let given = std::os::unix::fs::chown(&owned, Some(user), None);
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o777)).expect("our folder");
    fs::set_permissions(&owned, fs::Permissions::from_mode(0o4755)).expect("our file");
    let output = Command::new("setpriv").args(["--reuid", "65532", "--clear-groups"]).arg(&owned).output();
    let works = given.is_ok() && output.is_ok_and(|output| output.stdout == format!("{user}\n").into_bytes());
    if !works {
        testing::not_tested!("no program can work as another user; run as root, with TMPDIR on a mount without nosuid");
    }
    works.then(|| owned.display().to_string())
}

fn without_rights_a_command_is_followed_and_others_are_billed_by_their_accounts() {
    let Some(data) = counting("ptrace") else { return };
    let page_of = |words: &[&str]| {
        let output = without_rights(&data, &[&["bill"], words].concat())?;
        let page = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat();
        Some((output.status.code(), page.split_whitespace().collect::<Vec<_>>().join(" ")))
    };
    let follow = |words: &[&str], status: i32, expected: &[&str]| {
        let Some((code, page)) = page_of(words) else { return false };
        let is_expected = code == Some(status) && expected.iter().all(|text| page.contains(text));
        assert!(is_expected, "{expected:?}: {code:?} {page}");
        true
    };
    let script = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; grep NoNewPrivs /proc/self/status; exit 5";
    let why = "not counted by eBPF: this process may not load programs";
    let expected = ["NoNewPrivs: 0 ", "counted by ptrace", why, "25 programs executed"];
    if !follow(&["--", "sh", "-c", script], 5, &expected) {
        return;
    }
    let mut other = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let pid = other.id().to_string();
    follow(&["--for", "100ms", "-p", &pid], 0, &["counted by accounts", "belongs to another user"]);
    let refused = ["ptrace cannot be used here", "another user"];
    follow(&["--source", "ptrace", "--for", "100ms", "-p", &pid], 2, &refused);
    other.kill().and_then(|()| other.wait()).expect("it is ours");
    // A program that is followed has not the right of its owner.
    let Some(owned) = owned_by(&data, 65533) else { return };
    follow(&["--source", "ptrace", "--", &owned], 5, &["65534 ", "getppid"]);
    follow(&["--source", "accounts", "--", &owned], 5, &["65533 "]);
}

#[test]
fn each_command_has_the_rights_that_its_watcher_leaves_it() {
    a_set_user_id_program_keeps_its_right_and_is_counted_by_each_source();
    without_rights_a_command_is_followed_and_others_are_billed_by_their_accounts();
}

fn a_set_user_id_program_keeps_its_right_and_is_counted_by_each_source() {
    let data = folder();
    let Some(owned) = owned_by(&data, 65533) else { return };
    for source in possible().into_iter().chain(["accounts"]) {
        let file = data.path().join(format!("{source}.json"));
        let mut command = howslow(&data);
        command.args(["bill", "--source", source, "-o"]).arg(&file).args(["--", "sh", "-c"]);
        // The shell goes on, so that the program is executed by a process of its own.
        command.arg(format!("{owned}; exit $?")).assert().code(5).stdout("65533\n");
        let bill = Bill::read(&file);
        assert_eq!(bill.seen.source.to_lowercase(), source);
        if source != "accounts" {
            assert_eq!(call(&bill.process("owned").requests, "getppid").count, 23, "{source}");
        }
    }
}
