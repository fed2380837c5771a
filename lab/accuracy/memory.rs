//! Memory beside loops written for this bench alone: a shuffled pointer chase, and every way of passing over memory
//! that was thought of. The loops share nothing with the operations but the machine.

mod hand;

use std::time::{Duration, Instant};

use analysis::statistics::{median, sorted};
use operation::Setting;
use record::{Point, Value};

use crate::Extent;
use crate::tool;

const PAIRS: u32 = 60;
const BATCH: Duration = Duration::from_millis(1);
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const SETS: [usize; 6] = [16 * KIB, 256 * KIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB];

/// Something timed: does its work so often, and says how long that took.
type Timed<'a> = Box<dyn FnMut(u64) -> anyhow::Result<Duration> + 'a>;

/// Batches of howslow's loop and of those written here, in turn, for memory's speed drifts within seconds.
pub(crate) fn memory(extent: &Extent) -> anyhow::Result<()> {
    let pairs = extent.times(PAIRS);
    let cpu = *system::machine::describe().cpu.usable.last().unwrap_or(&0);
    println!("{pairs} batches of each loop in turn on CPU {cpu}, median; about {} s", pairs * 90 * 15 / 1000 / 4 + 30);
    // Rounds run in a process of their own; here a thread of its own keeps the pinning from what comes after.
    let end = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                operation::pin(cpu).map_err(|failure| anyhow::anyhow!("cannot run on CPU {cpu}: {failure}"))?;
                latency(pairs, cpu)?;
                passes(pairs, cpu)
            })
            .join()
    });
    end.map_err(|_| anyhow::anyhow!("the bench panicked"))?
}

/// The loop of an operation at a working set, as a round would run it.
fn operation(id: &'static str, axis: &str, set: usize, cpu: u32) -> anyhow::Result<Timed<'static>> {
    let operation = catalogue::find(id).ok_or_else(|| anyhow::anyhow!("there is no {id}"))?;
    let point = Point::default().with(axis, Value::Number(set as u64));
    let one_cpu = operation.axes.iter().any(|axis| axis.name == "cpus");
    let point = if one_cpu { point.with("cpus", Value::Number(1)) } else { point };
    let setting = Setting::new(point, std::env::temp_dir(), cpu, None, fastrand::u64(..));
    let mut prepared =
        operation.set_up(&setting).map_err(|failure| anyhow::anyhow!("{id} of {set} bytes: {failure}"))?;
    Ok(Box::new(move |times| prepared.timed(times).map_err(|failure| anyhow::anyhow!("{id}: {failure}"))))
}

/// Ns per iteration of each, batches in turn. Each batch is preceded by a short one, so that none is charged
/// with what the one before it left in the caches.
fn in_turn(pairs: u32, loops: &mut [Timed<'_>]) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut times = Vec::new();
    for work in loops.iter_mut() {
        let mut count = 1;
        loop {
            if work(count)? >= BATCH {
                break;
            }
            count *= 2;
        }
        times.push(count);
    }
    let mut taken = vec![Vec::new(); loops.len()];
    for pair in 0..pairs as usize {
        for turn in 0..loops.len() {
            let index = (turn + pair) % loops.len();
            loops[index](times[index] / 4 + 1)?;
            taken[index].push(loops[index](times[index])?.as_nanos() as f64 / times[index] as f64);
        }
    }
    Ok(taken)
}

/// Loads per iteration of both chases.
const LOADS: u64 = 16;

/// Fresh memory so often for each set: how fast a set is depends on which pages it was given.
const FRESH: u32 = 10;

fn latency(pairs: u32, cpu: u32) -> anyhow::Result<()> {
    println!("random load             howslow      shuffled   howslow / shuffled, median of {FRESH} sets each");
    let mut ratios = Vec::new();
    for set in SETS {
        let mut both = [Vec::new(), Vec::new()];
        // What was given back would be given again, to the same loop.
        let mut kept = Vec::new();
        for _ in 0..FRESH {
            let ours = match operation("memory.load", "set", set, cpu) {
                Ok(ours) => ours,
                Err(why) => {
                    tool::skip(&why.to_string(), "howslow doctor");
                    break;
                }
            };
            let mut two = [ours, by_hand(set)];
            // Once round each cycle, or the one made last finds in the caches what making it has left there. What that
            // leaves there itself is gone after a few batches.
            for chase in &mut two {
                chase((set / 64) as u64 / LOADS)?;
            }
            let taken = in_turn(pairs, &mut two)?;
            kept.push(two);
            both.iter_mut().zip(taken).for_each(|(all, ns)| all.extend(median(ns).map(|ns| ns / LOADS as f64)));
        }
        let [Some(ours), Some(theirs)] = both.map(median) else { continue };
        let ratio = ours / theirs;
        println!("  {:>12}   {ours:9.3} ns   {theirs:9.3} ns   {ratio:.4}", record::Bytes(set as u64).to_string());
        ratios.push(ratio);
    }
    let ratios = sorted(ratios);
    if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
        println!("  random load: howslow / shuffled from {least:.4} to {most:.4}; aimed at 0.95 to 1.05");
    }
    Ok(())
}

/// The chase through a shuffled set.
fn by_hand(set: usize) -> Timed<'static> {
    let chase = shuffled(set);
    let mut here = 0_usize;
    Box::new(move |times| {
        let start = Instant::now();
        for _ in 0..times * LOADS {
            here = chase.next(here);
        }
        std::hint::black_box(here);
        Ok(start.elapsed())
    })
}

/// A cycle through all lines of a set, by indices of words.
struct Shuffled {
    room: hand::Room,
}

impl Shuffled {
    #[inline(always)]
    fn next(&self, here: usize) -> usize {
        self.room.words()[here] as usize
    }
}

/// Sattolo's algorithm: the result is one cycle (Information Processing Letters 22:315, 1986).
fn shuffled(set: usize) -> Shuffled {
    const LINE_WORDS: usize = 8;
    let mut order: Vec<u32> = (0..(set / 64) as u32).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, fastrand::usize(..last));
    }
    let mut room = hand::Room::new(set);
    for (from, to) in order.iter().enumerate() {
        room.words_mut()[from * LINE_WORDS] = u64::from(*to) * LINE_WORDS as u64;
    }
    Shuffled { room }
}

/// Bytes that one iteration of a pass moves, here as in the operations.
const PIECE: usize = 64 * KIB;

/// Sets that are passed over.
const PASSED: [usize; 4] = [16 * KIB, 256 * KIB, 4 * MIB, 256 * MIB];

/// What is done, by which operations and by which ways.
type Kind<'a> = (&'a str, &'a [&'static str], &'a [hand::Named]);

/// A way over memory of its own, as each operation has: in memory that they shared, one would find in the processor's
/// cache what the one before it has just fetched.
fn passed_by(way: hand::Way, kind: &str, set: usize) -> Timed<'static> {
    let half = if kind == "copy" { set / 2 } else { set };
    let source = (kind == "copy").then(|| hand::Room::new(half));
    let mut target = hand::Room::new(half + 2 * KIB);
    let piece = half.min(PIECE);
    let mut at = 0;
    Box::new(move |times| {
        // The destination of a copy lies elsewhere in its page, or loads wait for stores that only look alike.
        let shift = if source.is_some() { 2 * KIB } else { 0 };
        let to = target.words_mut().as_mut_ptr().cast::<u8>().wrapping_add(shift);
        let from = source.as_ref().map_or(to.cast_const(), |room| room.words().as_ptr().cast());
        let start = Instant::now();
        for _ in 0..times * (PIECE / piece) as u64 {
            // SAFETY: the piece lies in both rooms, which live as long as the loop.
            unsafe { way(from.wrapping_add(at), to.wrapping_add(at), piece) };
            at = if at + piece < half { at + piece } else { 0 };
        }
        Ok(start.elapsed())
    })
}

/// Which is the fastest by every other batch, and its median by the batches between: the fastest of many is also the
/// luckiest of them, so what chooses it must not be what it is judged by.
fn fastest(taken: &[Vec<f64>]) -> (usize, f64) {
    let half = |taken: &Vec<f64>, first| median(taken.iter().skip(first).step_by(2).copied()).unwrap_or(f64::NAN);
    let chosen = (0..taken.len()).min_by(|&one, &other| half(&taken[one], 0).total_cmp(&half(&taken[other], 0)));
    chosen.map_or((0, f64::NAN), |place| (place, half(&taken[place], 1)))
}

/// Howslow's fastest operation of a kind against the fastest way written by hand.
fn passes(pairs: u32, cpu: u32) -> anyhow::Result<()> {
    let ways = hand::ways();
    let kinds: [Kind<'_>; 3] = [
        ("read", &["memory.read"], &ways.read),
        ("write", &["memory.write", "memory.write.streaming", "memory.clear"], &ways.write),
        ("copy", &["memory.copy.cpus", "memory.copy.streaming"], &ways.copy),
    ];
    println!("bandwidth             howslow          by hand   howslow / best by hand");
    let mut least = f64::INFINITY;
    for (kind, ids, ways) in kinds {
        for set in PASSED {
            let mut loops = Vec::new();
            for id in ids {
                loops.push(operation(id, "set", set, cpu)?);
            }
            loops.extend(ways.iter().map(|(_, way)| passed_by(*way, kind, set)));
            let taken = in_turn(pairs, &mut loops)?;
            let (ours, theirs) = taken.split_at(ids.len());
            let ((our, ours), (their, theirs)) = (fastest(ours), fastest(theirs));
            let ratio = theirs / ours;
            least = least.min(ratio);
            println!(
                "  {kind:<5} {:>8}   {:7.1} GB/s   {:7.1} GB/s   {ratio:.3}   {}; {}",
                record::Bytes(set as u64).to_string(),
                PIECE as f64 / ours,
                PIECE as f64 / theirs,
                ids[our],
                ways[their].0
            );
        }
    }
    println!("  bandwidth: howslow / best by hand at least {least:.3}; aimed at 0.97");
    Ok(())
}
