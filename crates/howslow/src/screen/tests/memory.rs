//! An hour of looks.

use super::{names, process, second, state_of};
use analysis::bill::{Account, Who};

#[test]
fn an_hour_of_processes_that_come_and_go_leaves_nothing_behind() {
    let mut state = state_of(Vec::new());
    let mut pid = 100;
    for look in 0..3600_u32 {
        let mut processes = vec![process(1, "init", 10)];
        for _ in 0..40 {
            pid += 1;
            processes.push(process(pid, "worker", 5));
        }
        // Those of the look before ended; half of them did so without anybody seeing it.
        for ended in (pid - 79..pid - 39).step_by(2) {
            processes.push(Account { running: false, ..process(ended, "worker", 1) });
        }
        let short = Who::Short { parent: Some(look), name: format!("make{look}") };
        processes.push(Account { who: short, running: false, ..process(0, "make", 5) });
        state.update(second(processes));
        // Forty new ones, those that just ended, and the idle of sixty looks.
        let most = 1 + 40 + 20 + 1 + 60 * 40;
        assert!(names(&state).len() <= most, "{} rows after {look} looks", names(&state).len());
    }
    for _ in 0..=crate::screen::memory::TREND {
        state.update(second(vec![process(1, "init", 10)]));
    }
    assert_eq!(names(&state), ["init"], "what was idle for long is forgotten");
    assert_eq!(state.chosen().map(|entry| entry.trend.len()), Some(crate::screen::memory::TREND));
}
