//! Stretches of simulated tasks, and of this machine.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::*;
use crate::call_names::CallNames;
use crate::counter::Counter;
use crate::counts::{Call, Times};
use crate::{Options, Source, Target, tested};

fn task(id: u64, process: u32, calls: u64) -> Task {
    let calls = BTreeMap::from([(Call::Native(39), Times { count: calls, results: 0 })]);
    let counts = Counts { calls, ..Counts::default() };
    Task { id, parent: Some(1), process, thread: process, name: format!("p{process}"), counts, ..Task::default() }
}

fn of_the_system() -> Option<Stretches> {
    let options = Options { source: Some(Source::Bpf), ..Options::default() };
    tested(Observer::start(Target::System, &options), "the system cannot be watched").map(Stretches::of)
}

static NAMES: OnceLock<CallNames> = OnceLock::new();

/// The calls of each process in a stretch of these tasks.
fn stretch(recent: &mut Recent, ended: &[Task], running: &[Task]) -> Vec<(Option<u32>, u64)> {
    recent.begin();
    for task in ended {
        recent.ended(&mut task.clone());
    }
    let mut running = running.to_vec();
    running.retain_mut(|task| recent.ran(task));
    recent.keep(&HashSet::new());
    let names = NAMES.get_or_init(CallNames::default);
    let counted = recent.fold.with_running(&running, names, &mut cgroup::Names::default());
    counted.processes.iter().map(|process| (process.pid, process.requests.total())).collect()
}

#[test]
fn each_stretch_reports_its_own_calls_and_all_of_them_once() {
    let mut recent = Recent::default();
    assert_eq!(stretch(&mut recent, &[], &[task(1, 10, 5), task(2, 20, 7)]), [(Some(20), 7), (Some(10), 5)]);
    assert_eq!(recent.started, BTreeSet::from([10, 20]));
    assert_eq!(stretch(&mut recent, &[], &[task(1, 10, 9), task(2, 20, 7)]), [(Some(10), 4)], "the other was idle");
    assert_eq!(recent.started, BTreeSet::new());
    let end = Task { end_ns: Some(9), ..task(2, 20, 10) };
    // A new process has the id of the one that ended.
    let again = task(3, 20, 1);
    assert_eq!(stretch(&mut recent, &[end], &[task(1, 10, 9), again]), [(Some(20), 3), (Some(20), 1)]);
    assert_eq!(recent.started, BTreeSet::from([20]));
}

#[test]
fn an_hour_of_short_lived_processes_leaves_nothing_behind() {
    let mut recent = Recent::default();
    let (mut next, mut total, mut last) = (10, 0, Vec::<Task>::new());
    for second in 0..3600 {
        let ended: Vec<Task> = last.drain(..).map(|task| Task { end_ns: Some(1), ..task }).collect();
        last = (0..50).map(|number| task(next + number, (next + number) as u32, 2)).collect();
        next += 50;
        // Ten tasks are lost: their end is never reported.
        let seen = stretch(&mut recent, &ended[ended.len().min(10)..], &last);
        total += seen.iter().map(|(_, calls)| calls).sum::<u64>();
        assert!(recent.known.len() <= 100, "{} tasks are known after {second} s", recent.known.len());
        assert!(recent.started.len() <= 50);
    }
    assert_eq!(total, 3600 * 50 * 2);
}

#[test]
fn the_system_is_observed_stretch_by_stretch() {
    let Some(mut stretches) = of_the_system() else { return };
    let mut child = Command::new("sh");
    // What this process itself creates is not known to have been created.
    child.args(["-c", "read x; sh -c 'echo $$; read x; kill -0 $$; kill -0 $$; kill -0 $$; read x'; :"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh starts");
    let mut input = child.stdin.take().expect("its input");
    // On a busy machine many processes may have come and gone meanwhile: their records become free.
    stretches.collect().expect("what ended");
    input.write_all(b"\n").expect("it reads");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let id: u32 = line.trim().parse().expect("its id");
    let kills = |stretch: &Stretch| {
        let process = stretch.seen.processes.iter().find(|process| process.pid == Some(id))?;
        Some(process.requests.calls.iter().find(|call| call.call == "kill").map_or(0, |call| call.count))
    };
    // The shell has begun to read once it sleeps.
    let collect_until_asleep = |stretches: &mut Stretches| {
        wait_until(|| {
            stretches.collect().expect("what ended");
            reads(id)
        });
    };
    collect_until_asleep(&mut stretches);
    let first = stretches.take().expect("a stretch");
    assert!(first.started.contains(&id));
    assert_eq!(kills(&first), Some(0));
    input.write_all(b"\n").expect("it reads");
    let mut second = 0;
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(10));
        second += kills(&stretches.take().expect("a stretch")).unwrap_or(0);
        if second >= 3 {
            break;
        }
    }
    assert_eq!(second, 3, "each call is reported in one stretch");
    collect_until_asleep(&mut stretches);
    // One stretch takes up what came before, and then it is idle.
    for _ in 0..200 {
        let last = stretches.take().expect("a stretch");
        assert_eq!(kills(&last).unwrap_or(0), 0);
        assert!(!last.started.contains(&id));
    }
    drop(input);
    child.wait().expect("its end");
}

/// The kernel gives a new task the stack of one that ended, by whose address those that are not watched are remembered.
#[test]
fn what_follows_an_ended_thread_of_this_process_is_watched() {
    let Some(mut stretches) = of_the_system() else { return };
    let (mut children, mut seen) = (BTreeSet::new(), BTreeSet::new());
    // Before they are folded: on a busy machine, not all of a stretch are listed.
    let note = |stretches: &mut Stretches, seen: &mut BTreeSet<u32>| {
        stretches.collect().expect("what ended");
        seen.extend(stretches.ended.drain(..).map(|task| task.process));
    };
    for _ in 0..100 {
        std::thread::spawn(|| std::thread::sleep(Duration::from_micros(1))).join().expect("it ends");
        let mut child = Command::new("true").spawn().expect("true starts");
        child.wait().expect("it ends");
        children.insert(child.id());
        note(&mut stretches, &mut seen);
    }
    // The last one may not have left its CPU yet.
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(5));
        note(&mut stretches, &mut seen);
        if children.is_subset(&seen) {
            return;
        }
    }
    let missing: Vec<&u32> = children.difference(&seen).collect();
    let losses = stretches.observer.counter.as_ref().map(Counter::losses).unwrap_or_default();
    assert!(missing.len() as u64 <= losses.together + losses.tasks, "{missing:?} were ignored");
}

fn reads(process: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{process}/syscall")).unwrap_or_default();
    call.starts_with(&format!("{} ", libc::SYS_read))
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("it never was so");
}

/// It is first seen when it is killed.
#[test]
fn a_process_that_only_computes_has_its_time_and_its_end() {
    if !std::fs::exists("/sys/kernel/btf/vmlinux").unwrap_or(false) {
        return testing::not_tested!("the kernel does not describe its types; CONFIG_DEBUG_INFO_BTF");
    }
    let mut child = Command::new("sh");
    child.args(["-c", "echo; i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done"]).stdout(Stdio::piped());
    let mut child = child.spawn().expect("sh starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("its output")).read_line(&mut line).expect("a line");
    let used = |id| usage::of_process(id).and_then(|usage| usage.cpu_ns).expect("it runs");
    let wait_for_use = |id| {
        let before = used(id);
        wait_until(|| used(id) > before + 2e7);
    };
    // It has returned from the call that wrote the line.
    wait_for_use(child.id());
    let options = Options { source: Some(Source::Bpf), ..Options::default() };
    let observer = Observer::start(Target::Process(child.id()), &options);
    let seen = observer.map(|mut observer| {
        wait_for_use(child.id());
        child.kill().expect("it is ours");
        wait_until(|| observer.step(Duration::ZERO).expect("a look") != State::Running);
        observer.finish().expect("what was seen")
    });
    let _ = child.kill();
    child.wait().expect("its end");
    let Some(seen) = tested(seen, "no process can be watched") else { return };
    let process = seen.processes.iter().find(|process| process.pid == Some(child.id())).expect("it was watched");
    assert!(process.usage.cpu_ns.is_some_and(|used| used > 1e7), "{process:?}");
    assert_eq!(process.requests.signals.iter().map(|signal| signal.count).sum::<u64>(), 1, "{process:?}");
}
