//! The first line of a page: the tool, the machine, and how quiet it was.

use analysis::statistics::sorted;
use record::units::{Amount, percent, relative_width};
use record::{Beside, Cost, Machine, Origin, Run};

/// `howslow 0.1.0   Intel Xeon 2.50 GHz (Cascade Lake), 2 CPUs   Linux 6.18.44   KVM guest   undisturbed 31 % of the time`.
pub(crate) fn head_line(run: &Run) -> String {
    // A book was not measured by howslow; its name is its id.
    let who = match run.origin {
        Origin::Measured => format!("howslow {}", run.howslow),
        Origin::Published | Origin::Reference => run.id.clone(),
        Origin::Imported => format!("imported from {}", run.tool),
    };
    let mut parts = vec![who];
    parts.extend(machine_parts(&run.machine));
    parts.extend(run.noise.undisturbed().map(|share| format!("undisturbed {} of the time", percent(share))));
    parts.join("   ")
}

/// The second line: the clock of the figures, how they repeat, and whether other programs were running. Empty if none of
/// these is known.
pub(crate) fn conditions(run: &Run) -> String {
    /// Below this share, only the system's own housekeeping was running.
    const BUSY: f64 = 0.05;
    let noise = &run.noise;
    let range = noise.cycle_range_ns.map_or_else(String::new, |cycle| moved(1.0 / cycle.high, 1.0 / cycle.low));
    let clock = (noise.cycle_ns > 0.0).then(|| format!("core clock {:.2} GHz{range}", 1.0 / noise.cycle_ns));
    let forked = noise.launchers.filter(|launchers| !launchers.executed);
    let forked = forked.map(|_| "rounds were forked from one process: other runs may scatter more".to_string());
    let busy = (noise.others > BUSY)
        .then(|| format!("the machine was busy: other programs took {} of its CPU time", percent(noise.others)));
    [clock, repeatability(run), forked, busy].into_iter().flatten().collect::<Vec<_>>().join("   ")
}

/// How far another run's figures lie from these: half of them, and nine in ten. `None` for a book, and for few costs.
fn repeatability(run: &Run) -> Option<String> {
    const FEWEST: usize = 5;
    if run.is_published() {
        return None;
    }
    let landing = |cost: &Cost| {
        let errors = if cost.basis.is_some() { std::f64::consts::SQRT_2 } else { 1.0 };
        cost.half_width().map_or(f64::INFINITY, |half| half * errors)
    };
    let widths = sorted(run.costs.iter().filter(|cost| !cost.holds_zero()).map(landing));
    if widths.len() < FEWEST {
        return None;
    }
    let at = |share: f64| relative_width(widths[((widths.len() as f64 * share) as usize).min(widths.len() - 1)]);
    Some(format!("figures repeat within {} (half of them), {} (nine in ten)", at(0.5), at(0.9)))
}

/// What ran beside the run on purpose, and what that means for its figures. Empty if nothing did.
pub(crate) fn beside(run: &Run) -> String {
    let achieved = |number: usize| {
        let done = run.noise.beside.get(number).filter(|done| done.per_second > 0.0)?;
        Some(format!(" ({} a second)", Amount(done.per_second).of("")))
    };
    let load = |(number, load): (usize, &Beside)| format!("{load}{}", achieved(number).unwrap_or_default());
    let loads: Vec<String> = run.settings.beside.iter().enumerate().map(load).collect();
    if loads.is_empty() {
        return String::new();
    }
    format!("beside {}; costs are typical ones, of all batches", loads.join(" and "))
}

/// `, 3.5 to 4.2`: the range of the clock; empty if it did not move.
fn moved(slowest: f64, fastest: f64) -> String {
    let (slowest, fastest) = (format!("{slowest:.1}"), format!("{fastest:.1}"));
    if slowest == fastest { String::new() } else { format!(", {slowest} to {fastest}") }
}

/// Processor, kernel and hypervisor, each as one part of a line.
pub(crate) fn machine_parts(machine: &Machine) -> Vec<String> {
    let cpu = &machine.cpu;
    let mut processor = short_model(&cpu.model);
    if processor.is_empty() {
        processor = if machine.architecture.is_empty() { "unknown CPU".into() } else { machine.architecture.clone() };
    }
    if let Some(name) = &cpu.microarchitecture {
        processor += &format!(" ({name})");
    }
    match cpu.online {
        0 => {}
        1 => processor += ", 1 CPU",
        many => processor += &format!(", {many} CPUs"),
    }
    let kernel = format!("{} {}", machine.kernel.name, machine.kernel.release);
    let around = &machine.virtualization;
    let guest = around.hypervisor.as_ref().map(|name| format!("{name} guest"));
    let container = around.container.as_ref().map(|name| format!("in {name}"));
    let parts = [Some(processor), Some(kernel.trim().to_string()), guest, container];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect()
}

/// The processor's name without the parts that every name has: `Intel(R) Xeon(R) CPU @ 2.50GHz` is
/// `Intel Xeon 2.50 GHz`.
pub(crate) fn short_model(model: &str) -> String {
    let bare = model.replace("(R)", " ").replace("(TM)", " ").replace("(tm)", " ").replace('@', " ");
    let words = bare.split_whitespace().filter(|word| !["CPU", "Processor", "processor"].contains(word));
    let words: Vec<String> = words
        .map(|word| match word.strip_suffix("GHz") {
            Some(number) if !number.is_empty() => format!("{number} GHz"),
            _ => word.to_string(),
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_short() {
        for (model, short) in [
            ("Intel(R) Xeon(R) CPU @ 2.50GHz", "Intel Xeon 2.50 GHz"),
            ("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", "Intel Core i7-8550U 1.80 GHz"),
            ("AMD EPYC 7B13", "AMD EPYC 7B13"),
            ("AMD Ryzen 9 5950X 16-Core Processor", "AMD Ryzen 9 5950X 16-Core"),
            ("Neoverse-N1", "Neoverse-N1"),
            ("", ""),
        ] {
            assert_eq!(short_model(model), short);
        }
    }
}
