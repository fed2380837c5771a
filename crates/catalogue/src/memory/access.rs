//! Memory: copying it, passing over it, and waiting for one line of it.

use operation::{Axis, Failure, Loop, Need, Operation, Setting, Value, bytes, count, numbers, size, term, word, words};
use record::Point;

use super::page::frames::FramePages;
use super::{OWN_CACHE, bandwidth, chase};
use crate::kit::{BASE, CPUS, Part, Seat, Seats, Work, alone, beside, by_c_library, together};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A chase through a working set.
const CHASE: Operation = BASE
    .version(2)
    .per("load")
    .headline()
    .follows_clock(within_own_cache)
    .monotonic_in(&["set"])
    .terms(chase::BESIDE_THE_LOADS);

/// A pass by stores that bypass the caches.
const STREAMING: Operation = BASE.per("64 KiB").axes(&[STREAMED]).follows_clock(|_| false).moves(|_| bandwidth::PIECE);

/// A pass over a working set, piece by piece.
const PASS: Operation = BASE
    .per("64 KiB")
    .axes(&[PASSED])
    .follows_clock(within_own_cache)
    .monotonic_in(&["set"])
    .moves(|_| bandwidth::PIECE);

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("memory.copy", "copy a block with the C library's copy, repeatedly from and to the same addresses")
        .version(by_c_library(1))
        .per("copy")
        .aliases(&["Block Move"])
        .axes(&[COPIED])
        .headline()
        .follows_clock(|point| point.number("size").unwrap_or(0) <= OWN_CACHE / 4)
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(|setting| bandwidth::copy(setting.size()?)),
    CHASE
        .id("memory.load")
        .summary("load from an address that the load before returned, in random order in a working set of huge pages")
        .axes(&[CHASED.headline(CHASED_HEADLINE)])
        .prepare(|setting| chase::loads(setting.number("set")?, FramePages::Huge, setting.seed())),
    CHASE
        .named("memory.load.paged", "the same in base pages, which adds address translation")
        .axes(&[CHASED.headline(numbers![64 * MIB])])
        .explained_by(&[term(1.0, "memory.load").same(&["set"])])
        .prepare(|setting| chase::loads(setting.number("set")?, FramePages::Base, setting.seed())),
    PASS.id("memory.read")
        .summary("add up the words of the next 64 KiB of a working set, by the fastest loop for its cache level")
        .version(3)
        .headline()
        .prepare(|setting| bandwidth::Reading::new(setting.number("set")?, setting.seed()).map(alone)),
    PASS.id("memory.write")
        .summary("store to the words of the next 64 KiB of a working set, by the fastest loop for its cache level")
        .version(2)
        .headline()
        .prepare(|setting| bandwidth::Writing::new(setting.number("set")?).map(alone)),
    STREAMING
        .named("memory.write.streaming", "the same by stores that bypass the caches")
        .prepare(|setting| bandwidth::write_streaming(setting.number("set")?)),
    STREAMING
        .id("memory.copy.streaming")
        .summary("copy the next 64 KiB of a working set's first half to its second, by stores that bypass the caches")
        .prepare(|setting| bandwidth::copy_streaming(setting.number("set")?)),
    PASS.named("memory.clear", "zero the next 64 KiB of a working set by a dedicated instruction (rep stosb, dc zva)")
        .prepare(|setting| bandwidth::clear(setting.number("set")?)),
    TOGETHER
        .id("memory.read.cpus")
        .summary("add up the words of the next 64 KiB of a working set of its own, on this many CPUs at once")
        .version(2)
        .prepare(|setting| on_every_cpu(setting, bandwidth::Reading::new)),
    TOGETHER
        .id("memory.write.cpus")
        .summary("store to the words of the next 64 KiB of a working set of its own, on this many CPUs at once")
        .prepare(|setting| on_every_cpu(setting, |set, _| bandwidth::Writing::new(set))),
    TOGETHER
        .id("memory.copy.cpus")
        .summary("copy the next 64 KiB of its own working set's first half to the second, on this many CPUs at once")
        .prepare(|setting| on_every_cpu(setting, |set, _| bandwidth::Moving::new(set))),
    BASE.id("memory.load.loaded")
        .summary("load as in memory.load while another CPU passes over 64 MiB of its own, all or half of the time")
        .version(3)
        .per("load")
        .axes(&[FAR, LOADS])
        .follows_clock(|_| false)
        .terms(chase::BESIDE_THE_LOADS)
        .needs(&[Need::TwoCpus])
        .prepare(loaded),
    BASE.named(
        "memory.translate",
        "load from one line in each of this many base pages, in random order, or from the same lines in huge pages",
    )
    .version(2)
    .per("load")
    .axes(&[TRANSLATED, PAGES])
    .follows_clock(|point| point.number("pages").is_some_and(|pages| pages * 64 <= OWN_CACHE / 4))
    .terms(chase::BESIDE_THE_LOADS)
    .prepare(|setting| {
        let pages = if setting.word("in")? == "huge" { FramePages::Huge } else { FramePages::Base };
        chase::one_line_a_page(setting.number("pages")?, pages, setting.seed())
    }),
];

/// The same work on several CPUs. An iteration is one pass of each, and the payload is that of all. One more CPU never
/// makes it cheaper.
const TOGETHER: Operation = BASE
    .per("64 KiB on every CPU")
    .axes(&[SHARED, CPUS])
    .follows_clock(|_| false)
    .monotonic_in(&["set", "cpus"])
    .moves(|point| point.number("cpus").unwrap_or(1) * bandwidth::PIECE);

/// The work that `make` makes of the size of its set and a seed, on as many CPUs as the point says.
fn on_every_cpu<W: Work>(setting: &Setting, make: fn(u64, u64) -> Result<W, Failure>) -> Result<Loop, Failure> {
    let set = setting.number("set")?;
    together(setting, &Seats::apart(setting, setting.number("cpus")?)?, move |seat| make(set, seat.seed))
}

/// A chase beside a partner whose work the axis `load` names.
fn loaded(setting: &Setting) -> Result<Loop, Failure> {
    const BUSY_WITH: u64 = 64 * MIB;
    let part = match setting.word("load")? {
        "reading" | "writing" => Some(Part::Throughout),
        "half-reading" | "half-writing" => Some(Part::HalfTheTime),
        _ => None,
    };
    let load = (&Seats::apart(setting, 1 + u64::from(part.is_some()))?, part.unwrap_or(Part::Throughout));
    let own = |seat: Seat| chase::Chase::through(setting.number("set")?, FramePages::Huge, seat.seed);
    let loads = if setting.word("load")?.ends_with("reading") {
        beside(setting, load, own, |seat| bandwidth::Reading::new(BUSY_WITH, seat.seed))
    } else {
        beside(setting, load, own, |_| bandwidth::Writing::new(BUSY_WITH))
    };
    Ok(loads?.unrolled(chase::LOADS))
}

const COPIED: Axis = size(numbers![64, 512, 4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB])
    .headline(numbers![512, 4 * KIB, MIB, 64 * MIB])
    .in_steps(8, 8, 256 * MIB);

/// Powers of two, as the chase requires.
const CHASED: Axis = bytes(
    "set",
    numbers![
        4 * KIB,
        16 * KIB,
        64 * KIB,
        256 * KIB,
        MIB,
        2 * MIB,
        4 * MIB,
        8 * MIB,
        16 * MIB,
        32 * MIB,
        64 * MIB,
        256 * MIB
    ],
)
.in_powers(4 * KIB, 1024 * MIB);

/// One size within each cache level of most current machines, and one beyond the last.
const CHASED_HEADLINE: &[Value<&str>] = numbers![16 * KIB, 256 * KIB, 8 * MIB, 64 * MIB, 256 * MIB];

const PASSED: Axis = bytes("set", numbers![16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB, 256 * MIB])
    .headline(numbers![16 * KIB, 4 * MIB, 64 * MIB])
    .in_powers(4 * KIB, 1024 * MIB);

/// One size beyond the private caches of a core, and one beyond most shared caches.
const STREAMED: Axis = bytes("set", numbers![4 * MIB, 64 * MIB, 256 * MIB]).in_powers(128 * KIB, 1024 * MIB);

/// Sizes for a core's private cache, the shared cache, and memory.
const SHARED: Axis = bytes("set", numbers![256 * KIB, 4 * MIB, 128 * MIB]).in_powers(128 * KIB, 512 * MIB);

const FAR: Axis = bytes("set", numbers![256 * MIB]);

const LOADS: Axis = word("load", words!["idle", "half-reading", "reading", "half-writing", "writing"]);

/// Powers of two. Current first-level TLBs hold some tens of pages, and second-level TLBs one to four thousand.
const TRANSLATED: Axis = count("pages", numbers![32, 256, 1024, 4096, 16384]).in_powers(2, 65536);

const PAGES: Axis = word("in", words!["base", "huge"]);

fn within_own_cache(point: &Point) -> bool {
    point.number("set").is_some_and(|set| set <= OWN_CACHE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of at least this size must lie in huge pages, which a machine may not have.
    const NEEDS_HUGE_PAGES: u64 = 2 * MIB;

    /// The bytes that a point works on.
    fn bytes(point: &Point) -> u64 {
        let pages = || point.number("pages").map(|pages| pages * rustix::param::page_size() as u64);
        point.number("set").or(point.number("size")).or_else(pages).expect("a size")
    }

    fn performs(id: &str, point: &Point) {
        let operation = OPERATIONS.iter().find(|operation| operation.id == id).expect(id);
        crate::kit::trial::perform_at(operation, point, &[1, 3, 20]);
    }

    #[test]
    fn every_operation_does_its_work_at_every_small_point() {
        for operation in OPERATIONS {
            for point in operation.points(false).iter().filter(|point| bytes(point) < NEEDS_HUGE_PAGES) {
                performs(operation.id, point);
            }
        }
    }

    /// Excluded: their own points are large. Those tested here are not, and pass over every piece more than once.
    #[test]
    fn what_goes_past_the_caches_or_beside_a_load_does_its_work() {
        let set = |set| Point::default().with("set", Value::Number(set));
        for id in ["memory.write.streaming", "memory.copy.streaming", "memory.clear", "memory.read", "memory.write"] {
            performs(id, &set(16 * KIB));
            performs(id, &set(MIB));
        }
        for load in LOADS.values {
            performs("memory.load.loaded", &set(256 * KIB).with("load", load.value()));
        }
    }

    #[test]
    fn large_sets_are_chased_in_the_pages_requested_or_not_at_all() {
        for pages in [FramePages::Huge, FramePages::Base] {
            match chase::loads(8 * MIB, pages, 7) {
                Ok(mut loads) => loads.perform(100_000).expect("loads"),
                Err(Failure::Skip { reason, remedy }) => {
                    assert!(pages == FramePages::Huge && !remedy.is_empty());
                    testing::left_out!("{reason}; {remedy}");
                }
                Err(Failure::Wrong(reason)) if pages == FramePages::Huge && crate::kit::huge::offered() => {
                    testing::left_out!("{reason}; free memory in large pieces");
                }
                Err(failure) => panic!("{pages:?}: {failure}"),
            }
        }
    }
}
