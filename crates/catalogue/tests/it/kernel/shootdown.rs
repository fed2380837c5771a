//! Pages that are taken from other CPUs: the kernel interrupts them, once for each call, and only where they run a task of
//! this memory.

use crate::support::{apart, looped, other_cpu, setting_at};

/// Interrupts to forget translations that CPU 1 has had; `None` where the kernel does not count them, or the processor
/// informs other CPUs by itself.
fn interrupts() -> Option<u64> {
    if std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" invlpgb")) {
        return None;
    }
    super::interrupts("TLB shootdowns")?.get(1).copied()
}

#[test]
fn every_page_taken_from_a_running_thread_interrupts_its_cpu() {
    /// Counted one by one: whoever else wants CPU 1 has a part of the time, in which our thread does not run.
    const BATCHES: usize = 200;
    const CALLS: u64 = 64;
    if other_cpu().is_none() {
        testing::not_tested!("it takes two CPUs");
        return;
    }
    for call in ["munmap", "mprotect", "madvise"] {
        let id = format!("contention.shootdown.{call}");
        apart(|scratch| {
            let count = |cpus: u64| {
                let setting = setting_at(&id, scratch, &format!("@cpus={cpus}"));
                let mut work = looped(&id, &setting)?;
                let mut batch = || {
                    let before = interrupts()?;
                    work.perform(CALLS).expect("calls");
                    Some(interrupts()? - before)
                };
                let mut batches: Vec<u64> = (0..BATCHES).map(|_| batch()).collect::<Option<_>>()?;
                batches.sort_unstable();
                Some((batches, setting.tallied().get("TLB interrupts of other CPUs").copied()))
            };
            let Some((alone, reported_alone)) = count(1) else {
                return testing::not_tested!("the kernel does not count interrupts for the TLB");
            };
            let (beside, reported) = count(2).expect("counted a moment ago");
            assert_eq!(reported_alone, Some(0.0), "{id} alone interrupts nobody");
            // Other programs interrupt CPU 1, too, but seldom in the time of one batch; and they may have most of its time.
            let (usual, one_in_ten) = (alone[BATCHES / 2], beside[BATCHES - BATCHES / 10]);
            assert!(usual < CALLS / 4, "{id} without a thread there: {alone:?}");
            assert!(one_in_ten >= CALLS, "{id} with a thread there: {beside:?}");
            // Some batches are counted, and our thread does not run in all of them.
            assert!(reported.is_some_and(|reported| reported > 0.0), "{id} reports {reported:?}");
        });
    }
}
