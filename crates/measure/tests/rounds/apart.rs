//! Work in a separate process: its result, and its fate if there is none.

use std::time::Duration;

use guard::apart;
use libtest_mimic::{Failed, Trial};

use crate::support::{equal, processes_of_ours, trial};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("work apart returns its value", returns),
        trial("work apart that crashes, leaves or hangs says so", does_not_return),
        trial("work apart leaves no process behind", leaves_nothing),
    ]
}

const PATIENCE: Duration = Duration::from_secs(20);

fn returns() -> Result<(), Failed> {
    equal(apart(PATIENCE, || 6 * 7), Ok(42), "the value")
}

fn does_not_return() -> Result<(), Failed> {
    let crashed: Result<u32, String> = apart(PATIENCE, || std::process::abort());
    equal(crashed, Err("it crashed: killed by SIGABRT".into()), "a crash")?;
    let left: Result<u32, String> = apart(PATIENCE, || std::process::exit(3));
    equal(left, Err("it left with exit status 3 before it had measured".into()), "an exit")?;
    let panicked: Result<u32, String> = apart(PATIENCE, || panic!("no way"));
    equal(panicked, Err("it panicked: no way".into()), "a panic")?;
    let hung: Result<u32, String> = apart(Duration::from_millis(100), || {
        loop {
            std::thread::sleep(PATIENCE);
        }
    });
    equal(hung.is_err_and(|why| why.starts_with("it hung")), true, "a hang")
}

fn leaves_nothing() -> Result<(), Failed> {
    let before = processes_of_ours();
    let done = apart(PATIENCE, || {
        // SAFETY: this process has one thread; the copy only waits to be killed, out of reach in a session of its own.
        if unsafe { libc::fork() } == 0 {
            // SAFETY: concerns this process alone.
            unsafe { libc::setsid() };
            loop {
                std::thread::sleep(PATIENCE);
            }
        }
        true
    });
    equal(done, Ok(true), "the value")?;
    equal(processes_of_ours(), before, "processes before and after")
}
