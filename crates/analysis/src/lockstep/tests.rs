//! The rules judged by simulated machines whose truth is known.

use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::statistics::normal;

/// One machine: the relative noise of each run of a block, given what persists from run to run.
type Machine = fn(&mut Rng, &mut f64) -> f64;

/// Normal scatter of 2 %.
fn calm(random: &mut Rng, _: &mut f64) -> f64 {
    0.02 * normal(random)
}

/// One run in ten is hit by a burst that takes up to twice its time.
fn bursts(random: &mut Rng, _: &mut f64) -> f64 {
    0.01 * normal(random) + if random.f64() < 0.1 { (1.0 + random.f64()).ln() } else { 0.0 }
}

/// A neighbour comes and goes for many runs and slows by 30 %; the clock drifts.
fn levels(random: &mut Rng, state: &mut f64) -> f64 {
    if random.f64() < 0.05 {
        *state = if *state < 0.1 { 0.3 } else { 0.0 };
    }
    *state + 0.01 * normal(random)
}

/// Each run is alone or shares its CPU: half of the runs take almost twice as long.
fn shared(random: &mut Rng, _: &mut f64) -> f64 {
    if random.bool() { 0.6 + 0.1 * normal(random) } else { 0.05 * normal(random) }
}

/// The scatter has a memory: what delays one run also delays the next, and not its partner alone.
fn lasting(random: &mut Rng, state: &mut f64) -> f64 {
    *state = 0.8 * *state + 0.02 * normal(random);
    *state
}

const MACHINES: [Machine; 5] = [calm, bursts, levels, shared, lasting];

/// Blocks of two things of which the other takes `ratio` times as long.
fn blocks(random: &mut Rng, machine: Machine, count: usize, ratio: f64) -> Vec<Block> {
    let mut state = 0.0;
    let mut drift = 0.0;
    let mut block = || {
        let legs = [1.0, ratio, ratio, 1.0].map(|time| {
            drift += 0.002;
            100.0 * time * (machine(random, &mut state) + drift).exp()
        });
        Block::abba(legs)
    };
    (0..count).map(|_| block()).collect()
}

/// Of many comparisons: the share of intervals that hold the ratio, and the share of verdicts that are changes.
fn shares(machine: Machine, count: usize, ratio: f64, seed: u64) -> (f64, f64) {
    const TRIALS: usize = 600;
    let mut random = Rng::with_seed(seed);
    let (mut held, mut changed) = (0, 0);
    for _ in 0..TRIALS {
        let found = compare(&[blocks(&mut random, machine, count, ratio)]).expect("blocks");
        held += usize::from(found.ratio.low <= ratio && ratio <= found.ratio.high);
        changed += usize::from(found.verdict.is_change());
    }
    (held as f64 / TRIALS as f64, changed as f64 / TRIALS as f64)
}

#[test]
fn intervals_hold_and_false_alarms_are_rare() {
    for (place, machine) in MACHINES.into_iter().enumerate() {
        for count in [6, 12, 40, 150] {
            let (held, alarms) = shares(machine, count, 1.0, 7);
            // 600 trials scatter by 0.9 % around 95 %, by 0.4 % around 1 %.
            assert!(held >= 0.93, "machine {place}, {count} blocks: {held} hold 1");
            assert!(alarms <= 0.02, "machine {place}, {count} blocks: {alarms} called changed");
        }
    }
}

#[test]
fn what_differs_is_called_so() {
    // Half the interval is 0.5 % for 40 calm blocks of 2 %, so that 3 % cannot be missed.
    for (machine, count, least) in [(MACHINES[0], 40, 0.95), (MACHINES[1], 40, 0.9), (MACHINES[2], 40, 0.95)] {
        let (held, found) = shares(machine, count, 1.03, 11);
        assert!(held >= 0.93 && found >= least, "{count}: {held} {found}");
    }
}

#[test]
fn what_processes_differ_by_is_seen_only_between_them() {
    let mut random = Rng::with_seed(5);
    let (mut held, mut held_as_one) = (0, 0);
    for _ in 0..300 {
        // In each process, addresses slow one side by 1 %.
        let mut round = || {
            let by = (0.01 * normal(&mut random)).exp();
            blocks(&mut random, calm, 40, by)
        };
        let rounds: Vec<Vec<Block>> = (0..12).map(|_| round()).collect();
        let holds = |rounds: &[Vec<Block>]| {
            compare(rounds).is_some_and(|found| found.ratio.low <= 1.0 && 1.0 <= found.ratio.high)
        };
        held += usize::from(holds(&rounds));
        held_as_one += usize::from(holds(&rounds[..1]));
    }
    assert!(held >= 279, "{held} of 300");
    assert!(held_as_one < 200, "{held_as_one} of 300 from one process each");
}

#[test]
fn what_comes_to_the_side_that_begins_cancels() {
    let mut random = Rng::with_seed(6);
    let rounds: Vec<[Vec<Block>; 2]> =
        (0..24).map(|_| [1.15, 1.0 / 1.15].map(|by| blocks(&mut random, calm, 20, 1.03 * by))).collect();
    let found = compare_mirrored(&rounds).expect("blocks");
    assert!(found.verdict == Verdict::Slower && found.ratio.high - found.ratio.low < 0.01, "{found:?}");
    assert_eq!(found.blocks, 960);
    // Without the mirror, which side begins decides.
    let flat: Vec<Vec<Block>> = rounds.iter().flatten().cloned().collect();
    let found = compare(&flat).expect("blocks");
    assert!(found.verdict == Verdict::Inconclusive, "{found:?}");
    // A pair whose mirror was all disturbed says nothing.
    let mut one_sided = rounds;
    one_sided[0][1].iter_mut().for_each(|block| block.quiet = false);
    assert_eq!(compare_mirrored(&one_sided).expect("blocks").blocks, 920);
}

#[test]
fn quiet_blocks_count_alone_if_there_are_enough() {
    let mut random = Rng::with_seed(9);
    let mut all = blocks(&mut random, calm, 60, 1.0);
    for block in all.iter_mut().step_by(2) {
        (block.other, block.quiet) = (block.other * 1.5, false);
    }
    let found = compare(&[all.clone()]).expect("blocks");
    assert_eq!((found.blocks, found.verdict.is_change()), (30, false));
    all.truncate(10);
    assert_eq!(compare(&[all]).expect("blocks").blocks, 10);
}

#[test]
fn little_evidence_says_little() {
    let below_nothing = super::blocks(&[(-0.3, true), (-0.5, true)], &[(1.0, true), (1.0, true)]);
    assert_eq!(compare(&[below_nothing]), None);
    let block = |other| Block { base: 1.0, other, quiet: true };
    assert_eq!(compare(&[]), None);
    assert_eq!(compare(&[vec![block(0.0), block(f64::NAN)]]), None);
    let one = compare(&[vec![block(1.3)]]).expect("a block");
    assert_eq!((one.verdict, one.more), (Verdict::Inconclusive, None));
    assert_eq!((one.ratio.low, one.ratio.high), (0.0, f64::INFINITY));
    let two = compare(&[vec![block(1.3), block(0.9)]]).expect("blocks");
    assert_eq!(two.verdict, Verdict::Inconclusive);
    // A clock that shows no difference: what is left is the floor.
    let steps = compare(&[vec![block(1.0); 40]]).expect("blocks");
    assert_eq!(steps.verdict, Verdict::Same);
    assert!(steps.ratio.high > 1.0004 && steps.ratio.high < 1.0006, "{steps:?}");
}

#[test]
fn more_time_is_what_it_takes() {
    let mut random = Rng::with_seed(21);
    let taken = (0..100).map(|_| blocks(&mut random, shared, 40, 1.1));
    let mut found = taken.filter_map(|blocks| compare(&[blocks]));
    let open = found.find(|found| found.more.is_some_and(|times| times < 20.0)).expect("an open comparison");
    assert_eq!(open.verdict, Verdict::Inconclusive);
    let times = open.more.expect("more time helps");
    let count = (40.0 * times * 3.0) as usize;
    let settled = compare(&[blocks(&mut random, shared, count, open.ratio.value)]).expect("blocks");
    assert_ne!(settled.verdict, Verdict::Inconclusive, "{open:?} {settled:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_unit_of_time_and_the_side_do_not_matter(seed: u64, scale in 1e-9..1e9_f64, count in 2..60_usize) {
        let taken = blocks(&mut Rng::with_seed(seed), bursts, count, 1.02);
        let found = compare(std::slice::from_ref(&taken)).expect("blocks");
        prop_assert!(found.ratio.low <= found.ratio.value && found.ratio.value <= found.ratio.high);
        let scaled = |block: &Block| Block { base: block.base * scale, other: block.other * scale, ..*block };
        let other = compare(&[taken.iter().map(scaled).collect()]).expect("blocks");
        prop_assert!((other.ratio.value / found.ratio.value - 1.0).abs() < 1e-9);
        prop_assert_eq!(other.verdict, found.verdict);
        let swapped = |block: &Block| Block { base: block.other, other: block.base, ..*block };
        let back = compare(&[taken.iter().map(swapped).collect()]).expect("blocks");
        prop_assert!((back.ratio.value * found.ratio.value - 1.0).abs() < 1e-9);
        prop_assert!((back.ratio.low * found.ratio.high - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_coarse_clock_changes_nothing_but_the_width(seed: u64) {
        let taken = blocks(&mut Rng::with_seed(seed), calm, 80, 1.03);
        let coarse = |time: f64| (time / 2.0).round() * 2.0;
        let rounded = |block: &Block| Block { base: coarse(block.base), other: coarse(block.other), ..*block };
        let [exact, rough] = [taken.clone(), taken.iter().map(rounded).collect()]
            .map(|blocks| compare(&[blocks]).expect("blocks"));
        prop_assert!((rough.ratio.value / exact.ratio.value - 1.0).abs() < 0.006, "{:?} {:?}", exact, rough);
    }
}
