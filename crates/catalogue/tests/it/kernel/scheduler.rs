//! What the scheduler does with a task beside a computing one: it shares the CPU by nice value and class, and a woken task
//! takes the CPU from the other.

use operation::{Scheduling, processor_time};

use crate::support::{apart, children, looped, setting_at};

/// The share that a task gets of the CPU time of itself and the computing one, whatever other programs take; `None` where
/// it is refused its treatment.
fn share(treated: &str) -> Option<f64> {
    apart(|scratch| {
        let setting = setting_at("scheduler.share", scratch, &format!("@as={treated},session=same"));
        let mut work = looped("scheduler.share", &setting)?;
        let tasks = [std::process::id() as i32, children()[0]];
        let used = |pid| processor_time(pid).expect("the process is there");
        let before = tasks.map(used);
        (0..4).for_each(|_| work.perform(1).expect("a window"));
        assert!(setting.tallied()["share of the CPU"] > 0.0);
        let [own, other] = tasks.map(used);
        Some((own - before[0]) / (own - before[0] + other - before[1]))
    })
}

#[test]
fn nice_values_and_classes_share_the_cpu() {
    let usual = share("usual").expect("any task may compute");
    assert!((0.3..0.7).contains(&usual), "{usual} is not half");
    // 110 of 1024 + 110, by the kernel's weights; and a slice at the beginning of each window.
    let nice = share("nice-plus-10").expect("any task may be nice");
    assert!(nice < 0.3, "{nice} is not a tenth");
    let idle = share("idle").expect("any task may be idle");
    assert!(idle < 0.2, "{idle} is not a little");
    let Some(real) = share("fifo") else { return };
    assert!(real > 0.7, "{real} is not all");
}

#[test]
fn every_treatment_and_level_does_its_work() {
    for id in ["scheduler.response", "scheduler.throughput", "multiprogramming.compute", "multiprogramming.mixed"] {
        for point in crate::support::points(id) {
            // The rest differs in numbers alone.
            if point.number("tasks").is_some_and(|tasks| tasks != 2) {
                continue;
            }
            apart(|scratch| {
                let setting = crate::support::setting(point.clone(), scratch);
                let Some(mut work) = looped(id, &setting) else { return };
                work.perform(1).unwrap_or_else(|why| panic!("{id}{point}: {why}"));
            });
        }
    }
}

/// The class, nice value and time slice are a batch's alone.
#[test]
fn a_treatment_ends_with_its_batch() {
    let look = || Scheduling::own().expect("the kernel tells");
    for treated in ["slice-10ms", "idle", "fifo"] {
        apart(|scratch| {
            let before = look();
            let setting = setting_at("scheduler.response", scratch, &format!("@as={treated}"));
            let Some(mut work) = looped("scheduler.response", &setting) else { return };
            work.perform(2).expect("two wake-ups");
            assert_eq!(look(), before, "{treated}");
        });
    }
}
