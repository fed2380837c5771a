//! Work in a separate process: its result, and its fate if there is none.

use std::time::Duration;

use system::guard::{Lost, apart};

use crate::support::{Failed, Trial, equal, processes_of_ours, sleep};

pub fn tests() -> Vec<Trial> {
    vec![
        ("work apart returns its value", returns),
        ("work apart that crashes, leaves or hangs says so", does_not_return),
        ("a panic of a process that work started ends that process", starts_one_that_panics),
        ("work apart leaves no process behind", leaves_nothing),
    ]
}

const PATIENCE: Duration = Duration::from_secs(20);

fn returns() -> Result<(), Failed> {
    equal(apart(PATIENCE, || 6 * 7), Ok(42), "the value")
}

fn does_not_return() -> Result<(), Failed> {
    let crashed: Result<u32, Lost> = apart(PATIENCE, || std::process::abort());
    equal(sentence(crashed).as_str(), "it crashed: killed by SIGABRT", "a crash")?;
    let left: Result<u32, Lost> = apart(PATIENCE, || std::process::exit(3));
    equal(sentence(left).as_str(), "it left with exit status 3 before it had measured", "an exit")?;
    let panicked: Result<u32, Lost> = apart(PATIENCE, || panic!("no way"));
    equal(sentence(panicked).as_str(), "it panicked: no way", "a panic")?;
    let waits = || {
        std::thread::spawn(|| panic!("nor this one"));
        sleep()
    };
    equal(sentence(apart(PATIENCE, waits)).as_str(), "it panicked: nor this one", "a panic of another thread")?;
    let hung: Result<u32, Lost> = apart(Duration::from_millis(100), || sleep());
    equal(sentence(hung).as_str(), "it hung: no result within 0.1 s", "a hang")
}

/// What is said of an end without a value.
fn sentence(end: Result<u32, Lost>) -> String {
    end.err().map_or_else(String::new, |lost| lost.to_string())
}

fn starts_one_that_panics() -> Result<(), Failed> {
    let status = apart(PATIENCE, || {
        // SAFETY: this process has one thread; the copy only panics.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            panic!("on purpose");
        }
        let mut status = 0;
        // SAFETY: the status is this function's own.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        libc::WEXITSTATUS(status)
    });
    equal(status, Ok(101), "its status, by the work that waited for it")
}

fn leaves_nothing() -> Result<(), Failed> {
    let before = processes_of_ours();
    let done = apart(PATIENCE, || {
        // SAFETY: this process has one thread; the copy only waits to be killed, out of reach in a session of its own.
        if unsafe { libc::fork() } == 0 {
            // SAFETY: concerns this process alone.
            unsafe { libc::setsid() };
            sleep();
        }
        true
    });
    equal(done, Ok(true), "the value")?;
    equal(processes_of_ours(), before, "processes before and after")
}
