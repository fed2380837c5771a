//! The likely cause of a slow node: which families move together, and what in its record differs from its class's.

use super::options::CLOCK;
use super::parts::MachinePart;
use super::slow::{CauseKind, SlowCause, SlowFamily};

/// What is known of a slow node besides what it is slow in.
#[derive(Clone, Debug, Default)]
pub(super) struct Known<'a> {
    /// What it is otherwise than most of its class: part, here, usually.
    pub differences: Vec<(MachinePart, &'a str, &'a str)>,
    /// Its clock and the class's, in GHz.
    pub clocks: Option<(f64, f64)>,
    /// The share of batches in which its cores were undisturbed, and the class's.
    pub undisturbed: Option<(f64, f64)>,
    /// The families that the class has.
    pub families: Vec<&'a str>,
}

/// Families whose costs are work within the core.
const CORE: [&str; 3] = ["instruction", "loop", "convert"];
/// Families that cross into the kernel and back.
const KERNEL: [&str; 29] = [
    "syscall", "call", "called", "pair", "signal", "signalfd", "switch", "page", "poll", "pipe", "fifo", "futex",
    "eventfd", "unix", "descriptor", "async", "ring", "process", "thread", "socketpair", "mq", "semaphore", "crossing",
    "flag", "task", "vm", "sleep", "wakeup", "terminal",
];
const MEMORY: [&str; 1] = ["memory"];
const PAGES: [&str; 3] = ["memory", "page", "touch"];
const DISK: [&str; 5] = ["file", "read", "write", "sparse", "keyed"];
const NETWORK: [&str; 2] = ["tcp", "udp"];

/// The likely causes, those that the record shows first.
pub(super) fn causes(slow: &[SlowFamily], known: &Known<'_>) -> Vec<SlowCause> {
    let pattern = Pattern { slow, families: &known.families };
    let mut found = Vec::new();
    found.extend(clock(&pattern, known));
    found.extend(known.differences.iter().map(|difference| recorded(difference, &pattern)));
    found.extend(neighbour(known));
    if found.is_empty() {
        found.push(by_pattern(&pattern));
    }
    found
}

/// The families that a node is slow in, among those that there are.
struct Pattern<'a> {
    slow: &'a [SlowFamily],
    families: &'a [&'a str],
}

impl Pattern<'_> {
    fn any(&self, of: &[&str]) -> bool {
        self.slow.iter().any(|slow| of.contains(&slow.family.as_str()))
    }

    fn only(&self, of: &[&str]) -> bool {
        self.slow.iter().all(|slow| of.contains(&slow.family.as_str()))
    }
}

fn clock(pattern: &Pattern<'_>, known: &Known<'_>) -> Option<SlowCause> {
    /// A family is explained by the clock if it is slower by what the clock is, give or take this.
    const NEAR: f64 = 0.01;
    let clock = pattern.slow.iter().find(|slow| slow.family == CLOCK)?;
    let near =
        |slow: &&SlowFamily| (slow.ratio.value - clock.ratio.value).abs() < NEAR.max(0.25 * (clock.ratio.value - 1.0));
    let others: Vec<&SlowFamily> = pattern.slow.iter().filter(|slow| slow.family != CLOCK).collect();
    let explained = others.iter().filter(|slow| near(slow)).count();
    let clocks =
        known.clocks.map_or_else(String::new, |(here, usual)| format!("{here:.2} GHz, the class {usual:.2} GHz: "));
    let share = (clock.ratio.value - 1.0) * 100.0;
    let because = format!(
        "its core runs at {clocks}{share:.1} % slower, which explains {explained} of {} other families",
        others.len()
    );
    Some(SlowCause { kind: CauseKind::Clock, because, recorded: true })
}

fn recorded((part, here, usual): &(MachinePart, &str, &str), pattern: &Pattern<'_>) -> SlowCause {
    let (kind, fits) = match part {
        MachinePart::Memory => (CauseKind::Memory, pattern.any(&PAGES)),
        MachinePart::HugePages => (CauseKind::HugePages, pattern.any(&PAGES)),
        MachinePart::Mitigations => {
            (CauseKind::Mitigation, pattern.any(&KERNEL) || pattern.any(&NETWORK) || pattern.any(&DISK))
        }
        MachinePart::Frequency => (CauseKind::Clock, pattern.any(&CORE) || pattern.any(&[CLOCK])),
        _ => (CauseKind::Difference, true),
    };
    let (here, usual) = differing(here, usual);
    let but = if fits { "" } else { ", which does not fit what it is slow in" };
    let because = format!("{} {here}; most of the class: {usual}{but}", part.word());
    SlowCause { kind, because, recorded: true }
}

/// The entries of two lists that differ, or the two texts.
fn differing(here: &str, usual: &str) -> (String, String) {
    let rest = |of: &str, other: &str| {
        let other: Vec<&str> = other.split("; ").collect();
        let own: Vec<&str> = of.split("; ").filter(|part| !other.contains(part)).collect();
        if own.is_empty() || own == [""] { "none".to_string() } else { own.join("; ") }
    };
    (rest(here, usual), rest(usual, here))
}

fn neighbour(known: &Known<'_>) -> Option<SlowCause> {
    const POINTS: f64 = 0.2;
    let (here, usual) = known.undisturbed.filter(|(here, usual)| *here + POINTS < *usual)?;
    let because =
        format!("its cores were undisturbed {:.0} % of the time, the class's {:.0} %", here * 100.0, usual * 100.0);
    Some(SlowCause { kind: CauseKind::Neighbour, because, recorded: true })
}

fn by_pattern(pattern: &Pattern<'_>) -> SlowCause {
    let slow = pattern.slow.iter().map(|slow| slow.family.as_str());
    let in_kernel: Vec<&str> = slow.filter(|family| KERNEL.contains(family)).collect();
    let of_kernel = pattern.families.iter().filter(|family| KERNEL.contains(family)).count();
    let crosses = in_kernel.len() >= 2 && 2 * in_kernel.len() >= of_kernel;
    let (kind, because) = match () {
        () if pattern.only(&MEMORY) => {
            let why = "only memory is slow, instructions are not: a channel, a module or its speed (dmidecode -t memory, EDAC)";
            (CauseKind::Memory, why.into())
        }
        () if pattern.only(&PAGES) => (
            CauseKind::HugePages,
            "memory and its pages are slow, instructions are not: huge pages or fragmentation".into(),
        ),
        () if pattern.only(&DISK) => (CauseKind::Disk, "only files are slow: the disk or its file system".into()),
        () if pattern.only(&NETWORK) => {
            (CauseKind::Network, "only the network is slow: its configuration in the kernel".into())
        }
        () if !pattern.any(&CORE) && !pattern.any(&[CLOCK]) && crosses => {
            let why = "what crosses into the kernel is slow together and instructions are not: a mitigation, audit or tracing";
            (CauseKind::Mitigation, format!("{why} ({})", in_kernel.join(", ")))
        }
        () => (CauseKind::Unknown, "its record does not differ, and what is slow fits no known cause".into()),
    };
    SlowCause { kind, because, recorded: false }
}
