//! Loads, passes and copies in memory of huge pages or base pages.

use std::arch::asm;
use std::time::{Duration, Instant};

use super::entry::{Entry, Group, entry, unrolled};
use super::harness::{Made, Work};
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "memory", entries: ENTRIES };

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const HUGE: usize = 2 * MIB;
/// What one pass goes over.
const PIECE: usize = 64 * KIB;

const ENTRIES: &[Entry] = &[
    unrolled("memory.load", "set=16KiB", || chase(16 * KIB, libc::MADV_HUGEPAGE)),
    unrolled("memory.load", "set=256KiB", || chase(256 * KIB, libc::MADV_HUGEPAGE)),
    unrolled("memory.load", "set=1MiB", || chase(MIB, libc::MADV_HUGEPAGE)),
    unrolled("memory.load", "set=64MiB", || chase(64 * MIB, libc::MADV_HUGEPAGE)),
    unrolled("memory.load.paged", "set=1MiB", || chase(MIB, libc::MADV_NOHUGEPAGE)),
    entry("memory.read", "set=256KiB", || pass(256 * KIB, &[READ_256, READ_512])),
    entry("memory.write", "set=256KiB", || pass(256 * KIB, &[WRITE_256, WRITE_512, CLEAR])),
    entry("memory.clear", "set=256KiB", || pass(256 * KIB, &[CLEAR])),
    entry("memory.read", "set=64MiB", || pass(64 * MIB, &[READ_256, READ_512])),
    entry("memory.copy", "size=4KiB", || copy(4 * KIB)),
    entry("memory.copy", "size=64KiB", || copy(64 * KIB)),
    entry("instruction.string.copy", "size=4KiB", string_copy),
];

/// Memory that is all there, with contents in no order; it goes with the process.
pub(super) fn room(bytes: usize, advice: i32) -> Result<*mut u8, String> {
    let mapped = bytes.next_multiple_of(HUGE) + HUGE;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let place = done("mmap", call!(libc::SYS_mmap, 0_usize, mapped, access, kind, -1, 0))?.next_multiple_of(HUGE);
    done("madvise", call!(libc::SYS_madvise, place, mapped - HUGE, advice))?;
    let first = std::ptr::with_exposed_provenance_mut::<u8>(place);
    let mut random = fastrand::Rng::new();
    for word in (0..bytes).step_by(8) {
        // SAFETY: within the mapping, which is new and ours, and aligned.
        unsafe { first.wrapping_add(word).cast::<u64>().write(random.u64(..)) };
    }
    Ok(first)
}

/// Pointers, one in each line, that lead round the set in one random cycle (Sattolo's shuffle). It is walked once, or
/// the first batches would be timed on what making it left in the caches.
fn chase(set: usize, advice: i32) -> Made {
    let first = room(set, advice)?;
    let lines = set / 64;
    let mut order: Vec<usize> = (0..lines).collect();
    let mut random = fastrand::Rng::new();
    for place in (1..lines).rev() {
        order.swap(place, random.usize(..place));
    }
    for (line, next) in order.iter().enumerate() {
        let here = first.wrapping_add(line * 64).cast::<usize>();
        // SAFETY: within the room, aligned.
        unsafe { here.write(first.wrapping_add(next * 64) as usize) };
    }
    let mut at = first as usize;
    let mut walk = move |times: u64| {
        // SAFETY: every pointer leads to another one of the room.
        unsafe {
            asm!(
                "2:", ".rept 32", "mov {at}, [{at}]", ".endr", "dec {turns}", "jnz 2b",
                at = inout(reg) at, turns = inout(reg) times => _, options(nostack, readonly)
            );
        }
    };
    walk((lines as u64).div_ceil(32) * 2);
    Ok(Work::whole(walk).unrolled(32))
}

/// Goes over this many bytes from here on.
#[derive(Clone, Copy)]
struct Pass {
    over: fn(*mut u8, usize),
    /// Whether it needs AVX-512.
    wide: bool,
}

const READ_256: Pass = Pass { over: read_256, wide: false };
const READ_512: Pass = Pass { over: read_512, wide: true };
const WRITE_256: Pass = Pass { over: write_256, wide: false };
const WRITE_512: Pass = Pass { over: write_512, wide: true };
const CLEAR: Pass = Pass { over: clear, wide: false };

/// The next piece of a set by the fastest of several loops that can run here.
fn pass(set: usize, loops: &[Pass]) -> Made {
    let first = room(set, libc::MADV_HUGEPAGE)?;
    let wide = std::arch::is_x86_feature_detected!("avx512f");
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err("no AVX2 here".into());
    }
    let all = |pass: &Pass| {
        (0..set).step_by(PIECE).for_each(|at| (pass.over)(first.wrapping_add(at), PIECE));
    };
    let time = |pass: &Pass| {
        let once = |_| {
            let start = Instant::now();
            (0..(8 * MIB / set).max(1)).for_each(|_| all(pass));
            start.elapsed()
        };
        (0..9).map(once).min().unwrap_or(Duration::MAX)
    };
    let fastest =
        loops.iter().filter(|pass| wide || !pass.wide).min_by_key(|pass| time(pass)).ok_or("no loop runs here")?;
    let (over, mut at) = (fastest.over, 0);
    Ok(Work::whole(move |times| {
        for _ in 0..times {
            over(first.wrapping_add(at), PIECE);
            at = (at + PIECE) % set;
        }
    }))
}

pub(super) fn read_256(from: *mut u8, bytes: usize) {
    // SAFETY: reads this many bytes of the room; the sums are thrown away.
    unsafe {
        asm!(
            "2:", "vpaddq ymm0, ymm0, [{at}]", "vpaddq ymm1, ymm1, [{at} + 32]", "vpaddq ymm2, ymm2, [{at} + 64]",
            "vpaddq ymm3, ymm3, [{at} + 96]", "vpaddq ymm4, ymm4, [{at} + 128]", "vpaddq ymm5, ymm5, [{at} + 160]",
            "vpaddq ymm6, ymm6, [{at} + 192]", "vpaddq ymm7, ymm7, [{at} + 224]", "add {at}, 256", "cmp {at}, {end}",
            "jb 2b", "vzeroupper", at = inout(reg) from => _, end = in(reg) from.wrapping_add(bytes),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
            out("xmm7") _, options(nostack, readonly)
        );
    }
}

fn read_512(from: *mut u8, bytes: usize) {
    // SAFETY: reads this many bytes of the room; the sums are thrown away.
    unsafe {
        asm!(
            "2:", "vpaddq zmm0, zmm0, [{at}]", "vpaddq zmm1, zmm1, [{at} + 64]", "vpaddq zmm2, zmm2, [{at} + 128]",
            "vpaddq zmm3, zmm3, [{at} + 192]", "vpaddq zmm4, zmm4, [{at} + 256]", "vpaddq zmm5, zmm5, [{at} + 320]",
            "vpaddq zmm6, zmm6, [{at} + 384]", "vpaddq zmm7, zmm7, [{at} + 448]", "add {at}, 512", "cmp {at}, {end}",
            "jb 2b", "vzeroupper", at = inout(reg) from => _, end = in(reg) from.wrapping_add(bytes),
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
            out("xmm7") _, options(nostack, readonly)
        );
    }
}

fn write_256(to: *mut u8, bytes: usize) {
    // SAFETY: writes this many bytes of the room.
    unsafe {
        asm!(
            "vpcmpeqd ymm0, ymm0, ymm0",
            "2:", "vmovdqa [{at}], ymm0", "vmovdqa [{at} + 32], ymm0", "vmovdqa [{at} + 64], ymm0",
            "vmovdqa [{at} + 96], ymm0", "sub {at}, -128", "cmp {at}, {end}", "jb 2b", "vzeroupper",
            at = inout(reg) to => _, end = in(reg) to.wrapping_add(bytes), out("xmm0") _, options(nostack)
        );
    }
}

fn write_512(to: *mut u8, bytes: usize) {
    // SAFETY: writes this many bytes of the room.
    unsafe {
        asm!(
            "vpternlogd zmm0, zmm0, zmm0, 255",
            "2:", "vmovdqa64 [{at}], zmm0", "vmovdqa64 [{at} + 64], zmm0", "vmovdqa64 [{at} + 128], zmm0",
            "vmovdqa64 [{at} + 192], zmm0", "add {at}, 256", "cmp {at}, {end}", "jb 2b", "vzeroupper",
            at = inout(reg) to => _, end = in(reg) to.wrapping_add(bytes), out("xmm0") _, options(nostack)
        );
    }
}

fn clear(to: *mut u8, bytes: usize) {
    // SAFETY: writes this many bytes of the room.
    unsafe { asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") 0_u8, options(nostack)) };
}

/// Two blocks that begin at a line of the cache each. To copy up in memory and to copy to the same place of another page
/// takes longer; this does neither.
fn copy(bytes: usize) -> Made {
    let to = room(2 * bytes + 64 * KIB, libc::MADV_HUGEPAGE)?;
    let first = to.wrapping_add(bytes.next_multiple_of(4 * KIB) + KIB);
    Ok(Work::whole(move |times| {
        let (from, to, bytes) = std::hint::black_box((first, to, bytes));
        for _ in 0..times {
            // SAFETY: both lie in the room, apart from each other.
            unsafe { libc::memcpy(to.cast(), from.cast(), bytes) };
        }
    }))
}

fn string_copy() -> Made {
    let first = room(64 * KIB, libc::MADV_HUGEPAGE)?;
    let to = first.wrapping_add(8 * KIB);
    Ok(Work::whole(move |times| {
        for _ in 0..times {
            // SAFETY: copies 4 KiB within the room.
            unsafe {
                asm!("rep movsb", inout("rcx") 4 * KIB => _, inout("rdi") to => _, inout("rsi") first => _, options(nostack))
            };
        }
    }))
}
