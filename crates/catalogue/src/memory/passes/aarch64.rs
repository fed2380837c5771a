//! Passes by NEON, stores of register pairs that bypass the caches, and the instruction that zeroes a block.

use std::arch::asm;
use std::cell::Cell;

use super::shape::{AHEAD_WORDS, LINE_WORDS, Passes, TURN_WORDS, fill, fill_ahead};

pub(in super::super) fn fastest() -> Passes {
    Passes {
        sum_near: sum,
        sums_far: [sum, sum],
        fill_near: fill,
        fill_far: fill_ahead,
        fill_streaming,
        copy_streaming,
        clear,
    }
}

/// The register kinds that this processor has.
#[cfg(test)]
pub(super) fn every() -> Vec<Passes> {
    vec![fastest()]
}

/// Waits until stores that bypass the caches are visible to other CPUs.
#[inline]
pub(in super::super) fn settle() {
    // SAFETY: a barrier changes nothing.
    unsafe { asm!("dmb ishst", options(nostack, preserves_flags)) };
}

#[inline(always)]
fn prefetch(line: *const Cell<u64>) {
    // SAFETY: a prefetch neither faults nor changes memory, wherever it points.
    unsafe { asm!("prfm pldl1keep, [{}]", in(reg) line, options(nostack, preserves_flags)) };
}

/// Two streams side by side. The compiler makes vector code of each.
fn sum(words: &[Cell<u64>]) -> u64 {
    let (one, other) = words.split_at(words.len() / 2);
    one.iter().zip(other).fold(0, |total, (one, other)| total.wrapping_add(one.get()).wrapping_add(other.get()))
}

fn fill_streaming(words: &[Cell<u64>], value: u64) {
    for line in words.chunks_exact(LINE_WORDS) {
        // SAFETY: stores 64 bytes, the size of the chunk, which consists of cells.
        unsafe {
            asm!("dup v0.2d, {value}", "stnp q0, q0, [{line}]", "stnp q0, q0, [{line}, #32]",
                value = in(reg) value, line = in(reg) line.as_ptr(), out("v0") _, options(nostack, preserves_flags));
        }
    }
}

/// Four streams side by side: a prefetcher does not follow one from page to page.
fn copy_streaming(from: &[Cell<u64>], to: &[Cell<u64>]) {
    let quarter = from.len().min(to.len()) / 4;
    for turn in (0..quarter).step_by(TURN_WORDS / 4) {
        for stream in 0..4 {
            let part = stream * quarter + turn..stream * quarter + turn + TURN_WORDS / 4;
            let lines = from[part.clone()].chunks_exact(LINE_WORDS).zip(to[part].chunks_exact(LINE_WORDS));
            for (from, to) in lines {
                prefetch(from.as_ptr().wrapping_add(AHEAD_WORDS));
                // SAFETY: loads and stores 64 bytes, the size of both chunks, which consist of cells.
                unsafe {
                    asm!("ldp q0, q1, [{from}]", "ldp q2, q3, [{from}, #32]",
                        "stnp q0, q1, [{to}]", "stnp q2, q3, [{to}, #32]",
                        from = in(reg) from.as_ptr(), to = in(reg) to.as_ptr(),
                        out("v0") _, out("v1") _, out("v2") _, out("v3") _, options(nostack, preserves_flags));
                }
            }
        }
    }
}

/// The bytes of the blocks that `dc zva` clears; `None` if this processor forbids the instruction, or memory of this length that begins
/// at this address does not consist of whole blocks.
#[inline(always)]
fn block_size(first: usize, length: usize) -> Option<usize> {
    let about: u64;
    // SAFETY: reads a register that every program may read.
    unsafe { asm!("mrs {}, dczid_el0", out(reg) about, options(nomem, nostack, preserves_flags)) };
    // Bit 4 forbids it. The lower bits hold the logarithm of a block's size in words of 4 bytes.
    let bytes = 4_usize << (about & 15);
    let fits = bytes >= size_of::<u64>() && first.is_multiple_of(bytes) && length.is_multiple_of(bytes);
    (about & 16 == 0 && fits).then_some(bytes)
}

/// True if pieces of this length, which begin at a multiple of it, can be cleared block by block.
pub(in crate::memory) fn clears_by_block(length: usize) -> bool {
    block_size(0, length).is_some()
}

/// Clears block by block with `dc zva` where that can be done, and else word by word.
fn clear(words: &[Cell<u64>], _: u64) {
    let Some(bytes) = block_size(words.as_ptr() as usize, size_of_val(words)) else { return fill(words, 0) };
    for block in words.chunks_exact(bytes / size_of::<u64>()) {
        // SAFETY: zeroes the block that contains the address, which is the chunk and consists of cells.
        unsafe { asm!("dc zva, {}", in(reg) block.as_ptr(), options(nostack, preserves_flags)) };
    }
}
