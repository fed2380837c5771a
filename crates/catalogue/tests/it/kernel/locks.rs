//! Locks that threads sleep for: the kernel counts the sleeps, and only of locks whose threads sleep.

use super::sleeps;
use crate::support::{apart, looped, other_cpu, setting_at};

/// Sleeps per hand-over as the kernel counts them, and sleeps per acquisition as the cost reports them; `None` where there is
/// one CPU.
fn handed_over(lock: &str) -> Option<(f64, f64)> {
    const HANDOVERS: u64 = 2 * 4000;
    apart(|scratch| {
        let setting = setting_at("contention.handover", scratch, &format!("@lock={lock},threads=2"));
        let mut work = looped("contention.handover", &setting)?;
        let before = sleeps();
        work.perform(HANDOVERS / 2).expect("hand-overs");
        let counted = (sleeps() - before) as f64 / HANDOVERS as f64;
        let reported = setting.tallied();
        Some((counted, reported["sleeps per acquisition"]))
    })
}

#[test]
fn threads_sleep_for_the_locks_that_make_them_and_are_woken_by_a_hand_over() {
    if other_cpu().is_none() {
        return testing::not_tested!("it takes two CPUs");
    }
    let Some((slept, reported)) = handed_over("futex") else { return };
    // A thread whose turn comes before it sleeps does not, and one that has its CPU taken meanwhile is waited for.
    assert!(
        slept > 0.1 && reported > 0.0,
        "futex: the kernel counts {slept} sleeps per hand-over, the cost reports {reported}"
    );
    let Some((watched, reported)) = handed_over("spin") else { return };
    assert!(
        watched < slept / 5.0 && reported == 0.0,
        "spin: the kernel counts {watched} sleeps per hand-over, reports {reported}"
    );
}

#[test]
fn a_lock_that_nobody_else_wants_is_never_handed_over() {
    apart(|scratch| {
        let setting = setting_at("contention.lock", scratch, "@lock=futex,threads=1");
        let Some(mut work) = looped("contention.lock", &setting) else { return };
        let before = sleeps();
        work.perform(10_000).expect("acquisitions");
        assert!(sleeps() - before < 100, "nobody is waited for");
        assert_eq!(setting.tallied()["hand-overs per acquisition"], 0.0);
    });
}
