//! Calls that sleep, and timers: how late the kernel may wake, whether the task slept, and which timers are armed.

use std::time::{Duration, Instant};

use super::sleeps;
use crate::support::{apart, looped, setting_at};

#[test]
fn what_sleeps_has_the_slack_it_names_and_sleeps() {
    const TIMES: u64 = 30;
    /// What each of these calls sleeps at least.
    const SLEEP: Duration = Duration::from_micros(10);
    const TRIES: u32 = 50;
    let ids = ["nanosleep", "clock_nanosleep", "ppoll.timeout", "pselect6.timeout", "epoll_pwait2.timeout"];
    for id in ids.map(|name| format!("call.{name}")) {
        for (word, slack) in [("50us", 50_000), ("1ns", 1)] {
            apart(|scratch| {
                let setting = setting_at(&id, scratch, &format!("@slack={word}"));
                let Some(mut work) = looped(&id, &setting) else { return };
                assert_eq!(rustix::thread::current_timer_slack(), Ok(slack), "{id}");
                // No call returns before its time, however busy the host is. If the task is interrupted for that long between arming
                // the timer and giving up its CPU, the time is over without a sleep; but not in every call.
                let slept = |_| {
                    let (before, began) = (sleeps(), Instant::now());
                    work.perform(TIMES).expect("sleeps");
                    assert!(began.elapsed() >= TIMES as u32 * SLEEP, "{id} returned early");
                    sleeps() > before
                };
                assert!((0..TRIES).any(slept), "{id} never slept in {TRIES} times {TIMES} calls");
            });
        }
    }
}

/// How many expiries of this process's timers were not handled, and how many of its descriptors are timers.
fn rung() -> (u64, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fdinfo").expect("the kernel tells of descriptors").flatten();
    let infos: Vec<String> = descriptors.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect();
    let ticks = |info: &String| info.lines().find_map(|line| line.strip_prefix("ticks: "))?.trim().parse::<u64>().ok();
    let timers: Vec<u64> = infos.iter().filter_map(ticks).collect();
    (timers.iter().sum(), timers.len())
}

#[test]
fn near_timers_ring_soon_and_far_ones_do_not() {
    for (word, rings) in [("near", 1), ("far", 0)] {
        apart(|scratch| {
            let setting = setting_at("call.timerfd_settime", scratch, &format!("@expiry={word}"));
            let mut work = looped("call.timerfd_settime", &setting).expect("timers");
            work.perform(100).expect("a timer set a hundred times");
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(rung(), (rings, 1), "a {word} timer left alone");
        });
    }
}

/// The kernel does not arm a timer that signals nothing: it only records when it would expire.
#[test]
fn armed_timers_are_of_the_kind_that_is_armed() {
    for (id, at) in [("pair.timer", "@expiry=near"), ("call.timer_gettime", "")] {
        apart(|scratch| {
            let setting = setting_at(id, scratch, at);
            let mut work = looped(id, &setting).expect("timers");
            work.perform(10).expect("a timer");
            match std::fs::read_to_string("/proc/self/timers") {
                Ok(text) => assert!(text.contains("notify: signal"), "{id}: {text}"),
                Err(error) => testing::not_tested!("{id}: this kernel does not list timers: {error}"),
            }
        });
    }
}
