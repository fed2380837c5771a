//! Two processes pinned to one CPU that take turns, batch by batch: one holds the operation's own loop, the other the loop
//! by hand. Whatever disturbs the core for longer than a turn disturbs both alike, so that the ratio of adjacent batches
//! is steady where neither of them is.

use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use analysis::statistics::median;
use analysis::tails::median_interval;

use super::entry::Entry;
use super::harness::limit;
use super::kernel::done;
use super::side::{Offer, Place, Side};
use crate::filter::Filter;

/// Pairs of fresh processes: where code and data lie differs from pair to pair.
const PAIRS: usize = 24;
/// Turns of a pair, at most.
const TURNS: usize = 40;
/// How long a pair takes turns.
const TIME: Duration = Duration::from_millis(80);
/// Turns that a pair takes at least, where they are long.
const LEAST: usize = 4;
/// Turns that the pairs of what wears out must have together, and how many pairs there may be for that.
const TOGETHER: usize = 100;
const MOST_PAIRS: usize = 32;
/// Operations longer than this, in ns, need no warm-up: they outlast what the other's turn left in the caches.
const LONG: f64 = 2e6;

/// What a process of a pair holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The operation's own loop.
    Operation,
    /// The loop by hand.
    Hand,
    /// The operation's own loop under a filter of system calls of this many instructions.
    Filtered(u32),
}

impl Holds {
    /// As an argument, and as the name of a folder. Those of the first two are as long as each other, since calls tell how
    /// long the name of their folder is.
    fn name(self) -> String {
        match self {
            Holds::Operation => "ours".into(),
            Holds::Hand => "hand".into(),
            Holds::Filtered(instructions) => format!("{instructions}"),
        }
    }

    fn named(name: &str) -> Option<Holds> {
        match name {
            "ours" => Some(Holds::Operation),
            "hand" => Some(Holds::Hand),
            number => number.parse().ok().map(Holds::Filtered),
        }
    }
}

/// What the turns said.
#[derive(Default)]
pub(crate) struct Turns {
    /// ns of either side, of each turn.
    pub ns: [Vec<f64>; 2],
    /// The first over the second.
    ratios: Vec<f64>,
    /// Its median in each pair of processes.
    pairs: Vec<f64>,
}

impl Turns {
    /// The median over all turns.
    pub(crate) fn ratio(&self) -> f64 {
        median(self.ratios.iter().copied()).unwrap_or(f64::NAN)
    }

    /// The 95 % interval of that median by order statistics.
    pub(crate) fn interval(&self) -> (f64, f64) {
        median_interval(self.ratios.iter().copied()).map_or((f64::NAN, f64::NAN), |ratio| (ratio.low, ratio.high))
    }

    /// The least and the largest median of a pair.
    pub(super) fn pairs(&self) -> (f64, f64) {
        let ratios = || self.pairs.iter().copied();
        (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max))
    }

    pub(super) fn turns(&self) -> usize {
        self.ratios.len()
    }
}

/// Has fresh pairs of processes take turns.
///
/// # Errors
/// When either side cannot be prepared or fails.
pub(crate) fn in_turns(entry: &Entry, sides: [Holds; 2], cpus: &[u32], folder: &Path) -> Result<Turns, String> {
    let mut turns = Turns::default();
    for number in 0..MOST_PAIRS {
        if number >= PAIRS && turns.turns() >= TOGETHER {
            break;
        }
        let cpu = cpus[number % cpus.len()];
        // This process hands the turns over where they are taken, so that no other CPU must be woken for it.
        let _pinned = Pinned::to(cpu)?;
        let place = Place {
            folder: folder.join(format!("{}-{number}", entry.id)),
            cpu,
            other_cpu: cpus.iter().copied().find(|other| *other != cpu),
            seed: number as u64,
        };
        pair(entry, sides, &place, &mut turns)?;
    }
    Ok(turns)
}

fn pair(entry: &Entry, sides: [Holds; 2], place: &Place, turns: &mut Turns) -> Result<(), String> {
    let start = |holds: Holds| {
        let place = Place { folder: place.folder.join(holds.name()), ..place.clone() };
        std::fs::create_dir_all(&place.folder).map_err(|error| format!("{}: {error}", place.folder.display()))?;
        Process::start(holds, entry, &place)
    };
    let (mut ours, mut by_hand) = (start(sides[0])?, start(sides[1])?);
    let offers = [ours.offer()?, by_hand.offer()?];
    let most = offers.iter().map(|offer| offer.most).fold(f64::INFINITY, f64::min);
    let operations = offers.iter().map(|offer| offer.operations).fold(0.0, f64::max).min(most);
    let batches = offers.iter().map(|offer| offer.batches).fold(f64::INFINITY, f64::min);
    let (begun, mut ratios) = (Instant::now(), Vec::new());
    let mut warm = if batches.is_finite() && batches < f64::from(u32::MAX) { 0.0 } else { operations };
    let mut ns = [Vec::new(), Vec::new()];
    while ratios.len() < (batches as usize).min(TURNS) && (begun.elapsed() < TIME || ratios.len() < LEAST) {
        let (our, their) = (ours.turn(warm, operations)?, by_hand.turn(warm, operations)?);
        if our * operations > LONG {
            warm = 0.0;
        }
        ns[0].push(our);
        ns[1].push(their);
        ratios.push(our / their);
    }
    turns.pairs.extend(median(ratios.iter().copied()));
    turns.ns.iter_mut().zip(ns).for_each(|(all, of)| all.extend(of));
    turns.ratios.extend(ratios);
    Ok(())
}

/// A process that takes batches when told to: this program again, started afresh, because a fork's code and data lie where its
/// parent's do.
struct Process {
    child: Child,
    orders: ChildStdin,
    answers: ChildStdout,
}

/// Two numbers: operations to do untimed, and operations to time. None of the latter ends the process.
type Order = [f64; 2];
/// Whether the other numbers count; a text follows where they do not.
type Answer = [f64; 4];

impl Process {
    fn start(holds: Holds, entry: &Entry, place: &Place) -> Result<Process, String> {
        let numbers =
            [Some(place.cpu), place.other_cpu].map(|cpu| cpu.map_or_else(|| "-".into(), |cpu| cpu.to_string()));
        let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
        command.args(["--bench", "--side", &holds.name(), &entry.name()]).args(numbers);
        command.arg(place.seed.to_string());
        command.current_dir(&place.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("no process can be started: {error}"))?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a process without pipes".into());
        };
        Ok(Process { child, orders, answers })
    }

    fn offer(&mut self) -> Result<Offer, String> {
        let [_, operations, most, batches] = self.answer()?;
        Ok(Offer { operations, most, batches })
    }

    /// ns of one operation.
    fn turn(&mut self, warm: f64, operations: f64) -> Result<f64, String> {
        self.orders
            .write_all(&bytes(&[warm, operations]))
            .map_err(|error| format!("a process ended early: {error}"))?;
        Ok(self.answer()?[1])
    }

    fn answer(&mut self) -> Result<Answer, String> {
        let answer: Answer = numbers(&mut self.answers).map_err(|error| format!("a process ended early: {error}"))?;
        if answer[0] > 0.0 {
            return Ok(answer);
        }
        let mut why = String::new();
        let _ = self.answers.read_to_string(&mut why);
        Err(why)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.orders.write_all(&bytes(&[0.0; 2]));
        let _ = self.child.wait();
    }
}

/// What such a process does until it is told to end. Its arguments are those of [`Process::start`].
pub(crate) fn serve(arguments: &[String]) {
    let told = std::panic::catch_unwind(AssertUnwindSafe(|| takes_turns(arguments)));
    if let Err(why) = told.unwrap_or_else(|_| Err("a check failed (its message is above)".into())) {
        let mut answers = std::io::stdout().lock();
        let told = answers.write_all(&bytes(&[0.0; 4])).and_then(|()| answers.write_all(why.as_bytes()));
        let _ = told.and_then(|()| answers.flush());
    }
}

fn takes_turns(arguments: &[String]) -> Result<(), String> {
    let [which, name, cpu, other_cpu, seed] = arguments else {
        return Err("a side takes five arguments".into());
    };
    let entry = super::named(name).ok_or_else(|| format!("there is no entry {name}"))?;
    let cpu = cpu.parse().map_err(|_| "no CPU")?;
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let place = Place { folder, cpu, other_cpu: other_cpu.parse().ok(), seed: seed.parse().unwrap_or(0) };
    limit(cpu)?;
    let mut side = match Holds::named(which).ok_or_else(|| format!("{which} is no side"))? {
        Holds::Operation => Side::of_operation(entry, &place)?,
        Holds::Hand => {
            // As deep as the operation's scratch folder: some calls go through all of the name.
            let folder = place.folder.join(entry.id);
            let entered = std::fs::create_dir_all(&folder).and_then(|()| std::env::set_current_dir(&folder));
            entered.map_err(|error| format!("{}: {error}", folder.display()))?;
            Side::by_hand(entry)?
        }
        Holds::Filtered(instructions) => {
            Filter::of(instructions).install().map_err(|error| format!("no filter of system calls: {error}"))?;
            Side::of_operation(entry, &place)?
        }
    };
    let offer = side.offer()?;
    let tell = |answer: Answer| {
        let mut answers = std::io::stdout().lock();
        answers.write_all(&bytes(&answer)).and_then(|()| answers.flush()).map_err(|error| error.to_string())
    };
    tell([1.0, offer.operations, offer.most, offer.batches])?;
    loop {
        let [warm, operations]: Order = numbers(&mut std::io::stdin().lock()).map_err(|error| error.to_string())?;
        if operations <= 0.0 {
            return Ok(());
        }
        if warm > 0.0 {
            side.warm(warm)?;
        }
        tell([1.0, side.net(operations)?, 0.0, 0.0])?;
    }
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

fn numbers<const COUNT: usize>(from: &mut impl Read) -> std::io::Result<[f64; COUNT]> {
    let mut numbers = [0.0; COUNT];
    for number in &mut numbers {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        *number = f64::from_ne_bytes(bytes);
    }
    Ok(numbers)
}

/// This process on one CPU, until it is dropped.
struct Pinned {
    before: [u64; 16],
}

impl Pinned {
    fn to(cpu: u32) -> Result<Pinned, String> {
        let mut before = [0_u64; 16];
        let (size, place) = (size_of_val(&before), before.as_mut_ptr());
        done("sched_getaffinity", call!(libc::SYS_sched_getaffinity, 0, size, place))?;
        super::harness::pin(cpu)?;
        Ok(Pinned { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        call!(libc::SYS_sched_setaffinity, 0, size_of_val(&self.before), self.before.as_ptr());
    }
}
