//! Runs of one machine as a reference book: what compares is kept, what identifies a host is left out. Everything kept is
//! named here field by field, so that a field added to runs later stays out.

use record::{
    Book, Cost, CpuModel, Estimate, Kernel, Limits, Machine, Measured, Reference, Run, Virtualization, printable,
};

use super::held::{is_by_luck, is_sound};
use crate::again::is_same_work;
use crate::landing::{RoundFigure, around, reach};
use crate::statistics::median;

/// A cost whose interval is wider than this share to either side is of no use to others.
const WIDEST: f64 = 0.35;
/// A book of fewer costs is no machine.
const FEWEST: usize = 10;

/// Why no book can be made of runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContributionError {
    #[error("no run is named")]
    NoRun,
    #[error("{0} is a book, and a reference machine is made of runs measured here")]
    Book(String),
    #[error("{0} was measured beside other work on purpose; contribute a run without --beside")]
    Beside(String),
    #[error(
        "{run} has costs of your own ({cost}), whose names may say what you run; contribute a run of howslow's operations"
    )]
    OwnCosts {
        run: String,
        /// One of them.
        cost: String,
    },
    #[error("{0} and {1} are runs of different machines or versions of howslow; contribute one machine at a time")]
    Apart(String, String),
    #[error(
        "a reference takes {least} costs that are certain enough, and {sound} of {all} are; run the headline operations (howslow), \
         when the machine is quiet, with a larger --budget",
        least = FEWEST
    )]
    Doubtful {
        /// Costs that are.
        sound: usize,
        /// All of them.
        all: usize,
    },
}

/// A book, and what became of the parts of the runs.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub book: Book,
    /// Costs that are in no book because they are uncertain.
    pub uncertain: usize,
    /// Facts that were left out or shortened, in words.
    pub stripped: Vec<&'static str>,
}

/// Makes a book of runs of one machine. `known` says whether an operation is one of howslow's.
///
/// # Errors
/// The reason why these runs make none.
pub fn contribute(runs: &[Run], name: &str, known: &dyn Fn(&str) -> bool) -> Result<Contribution, ContributionError> {
    let first = runs.first().ok_or(ContributionError::NoRun)?;
    for run in runs {
        check(run, first, known)?;
    }
    let mut measured = Vec::new();
    let mut uncertain = 0;
    let all = union(runs);
    for cost in &all {
        match together(cost, runs).filter(is_plain) {
            Some(cost) => measured.push(cost),
            None => uncertain += 1,
        }
    }
    let all = all.len();
    if measured.len() < FEWEST || measured.len() * 2 < all {
        return Err(ContributionError::Doubtful { sound: measured.len(), all });
    }
    let machine = stripped_machine(&first.machine);
    let book = Book {
        name: plain(name),
        title: title(&machine),
        source: source(runs),
        // The month is enough.
        measured: first.started.get(..7).unwrap_or_default().to_string(),
        counted_in: record::CountedIn::Nanoseconds,
        clock: None,
        machine,
        block_move: None,
        facts: Vec::new(),
        checks: Vec::new(),
        costs: Vec::new(),
        reference: Some(reference(runs)),
        measured_costs: measured,
    };
    Ok(Contribution { book, uncertain, stripped: stripped(first) })
}

fn check(run: &Run, first: &Run, known: &dyn Fn(&str) -> bool) -> Result<(), ContributionError> {
    let id = || printable(&run.id);
    if run.is_book() {
        return Err(ContributionError::Book(id()));
    }
    if !run.settings.beside.is_empty() {
        return Err(ContributionError::Beside(id()));
    }
    if let Some(own) = run.costs.iter().find(|cost| !known(&cost.operation)) {
        return Err(ContributionError::OwnCosts { run: id(), cost: printable(&own.operation) });
    }
    let same = |of: fn(&Run) -> &str| of(run) == of(first);
    let alike = same(|run| &run.machine.cpu.signature)
        && same(|run| &run.machine.kernel.release)
        && same(|run| &run.howslow)
        && same(|run| &run.machine.architecture);
    if alike { Ok(()) } else { Err(ContributionError::Apart(printable(&first.id), id())) }
}

/// Every cost that a run has, once, in the order of the run that has most.
fn union(runs: &[Run]) -> Vec<&Cost> {
    let mut by_size: Vec<&Run> = runs.iter().collect();
    by_size.sort_by_key(|run| std::cmp::Reverse(run.costs.len()));
    let mut known = std::collections::HashSet::new();
    let costs = by_size.into_iter().flat_map(|run| &run.costs);
    costs.filter(|cost| known.insert((&cost.operation, &cost.at))).collect()
}

/// The cost of all runs together: the median over runs, and an interval that holds both the scatter between the runs and
/// that within them. `None` if it is uncertain in most of the runs that have it.
fn together(cost: &Cost, runs: &[Run]) -> Option<Measured> {
    let having: Vec<&Cost> =
        runs.iter().filter_map(|run| run.costs.iter().find(|other| is_same_work(cost, other))).collect();
    let all: Vec<&Cost> = having.iter().copied().filter(|cost| is_sound(cost) && !is_by_luck(cost)).collect();
    if all.len() * 2 <= having.len() {
        return None;
    }
    let ns = median(all.iter().map(|cost| cost.quoted().0))?;
    let cycles = median(all.iter().map(|cost| cost.cycles))?;
    // How far another run lies: by the intervals of single runs, and by the runs themselves.
    let within = median(all.iter().map(|cost| (cost.net_ns.high.0 / cost.net_ns.low.0).ln() / 2.0))?;
    let figures: Vec<f64> = all.iter().map(|cost| cost.steady()).collect();
    let between = match figures.as_slice() {
        [_] => within,
        // With one degree of freedom, Student's t would leave out whatever differs by 3 %.
        [one, other] if *one > 0.0 && *other > 0.0 => (one / other).ln().abs(),
        _ => reach(&RoundFigure::alike(figures)),
    };
    let interval = around(ns, within.max(between));
    let narrow = (interval.high - interval.low) / 2.0 / ns <= WIDEST;
    (narrow && cycles > 0.0).then(|| Measured {
        operation: cost.operation.clone(),
        at: cost.at.clone(),
        version: cost.version,
        group: cost.group.clone(),
        per: cost.per.clone(),
        estimate: cost.headline,
        cpus: cost.cpus,
        follows_clock: cost.follows_clock,
        runs: all.len() as u32,
        ns,
        low: interval.low,
        high: interval.high,
        cycles,
        bytes: cost.bytes.0,
    })
}

/// True if no text of a cost could carry a name of the user's: its words are those of the registry, short and without paths.
fn is_plain(cost: &Measured) -> bool {
    let words = cost.at.0.values().filter_map(|value| value.word());
    cost.estimate != Estimate::Best && words.into_iter().all(|word| plain(word) == *word)
}

/// Letters, digits and a few marks, at most 60 characters: no path, no address, no line break.
pub(super) fn plain(text: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '(' | ')' | '+' | ',');
    text.chars().filter(allowed).take(60).collect()
}

fn reference(runs: &[Run]) -> Reference {
    let middle = |share: fn(&Run) -> Option<f64>| median(runs.iter().filter_map(share));
    let rounded = |share: f64| (share * 1000.0).round() / 1000.0;
    Reference {
        howslow: plain(&runs[0].howslow),
        runs: runs.len() as u32,
        cycle_ns: median(runs.iter().map(|run| run.noise.cycle_ns)).unwrap_or(0.0),
        undisturbed: middle(|run| run.noise.undisturbed()).map(rounded),
        others: middle(|run| Some(run.noise.others)).map(rounded),
        units: runs[0].units.clone(),
    }
}

fn source(runs: &[Run]) -> String {
    let version = plain(&runs[0].howslow);
    match runs.len() {
        1 => format!("howslow {version}, one run; its intervals are those of that run"),
        many => format!(
            "howslow {version}, medians of up to {many} runs; intervals hold the scatter between the runs that have a cost"
        ),
    }
}

fn title(machine: &Machine) -> String {
    let guest = machine.virtualization.hypervisor.as_ref().map(|name| format!("{name} guest"));
    let model = match &machine.cpu.microarchitecture {
        Some(name) => format!("{} ({name})", machine.cpu.model),
        None => machine.cpu.model.clone(),
    };
    let kernel = format!("{} {}", machine.kernel.name, machine.kernel.release);
    let parts = [Some(model), Some(kernel), guest, machine.virtualization.container.clone()];
    parts.into_iter().flatten().map(|part| part.trim().to_string()).collect::<Vec<_>>().join(", ")
}

/// The facts of a machine that explain costs, without those that identify it.
pub(super) fn stripped_machine(machine: &Machine) -> Machine {
    let (cpu, kernel) = (&machine.cpu, &machine.kernel);
    let text = |text: &Option<String>| text.as_deref().map(plain).filter(|text| !text.is_empty());
    let cache = |cache: &record::Cache| record::Cache { kind: plain(&cache.kind), shared_by: None, ..cache.clone() };
    Machine {
        host: None,
        architecture: plain(&machine.architecture),
        cpu: CpuModel {
            model: plain(&cpu.model),
            microarchitecture: text(&cpu.microarchitecture),
            vendor: plain(&cpu.vendor),
            signature: cpu.signature.chars().filter(|c| c.is_ascii_hexdigit() || "x/".contains(*c)).take(40).collect(),
            microcode: text(&cpu.microcode),
            online: cpu.online,
            // Which CPUs a process was given is the host's business.
            usable: Vec::new(),
            cores: cpu.cores,
            threads_per_core: cpu.threads_per_core,
            sockets: cpu.sockets,
            caches: cpu.caches.iter().map(cache).collect(),
            frequency: record::Frequency {
                governor: text(&cpu.frequency.governor),
                driver: text(&cpu.frequency.driver),
                nominal_mhz: cpu.frequency.nominal_mhz.map(f64::round),
                ..cpu.frequency
            },
            features: cpu.features.iter().map(|feature| plain(feature)).collect(),
        },
        memory: record::Memory {
            // To the GiB: what firmware and crash kernels take differs from host to host.
            total: record::Bytes((machine.memory.total.0 + (1 << 29)) >> 30 << 30),
            swap: record::Bytes((machine.memory.swap.0 + (1 << 29)) >> 30 << 30),
            transparent_huge_pages: text(&machine.memory.transparent_huge_pages),
            ..machine.memory.clone()
        },
        kernel: Kernel {
            name: plain(&kernel.name),
            release: release(&kernel.release),
            version: version(&kernel.version),
            command_line: Some(command_line(kernel.command_line.as_deref().unwrap_or_default()))
                .filter(|line| !line.is_empty()),
            mitigations: kernel.mitigations.iter().map(|(name, state)| (plain(name), mitigation(state))).collect(),
            preemption: text(&kernel.preemption),
            tick_hz: kernel.tick_hz,
            idle: kernel.idle.as_deref().map(|idle| idle.split('/').map(plain).collect::<Vec<_>>().join("/")),
        },
        virtualization: Virtualization {
            hypervisor: text(&machine.virtualization.hypervisor),
            container: machine.virtualization.container.as_deref().map(container),
            seccomp: machine.virtualization.seccomp,
        },
        limits: Limits {
            cgroup: if ["v1", "v2", "none"].contains(&machine.limits.cgroup.as_str()) {
                machine.limits.cgroup.clone()
            } else {
                String::new()
            },
            ..machine.limits
        },
        clock_source: text(&machine.clock_source),
        libc: plain(&machine.libc),
    }
}

/// Kinds of containers that are known; any other is only said to be one.
fn container(kind: &str) -> String {
    let known = ["docker", "podman", "lxc", "containerd", "kubernetes", "systemd-nspawn"];
    known.iter().find(|known| **known == kind).map_or("container", |known| known).into()
}

/// The version of a release, with what distributions append: `6.8.0-45-generic`. A name that somebody gave a kernel is left out.
fn release(release: &str) -> String {
    const KNOWN: [&str; 14] = [
        "generic", "amd64", "arm64", "cloud", "lowlatency", "aws", "azure", "gcp", "oracle", "kvm", "rt", "lts",
        "default", "WSL2",
    ];
    let mut parts = release.split('-');
    let number = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '.');
    let first: String =
        parts.next().unwrap_or_default().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let kept = parts.take_while(|part| number(part) || KNOWN.contains(part));
    std::iter::once(first.as_str()).chain(kept).collect::<Vec<_>>().join("-")
}

/// The words of a build line that change costs. Builders, hosts and dates are left out.
fn version(version: &str) -> String {
    let known = |word: &&str| ["SMP", "PREEMPT", "PREEMPT_DYNAMIC", "PREEMPT_RT", "PREEMPT_LAZY"].contains(word);
    version.split_whitespace().filter(known).collect::<Vec<_>>().join(" ")
}

/// The words of a kernel's command line that change costs, if their values are plain. Devices, addresses and ids are left out.
fn command_line(line: &str) -> String {
    const KNOWN: [&str; 24] = [
        "mitigations", "nopti", "pti", "spectre_v2", "spec_store_bypass_disable", "retbleed", "mds", "idle", "nosmt",
        "processor.max_cstate", "intel_idle.max_cstate", "cpuidle_haltpoll.force", "haltpoll.guest_halt_poll_ns",
        "clocksource", "tsc", "transparent_hugepage", "preempt", "nohz", "nohz_full", "isolcpus", "rcu_nocbs",
        "amd_pstate", "intel_pstate", "nokaslr",
    ];
    let keeps = |word: &&str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        KNOWN.contains(&name) && value.len() <= 40 && plain(value) == value
    };
    line.split_whitespace().filter(keeps).collect::<Vec<_>>().join(" ")
}

/// A mitigation as the kernel words it.
fn mitigation(state: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || " :;,./_-()".contains(*c);
    let text: String = state.chars().filter(allowed).take(200).collect();
    // The kernel's words contain `usercopy/swapgs`, but no path.
    text.split(' ').filter(|word| !word.starts_with('/')).collect::<Vec<_>>().join(" ")
}

/// What is left out of the book of this run, in words.
fn stripped(run: &Run) -> Vec<&'static str> {
    let mut stripped = vec![
        "the names of host and labels, the run's id, day and time, and the build",
        "patterns, seed and other settings",
        "samples, tallies and doubts",
        "which CPUs the process was given, and what others share",
    ];
    if run.machine.kernel.command_line.is_some() {
        stripped.push("the kernel's command line, but for options that change costs");
    }
    if release(&run.machine.kernel.release) != run.machine.kernel.release {
        stripped.push("the name in the kernel's release");
    }
    if version(&run.machine.kernel.version) != run.machine.kernel.version {
        stripped.push("the kernel's builder and date");
    }
    if !run.skipped.is_empty() {
        stripped.push("what was skipped, and why");
    }
    stripped
}
