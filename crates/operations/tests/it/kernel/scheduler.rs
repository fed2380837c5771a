//! What the scheduler does with a task beside a computing one: it shares the CPU by nice value and class, and a woken task
//! takes the CPU from the other.

use crate::support::{apart, looped, setting_at};

/// The share of the CPU that a task gets beside a computing one; `None` where it is refused its treatment.
fn share(treated: &str, session: &str) -> Option<f64> {
    apart(|scratch| {
        let setting = setting_at("scheduler.share", scratch, &[("as", treated), ("session", session)]);
        let mut work = looped("scheduler.share", &setting)?;
        (0..3).for_each(|_| work.perform(1).expect("a window"));
        setting.tallied().get("share of the CPU").copied()
    })
}

#[test]
fn nice_values_and_classes_share_the_cpu() {
    let usual = share("usual", "same").expect("any task may compute");
    assert!((0.1..0.8).contains(&usual), "half of it, where no other program runs: {usual}");
    let nice = share("nice-plus-10", "same").expect("any task may be nice");
    assert!(nice < 0.6 * usual, "{nice} of the CPU, {usual} as a usual task");
    let idle = share("idle", "same").expect("any task may be idle");
    assert!(idle < 0.6 * usual, "{idle} of the CPU, {usual} as a usual task");
    let Some(real) = share("fifo", "same") else { return };
    assert!(real > usual, "{real} of the CPU, {usual} as a usual task");
}

#[test]
fn every_treatment_and_level_does_its_work() {
    for id in ["scheduler.response", "scheduler.throughput", "multiprogramming.compute", "multiprogramming.mixed"] {
        for point in crate::support::points(id) {
            // The rest differs in numbers alone.
            if point.number("tasks").is_some_and(|tasks| ![1, 4].contains(&tasks)) {
                continue;
            }
            apart(|scratch| {
                let setting = crate::support::setting(point.clone(), scratch);
                let Some(mut work) = looped(id, &setting) else { return };
                [1, 2]
                    .into_iter()
                    .for_each(|times| work.perform(times).unwrap_or_else(|why| panic!("{id}{point}: {why}")));
            });
        }
    }
}

/// The class, nice value and time slice are a batch's alone.
#[test]
fn a_treatment_ends_with_its_batch() {
    let look = || {
        let mut attributes = [0_u32; 12];
        // SAFETY: writes the structure of 48 bytes.
        let told = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, 48, 0) };
        assert_eq!(told, 0);
        attributes
    };
    for treated in ["slice-10ms", "idle", "fifo"] {
        apart(|scratch| {
            let before = look();
            let setting = setting_at("scheduler.response", scratch, &[("as", treated)]);
            let Some(mut work) = looped("scheduler.response", &setting) else { return };
            work.perform(2).expect("two wake-ups");
            assert_eq!(look(), before, "{treated}");
        });
    }
}
