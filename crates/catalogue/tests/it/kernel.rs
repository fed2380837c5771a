//! What the kernel did while an operation ran, as the kernel reports it (not the return values of calls): interrupts of other CPUs,
//! changed values, moved pages, writes of the device, sleeps.

mod files;
mod locks;
mod scheduler;
mod shootdown;
mod waits;

use operation::Usage;

use crate::support::{self, apart, changes_each_time, children, looped, other_cpu, prepared, setting_at, status};

/// The number of interrupts of this kind of each CPU; `None` if the kernel does not count them.
fn interrupts(kind: &str) -> Option<Vec<u64>> {
    let text = std::fs::read_to_string("/proc/interrupts").ok()?;
    let line = text.lines().find(|line| line.trim_end().ends_with(kind))?;
    Some(line.split_whitespace().skip(1).map_while(|count| count.parse().ok()).collect())
}

/// The latest CPU of a process, and its time on that CPU in ticks.
fn place_and_time(pid: i32) -> (usize, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the task is there");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    (fields[36].parse().expect("a CPU"), fields[11].parse().expect("ticks"))
}

#[test]
fn a_barrier_interrupts_every_cpu_that_runs_a_task_of_this_memory() {
    /// The ticks of 10 ms that the other task runs, and the interrupts of its CPU meanwhile: at least one per 100 us, although other
    /// tasks of that CPU take a part of the time.
    const TICKS: u64 = 20;
    const INTERRUPTS: u64 = 2_000;
    const CALLS: &str = "Function call interrupts";
    if other_cpu().is_none() {
        testing::not_tested!("it takes two CPUs");
        return;
    }
    apart(|scratch| {
        let setting = setting_at("call.membarrier", scratch, "@cpus=2");
        let Some(mut work) = looped("call.membarrier", &setting) else { return };
        let running = children();
        assert_eq!(running.len(), 1, "one task shares this memory");
        let (before, (_, time)) = (interrupts(CALLS), place_and_time(running[0]));
        let start = std::time::Instant::now();
        let (mut cpu, mut ran) = (0, 0);
        while ran < TICKS && start.elapsed().as_secs() < 40 {
            work.perform(500).expect("barriers");
            let (place, later) = place_and_time(running[0]);
            (cpu, ran) = (place, later - time);
        }
        assert_eq!(cpu, 1, "it is on the other CPU");
        assert!(ran >= TICKS, "it ran there for {ran} ticks");
        match before.zip(interrupts(CALLS)) {
            Some((before, after)) => {
                let interrupted = after[cpu] - before[cpu];
                assert!(interrupted > INTERRUPTS, "CPU {cpu} was interrupted {interrupted} times in {ran} ticks");
            }
            None => testing::not_tested!("the kernel does not count interrupts"),
        }
    });
}

#[test]
fn calls_that_set_change_what_they_set() {
    let saved = || status("Uid:").split_whitespace().nth(2).map(str::to_owned);
    changes_each_time("call.setresuid", |_| saved());
    let group = || status("Gid:").split_whitespace().nth(2).map(str::to_owned);
    changes_each_time("call.setresgid", |_| group());
    changes_each_time("call.setpriority", |_| Some(format!("{:?}", rustix::process::getpriority_process(None))));
    changes_each_time("call.sched_setparam", |_| {
        let mut priority: libc::c_int = 0;
        // SAFETY: asks about our own child; the pointer is to all of the kernel's parameter.
        unsafe { libc::syscall(libc::SYS_sched_getparam, *children().first()?, &raw mut priority) };
        Some(priority.to_string())
    });
    changes_each_time("call.sigaltstack", |_| {
        // SAFETY: all bits zero is a valid stack_t.
        let mut stack: libc::stack_t = unsafe { std::mem::zeroed() };
        // SAFETY: asks; the pointer is to a stack_t.
        unsafe { libc::sigaltstack(std::ptr::null(), &raw mut stack) };
        Some(format!("{:?}", stack.ss_sp))
    });
    changes_each_time("call.setsockopt", |_| Some(format!("{:?}", (3..64).map(kept_alive).collect::<Vec<_>>())));
    changes_each_time("pair.sockopt", |_| Some(format!("{:?}", (3..64).map(kept_alive).collect::<Vec<_>>())));
}

/// The value of this socket option; `None` if the descriptor is not a socket.
fn kept_alive(descriptor: i32) -> Option<i32> {
    let (mut value, mut length) = (0_i32, 4_u32);
    let place = (&raw mut value).cast();
    // SAFETY: the pointers are to an int and its length.
    let answer = unsafe { libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_KEEPALIVE, place, &raw mut length) };
    (answer == 0).then_some(value)
}

#[test]
fn pages_move_between_nodes_or_the_operation_is_skipped() {
    const TIMES: u64 = 40;
    let allowed = status("Mems_allowed_list:");
    let several = allowed.contains([',', '-']);
    for id in ["call.move_pages", "call.migrate_pages"] {
        apart(move |scratch| {
            for point in support::points(id) {
                let setting = support::setting(point, scratch);
                match prepared(id, &setting) {
                    Err(reason) => assert!(!several || reason.contains("CPU"), "{id} was skipped: {reason}"),
                    Ok(mut work) => {
                        assert!(several, "{id} does something where there is one memory node");
                        let before = migrated();
                        work.perform(TIMES).expect("moves");
                        let moved = migrated() - before;
                        assert!(moved >= TIMES, "{id} moved {moved} pages in {TIMES} calls");
                    }
                }
            }
        });
    }
}

/// The number of pages that the kernel has moved from one frame to another since it started.
fn migrated() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").expect("the kernel counts pages");
    let count = text.lines().find_map(|line| line.strip_prefix("pgmigrate_success "));
    count.and_then(|count| count.parse().ok()).expect("moved pages are counted")
}

#[test]
fn collected_children_had_a_copy_of_the_memory_or_the_memory_itself() {
    const TIMES: u64 = 40;
    for id in ["call.wait4", "call.waitid"] {
        let mut faults = [0, 0];
        for (count, child) in faults.iter_mut().zip(["copied", "lent"]) {
            *count = apart(|scratch| {
                let setting = setting_at(id, scratch, &format!("@child={child}"));
                let mut work = looped(id, &setting).expect("children can be had");
                let before = faults_of_children();
                work.perform(TIMES).expect("children");
                faults_of_children() - before
            });
        }
        // A copy faults at least on the first page that it writes; a child that shares all memory faults on none.
        assert!(faults[0] >= TIMES, "{TIMES} copies had {} page faults", faults[0]);
        assert!(faults[1] < TIMES / 2, "{TIMES} that were lent the memory had {} page faults", faults[1]);
    }
}

fn faults_of_children() -> u64 {
    Usage::of_reaped_children().minor_faults as u64
}

/// How often this process's threads have gone to sleep.
fn sleeps() -> u64 {
    Usage::of_this_process().voluntary as u64
}
