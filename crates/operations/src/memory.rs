//! Memory: copying it, passing over it, and waiting for one line of it.

mod bandwidth;
mod chase;
mod region;

use measure::{Axis, Choice, Operation, count, size, term};
use record::Point;
use region::Pages;

use crate::DEFAULT;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "memory.copy",
        summary: "copy a block with the C library's own copy, again and again from and to the same place",
        per: "copy",
        like: &["Block Move"],
        axes: &[COPIED],
        headline: true,
        follows_clock: |point| point.number("size").unwrap_or(0) <= OWN_CACHE / 4,
        moves: |point| point.number("size").unwrap_or(0),
        prepare: |setting| bandwidth::copy(setting.size()),
        ..DEFAULT
    },
    Operation {
        id: "memory.load",
        summary: "load from a place known only by the load before, at random in a working set of huge pages",
        per: "load",
        axes: &[CHASED.headline(CHASED_HEADLINE)],
        headline: true,
        follows_clock: within_own_cache,
        rises_with: &["set"],
        terms: chase::BESIDE_THE_LOADS,
        prepare: |setting| chase::loads(setting.number("set"), Pages::Huge, setting.seed()),
        ..DEFAULT
    },
    Operation {
        id: "memory.load.paged",
        summary: "the same in base pages, so that the address must be translated anew as well",
        per: "load",
        axes: &[CHASED.headline(&[Choice::Number(64 * MIB)])],
        headline: true,
        follows_clock: within_own_cache,
        rises_with: &["set"],
        terms: chase::BESIDE_THE_LOADS,
        explained_by: &[term(1.0, "memory.load").same(&["set"])],
        prepare: |setting| chase::loads(setting.number("set"), Pages::Base, setting.seed()),
        ..DEFAULT
    },
    Operation {
        id: "memory.read",
        summary: "add up the words of the next 64 KiB of a working set, by the widest registers",
        per: "64 KiB",
        axes: &[PASSED],
        headline: true,
        follows_clock: within_own_cache,
        rises_with: &["set"],
        moves: |_| bandwidth::PIECE,
        prepare: |setting| bandwidth::read(setting.number("set"), setting.seed()),
        ..DEFAULT
    },
    Operation {
        id: "memory.write",
        summary: "store to the words of the next 64 KiB of a working set, from the widest registers",
        per: "64 KiB",
        axes: &[PASSED],
        headline: true,
        follows_clock: within_own_cache,
        rises_with: &["set"],
        moves: |_| bandwidth::PIECE,
        prepare: |setting| bandwidth::write(setting.number("set")),
        ..DEFAULT
    },
];

const COPIED: Axis = size(&[
    Choice::Number(64),
    Choice::Number(512),
    Choice::Number(4 * KIB),
    Choice::Number(64 * KIB),
    Choice::Number(MIB),
    Choice::Number(16 * MIB),
    Choice::Number(64 * MIB),
])
.headline(&[Choice::Number(512), Choice::Number(4 * KIB), Choice::Number(MIB), Choice::Number(64 * MIB)]);

/// Powers of two, as the chase needs them.
const CHASED: Axis = count(
    "set",
    &[
        Choice::Number(4 * KIB),
        Choice::Number(16 * KIB),
        Choice::Number(64 * KIB),
        Choice::Number(256 * KIB),
        Choice::Number(MIB),
        Choice::Number(2 * MIB),
        Choice::Number(4 * MIB),
        Choice::Number(8 * MIB),
        Choice::Number(16 * MIB),
        Choice::Number(32 * MIB),
        Choice::Number(64 * MIB),
        Choice::Number(256 * MIB),
    ],
);

/// One within each level of most machines of today, and beyond the last.
const CHASED_HEADLINE: &[Choice] = &[
    Choice::Number(16 * KIB),
    Choice::Number(256 * KIB),
    Choice::Number(8 * MIB),
    Choice::Number(64 * MIB),
    Choice::Number(256 * MIB),
];

const PASSED: Axis = count(
    "set",
    &[
        Choice::Number(16 * KIB),
        Choice::Number(256 * KIB),
        Choice::Number(4 * MIB),
        Choice::Number(64 * MIB),
        Choice::Number(256 * MIB),
    ],
)
.headline(&[Choice::Number(16 * KIB), Choice::Number(4 * MIB), Choice::Number(64 * MIB)]);

/// What the core's own caches hold on most machines of today: beyond, the clock is that of the shared cache.
const OWN_CACHE: u64 = MIB;

fn within_own_cache(point: &Point) -> bool {
    point.number("set").is_some_and(|set| set <= OWN_CACHE)
}

#[cfg(test)]
mod tests {
    use measure::{Failure, Setting};

    use super::*;

    /// Sets of this size and more must lie in huge pages, which a machine may not have.
    const NEEDS_HUGE_PAGES: u64 = 2 * MIB;

    #[test]
    fn every_operation_does_its_work_at_every_small_point() {
        for operation in OPERATIONS {
            for point in operation.points(false) {
                if point.number("set").or(point.number("size")).expect("a size") >= NEEDS_HUGE_PAGES {
                    continue;
                }
                let setting = Setting::new(point.clone(), std::env::temp_dir(), 0, None, 7);
                let mut prepared = (operation.prepare)(&setting).expect(operation.id);
                for times in [1, 3, 20] {
                    prepared.perform(times).unwrap_or_else(|failure| panic!("{}{point}: {failure}", operation.id));
                }
            }
        }
    }

    #[test]
    fn large_sets_are_chased_in_the_pages_asked_for_or_not_at_all() {
        for pages in [Pages::Huge, Pages::Base] {
            match chase::loads(8 * MIB, pages, 7) {
                Ok(mut loads) => loads.perform(100_000).expect("loads"),
                Err(Failure::Skip { reason, remedy }) => {
                    assert!(pages == Pages::Huge && !remedy.is_empty());
                    eprintln!("not tested: {reason}; {remedy}");
                }
                Err(failure) => panic!("{pages:?}: {failure}"),
            }
        }
    }
}
