//! Sentences about a bill: habits that cost time, and what doing without them would save.

mod memory;
mod names;
mod saving;
mod tasks;

use record::{CallCount, Nanoseconds, Observation, PairCount, WaitReason, Waits, largest_first};

use super::rows::{Bill, Habit};
use super::waiting::WaitedFor;
use saving::{FEW, LOOKS, READS, Saving, each, without};

/// A call that moves fewer bytes than this on the mean could move many more for a price that hardly grows.
const SMALL: f64 = 1024.0;
/// What such a call could move.
const BUFFER: f64 = 4096.0;
/// Calls that wait until something can be read.
const WAITS: &[&str] = &["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"];
/// The least share of the charged time, or of all calls without a price, that is worth a sentence.
const WORTH: f64 = 0.01;
const SENDS: &[&str] = &["write", "writev", "sendto", "sendmsg", "sendmmsg"];
/// Calls that wait until changes are on a device.
const SYNCS: &[&str] = &["fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync"];
const CLOCKS: &[&str] = &["clock_gettime", "gettimeofday", "time"];
/// Calls that answer the same each time.
const SAME: &[&str] = &["getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "uname", "sysinfo"];
/// Errors that say "not now", which is an answer and no failure.
const NOT_NOW: &[&str] = &[
    "EAGAIN", "EINPROGRESS", "EINTR", "ETIMEDOUT", "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND",
    "ERESTART_RESTARTBLOCK",
];

/// What could be saved, the largest first.
pub(super) fn findings(seen: &Observation, bill: &Bill) -> Vec<Habit> {
    let mut found = Vec::new();
    let mut add = |calls: &[&str], saving: Option<Saving>| {
        found.extend(saving.map(|saving| (calls.iter().map(ToString::to_string).collect(), saving)));
    };
    for call in &seen.together.calls {
        let own = &[call.call.as_str()];
        add(own, small(call, seen, bill));
        add(own, failing(call, bill));
        add(own, clock(call, bill));
        add(own, same(call, bill));
        add(own, empty(call, bill));
        add(own, written_anew(call, bill));
        add(own, names::reopened(call, seen, bill));
        add(own, tasks::far_wakes(call, seen, bill));
    }
    add(LOOKS, names::looks(seen, bill));
    add(LOOKS, names::attributes_first(seen, bill));
    for pair in &seen.together.pairs {
        add(&[pair.first.as_str()], waited(pair, seen, bill));
        add(&[pair.first.as_str()], sought(pair, bill));
    }
    add(&["futex"], tasks::waiting_threads(seen, bill));
    add(&["clone", "clone3", "fork", "vfork"], tasks::short_lived(seen, bill));
    add(&["brk", "mmap", "mremap"], memory::small_pages(seen, bill));
    add(&["madvise", "munmap"], memory::given_back(seen, bill));
    let all = seen.together.total() as f64;
    let cpu = seen.usage.cpu_ns.map(|cpu| without_counting(cpu, seen));
    let worth = |(calls, (text, times, saves_ns)): (Vec<String>, Saving)| {
        // Nothing saves more than the program took.
        let saves_ns = saves_ns.map(|saves| saves.map(|ns| ns.min(cpu.unwrap_or(f64::INFINITY))));
        let share = saves_ns.zip(cpu).map(|([_, most], cpu)| most / cpu);
        let weight = share.unwrap_or(if all > 0.0 { times / all } else { 0.0 });
        (weight >= WORTH).then_some(Habit { text, calls, saves_ns, share, saves_elapsed_ns: None })
    };
    let mut found: Vec<Habit> = found.into_iter().filter_map(worth).chain(slow(seen)).collect();
    largest_first(&mut found, |one| one.felt_ns());
    found
}

/// What a program took of its charge, in ns: what counting takes is charged too, and is not there without howslow. Where counting seems to
/// have taken all of it, its probe was disturbed and says nothing.
fn without_counting(cpu: f64, seen: &Observation) -> f64 {
    let left = cpu - least_counting_ns(seen);
    if left > 0.0 { left } else { cpu }
}

/// What counting took at least, in ns, by the interval of what it adds to a call.
fn least_counting_ns(seen: &Observation) -> f64 {
    let Some(counting) = &seen.counting else { return 0.0 };
    let share = counting.probe.as_ref().map_or(1.0, |probe| probe.low_ns / probe.per_call_ns);
    (counting.together_ns * share).max(0.0)
}

/// Habits that make the program wait.
fn slow(seen: &Observation) -> Vec<Habit> {
    let waits = &seen.together.waits;
    let long = |waits: &&Waits| waits.total_ns >= WORTH * seen.elapsed_ns;
    let found = waits.iter().filter(long);
    let found = found.filter_map(|waits| Some((waits, synced(waits).or_else(|| delayed(waits, seen))?)));
    let habit = |(waits, (text, ends)): (&Waits, SavedTime)| {
        let (calls, ends) = (waits.call.clone().into_iter().collect(), ends.map(|ns| ns.min(seen.elapsed_ns)));
        Habit { text, calls, saves_ns: None, share: None, saves_elapsed_ns: Some(ends) }
    };
    found.map(habit).collect()
}

/// A sentence, and the least and the most elapsed time that it saves, in ns.
type SavedTime = (String, [f64; 2]);

/// Files that are synced after every little change.
fn synced(waits: &Waits) -> Option<SavedTime> {
    /// Changes that one call would sync instead.
    const TOGETHER: f64 = 10.0;
    let call = waits.call.as_deref().filter(|call| SYNCS.contains(call))?;
    if waits.count < 10 || WaitedFor::of(waits) != WaitedFor::Device {
        return None;
    }
    let text = format!(
        "{call} was waited for {} times, {} in all: half of the waits took up to {}, 99 in 100 up to {}. One {call} for {TOGETHER} \
         changes would wait a tenth as often; what is not yet synced is lost in a crash.",
        waits.count,
        Nanoseconds(waits.total_ns),
        Nanoseconds(waits.p50_ns),
        Nanoseconds(waits.p99_ns)
    );
    // A larger change takes longer to sync: up to twice as long, where the device does not batch them. And what others write at that time is
    // waited for by each sync, be there few or many: only the usual waits are surely saved.
    let usual = (waits.p50_ns * waits.count as f64).min(waits.total_ns);
    Some((text, [usual * (1.0 - 2.0 / TOGETHER), waits.total_ns * (1.0 - 1.0 / TOGETHER)]))
}

/// Answers that come only when the kernel acknowledges the first of two small messages.
fn delayed(waits: &Waits, seen: &Observation) -> Option<SavedTime> {
    /// Linux delays an acknowledgement by 40 ms at least (`TCP_DELACK_MIN` in include/net/tcp.h); the quantile is good to an eighth.
    const DELAY_NS: [f64; 2] = [34e6, 52e6];
    /// The first of a connection's acknowledgements are sent at once.
    const DELAYED: f64 = 0.75;
    let call = waits.call.as_deref()?;
    let receives = READS.contains(&call) || WAITS.contains(&call);
    let twice = |pair: &&PairCount| SENDS.contains(&pair.first.as_str()) && SENDS.contains(&pair.then.as_str());
    let sent_twice: u64 = seen.together.pairs.iter().filter(twice).map(|pair| pair.count).sum();
    if !receives
        || sent_twice < 5
        || waits.count * 2 < sent_twice
        || !(DELAY_NS[0]..DELAY_NS[1]).contains(&waits.p50_ns)
    {
        return None;
    }
    let text = format!(
        "Half of the {} waits in {call} took up to {}, which is how long a peer delays its acknowledgement, and one message was sent \
         right after another {sent_twice} times: the second one waits until the first is acknowledged. Send both with one call \
         (writev, a buffer), or set TCP_NODELAY on the socket.",
        waits.count,
        Nanoseconds(waits.p50_ns)
    );
    // Both ends of a connection may be watched, and each waits.
    let most = (sent_twice as f64 * DELAY_NS[1]).min(waits.total_ns);
    Some((text, [(sent_twice as f64 * DELAY_NS[0] * DELAYED).min(most), most]))
}

/// True if as good as each call waits for a message, or its message is waited for: then a buffer has nothing to gather.
fn takes_turns(call: &CallCount, seen: &Observation) -> bool {
    let waits = seen.together.waits.iter();
    let waited = waits.filter(|wait| wait.call.as_deref() == Some(&call.call) && wait.reason == WaitReason::Event);
    4 * call.wakes.max(waited.map(|wait| wait.count).sum()) > call.count
}

fn small(call: &CallCount, seen: &Observation, bill: &Bill) -> Option<Saving> {
    let answered = call.count.checked_sub(call.failed())?;
    let bytes = call.bytes? as f64;
    let mean = bytes / answered.max(1) as f64;
    let moves = READS.contains(&call.call.as_str()) || call.call.starts_with("pread") || call.call.contains("write");
    if answered < FEW || mean >= SMALL || mean <= 0.0 || !moves || takes_turns(call, seen) {
        return None;
    }
    let buffers = (bytes / BUFFER).ceil();
    let fewer = answered as f64 - buffers;
    let text = format!(
        "{} moved {mean:.1} bytes a call: with a buffer of 4 KiB, {answered} calls would be {buffers:.0}.",
        call.call
    );
    // What is left moves the same bytes, which take their time; and around each call, the program's own code is saved as well.
    let saves = each(bill, &call.call).map(|[least, most]| [least * fewer * 0.7, most * fewer * 1.5]);
    Some((text, fewer, saves))
}

/// Calls that found nothing, again and again.
fn empty(call: &CallCount, bill: &Bill) -> Option<Saving> {
    let none = call.errors.iter().find(|error| error.name == "EAGAIN")?.count;
    if none < 10 * FEW || 2 * none < call.count {
        return None;
    }
    let text = format!(
        "{none} of {} {} found nothing (EAGAIN): poll or epoll wait until there is something; until then the CPU is free for others.",
        call.count, call.call
    );
    Some(without(text, none as f64, bill, &call.call))
}

/// Files of /proc, each read of which makes the kernel write them anew.
fn written_anew(call: &CallCount, bill: &Bill) -> Option<Saving> {
    let reads = READS.contains(&call.call.as_str()) || call.call == "pread64";
    let files = call.objects.iter().filter(|object| object.object == "proc" || object.object == "sys");
    let anew: u64 = files.map(|object| object.count).sum();
    if !reads || anew < 10 * FEW || 2 * anew < call.count {
        return None;
    }
    let text = format!(
        "{anew} of {} {} read files of /proc or /sys, which the kernel writes anew each time: half as many would save half.",
        call.count, call.call
    );
    Some(without(text, anew as f64 / 2.0, bill, &call.call))
}

fn failing(call: &CallCount, bill: &Bill) -> Option<Saving> {
    let real = call.errors.iter().filter(|error| !NOT_NOW.contains(&error.name.as_str()));
    let worst = real.clone().max_by_key(|error| error.count)?;
    let failed: u64 = real.map(|error| error.count).sum();
    if failed < FEW {
        return None;
    }
    let text = format!(
        "{failed} of {} {} failed, {} of them with {}: what is known to fail need not be asked.",
        call.count, call.call, worst.count, worst.name
    );
    Some(without(text, failed as f64, bill, &call.call))
}

fn clock(call: &CallCount, bill: &Bill) -> Option<Saving> {
    if !CLOCKS.contains(&call.call.as_str()) || call.count < FEW {
        return None;
    }
    let text = format!(
        "The clock was read {} times by the system call {}: the C library reads it without the kernel where the system's \
         clock source allows (/sys/devices/system/clocksource).",
        call.count, call.call
    );
    Some(without(text, call.count as f64, bill, &call.call))
}

fn same(call: &CallCount, bill: &Bill) -> Option<Saving> {
    if !SAME.contains(&call.call.as_str()) || call.count < FEW {
        return None;
    }
    let text = format!("{} was called {} times: its answer can be kept.", call.call, call.count);
    Some(without(text, call.count as f64 - 1.0, bill, &call.call))
}

fn waited(pair: &PairCount, seen: &Observation, bill: &Bill) -> Option<Saving> {
    let polls = WAITS.contains(&pair.first.as_str()) && READS.contains(&pair.then.as_str());
    let reads = seen.together.calls.iter().find(|call| call.call == pair.then)?.count;
    if !polls || pair.count < FEW || pair.count * 3 < reads {
        return None;
    }
    let text = format!(
        "{} came before {} of {reads} {}: a read that finds nothing says so itself (O_NONBLOCK), and reading until then \
         takes one {} for many.",
        pair.first, pair.count, pair.then, pair.first
    );
    Some(without(text, pair.count as f64, bill, &pair.first))
}

fn sought(pair: &PairCount, bill: &Bill) -> Option<Saving> {
    let instead = match (pair.first.as_str(), pair.then.as_str()) {
        ("lseek", "read") => "pread",
        ("lseek", "write") => "pwrite",
        _ => return None,
    };
    if pair.count < FEW {
        return None;
    }
    let text = format!("lseek came before {} {}: {instead} does both in one call.", pair.count, pair.then);
    Some(without(text, pair.count as f64, bill, "lseek"))
}
