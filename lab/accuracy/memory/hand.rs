//! Ways of passing over memory, written by hand: registers of every width, prefetches at several distances, one stream
//! and several, through the caches and past them.

use std::ptr;

/// Memory in huge pages, if the kernel gives them, all of it touched.
pub(super) struct Room {
    mapping: *mut libc::c_void,
    mapped: usize,
    first: *mut u64,
    words: usize,
}

const HUGE: usize = 2 << 20;

impl Room {
    pub(super) fn new(bytes: usize) -> Room {
        let mapped = bytes.next_multiple_of(HUGE) + HUGE;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the kernel chooses the place, so that the mapping replaces nothing.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), mapped, access, kind, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED, "no memory for {bytes} bytes");
        let first = mapping.wrapping_byte_add(mapping.align_offset(HUGE));
        // SAFETY: the advice lies within the mapping just made.
        unsafe { libc::madvise(first, mapped - HUGE, libc::MADV_HUGEPAGE) };
        let mut room = Room { mapping, mapped, first: first.cast(), words: bytes / 8 };
        room.words_mut().fill(1);
        room
    }

    pub(super) fn words(&self) -> &[u64] {
        // SAFETY: the mapping is ours, zeroed by the kernel, aligned and that long.
        unsafe { std::slice::from_raw_parts(self.first, self.words) }
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.words) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it outlives it.
        unsafe { libc::munmap(self.mapping, self.mapped) };
    }
}

/// One way to pass over a piece: source, destination, bytes. The source is not looked at where it only writes.
pub(super) type Way = unsafe fn(*const u8, *mut u8, usize);

/// A way and what it is called.
pub(super) type Named = (&'static str, Way);

/// The ways there are, by what they do: reading, writing, copying.
pub(super) struct Ways {
    pub read: Vec<Named>,
    pub write: Vec<Named>,
    pub copy: Vec<Named>,
}

/// What this processor can do. The C library's copy and fill are among them.
pub(super) fn ways() -> Ways {
    let mut ways = Ways {
        read: vec![("plain loop", plain_sum)],
        write: vec![("memset", library_fill)],
        copy: vec![("memcpy", library_copy)],
    };
    #[cfg(target_arch = "x86_64")]
    wide::add(&mut ways);
    ways
}

unsafe fn plain_sum(from: *const u8, _: *mut u8, bytes: usize) {
    // SAFETY: the caller gives that many bytes, aligned.
    let words = unsafe { std::slice::from_raw_parts(from.cast::<u64>(), bytes / 8) };
    std::hint::black_box(words.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
}

unsafe fn library_fill(_: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller gives that many bytes.
    unsafe { ptr::write_bytes(to, std::hint::black_box(7), bytes) };
}

unsafe fn library_copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller gives that many bytes, apart from each other.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::asm;
    use std::arch::x86_64::*;

    use super::Ways;

    pub(super) fn add(ways: &mut Ways) {
        ways.write.push(("rep stosb", stos));
        ways.copy.push(("rep movsb", movs));
        if std::arch::is_x86_feature_detected!("avx2") {
            ways.read.push(("AVX2", avx2_read::<1, 0>));
            ways.read.push(("AVX2, 2 streams", avx2_read::<2, 0>));
            ways.read.push(("AVX2, prefetch 1 KiB", avx2_read::<1, 1024>));
            ways.read.push(("AVX2, 4 streams, prefetch 512", avx2_read::<4, 512>));
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            ways.read.push(("AVX-512", read::<1, 8, 0>));
            ways.read.push(("AVX-512, 2 streams", read::<2, 4, 0>));
            ways.read.push(("AVX-512, 4 streams", read::<4, 2, 0>));
            ways.read.push(("AVX-512, prefetch 2 KiB", read::<1, 8, 2048>));
            ways.read.push(("AVX-512, 4 streams, prefetch 512", read::<4, 2, 512>));
            ways.write.push(("AVX-512", write::<1, 8, 0, false>));
            ways.write.push(("AVX-512, prefetch 512", write::<1, 8, 512, false>));
            ways.write.push(("AVX-512, prefetch 2 KiB", write::<1, 8, 2048, false>));
            ways.write.push(("AVX-512, 4 streams, prefetch 512", write::<4, 4, 512, false>));
            ways.write.push(("AVX-512 non-temporal", write::<1, 8, 0, true>));
            ways.write.push(("AVX-512 non-temporal, 4 streams", write::<4, 1, 0, true>));
            ways.copy.push(("AVX-512", copy::<1, 8, 0, false>));
            ways.copy.push(("AVX-512, prefetch 512", copy::<1, 8, 512, false>));
            ways.copy.push(("AVX-512 non-temporal", copy::<1, 8, 0, true>));
            ways.copy.push(("AVX-512 non-temporal, 4 streams", copy::<4, 4, 0, true>));
            ways.copy.push(("AVX-512 non-temporal, 4 streams, prefetch 512", copy::<4, 4, 512, true>));
            ways.copy.push(("AVX-512 non-temporal, 8 streams", copy::<8, 4, 0, true>));
        }
    }

    unsafe fn stos(_: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: writes as many bytes as the caller gives.
        unsafe { asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") 7_u8, options(nostack)) };
    }

    unsafe fn movs(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: copies as many bytes as the caller gives.
        unsafe {
            asm!("rep movsb", inout("rcx") bytes => _, inout("rdi") to => _, inout("rsi") from => _, options(nostack))
        };
    }

    #[target_feature(enable = "avx2")]
    unsafe fn avx2_read<const STREAMS: usize, const AHEAD: usize>(from: *const u8, _: *mut u8, bytes: usize) {
        let mut sums = [_mm256_setzero_si256(); 8];
        let width = bytes / STREAMS;
        for at in (0..width).step_by(256) {
            for stream in 0..STREAMS {
                for (place, sum) in sums.iter_mut().enumerate() {
                    let here = from.wrapping_add(stream * width + at + place * 32);
                    if AHEAD > 0 && place % 2 == 0 {
                        _mm_prefetch::<_MM_HINT_T0>(here.wrapping_add(AHEAD).cast());
                    }
                    // SAFETY: within what the caller gives, aligned.
                    *sum = _mm256_add_epi64(*sum, unsafe { _mm256_load_si256(here.cast()) });
                }
            }
        }
        std::hint::black_box(sums.iter().fold(_mm256_setzero_si256(), |all, sum| _mm256_add_epi64(all, *sum)));
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn read<const STREAMS: usize, const EACH: usize, const AHEAD: usize>(
        from: *const u8,
        _: *mut u8,
        bytes: usize,
    ) {
        let mut sums = [_mm512_setzero_si512(); 8];
        let width = bytes / STREAMS;
        for at in (0..width).step_by(64 * EACH) {
            for stream in 0..STREAMS {
                for place in 0..EACH {
                    let here = from.wrapping_add(stream * width + at + place * 64);
                    if AHEAD > 0 {
                        _mm_prefetch::<_MM_HINT_T0>(here.wrapping_add(AHEAD).cast());
                    }
                    let sum = &mut sums[(stream * EACH + place) % 8];
                    // SAFETY: within what the caller gives, aligned.
                    *sum = _mm512_add_epi64(*sum, unsafe { _mm512_load_si512(here.cast()) });
                }
            }
        }
        std::hint::black_box(sums.iter().fold(_mm512_setzero_si512(), |all, sum| _mm512_add_epi64(all, *sum)));
    }

    #[inline(always)]
    fn for_writing(line: *const u8) {
        // SAFETY: a prefetch does not fault.
        unsafe { asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags)) };
    }

    /// Stores a line, past the caches or through them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn put<const PAST: bool>(line: *mut u8, value: __m512i) {
        if PAST {
            // SAFETY: the caller gives an aligned line.
            unsafe { _mm512_stream_si512(line.cast(), value) };
        } else {
            // SAFETY: as above.
            unsafe { _mm512_store_si512(line.cast(), value) };
        }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn write<const STREAMS: usize, const EACH: usize, const AHEAD: usize, const PAST: bool>(
        _: *const u8,
        to: *mut u8,
        bytes: usize,
    ) {
        let value = _mm512_set1_epi64(std::hint::black_box(7));
        let width = bytes / STREAMS;
        for at in (0..width).step_by(64 * EACH) {
            for stream in 0..STREAMS {
                for place in 0..EACH {
                    let here = to.wrapping_add(stream * width + at + place * 64);
                    if AHEAD > 0 {
                        for_writing(here.wrapping_add(AHEAD));
                    }
                    // SAFETY: within what the caller gives, aligned.
                    unsafe { put::<PAST>(here, value) };
                }
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    unsafe fn copy<const STREAMS: usize, const EACH: usize, const AHEAD: usize, const PAST: bool>(
        from: *const u8,
        to: *mut u8,
        bytes: usize,
    ) {
        let width = bytes / STREAMS;
        for at in (0..width).step_by(64 * EACH) {
            for stream in 0..STREAMS {
                let here = stream * width + at;
                let mut held = [_mm512_setzero_si512(); EACH];
                for (place, held) in held.iter_mut().enumerate() {
                    let line = from.wrapping_add(here + place * 64);
                    if AHEAD > 0 {
                        _mm_prefetch::<_MM_HINT_T0>(line.wrapping_add(AHEAD).cast());
                    }
                    // SAFETY: within what the caller gives, aligned.
                    *held = unsafe { _mm512_load_si512(line.cast()) };
                }
                for (place, held) in held.iter().enumerate() {
                    let line = to.wrapping_add(here + place * 64);
                    // SAFETY: within what the caller gives, aligned.
                    unsafe { put::<PAST>(line, *held) };
                }
            }
        }
    }
}
