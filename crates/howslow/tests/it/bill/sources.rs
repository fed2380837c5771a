//! Ways of counting beside eBPF: what they count, what they leave unchanged, and why they are not possible.

use super::*;
use crate::support::without_rights;

#[test]
fn both_ways_of_counting_find_the_same() {
    let Some(data) = counting("ebpf").and_then(|_| counting("ptrace")) else { return };
    let place = files();
    let counts = |together: &Value, list: &str, key: [&str; 2]| -> BTreeMap<String, u64> {
        let list = together[list].as_array().expect("a list");
        let entry = |it: &Value| (format!("{} {}", it[key[0]], it[key[1]]), it["count"].as_u64().expect("a count"));
        list.iter().map(entry).collect()
    };
    let signals = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; trap : USR1; kill -USR1 $$; ulimit -c 0; \
                   for end in TERM KILL HUP ABRT; do sh -c \"kill -$end \\$\\$\"; done; :";
    for words in [
        &["find", "d"][..],
        &["dd", "if=/dev/zero", "of=/dev/null", "bs=7", "count=23", "status=none"],
        &["sh", "-c", signals],
    ] {
        let of =
            |source: &str| billed_by(&data, place.path(), &["--source", source], words)["seen"]["together"].clone();
        let (kernel, tracer) = (of("ebpf"), of("ptrace"));
        for what in ["forks", "execs", "signals"] {
            assert_eq!(kernel[what], tracer[what], "{what} of {words:?}");
        }
        if words[0] == "sh" {
            let told = counts(&kernel, "signals", ["name", "name"]);
            let of = |name: &str| told.get(&format!("\"{name}\" \"{name}\"")).copied();
            let ends = ["SIGTERM", "SIGKILL", "SIGHUP", "SIGABRT", "SIGUSR1", "SIGCHLD"].map(of);
            assert_eq!(ends, [1, 1, 1, 1, 1, 27].map(Some), "{told:?}");
        }
        // After which call a signal comes is chance, and so is how often a shell waits.
        if words[0] != "sh" {
            // What was moved is part of the key.
            assert_eq!(counts(&kernel, "calls", ["call", "bytes"]), counts(&tracer, "calls", ["call", "bytes"]));
            assert_eq!(counts(&kernel, "pairs", ["first", "then"]), counts(&tracer, "pairs", ["first", "then"]));
        }
    }
}

#[test]
fn without_rights_a_command_is_followed_by_ptrace() {
    let Some(data) = counting("ptrace") else { return };
    let script = "i=0; while [ $i -lt 23 ]; do /bin/true; i=$((i+1)); done; grep NoNewPrivs /proc/self/status; exit 5";
    let Some(output) = without_rights(&data, &["bill", "--", "sh", "-c", script]) else { return };
    let page = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{page}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "NoNewPrivs:\t0\n");
    for says in ["counted by ptrace", "not counted by eBPF: this process may not load programs", "25 programs executed"]
    {
        assert!(page.contains(says), "{says}: {page}");
    }
}

#[test]
fn without_rights_another_users_process_is_told_by_its_accounts() {
    let Some(data) = counting("ptrace") else { return };
    let mut other = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let pid = other.id().to_string();
    let told = without_rights(&data, &["bill", "--for", "100ms", "-p", &pid]);
    let refused = without_rights(&data, &["bill", "--source", "ptrace", "--for", "100ms", "-p", &pid]);
    other.kill().expect("it can be killed");
    other.wait().expect("it ended");
    let (Some(told), Some(refused)) = (told, refused) else { return };
    let page = String::from_utf8_lossy(&told.stdout);
    assert_eq!(told.status.code(), Some(0), "{page}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("counted by accounts") && page.contains("belongs to another user"), "{page}");
    assert_eq!(refused.status.code(), Some(2));
    let sentence = String::from_utf8_lossy(&refused.stderr);
    assert!(sentence.contains("ptrace cannot be used here") && sentence.contains("another user"), "{sentence}");
}

#[test]
fn what_is_traced_already_is_refused_in_a_sentence() {
    let Some(data) = counting("ptrace") else { return };
    let mut first = Command::new(assert_cmd::cargo::cargo_bin!("howslow"));
    first.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept").args([
        "bill",
        "--source",
        "ptrace",
        "--",
        "sh",
        "-c",
        "echo $$; read line",
    ]);
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    let mut line = String::new();
    let mut lines = std::io::BufReader::new(first.stdout.as_mut().expect("a pipe"));
    std::io::BufRead::read_line(&mut lines, &mut line).expect("a line");
    let words = ["bill", "--source", "ptrace", "-p", line.trim()];
    howslow(&data).args(words).assert().code(2).stderr(contains("is traced already, by process"));
    drop(first.stdin.take());
    first.wait().expect("it ends");
}

#[test]
fn a_system_is_not_followed_by_ptrace() {
    let data = folder();
    let says = "it follows a command or a process, not a cgroup or the system";
    howslow(&data).args(["bill", "--source", "ptrace", "--system"]).assert().code(2).stderr(contains(says));
}

/// Prints the user that it works as, makes 23 known calls, and ends with 5.
const OWNED: &str = r#"
    unsafe extern "C" { fn geteuid() -> u32; }
    fn main() {
        println!("{}", unsafe { geteuid() });
        let getppid = if cfg!(target_arch = "x86_64") { 110 } else { 173 };
        for _ in 0..23 { unsafe { syscall(getppid) }; }
        std::process::exit(5);
    }"#;

/// That program, which works as this user, whoever executes it; `None` where that is not possible.
fn owned_by(data: &TempDir, user: u32) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let program = programs::compiled(data.path(), &format!("owned{user}"), OWNED);
    let given = std::os::unix::fs::chown(&program, Some(user), None);
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o777)).expect("our folder");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("our file");
    let told = Command::new("setpriv").args(["--reuid", "65532", "--clear-groups"]).arg(&program).output();
    let works = given.is_ok() && told.is_ok_and(|told| told.stdout == format!("{user}\n").into_bytes());
    if !works {
        testing::not_tested!("no program can work as another user; run as root, with TMPDIR on a mount without nosuid");
    }
    works.then_some(program)
}

#[test]
fn a_set_user_id_program_keeps_its_right_and_is_counted_by_each_source() {
    let data = folder();
    let Some(program) = owned_by(&data, 65533) else { return };
    for source in ["ebpf", "ptrace", "accounts"] {
        let Some(_) = counting(source) else { continue };
        let file = data.path().join(format!("{source}.json"));
        let mut command = howslow(&data);
        command.args(["bill", "--source", source, "-o"]).arg(&file).args(["--", "sh", "-c"]);
        // The shell goes on, so that the program is executed by a process of its own.
        let assert = command.arg(format!("{}; exit $?", program.display())).assert();
        assert.code(5).stdout("65533\n");
        let document: Value = serde_json::from_slice(&fs::read(&file).expect("the document")).expect("JSON");
        let used = document["seen"]["source"].as_str().expect("a word").to_lowercase();
        assert_eq!(used, source);
        if source != "accounts" {
            assert_eq!(calls(&document)["getppid"].0, 23 + own_getppids(&document), "{source}");
        }
    }
}

/// A shell asks for its own parent once, when it begins.
fn own_getppids(document: &Value) -> u64 {
    let processes = document["seen"]["processes"].as_array().expect("processes");
    let shell = processes.iter().find(|process| process["name"] == "sh").expect("the shell");
    let calls = shell["requests"]["calls"].as_array().expect("calls");
    calls.iter().filter(|call| call["call"] == "getppid").filter_map(|call| call["count"].as_u64()).sum()
}

#[test]
fn without_rights_a_followed_set_user_id_program_runs_without_its_right() {
    let data = folder();
    let Some(program) = owned_by(&data, 65533) else { return };
    let program = program.to_str().expect("a path");
    for (source, user) in [("ptrace", "65534\n"), ("accounts", "65533\n")] {
        let Some(_) = counting(source) else { continue };
        let Some(output) = without_rights(&data, &["bill", "--source", source, "--", program]) else { return };
        let page = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(5), user), "{page}");
        if source == "ptrace" {
            assert!(page.contains("getppid"), "{page}");
        }
    }
}

#[test]
fn a_short_command_is_split_into_user_and_kernel_time_by_samples_of_its_own() {
    let Some(data) = counting("ebpf") else { return };
    let place = files();
    let kernel_share = |words: &[&str]| {
        let seen = billed_by(&data, place.path(), &["--source", "ebpf"], words)["seen"].clone();
        let number = |place: &str| seen.pointer(place).and_then(Value::as_f64);
        let between = number("/accounting/sample_ns").expect("samples of its own");
        // Two milliseconds at first, five later.
        assert!((1.9e6..5.1e6).contains(&between), "{between} ns");
        let sampled = seen["usage"]["sampled_ns"].as_array().expect("both modes").clone();
        let all: f64 = sampled.iter().filter_map(Value::as_f64).sum();
        let charged = number("/usage/cpu_ns").expect("a charge");
        assert!((0.5..2.0).contains(&(all / charged)), "{all} of {charged} ns were sampled");
        let returned = number("/accounting/call_return_ns").expect("measured");
        assert!(returned > 0.0 && returned < 10_000.0, "{returned} ns");
        number("/usage/system_ns").expect("kernel time") / charged
    };
    let computing = kernel_share(&["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]);
    assert!(computing < 0.3, "a loop that makes no call is in the kernel for {computing}");
    let reading = kernel_share(&["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=60000", "status=none"]);
    assert!(reading > 0.8, "zeros are written by the kernel, which had {reading}");
}
