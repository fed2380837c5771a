//! What a run says in plain words: sentences computed from its costs alone, each only where the costs it needs were
//! measured and can be told from zero.

use record::units::{percent, significant};
use record::{Bytes, Cost, Estimate, Nanoseconds, Point, Run, Value};

use crate::memory::levels;

/// No more sentences than a reader takes in.
const MOST: usize = 6;

/// What a switch with a working set is told for.
const WORKING_SET: u64 = 256 << 10;
/// A file of a few MiB is the usual one.
const USUAL_FILE: u64 = 4 << 20;
/// More than any cache holds.
const FAR_MEMORY: u64 = 256 << 20;

/// Up to six sentences on what this run says of its machine, the most telling first.
pub fn findings(run: &Run) -> Vec<String> {
    let sentences = [
        switch_in_system_calls(run),
        neighbours(run),
        other_cpu(run),
        page_fault_in_system_calls(run),
        mapped_file(run),
        huge_pages(run),
        levels_found(run),
        huge_pages_undone(run),
        mitigations(run),
    ];
    sentences.into_iter().flatten().take(MOST).collect()
}

/// The cost of an operation at a point, where it can be told from zero.
fn told<'a>(run: &'a Run, operation: &str, at: &[(&str, Value)]) -> Option<&'a Cost> {
    run.cost(operation, at).filter(|cost| cost.net_ns.low.0 > 0.0 && cost.quoted().0 > 0.0)
}

fn number(axis: &str, value: u64) -> (&str, Value) {
    (axis, Value::Number(value))
}

/// One cost in units of another, with the range that both intervals leave.
struct Ratio {
    value: f64,
    low: f64,
    high: f64,
}

impl Ratio {
    fn of(cost: &Cost, unit: &Cost) -> Ratio {
        Ratio {
            value: cost.quoted().0 / unit.quoted().0,
            low: cost.net_ns.low.0 / unit.net_ns.high.0,
            high: cost.net_ns.high.0 / unit.net_ns.low.0,
        }
    }

    fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// `14`, `2.3`: as many digits as are meant to be read, not as could be printed.
    fn text(&self) -> String {
        times(self.value)
    }
}

fn times(value: f64) -> String {
    if value >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn switch_in_system_calls(run: &Run) -> Option<String> {
    let call = told(run, "syscall.getppid", &[])?;
    let switch = Ratio::of(told(run, "switch.process", &[number("set", 0)])?, call);
    let loaded = told(run, "switch.process", &[number("set", WORKING_SET)])
        .map(|cost| format!("; {} with a 256 KiB working set", Ratio::of(cost, call).text()))
        .unwrap_or_default();
    Some(format!("A switch between two processes costs what {} system calls cost{loaded}.", switch.text()))
}

/// By a fault that takes a frame of new memory: frames that were in use a moment ago are cleared in the core's own caches,
/// which says nothing of new memory. Runs of before there were both took those, and are silent.
fn page_fault_in_system_calls(run: &Run) -> Option<String> {
    let call = told(run, "syscall.getppid", &[])?;
    let fault = told(run, "page.fault.anonymous", &[("frames", Value::Word("fresh".into()))])?;
    let text = Ratio::of(fault, call).text();
    let page = run.machine.memory.page.0;
    let each = if page == 0 {
        String::new()
    } else {
        format!(": new memory costs {} ns a byte before it is used", significant(fault.quoted().0 / page as f64))
    };
    Some(format!("The first touch of a page costs what {text} system calls cost{each}."))
}

/// A file read through a mapping, over the same read by calls.
struct Mapped<'a> {
    at: &'a Point,
    /// Its pages touched before: no map, no fault, no unmap.
    touched: Ratio,
    /// With them.
    whole: Option<Ratio>,
}

/// Points at which a file was read both ways, the smallest block first.
fn mapped_over_read(run: &Run) -> Vec<Mapped<'_>> {
    let mut both: Vec<_> = run
        .costs
        .iter()
        .filter(|cost| cost.operation == "file.read")
        .filter_map(|read| {
            let at: Vec<_> = read.at.0.iter().map(|(axis, value)| (axis.as_str(), value.clone())).collect();
            let read_net = told(run, "file.read", &at)?;
            let over_read = |id| Some(Ratio::of(told(run, id, &at)?, read_net));
            let touched = over_read("file.read.mapped")?;
            Some(Mapped { at: &read.at, touched, whole: over_read("file.map.read.unmap") })
        })
        .collect();
    both.sort_by_key(|mapped| {
        let axis = |name| mapped.at.number(name);
        // The usual file: of some MiB, written in large pieces.
        (axis("size"), std::cmp::Reverse(axis("filled")), axis("file").map(|file| file.abs_diff(USUAL_FILE)))
    });
    both
}

fn mapped_file(run: &Run) -> Option<String> {
    let both = mapped_over_read(run);
    let usual = both.iter().find(|mapped| mapped.touched.differs())?;
    let bytes = |axis| usual.at.number(axis).map(|bytes| Bytes(bytes).to_string());
    let (block, file, filled) = (bytes("size")?, bytes("file"), bytes("filled"));
    let of = file.map(|file| format!(" of a file of {file}")).unwrap_or_default();
    let filled = filled.map(|filled| format!(" (written {filled} at a time)")).unwrap_or_default();
    let whole = usual.whole.as_ref().map(|ratio| format!(", {} with map, faults and unmap", against(ratio)));
    let whole = whole.unwrap_or_default();
    let opposed = both
        .iter()
        .find(|mapped| mapped.touched.differs() && (mapped.touched.value < 1.0) != (usual.touched.value < 1.0));
    let opposed =
        opposed.map(|mapped| format!("; at {} {} once touched", mapped.at.values(), against(&mapped.touched)));
    Some(format!(
        "Through a mapping, {block}{of}{filled} are {} than by read() once their pages are touched{whole}{}.",
        against(&usual.touched),
        opposed.unwrap_or_default()
    ))
}

/// `4.2 times cheaper`, `1.2 times dearer`.
fn against(ratio: &Ratio) -> String {
    match ratio.value {
        _ if !ratio.differs() => "no cheaper and no dearer".into(),
        value if value < 1.0 => format!("{} times cheaper", times(1.0 / value)),
        value => format!("{} times dearer", times(value)),
    }
}

fn other_cpu(run: &Run) -> Option<String> {
    let ratio = run.costs.iter().filter(|cost| cost.operation == "pipe.roundtrip").find_map(|cost| {
        let far: Vec<_> = cost.at.0.iter().map(|(axis, value)| (axis.as_str(), value.clone())).collect();
        let near = far.iter().map(|(axis, value)| match *axis {
            "distance" => (*axis, Value::Word("same".into())),
            _ => (*axis, value.clone()),
        });
        (cost.at.word("distance") == Some("other")).then_some(())?;
        Some(Ratio::of(told(run, "pipe.roundtrip", &far)?, told(run, "pipe.roundtrip", &near.collect::<Vec<_>>())?))
    })?;
    if !ratio.differs() {
        return None;
    }
    let text = if ratio.value > 1.0 {
        format!("{} times as much as", ratio.text())
    } else {
        format!("only {} of", percent(ratio.value))
    };
    Some(format!("Talking through pipes to a task on another CPU costs {text} to one on the same CPU."))
}

fn huge_pages(run: &Run) -> Option<String> {
    // Runs of the first days called the working set a size.
    let ratio = ["set", "size"].iter().find_map(|axis| {
        let at = [number(axis, FAR_MEMORY)];
        Some(Ratio::of(told(run, "memory.load.paged", &at)?, told(run, "memory.load", &at)?))
    })?;
    (ratio.low > 1.0).then(|| {
        format!(
            "Huge pages take {} off a random load from 256 MiB: the rest was looking up addresses.",
            percent(1.0 - 1.0 / ratio.value)
        )
    })
}

/// The levels of memory, where loads show more than one.
fn levels_found(run: &Run) -> Option<String> {
    let levels = levels(run);
    let told: Vec<String> =
        levels.found.iter().map(|level| format!("{} {}", level.name, Nanoseconds(level.latency.value))).collect();
    // The headline run looks at too few sets to tell a level from the way to it.
    if levels.curve.len() < 8 || told.len() < 2 {
        return None;
    }
    let disagreement = levels.disagreements.first().map(|text| format!("; {text}")).unwrap_or_default();
    Some(format!("A random load takes: {}{disagreement}.", told.join(", ")))
}

/// A hypervisor that backs huge pages by small ones leaves the processor nothing huge to remember.
fn huge_pages_undone(run: &Run) -> Option<String> {
    const PAGES: u64 = 256;
    // Within any first cache, and the huge pages are one.
    const LINES: u64 = PAGES * 64;
    let apart = told(run, "memory.translate", &[number("pages", PAGES), ("in", Value::Word("huge".into()))])?;
    let ratio = Ratio::of(apart, told(run, "memory.load", &[number("set", LINES)])?);
    (ratio.low > 1.2).then(|| {
        format!(
            "Huge pages do not reach the processor: {PAGES} lines spread over one of them take {} times as long as side \
             by side; the hypervisor's own pages are small.",
            ratio.text()
        )
    })
}

/// What enters the kernel, by the families the instrument's own operations belong to.
fn is_kernel_work(cost: &Cost) -> bool {
    !["loop", "instruction", "memory", "clock"].contains(&cost.family())
}

fn neighbours(run: &Run) -> Option<String> {
    let mut taxes: Vec<f64> = run
        .costs
        .iter()
        .filter(|cost| is_kernel_work(cost) && cost.headline == Estimate::Quiet && cost.cpus <= 1)
        .filter_map(Cost::neighbour_tax)
        .filter(|tax| tax.is_finite())
        .collect();
    if taxes.len() < 4 {
        return None;
    }
    taxes.sort_by(f64::total_cmp);
    // The middle half: single operations may be dear for reasons of their own.
    let (low, high) = (taxes[taxes.len() / 4] - 1.0, taxes[taxes.len() * 3 / 4] - 1.0);
    if high < 0.03 {
        return Some(format!(
            "This core was nearly ours alone: sharing it cost kernel work at most {}.",
            percent(high.max(0.0))
        ));
    }
    let range = if low >= 0.01 {
        format!("{} to {}", percent(low).trim_end_matches(" %"), percent(high))
    } else {
        format!("up to {}", percent(high))
    };
    let steal = run.noise.steal;
    let seen = if run.machine.virtualization.hypervisor.is_none() {
        String::new()
    } else if steal < low / 4.0 {
        format!("; steal time ({}) does not show it", percent(steal))
    } else {
        format!("; steal time was {}", percent(steal))
    };
    Some(format!("Sharing this core with others makes kernel work {range} dearer{seen}."))
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
    let mut text = format!("Mitigations in force and paid for: {}", some(&on));
    if !open.is_empty() {
        text += &format!("; the kernel calls itself vulnerable to {}", some(&open));
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Run {
        record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run")
    }

    #[test]
    fn sentences_come_from_the_costs() {
        assert_eq!(
            findings(&example()),
            [
                "A switch between two processes costs what 14 system calls cost; 21 with a 256 KiB working set.",
                "Sharing this core with others makes kernel work 29 to 43 % dearer; steal time (0.05 %) does not show it.",
                "Talking through pipes to a task on another CPU costs 4.0 times as much as to one on the same CPU.",
                "Through a mapping, 4 KiB are 4.2 times cheaper than by read() once their pages are touched; at 1 MiB \
                 1.2 times dearer once touched.",
                "Huge pages take 29 % off a random load from 256 MiB: the rest was looking up addresses.",
                "Mitigations in force and paid for: spectre_v1, spectre_v2; the kernel calls itself vulnerable to mds.",
            ]
        );
    }

    /// Costs of the example at points that it has not.
    fn moved(run: &mut Run, operation: &str, id: &str, point: &[(&str, Value)], ns: f64) {
        let mut cost = run.costs.iter().find(|cost| cost.operation == operation).expect(operation).clone();
        cost.operation = id.into();
        cost.at = point.iter().fold(Point::default(), |at, (axis, value)| at.with(axis, value.clone()));
        (cost.net_ns.quiet.0, cost.net_ns.low.0, cost.net_ns.high.0) = (ns, ns * 0.99, ns * 1.01);
        run.costs.push(cost);
    }

    #[test]
    fn new_memory_is_told_by_fresh_frames_alone() {
        let mut run = example();
        assert_eq!(page_fault_in_system_calls(&run), None);
        let frames = |word: &str| [("frames", Value::Word(word.into()))];
        moved(&mut run, "page.fault.anonymous", "page.fault.anonymous", &frames("recycled"), 300.0);
        assert_eq!(page_fault_in_system_calls(&run), None);
        moved(&mut run, "page.fault.anonymous", "page.fault.anonymous", &frames("fresh"), 1228.8);
        let text = page_fault_in_system_calls(&run).expect("a sentence");
        assert!(text.ends_with("new memory costs 0.300 ns a byte before it is used."), "{text}");
    }

    #[test]
    fn a_mapped_file_is_told_with_its_size_its_filling_and_what_mapping_takes() {
        let mut run = example();
        run.costs.retain(|cost| cost.at.number("size") != Some(1 << 20));
        let at = |file, filled| [number("size", 4096), number("file", file), number("filled", filled)];
        for (file, filled, ns) in [(64 << 20, 128 << 10, 900.0), (4 << 20, 4096, 300.0), (4 << 20, 128 << 10, 200.0)] {
            moved(&mut run, "file.read", "file.read", &at(file, filled), ns);
            moved(&mut run, "file.read", "file.read.mapped", &at(file, filled), 100.0);
            moved(&mut run, "file.read", "file.map.read.unmap", &at(file, filled), 250.0);
        }
        run.costs.retain(|cost| !cost.operation.starts_with("file.") || cost.at.number("file").is_some());
        assert_eq!(
            mapped_file(&run).as_deref(),
            Some(
                "Through a mapping, 4 KiB of a file of 4 MiB (written 128 KiB at a time) are 2.0 times cheaper than by \
                 read() once their pages are touched, 1.2 times dearer with map, faults and unmap."
            )
        );
    }

    #[test]
    fn a_run_without_the_costs_says_nothing_about_them() {
        let mut run = example();
        run.costs.clear();
        assert_eq!(
            findings(&run),
            ["Mitigations in force and paid for: spectre_v1, spectre_v2; the kernel calls itself vulnerable to mds."]
        );
        run.machine.kernel.mitigations.clear();
        assert!(findings(&run).is_empty());
    }

    #[test]
    fn what_cannot_be_told_from_zero_or_from_the_other_is_not_claimed() {
        let mut run = example();
        for cost in &mut run.costs {
            if cost.operation == "syscall.getppid" {
                cost.net_ns.low.0 = -1.0;
            }
            if cost.operation.starts_with("file.read") {
                cost.net_ns.low.0 = 1.0;
                cost.net_ns.high.0 = 1e9;
            }
        }
        let text = findings(&run).join(" ");
        assert!(!text.contains("system calls") && !text.contains("mapped"), "{text}");
    }
}
