//! Operations of every family against loops written for this bench alone, from each operation's summary: own system
//! calls, own instructions, own files and partners. They share no code with the operations, nor with the instrument's way
//! of timing, so that the same mistake is not made twice. Either takes turns with the other.

#[macro_use]
mod kernel;
mod address;
mod calls;
mod computing;
mod entry;
mod files;
mod harness;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod memory;
mod messages;
mod partner;
mod paths;
mod quoted;
mod ring;
mod side;
mod tasks;
mod terminals;
mod turns;

use analysis::statistics::median;
use record::units::percent;

use crate::Extent;
use crate::figures::{part_under, share, spread};
use crate::tool::Howslow;
use entry::{Entry, Group};
use quoted::Quoted;
pub(crate) use terminals::terminals;
pub(crate) use turns::{Holds, Turns, in_turns, serve};

/// What agreement is.
const AGREES: f64 = 0.03;

#[cfg(target_arch = "x86_64")]
const OF_PROCESSOR: &[Group] = &[instructions::GROUP, memory::GROUP];
#[cfg(not(target_arch = "x86_64"))]
const OF_PROCESSOR: &[Group] = &[];
const OF_KERNEL: &[Group] = &[
    calls::GROUP,
    paths::GROUP,
    address::GROUP,
    files::GROUP,
    computing::GROUP,
    messages::GROUP,
    ring::GROUP,
    tasks::GROUP,
];

fn groups() -> impl Iterator<Item = &'static Group> {
    OF_PROCESSOR.iter().chain(OF_KERNEL)
}

/// The entry with this name.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    groups().flat_map(|group| group.entries).find(|entry| entry.name() == name)
}

/// What came of an entry.
struct Compared {
    group: &'static str,
    name: String,
    ratio: f64,
}

impl Compared {
    fn off(&self) -> f64 {
        (self.ratio - 1.0).abs()
    }
}

pub(crate) fn independent(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let cpus = system::machine::describe().cpu.usable;
    let asked = |entry: &&Entry| extent.only.as_ref().is_none_or(|text| entry.name().contains(text));
    let count: usize = groups().map(|group| group.entries.iter().filter(asked).count()).sum();
    println!("{count} operations in turns with loops by hand; about {count} to {} s", 3 * count);
    if cfg!(debug_assertions) {
        println!("this bench was built without optimization: the loops by hand take longer than they should");
    }
    let scratch = tempfile::tempdir()?;
    // The loops use names relative to a folder of their own; the processes inherit it.
    let before = std::env::current_dir()?;
    std::env::set_current_dir(&scratch)?;
    let quoted = extent.quoted.then(|| Quoted::new(howslow, extent, &cpus));
    let (mut compared, mut missing) = (Vec::new(), Vec::new());
    for group in groups() {
        if group.entries.iter().filter(asked).count() > 0 {
            println!("{:<64} {:>12} {:>12}   ratio", group.title, "operation", "by hand, ns");
        }
        for entry in group.entries.iter().filter(asked) {
            match in_turns(entry, [Holds::Operation, Holds::Hand], &cpus, scratch.path()) {
                Ok(turns) => compared.push(say(group, entry, &turns)),
                Err(why) => missing.push(format!("{}: {why}", entry.name())),
            }
            if let Some(quoted) = &quoted {
                println!("      {}", quoted.ratio(entry).unwrap_or_else(|why| format!("not quoted: {why:#}")));
            }
        }
    }
    std::env::set_current_dir(before)?;
    conclude(&compared);
    missing.iter().for_each(|line| println!("  not compared: {line}"));
    Ok(())
}

fn say(group: &Group, entry: &Entry, turns: &Turns) -> Compared {
    let [ours, by_hand] = [0, 1].map(|side| median(turns.ns[side].iter().copied()).unwrap_or(f64::NAN));
    let ((low, high), (least, most)) = (turns.interval(), turns.pairs());
    let ratio = turns.ratio();
    let it = Compared { group: group.title, name: entry.name(), ratio };
    println!(
        "  {:<62} {ours:>12.3} {by_hand:>12.3}   {:.3} [{low:.3}, {high:.3}] {} (pairs {least:.3} to {most:.3}; {} turns)",
        it.name,
        ratio,
        if it.off() <= AGREES { "       " } else { "DIFFERS" },
        turns.turns(),
    );
    it
}

fn conclude(compared: &[Compared]) {
    let agreeing = |of: &[&Compared]| part_under(AGREES, &of.iter().map(|it| it.off()).collect::<Vec<_>>());
    let all: Vec<&Compared> = compared.iter().collect();
    println!("\nwithin {}: {} of {} operations", percent(AGREES), share(agreeing(&all)), all.len());
    println!("off by {}", spread(all.iter().map(|it| it.off())));
    for group in groups() {
        let of: Vec<&Compared> = all.iter().copied().filter(|it| it.group == group.title).collect();
        if !of.is_empty() {
            println!("  {:<44} {:>6} of {}", group.title, share(agreeing(&of)), of.len());
        }
    }
}
