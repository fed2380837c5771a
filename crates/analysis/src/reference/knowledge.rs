//! What is known about odd costs, as one table: which costs belong together, which fact of the machine is their likely
//! cause, and what to try. The page, `explain` and `doctor` take their sentences from here.

use record::Cost;
use record::units::percent;

use super::facts::{Facts, IN_MEMORY, SERVED, dear_clock_source, dear_mitigations};
use super::held::Direction;
use super::remedy::Remedy;

/// Costs that have their causes in common.
pub(super) struct Subject {
    /// What is done, as the beginning of a sentence.
    pub(super) title: &'static str,
    /// The costs that belong here.
    pub(super) means: fn(&Cost) -> bool,
    /// The causes, the most telling first. They are asked before the common ones.
    pub(super) causes: &'static [KnownCause],
}

/// A cause: the fact of the machine that makes it likely, and what to try.
pub(super) struct KnownCause {
    /// The fact in words, if it holds.
    pub(super) holds: fn(&Facts<'_>) -> Option<String>,
    /// Costs above the references, or below them.
    pub(super) direction: Direction,
    pub(super) remedy: Remedy,
}

const fn slow(holds: fn(&Facts<'_>) -> Option<String>, remedy: Remedy) -> KnownCause {
    KnownCause { holds, direction: Direction::Slower, remedy }
}

const fn fast(holds: fn(&Facts<'_>) -> Option<String>, remedy: Remedy) -> KnownCause {
    KnownCause { holds, direction: Direction::Faster, remedy }
}

fn fact(holds: bool, words: &str) -> Option<String> {
    holds.then(|| words.into())
}

/// The subjects. A cost belongs to the first that means it.
pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        title: "Waking a task on another CPU",
        means: |cost| cost.at.word("distance").is_some_and(|distance| distance != "same") && cost.cpus > 1,
        causes: WAKING,
    },
    Subject {
        title: "Reading the clock",
        means: |cost| cost.operation.starts_with("clock.read"),
        causes: &[
            slow(
                |facts| {
                    let source = dear_clock_source(facts.machine)?;
                    Some(format!("the clock source is {source}, so each reading enters the kernel"))
                },
                Remedy::Setting("clocksource=tsc tsc=reliable at boot, if the counter is steady"),
            ),
            slow(kernel_entry, MITIGATIONS_OFF),
        ],
    },
    Subject {
        title: "Writing to the device (fsync)",
        means: |cost| cost.operation.starts_with("file.fsync") || cost.operation.starts_with("file.fdatasync"),
        causes: &[
            fast(
                |facts| {
                    let kind = facts.file_system().filter(|kind| IN_MEMORY.contains(kind))?;
                    Some(format!("scratch files are in memory ({kind}), so no device is seen"))
                },
                Remedy::Here("TMPDIR=FOLDER on the device that you mean"),
            ),
            fast(
                |facts| fact(facts.is_guest(), "the hypervisor may answer before the data are on a device"),
                Remedy::Setting(
                    "cache=none or cache=directsync for the disk, if the data must survive a power failure",
                ),
            ),
            slow(served_files, Remedy::Here("TMPDIR=FOLDER on a local disk")),
        ],
    },
    Subject {
        title: "Working with files",
        means: |cost| {
            let names = ["file.", "syscall.open", "syscall.stat", "syscall.fstat"];
            names.iter().any(|name| cost.operation.starts_with(name))
        },
        causes: &[
            slow(served_files, Remedy::Here("TMPDIR=FOLDER on a local disk")),
            slow(
                |facts| fact(facts.file_system() == Some("overlay"), "scratch files are on a container's overlay"),
                Remedy::Here("a volume: docker run -v scratch:/scratch -e TMPDIR=/scratch"),
            ),
            slow(kernel_entry, MITIGATIONS_OFF),
        ],
    },
    Subject {
        title: "New memory (page faults, mappings)",
        means: |cost| cost.family() == "page",
        causes: &[
            slow(
                |facts| {
                    fact(facts.machine.memory.transparent_huge_pages.as_deref() == Some("never"), "huge pages are off")
                },
                Remedy::Setting("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
            ),
            slow(second_tables, HUGE_PAGES_BEHIND),
            slow(kernel_entry, MITIGATIONS_OFF),
        ],
    },
    Subject {
        title: "Memory beyond the core's own caches",
        means: |cost| cost.family() == "memory" && !cost.follows_clock,
        causes: &[
            slow(
                |facts| fact(facts.machine.memory.nodes > 1, "the memory may be that of another node"),
                Remedy::Here("numactl --cpunodebind=0 --membind=0 howslow"),
            ),
            slow(second_tables, HUGE_PAGES_BEHIND),
        ],
    },
    Subject {
        title: "Starting processes and threads",
        means: |cost| ["process", "thread"].contains(&cost.family()),
        // A program's start takes milliseconds, in which a busy machine takes the CPU away.
        causes: &[
            slow(taken_by_others, QUIETER),
            slow(second_tables, HUGE_PAGES_BEHIND),
            slow(kernel_entry, MITIGATIONS_OFF),
        ],
    },
    Subject {
        title: "Computing within a core (instructions, its own caches)",
        means: |cost| ["instruction", "loop", "memory"].contains(&cost.family()),
        causes: &[],
    },
    // All that is left enters the kernel: calls, signals, polls, messages on one CPU, switches.
    Subject {
        title: "Entering the kernel (system calls, signals, switches)",
        means: |_| true,
        causes: &[slow(kernel_entry, MITIGATIONS_OFF)],
    },
];

const WAKING: &[KnownCause] = &[
    slow(
        |facts| {
            facts.machine.limits.cpus.filter(|&cpus| cpus < 2.0).map(|cpus| format!("a cgroup allows {cpus:.2} CPUs"))
        },
        Remedy::Setting("no CPU quota: docker run without --cpus"),
    ),
    slow(
        |facts| {
            let polls_not =
                facts.idle_driver() == Some("haltpoll") && facts.booted_with("haltpoll.guest_halt_poll_ns=0");
            fact(polls_not, "the idle CPU's haltpoll driver polls for 0 ns, so this CPU leaves the guest to sleep")
        },
        Remedy::Setting("haltpoll.guest_halt_poll_ns=200000 at boot, or idle=poll (both cost power)"),
    ),
    slow(
        |facts| {
            let polls = facts.idle_driver() == Some("haltpoll") && !facts.booted_with("idle=poll");
            fact(polls, "an idle CPU leaves the guest to sleep once its haltpoll driver has polled in vain")
        },
        Remedy::Setting("a larger haltpoll.guest_halt_poll_ns at boot, or idle=poll (both cost power)"),
    ),
    slow(
        |facts| fact(facts.is_guest() && !facts.booted_with("idle=poll"), "an idle CPU leaves the guest to sleep"),
        Remedy::Setting("idle=poll at boot, or the haltpoll idle driver (both cost power)"),
    ),
    slow(
        |facts| {
            let driver = facts.idle_driver().filter(|_| !facts.booted_with("idle=poll"))?;
            Some(format!("an idle CPU sleeps in a deep state ({driver})"))
        },
        Remedy::Setting("cpupower idle-set -D 10, which leaves out states that take longer than 10 µs to leave"),
    ),
];

/// Causes of anything, asked after those of a subject.
const COMMON: &[KnownCause] = &[
    slow(
        |facts| fact(facts.hypervisor() == Some("QEMU TCG"), "instructions are emulated (QEMU TCG)"),
        Remedy::Here("KVM (qemu -accel kvm), or the hardware itself"),
    ),
    slow(taken_by_others, QUIETER),
    slow(
        |facts| {
            (facts.noise.steal > STOLEN)
                .then(|| format!("the hypervisor gave {} of the CPU time to others", percent(facts.noise.steal)))
        },
        Remedy::Here("again when the host is quieter, or an instance with CPUs of its own"),
    ),
    slow(
        |facts| {
            let alone = facts.noise.undisturbed().filter(|&share| share < SHARED)?;
            Some(format!("the core was undisturbed for only {} of the time", percent(alone)))
        },
        Remedy::Here("again when the host is quieter, or an instance with cores of its own"),
    ),
];

/// Others' share of the CPU time above which it explains a cost.
const BUSY: f64 = 0.1;
const STOLEN: f64 = 0.02;
/// Below this share of undisturbed batches, sharing the core explains a cost.
const SHARED: f64 = 0.2;

const QUIETER: Remedy = Remedy::Here("again when the machine is quieter");
const MITIGATIONS_OFF: Remedy =
    Remedy::Setting("mitigations=off at boot to see what they cost, on a machine that runs nobody else's code");
const HUGE_PAGES_BEHIND: Remedy = Remedy::Setting("huge pages behind the guest (hugetlbfs on the hypervisor's host)");

/// Other programs used the CPUs.
fn taken_by_others(facts: &Facts<'_>) -> Option<String> {
    let others = facts.noise.others;
    (others > BUSY).then(|| format!("other programs took {} of the CPU time", percent(others)))
}

/// What makes every entry into the kernel slower.
fn kernel_entry(facts: &Facts<'_>) -> Option<String> {
    if facts.hypervisor() == Some("gVisor") {
        return Some("gVisor answers the system calls".into());
    }
    if facts.machine.virtualization.seccomp == Some(2) {
        return Some("a seccomp filter sees every system call".into());
    }
    let dear = dear_mitigations(facts.machine);
    dear.first().map(|first| match dear.len() {
        1 => format!("a mitigation: {first}"),
        more => format!("{more} mitigations, among them: {first}"),
    })
}

/// A guest's addresses are translated twice.
fn second_tables(facts: &Facts<'_>) -> Option<String> {
    fact(facts.is_guest(), "a guest's addresses are translated twice, and its memory may be small pages on the host")
}

/// File systems whose costs are a server's.
fn served_files(facts: &Facts<'_>) -> Option<String> {
    let kind = facts.file_system().filter(|kind| SERVED.contains(kind))?;
    Some(format!("scratch files go over {kind}"))
}

/// The subject of a cost, as its place in the table.
pub(super) fn subject(cost: &Cost) -> usize {
    SUBJECTS.iter().position(|subject| (subject.means)(cost)).unwrap_or(SUBJECTS.len() - 1)
}

/// The likely cause of what is odd about a subject, and the remedy; `None` if no fact speaks for any.
pub(super) fn cause(subject: usize, direction: Direction, facts: &Facts<'_>) -> Option<(String, Remedy)> {
    let emulated = facts.hypervisor() == Some("QEMU TCG");
    let own = SUBJECTS[subject].causes.iter().filter(|_| !emulated);
    let fits = own.chain(COMMON).filter(|cause| cause.direction == direction);
    fits.into_iter().find_map(|cause| Some(((cause.holds)(facts)?, cause.remedy)))
}

/// The likely cause if waking a task on another CPU is slow, and the remedy.
pub fn likely_cause_of_waking(facts: &Facts<'_>) -> Option<(String, Remedy)> {
    WAKING.iter().find_map(|cause| Some(((cause.holds)(facts)?, cause.remedy)))
}
