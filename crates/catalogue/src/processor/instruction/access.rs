//! Loads and stores within the first-level cache: the latency of a value, the number in flight at a time, and the cost of
//! accesses that the processor handles slowly.

use std::cell::Cell;
use std::rc::Rc;

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, word, words};
use rustix::param::page_size;

use super::lanes::{self, LANES, OPERAND, Turns, Way};
use super::{CHAIN, PURE, text};
use crate::kit::{PAGE, ensure};

pub(crate) const OPERATIONS: &[Operation] = &[
    PURE.named("instruction.load.latency", "load the address of the next load, for each addressing form")
        .axes(&[text::MODE])
        .prepare(|setting| ring(named(setting.word("mode")?, text::LOAD_CHAINS)?, setting.word("mode")?)),
    PURE.named("instruction.load.throughput", "load this many bytes, none waiting for another")
        .axes(&[text::WIDTH])
        .prepare(|setting| {
            let width = setting.number("width")?;
            let way = text::LOADS.iter().find(|way| way.0 == width.to_string());
            let (_, needs, from, turns) =
                way.ok_or_else(|| Failure::wrong(format!("there is no load of {width} bytes")))?;
            super::feature::require(needs)?;
            loads(*turns, width, 0, *from)
        }),
    PURE.named("instruction.load.indirect.latency", "load a pointer and, through it, the address of the next")
        .per("pair of loads")
        .aliases(&["eapbp*"])
        .prepare(|_| ring(text::LOAD_INDIRECT, "indirect")),
    PURE.id("instruction.load.unaligned")
        .summary("load eight bytes within a cache line, across two lines, or across two pages")
        .axes(&[CROSSING])
        .prepare(|setting| loads(text::LOAD, 8, offset(setting)?, 0)),
    PURE.named("instruction.store.throughput", "store this many bytes")
        .aliases(&["sta"])
        .axes(&[text::WIDTH])
        .prepare(|setting| stores(at_width(setting, text::STORES)?, setting.number("width")?, 0)),
    PURE.id("instruction.store.unaligned")
        .summary("store eight bytes within a cache line, across two lines, or across two pages")
        .axes(&[CROSSING])
        .prepare(|setting| stores(text::STORE, 8, offset(setting)?)),
    PURE.named("instruction.store.pointer", "form an address and store it")
        .per("pair of instructions")
        .aliases(&["stpbp"])
        .prepare(|_| {
            let block = AccessBlock::new();
            let wanted = block.address(0) + 8;
            at(text::STORE_POINTER, block, 0, move |block, after| after[LANES - 1] == wanted && block.word(0) == wanted)
        }),
    PURE.id("instruction.forward.latency")
        .summary("store this many bytes and load them again, each pair waiting for the one before")
        .per("store and load")
        .axes(&[FORWARDED])
        .prepare(|setting| {
            let mask = low(setting.number("width")?);
            let turns = at_width(setting, text::FORWARDS)?;
            at(turns, AccessBlock::new(), 0, move |block, after| {
                (after[0] ^ FIRST) & mask == 0 && (block.word(0) ^ FIRST) & mask == 0
            })
        }),
    PURE.id("instruction.forward.blocked")
        .summary("store two halves of a word and load the whole, which waits until both are in the cache")
        .per("two stores and load")
        .prepare(|_| {
            let doubled = (FIRST & low(4)) * 0x1_0000_0001;
            at(text::FORWARD_BLOCKED, AccessBlock::new(), 0, move |block, after| {
                after[0] == doubled && block.word(0) == doubled
            })
        }),
    PURE.named("instruction.push.pop", "push a register on the stack and pop it, each pair waiting for the one before")
        .per("push and pop")
        .prepare(|_| at(text::PUSH_POP, AccessBlock::new(), 0, |_, after| after[0] == FIRST)),
];

const FORWARDED: Axis = count("width", numbers![1, 8, 16]);

const CROSSING: Axis = word("crossing", words!["none", "line", "page"]);

/// The initial values of the lanes.
const FIRST: u64 = OPERAND;

/// Words of the memory accessed: two pages.
const WORDS: usize = 1024;

/// The memory accessed. Its address is kept in assembly text, so it must not move.
#[repr(C, align(4096))]
pub(super) struct AccessBlock([Cell<u64>; WORDS]);

impl AccessBlock {
    pub(super) fn new() -> Rc<AccessBlock> {
        Rc::new(AccessBlock([const { Cell::new(0) }; WORDS]))
    }

    /// The address of one of its bytes, for accesses by assembly text.
    pub(super) fn address(&self, byte: u64) -> u64 {
        self.0.as_ptr().expose_provenance() as u64 + byte
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        self.0[index].get()
    }

    pub(super) fn set(&self, index: usize, value: u64) {
        self.0[index].set(value);
    }

    /// The bytes from `byte` on, up to eight.
    fn bytes(&self, byte: u64, count: u64) -> u64 {
        let (index, shift) = ((byte / 8) as usize, byte % 8 * 8);
        let upper = if shift > 0 { self.word(index + 1) << (64 - shift) } else { 0 };
        (self.word(index) >> shift | upper) & low(count)
    }
}

/// The lowest bytes of a word, this number of them.
fn low(bytes: u64) -> u64 {
    if bytes < 8 { (1 << (8 * bytes)) - 1 } else { u64::MAX }
}

/// The turns with this name; a skip if the processor lacks them.
fn named(name: &str, ways: &[Way]) -> Result<Turns, Failure> {
    let Some((_, needs, turns)) = ways.iter().find(|way| way.0 == name) else {
        return Err(Failure::wrong(format!("there is no access by {name}")));
    };
    super::feature::require(needs)?;
    Ok(*turns)
}

fn at_width(setting: &Setting, ways: &[Way]) -> Result<Turns, Failure> {
    named(&setting.number("width")?.to_string(), ways)
}

/// The offset at which an access begins.
fn offset(setting: &Setting) -> Result<u64, Failure> {
    Ok(match setting.word("crossing")? {
        "line" => 60,
        "page" if page_size() > PAGE => {
            let reason = format!("the kernel's pages have {} bytes, not {PAGE}", page_size());
            return Err(Failure::skip(reason, "a kernel with pages of 4 KiB"));
        }
        "page" => PAGE as u64 - 4,
        _ => 4,
    })
}

/// Places in a ring of pointers. No number of loads per turn is a multiple of it.
const RING: usize = 7;

/// Words from one place of the ring to the next, more than a line.
const APART: usize = 17;

/// The loop of loads around a ring of places. Each load gives the address of the next.
pub(super) fn ring(turns: Turns, mode: &str) -> Result<Loop, Failure> {
    let block = AccessBlock::new();
    let base = block.address(0);
    // For each place: the value that a chain holds before it loads from there, and the offset in the block that the load
    // then uses.
    let values: Vec<u64> = (0..RING as u64)
        .map(|place| match mode {
            "scaled" | "extended" => place * APART as u64,
            "index" => place * APART as u64 * 8,
            _ => base + place * APART as u64 * 8,
        })
        .collect();
    for place in 0..RING {
        let next = values[(place + 1) % RING];
        match mode {
            "offset" | "before" => block.set(place * APART + 8, next),
            "indirect" => {
                block.set(place * APART + 8, block.address(((place * APART + 4) * 8) as u64));
                block.set(place * APART + 4, next);
            }
            _ => block.set(place * APART, next),
        }
    }
    let mut starts = [0; LANES];
    starts[0] = values[0];
    let mut place = 0;
    let looped = lanes::checked(turns, starts, [base, 0], move |times, _, after| {
        let _kept = &block;
        place = (place + (times % RING as u64 * CHAIN) as usize) % RING;
        ensure(after[0] == values[place], || {
            format!("the chain of loads ended in {:#x} instead of {:#x}", after[0], values[place])
        })
    });
    Ok(looped.unrolled(CHAIN))
}

/// The loop of loads of `width` bytes from `offset` on. The second lane's value comes from this number of bytes further on.
pub(super) fn loads(turns: Turns, width: u64, offset: u64, from: u64) -> Result<Loop, Failure> {
    let block = AccessBlock::new();
    (0..WORDS).for_each(|index| block.set(index, OPERAND.wrapping_mul(index as u64 + 2)));
    let wanted = block.bytes(offset + from, width.min(8));
    at(turns, block, offset, move |_, after| after[1] == wanted)
}

/// The loop of stores of `width` bytes from `offset` on. The last one stores the last lane.
pub(super) fn stores(turns: Turns, width: u64, offset: u64) -> Result<Loop, Failure> {
    let width = width.min(8);
    at(turns, AccessBlock::new(), offset, move |block, after| {
        let stored = block.bytes(offset, width) == after[LANES - 1] & low(width) && after[LANES - 1] != 0;
        (0..WORDS).for_each(|index| block.set(index, 0));
        stored
    })
}

/// The loop of turns on a block from `offset` on. `right` says whether they did their work.
fn at(
    turns: Turns,
    block: Rc<AccessBlock>,
    offset: u64,
    right: impl Fn(&AccessBlock, &[u64; LANES]) -> bool + 'static,
) -> Result<Loop, Failure> {
    let operands = [block.address(offset), 0];
    let looped = lanes::checked(turns, [FIRST; LANES], operands, move |_, _, after| {
        ensure(right(&block, after), || "the loaded or stored value is wrong")
    });
    Ok(looped.unrolled(CHAIN))
}
