//! Programs that do one thing as often as they can, on all CPUs: what a bill says of each stays within what can be.

use super::*;
use crate::support::is_installed;

/// Stressors of stress-ng that change nothing outside of their own processes and folder.
const STRESSORS: &str = "access aio alarm chdir chmod clone close daemon dentry dir dup env epoll eventfd exit-group fault fcntl fifo flock \
    fork fstat futex get getdent getrandom handle io-uring kill landlock lease link lockf madvise memfd mincore mmap mprotect mq msg msync \
    munmap mutex nanosleep open pipe pipeherd poll prctl ptrace pthread pty rename seccomp seek sem sem-sysv sendfile shm-sysv sigfd sigio \
    signest sigpipe sigq sigrt sigsegv sigsuspend sigtrap sleep sock sockfd sockpair splice switch tee timer timerfd udp userfaultfd utime \
    vfork vm-splice wait yield zombie";

#[test]
fn no_figure_of_a_stressed_kernel_exceeds_what_can_be() {
    let Some(data) = counting("ebpf") else { return };
    if testing::is_for_later("savings") {
        return;
    }
    if !is_installed("stress-ng") {
        return testing::not_tested!("there is no stress-ng; the package stress-ng is one");
    }
    let (place, file) = (folder(), data.path().join("bill.json"));
    let mut known = 0;
    for stressor in STRESSORS.split_whitespace() {
        let mut command = unvaried(&data, place.path(), assert_cmd::cargo::cargo_bin!("howslow"));
        command.args(["bill", "--source", "ebpf", "-o"]).arg(&file).args(["--", "stress-ng", "--quiet", "--temp-path"]);
        let output = command.arg(place.path()).args([&format!("--{stressor}"), "2", "-t", "1"]).output();
        let output = output.expect("howslow runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked"), "{stressor}: {text}");
        // This kernel or this stress-ng may not have it.
        if output.status.success() {
            check(stressor, &Bill::read(&file).seen);
            known += 1;
        }
    }
    assert!(known > 60, "{known} stressors ran");
}

/// Nothing takes or waits longer than there was time.
fn check(stressor: &str, seen: &Observation) {
    // Times are counted by their logarithm, and known within a quarter.
    let most = 1.3 * seen.elapsed_ns;
    let all = seen.processes.iter().map(|process| &process.requests).chain([&seen.together]);
    for requests in all {
        for call in &requests.calls {
            let Some(measured) = &call.measured else { continue };
            assert!((0.0..most).contains(&measured.mean_ns), "{stressor}: {call:?}");
            assert!((0.0..most).contains(&measured.error_ns), "{stressor}: {call:?}");
        }
        for waits in &requests.waits {
            let in_turn = waits.p50_ns <= waits.p99_ns && waits.p99_ns < most;
            assert!(in_turn && waits.total_ns <= waits.count as f64 * most, "{stressor}: {waits:?}");
        }
    }
    let cpus = std::thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64);
    assert!(seen.usage.cpu_ns.is_some_and(|cpu| cpu < cpus * most), "{stressor}: {:?}", seen.usage);
}
