//! The findings of a run in plain words: first what is odd beside the reference machines, then what its own costs show. Each
//! sentence appears only if its costs were measured and are distinguishable from zero.

use record::units::{percent, significant};
use record::{Bytes, Cost, Estimate, Nanoseconds, Neighbours, Point, Present, Run, Value};

use crate::memory::levels;
use crate::reference::{Facts, Place, judge, likely_cause_of_waking, sentences as verdict_sentences};
use crate::statistics::{Interval, quantile, sorted};

/// More sentences than a reader can take in are left out.
const MOST: usize = 6;

/// The working set of the sentence on switches: the one that fills most of the core's own caches, else a usual one.
const LARGEST_OWN: &str = "most-l2";
const WORKING_SET: u64 = 256 << 10;
/// A file of a few MiB is the usual one.
const USUAL_FILE: u64 = 4 << 20;
/// More than any cache holds.
const FAR_MEMORY: u64 = 256 << 20;

/// What a run is seen beside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    pub references: &'a [Run],
    /// The machine's present state, if the run is of now.
    pub present: Option<&'a Present>,
}

/// Up to six sentences about the machine of this run: the verdict, what is odd, and then what its own costs show, what can be
/// acted on first.
pub fn findings(run: &Run, around: Surroundings<'_>) -> Vec<String> {
    let facts = Facts { machine: &run.machine, noise: &run.noise, present: around.present };
    let verdict = judge(run, around.references, &facts);
    let mut sentences = verdict_sentences(&verdict, Place::of(&run.machine));
    let of_costs = [
        traced(run),
        neighbours(run),
        huge_pages_undone(run),
        other_cpu(run, &facts),
        page_fault_in_system_calls(run),
        mapped_file(run),
        huge_pages(run),
        switch_in_system_calls(run),
        levels_found(run),
        // On the run of a command line without patterns: the first page that somebody sees.
        mitigations(run).filter(|_| run.settings.patterns.is_empty()),
    ];
    sentences.extend(of_costs.into_iter().flatten());
    sentences.truncate(MOST);
    sentences
}

/// A program in the kernel that runs at each call, or a tracer, makes each call dearer than the kernel does.
fn traced(run: &Run) -> Option<String> {
    run.noise.traced.then(|| {
        "System calls were traced meanwhile, by a tracer of howslow or an eBPF program of the system: each took longer.".into()
    })
}

/// The cost of an operation at a point, if it is distinguishable from zero.
fn nonzero<'a>(run: &'a Run, operation: &str, at: &[(&str, Value)]) -> Option<&'a Cost> {
    run.cost(operation, at).filter(is_nonzero)
}

/// The same at the point of another cost.
fn nonzero_at<'a>(run: &'a Run, operation: &str, at: &Point) -> Option<&'a Cost> {
    run.costs.iter().find(|cost| cost.operation == operation && cost.at == *at).filter(is_nonzero)
}

fn is_nonzero(cost: &&Cost) -> bool {
    cost.net_ns.low.0 > 0.0 && cost.quoted().0 > 0.0
}

fn number(axis: &str, value: u64) -> (&str, Value) {
    (axis, Value::Number(value))
}

/// One cost in units of another, with the range that both intervals allow.
fn in_units_of(unit: &Cost, cost: &Cost) -> Interval {
    Interval {
        value: cost.quoted().0 / unit.quoted().0,
        low: cost.net_ns.low.0 / unit.net_ns.high.0,
        high: cost.net_ns.high.0 / unit.net_ns.low.0,
    }
}

fn differs(ratio: &Interval) -> bool {
    ratio.low > 1.0 || ratio.high < 1.0
}

/// True if a ratio is known to better than a factor of two. Otherwise its digits mean nothing.
fn has_digits(ratio: &Interval) -> bool {
    ratio.low > 0.0 && ratio.high < 2.0 * ratio.low
}

/// `14`, `2.3`: with as many digits as are meaningful.
fn times(value: f64) -> String {
    if value >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn switch_in_system_calls(run: &Run) -> Option<String> {
    let call = nonzero(run, "syscall.getppid", &[])?;
    let switch = in_units_of(call, nonzero(run, "switch.process", &[number("set", 0)])?);
    let sets = [("set", Value::Word(LARGEST_OWN.into())), number("set", WORKING_SET)];
    let loaded = sets.into_iter().find_map(|set| {
        let cost = nonzero(run, "switch.process", &[set])?;
        let ratio = Some(in_units_of(call, cost)).filter(has_digits)?;
        let bytes = cost.tallies.get("set bytes").map_or(WORKING_SET, |bytes| *bytes as u64);
        Some(format!("; {} with a working set of {}", times(ratio.value), Bytes(bytes)))
    });
    let loaded = loaded.unwrap_or_default();
    has_digits(&switch).then(|| {
        format!("A switch between two processes costs what {} system calls cost{loaded}.", times(switch.value))
    })
}

/// Uses a fault that takes a frame of new memory. Recently used frames are cleared in the core's own caches, which says
/// nothing about new memory. Older runs used those frames, so there is no sentence for them.
fn page_fault_in_system_calls(run: &Run) -> Option<String> {
    let call = nonzero(run, "syscall.getppid", &[])?;
    let fault = nonzero(run, "page.fault.anonymous", &[("frames", Value::Word("fresh".into()))])?;
    let text = times(Some(in_units_of(call, fault)).filter(has_digits)?.value);
    let page = run.machine.memory.page.0;
    let each = if page == 0 {
        String::new()
    } else {
        format!(": new memory costs {} ns a byte before it is used", significant(fault.quoted().0 / page as f64))
    };
    Some(format!("The first touch of a page costs what {text} system calls cost{each}."))
}

/// A file read through a mapping, divided by the same read by calls.
struct Mapped<'a> {
    at: &'a Point,
    /// With its pages touched before: no map, no fault, no unmap.
    touched: Interval,
    /// Including map, faults and unmap.
    whole: Option<Interval>,
}

/// Points at which a file was read in both ways, the smallest block first.
fn mapped_over_read<'r>(run: &'r Run) -> Vec<Mapped<'r>> {
    let mapped = |read: &'r Cost| {
        let over_read = |id| Some(in_units_of(read, nonzero_at(run, id, &read.at)?));
        Some(Mapped { at: &read.at, touched: over_read("file.read.mapped")?, whole: over_read("file.map.read.unmap") })
    };
    let reads = run.costs.iter().filter(|cost| cost.operation == "file.read").filter(is_nonzero);
    let mut both: Vec<_> = reads.filter_map(mapped).collect();
    both.sort_by_key(|mapped| {
        let axis = |name| mapped.at.number(name);
        // The usual file: some MiB, written in large pieces.
        (axis("size"), std::cmp::Reverse(axis("filled")), axis("file").map(|file| file.abs_diff(USUAL_FILE)))
    });
    both
}

fn mapped_file(run: &Run) -> Option<String> {
    let both = mapped_over_read(run);
    let usual = both.iter().find(|mapped| differs(&mapped.touched))?;
    let bytes = |axis| usual.at.number(axis).map(|bytes| Bytes(bytes).to_string());
    let (block, file, filled) = (bytes("size")?, bytes("file"), bytes("filled"));
    let of_file = file.map(|file| format!(" of a file of {file}")).unwrap_or_default();
    let filled = filled.map(|filled| format!(" (written {filled} at a time)")).unwrap_or_default();
    let whole = usual.whole.as_ref().map(|ratio| format!(", {} with map, faults and unmap", against(ratio)));
    let whole = whole.unwrap_or_default();
    let is_opposed = |touched: &Interval| differs(touched) && (touched.value < 1.0) != (usual.touched.value < 1.0);
    let opposed = both.iter().find(|mapped| is_opposed(&mapped.touched));
    let opposed =
        opposed.map(|mapped| format!("; at {} {} once touched", mapped.at.values(), against(&mapped.touched)));
    Some(format!(
        "Through a mapping, {block}{of_file}{filled} are {} than by read() once their pages are touched{whole}{}.",
        against(&usual.touched),
        opposed.unwrap_or_default()
    ))
}

/// `4.2 times faster`, `at least 1.2 times slower`.
fn against(ratio: &Interval) -> String {
    if !differs(ratio) {
        return "no faster and no slower".into();
    }
    if ratio.value < 1.0 {
        let inverse = Interval { value: 1.0 / ratio.value, low: 1.0 / ratio.high, high: 1.0 / ratio.low };
        return format!("{}faster", amount(&inverse));
    }
    format!("{}slower", amount(ratio))
}

/// `4.2 times `; `at least 1.2 times ` if its digits are not known; nothing if only its direction is.
fn amount(ratio: &Interval) -> String {
    match ratio.low {
        _ if has_digits(ratio) => format!("{} times ", times(ratio.value)),
        low if low >= 1.05 => format!("at least {} times ", times(low)),
        _ => String::new(),
    }
}

fn other_cpu(run: &Run, facts: &Facts<'_>) -> Option<String> {
    /// From this ratio on, the sleep of the idle CPU is most of the cost.
    const MOSTLY_WAKING: f64 = 5.0;
    let is_far = |cost: &&Cost| cost.operation == "pipe.roundtrip" && cost.at.word("distance") == Some("other");
    let ratio = run.costs.iter().filter(is_far).filter(is_nonzero).find_map(|far| {
        let near = far.at.clone().with("distance", Value::Word("same".into()));
        Some(in_units_of(nonzero_at(run, "pipe.roundtrip", &near)?, far))
    })?;
    if !differs(&ratio) {
        return None;
    }
    let text = match amount(&ratio) {
        _ if ratio.value < 1.0 && has_digits(&ratio) => format!("only {} of", percent(ratio.value)),
        _ if ratio.value < 1.0 => "less than".into(),
        direction if direction.is_empty() => "more than".into(),
        amount => format!("{amount}as much as"),
    };
    let cause = likely_cause_of_waking(facts).filter(|_| ratio.low > MOSTLY_WAKING);
    let why = cause.map(|(reason, remedy)| format!(" Likely: {reason}; {}.", remedy.text(Place::of(&run.machine))));
    let why = why.unwrap_or_default();
    Some(format!("Talking through pipes to a task on another CPU costs {text} to one on the same CPU.{why}"))
}

fn huge_pages(run: &Run) -> Option<String> {
    // The oldest runs call the working set `size`.
    let ratio = ["set", "size"].iter().find_map(|axis| {
        let at = [number(axis, FAR_MEMORY)];
        Some(in_units_of(nonzero(run, "memory.load", &at)?, nonzero(run, "memory.load.paged", &at)?))
    })?;
    (ratio.low > 1.0).then(|| {
        format!(
            "Huge pages take {} off a random load from 256 MiB: the rest was looking up addresses.",
            percent(1.0 - 1.0 / ratio.value)
        )
    })
}

/// The levels of memory, if loads show more than one.
fn levels_found(run: &Run) -> Option<String> {
    let levels = levels(run);
    let named: Vec<String> =
        levels.found.iter().map(|level| format!("{} {}", level.name, Nanoseconds(level.latency.value))).collect();
    // The headline run has too few working sets to separate a level from the rise to it.
    if levels.curve.len() < 8 || named.len() < 2 {
        return None;
    }
    let disagreement = levels.disagreements.first().map(|text| format!("; {text}")).unwrap_or_default();
    Some(format!("A random load takes: {}{disagreement}.", named.join(", ")))
}

/// If a hypervisor backs huge pages by small ones, the processor has no huge pages to remember.
fn huge_pages_undone(run: &Run) -> Option<String> {
    const PAGES: u64 = 256;
    // They fit in any first cache, and the huge pages are one.
    const LINES: u64 = PAGES * 64;
    let apart = nonzero(run, "memory.translate", &[number("pages", PAGES), ("in", Value::Word("huge".into()))])?;
    let ratio = in_units_of(nonzero(run, "memory.load", &[number("set", LINES)])?, apart);
    (ratio.low > 1.2).then(|| {
        format!(
            "Huge pages do not reach the processor: {PAGES} lines spread over one of them take {} times as long as side \
             by side; the hypervisor's own pages are small.",
            times(ratio.value)
        )
    })
}

/// True for work that enters the kernel, by the families of the instrument's own operations.
fn is_kernel_work(cost: &Cost) -> bool {
    !["loop", "instruction", "memory", "clock"].contains(&cost.family())
}

/// What slows work down here: the neighbours, which show in the cycles of costs, and the clock, which moves every time
/// that follows it.
fn neighbours(run: &Run) -> Option<String> {
    let parts: Vec<String> = [shared_core(run), moving_clock(run)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The effect of a shared core on kernel work. The sentence appears if most costs show an effect, or show that it is
/// almost zero.
fn shared_core(run: &Run) -> Option<String> {
    /// A smaller effect of sharing is almost zero.
    const NEXT_TO_NOTHING: f64 = 1.03;
    let is_quiet = |cost: &&Cost| is_kernel_work(cost) && cost.headline == Estimate::Quiet && cost.cpus <= 1;
    let is_known = |tax: &Neighbours| [tax.ratio, tax.low, tax.high].iter().all(|figure| figure.is_finite());
    let quiet = run.costs.iter().filter(is_quiet);
    let taxes: Vec<Neighbours> = quiet.filter_map(|cost| cost.neighbours).filter(is_known).collect();
    // The middle half, because single operations may be slow for other reasons.
    let quartile = |share: f64, of: fn(&Neighbours) -> f64| quantile(&sorted(taxes.iter().map(of)), share);
    if taxes.len() < 4 {
        return None;
    }
    let highest = quartile(0.75, |tax| tax.high)?;
    if highest < NEXT_TO_NOTHING {
        let most = percent((highest - 1.0).max(0.0));
        return Some(format!("This core was almost undisturbed: sharing it cost kernel work at most {most}."));
    }
    // Half of them are certainly slower, and by their intervals the middle one is.
    if quartile(0.5, |tax| tax.low)? <= 1.0 {
        return None;
    }
    let (low, high) = (quartile(0.25, |tax| tax.ratio)? - 1.0, quartile(0.75, |tax| tax.ratio)? - 1.0);
    let range = match (percent(low), percent(high)) {
        (one, other) if one == other => one,
        (one, other) if low >= 0.01 => format!("{} to {other}", one.trim_end_matches(" %")),
        (_, other) => format!("up to {other}"),
    };
    let steal = run.noise.steal;
    let seen = if run.machine.virtualization.hypervisor.is_none() {
        String::new()
    } else if steal < low / 4.0 {
        format!("; steal time ({}) does not show it", percent(steal))
    } else {
        format!("; steal time was {}", percent(steal))
    };
    Some(format!("Sharing this core with others makes kernel work {range} slower{seen}."))
}

/// How far the clock moved, if that is more than the scatter of costs.
fn moving_clock(run: &Run) -> Option<String> {
    const STEADY: f64 = 0.01;
    let range = run.noise.cycle_range_ns.filter(|range| range.low > 0.0 && range.high.is_finite())?;
    let moved = range.high / range.low - 1.0;
    (moved > STEADY).then(|| {
        format!(
            "The clock moved between {:.2} and {:.2} GHz, which moves times by {}.",
            1.0 / range.high,
            1.0 / range.low,
            percent(moved)
        )
    })
}

fn mitigations(run: &Run) -> Option<String> {
    let known = &run.machine.kernel.mitigations;
    if known.is_empty() {
        return None;
    }
    let names = |beginning: &str| -> Vec<&str> {
        known.iter().filter(|(_, state)| state.starts_with(beginning)).map(|(name, _)| name.as_str()).collect()
    };
    let (on, open) = (names("Mitigation"), names("Vulnerable"));
    let some = |names: &[&str]| match names {
        [] => "none".to_string(),
        names if names.len() <= 5 => names.join(", "),
        names => format!("{} and {} more", names[..4].join(", "), names.len() - 4),
    };
    let mut text = format!("Active mitigations: {}", some(&on));
    if !open.is_empty() {
        text += &format!("; the kernel calls itself vulnerable to {}", some(&open));
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests;
