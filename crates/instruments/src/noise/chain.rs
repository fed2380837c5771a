//! A chain of dependent multiplications: its time is inversely proportional to the core's frequency, and another hardware
//! thread of the core hardly changes it.

use operation::{Clock, opaque};

/// The best time of a few short chains, in ns: one of them is hardly interrupted.
pub(crate) fn chain(clock: &Clock) -> f64 {
    const CHAINS: u32 = 5;
    const LINKS: u32 = 2_000;
    let one = |_| {
        let start = clock.now();
        let mut value = 3_u64;
        for _ in 0..LINKS {
            value = opaque(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        std::hint::black_box(value);
        clock.now() - start
    };
    (0..CHAINS).map(one).fold(f64::INFINITY, f64::min)
}
