//! Which hosts are taken, what their login shells read, and which files are fetched.

use super::*;

#[test]
fn odd_hosts_are_refused() {
    for fine in ["n1", "me@n1.example.org", "n1:2222", "me@10.0.0.1:22", "fe80::1", "a_b"] {
        assert!(check_host(fine).is_ok(), "{fine}");
    }
    for odd in [
        "", "-oProxyCommand=id", "a b", "a;id", "$(id)", "`id`", "a\nb", "@n1", "me@", "me@-x", "n1:0", "n1:x",
        "n1:99999", "-l@n1", "n1'", "ä",
    ] {
        assert!(check_host(odd).is_err_and(|error| error.is_misuse()), "{odd}");
    }
    assert_eq!(split("me@n1:22"), ("me@n1", Some("22")));
    assert_eq!(split("fe80::1"), ("fe80::1", None));
}

#[test]
fn scripts_are_one_line_for_any_login_shell() {
    let home = tempfile::tempdir().expect("a folder");
    let run = |script: &str, arguments: &[&str], input: &[u8]| {
        let line = line_of(script, arguments);
        assert!(!line.contains('\n'), "{line}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("HOME", home.path());
        let answer = run_command(&mut shell, input, PATIENCE).expect("it runs");
        assert!(answer.is_good(), "{line}: {}", answer.complaint);
        answer.text()
    };
    assert_eq!(run(PREPARE, &["f"], b"").lines().count(), 1, "the architecture");
    run(RECEIVE, &["f", "howslow", "digest"], b"a program");
    assert_eq!(run(PREPARE, &["f"], b"").lines().nth(1), Some("digest"));
    run(RECEIVE, &["f", "node.sh", ""], b":");
    let pid = run(START, &["f", "n0.a1", "it's", "n0.a1"], b"");
    assert_eq!(run(FETCH, &["f", "n0.a1.pid"], b""), pid);
    assert!(run(LOOK, &["f", "n0.a1"], b"").contains("n0.a1.pid"));
    run(END, &["f", "n0.a1"], b"");

    // One that runs is found, and not started again. It waits without a process of its own.
    run(RECEIVE, &["f", "node.sh", ""], b"mkfifo wait; read -r line <wait");
    let pid = run(START, &["f", "n0.a2", "n0.a2"], b"");
    assert_eq!(run(START, &["f", "n0.a2", "n0.a2"], b""), pid);
    let seen = run(LOOK, &["f", "n0.a2"], b"");
    assert!(seen.starts_with(&format!("running {} ", pid.trim())), "{seen}");
    run(END, &["f", "n0.a2"], b"");
    run(CLEAN, &["f"], b"");
    assert_eq!(run(LOOK, &["f", "n0.a1"], b"").trim(), "gone");
}

#[test]
fn folders_of_sockets_that_nobody_holds_are_removed() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = |name: &str, is_old: bool| {
        let path = place.path().join(name);
        std::fs::create_dir(&path).expect("a folder");
        let folder = File::open(&path).expect("a folder");
        let changed = std::time::SystemTime::now() - 3 * PERSIST * u32::from(is_old);
        folder.set_modified(changed).expect("a time");
        (path, folder)
    };
    let [left, held, new, other] =
        [("howslow-ssh-a", true), ("howslow-ssh-b", true), ("howslow-ssh-c", false), ("howslow-d", true)]
            .map(|(name, is_old)| folder(name, is_old));
    held.1.try_lock().expect("a lock");
    remove_abandoned(place.path());
    assert_eq!([&left, &held, &new, &other].map(|(path, _)| path.exists()), [false, true, true, true]);
}

#[test]
fn only_the_files_of_an_attempt_are_fetched() {
    let task = Task { place: 0, node: "n1".into(), name: "n1.a1".into(), repetitions: vec![3, 12], job: None };
    for fine in ["n1.a1.started", "n1.a1.exit", "n1.a1.log", "n1.a1.r12.json"] {
        assert!(is_file_of(fine, &task), "{fine}");
    }
    for odd in [
        "n1.a10.exit", "n1.a1./../x", "n1.a1.r1.json", "n1.a1.r012.json", "n1.a1.r3.json/../x", "n1.a1.rx.json",
        "n1.a1.pid", "howslow-x86_64",
    ] {
        assert!(!is_file_of(odd, &task), "{odd}");
    }
}
