//! The same system call in a function that a loop by hand calls, timed by means of its own: nothing here comes from the instrument
//! but the pinning. It looks at its core in its own way too, by longer checks of more adds side by side.

use std::arch::asm;
use std::time::{Duration, Instant};

use analysis::statistics::{median, quantile, sorted};

/// What the loop takes per call, over its quiet batches.
pub(crate) struct Taken {
    pub minimum_ns: f64,
    pub median_ns: f64,
    /// Median over the batches of each one's time in cycles of its own clock.
    pub cycles: f64,
    pub batches: usize,
}

/// Takes batches of the loop on each CPU in turn.
pub(crate) struct Assembly {
    cpus: Vec<u32>,
    /// The smallest time of an add side by side with others, over that of one in a chain, that any core has shown.
    alone: f64,
}

/// How far above the best a core may be that counts as ours alone.
const TOLERANCE: f64 = 0.05;
const BATCH: Duration = Duration::from_micros(500);

struct Check {
    /// ns per cycle: an add that waits for the one before it takes one.
    cycle: f64,
    share: f64,
}

impl Assembly {
    pub(crate) fn new(cpus: Vec<u32>) -> anyhow::Result<Assembly> {
        let mut assembly = Assembly { cpus, alone: f64::INFINITY };
        for cpu in assembly.cpus.clone() {
            let checks = pinned(cpu, || (0..1000).map(|_| check().share).collect::<Vec<_>>())?;
            // Not the least: whatever delays a chain makes the adds side by side look cheap.
            assembly.alone = assembly.alone.min(quantile(&sorted(checks), 0.1).unwrap_or(f64::INFINITY));
        }
        Ok(assembly)
    }

    /// Batches for so long; `None` where no core was ours alone for any.
    pub(crate) fn take(&self, time: Duration) -> anyhow::Result<Option<Taken>> {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for &cpu in &self.cpus {
            all.extend(pinned(cpu, || self.batches(time / self.cpus.len() as u32))?);
        }
        let times = sorted(all.iter().map(|(ns, _)| *ns));
        let cycles = median(all.iter().map(|(ns, cycle)| ns / cycle));
        let taken = times.first().zip(cycles).map(|(&minimum_ns, cycles)| Taken {
            minimum_ns,
            median_ns: quantile(&times, 0.5).unwrap_or(minimum_ns),
            cycles,
            batches: times.len(),
        });
        Ok(taken)
    }

    /// Time per call and cycle of each quiet batch, in ns.
    fn batches(&self, time: Duration) -> Vec<(f64, f64)> {
        let start = Instant::now();
        let mut turns: u64 = 1024;
        let batch = |turns| {
            let start = Instant::now();
            calls(turns);
            start.elapsed()
        };
        while batch(turns) < BATCH {
            turns *= 2;
        }
        let quiet = |check: &Check| check.share <= self.alone * (1.0 + TOLERANCE);
        let mut taken = Vec::new();
        while start.elapsed() < time {
            let before = check();
            if !quiet(&before) {
                continue;
            }
            let ns = batch(turns).as_nanos() as f64 / turns as f64;
            let after = check();
            if quiet(&after) {
                taken.push((ns, (before.cycle + after.cycle) / 2.0));
            }
        }
        taken
    }
}

/// Does something in a thread of its own on this CPU, so that what is started later may run anywhere.
fn pinned<T: Send>(cpu: u32, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    let end = std::thread::scope(|scope| scope.spawn(|| operation::pin(cpu).map(|()| work())).join());
    let end = end.map_err(|_| anyhow::anyhow!("the loop panicked"))?;
    end.map_err(|failure| anyhow::anyhow!("cannot run on CPU {cpu}: {failure:?}"))
}

/// About 30 µs, beside which the reading of the clock is nothing.
fn check() -> Check {
    const CHAIN: u64 = 1000;
    const BESIDE: u64 = 1000;
    let start = Instant::now();
    chain(CHAIN);
    let middle = Instant::now();
    beside(BESIDE);
    let end = Instant::now();
    let cycle = (middle - start).as_nanos() as f64 / (CHAIN * 40) as f64;
    Check { cycle, share: (end - middle).as_nanos() as f64 / (BESIDE * 40) as f64 / cycle }
}

#[cfg(target_arch = "x86_64")]
fn calls(turns: u64) {
    // SAFETY: getppid takes nothing and writes no memory; what the kernel's entry overwrites is declared, and the stack is as before.
    unsafe {
        asm!(
            "2:", "call 3f", "dec {turns}", "jnz 2b", "jmp 4f",
            "3:", "mov eax, {number}", "syscall", "ret",
            "4:",
            number = const libc::SYS_getppid, turns = inout(reg) turns => _,
            out("rax") _, out("rcx") _, out("r11") _
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 40", "add {sum}, {one}", ".endr", "dec {turns}", "jnz 2b",
            sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn beside(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 10", "add {a}, {one}", "add {b}, {one}", "add {c}, {one}", "add {d}, {one}", ".endr",
            "dec {turns}", "jnz 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn calls(turns: u64) {
    // SAFETY: getppid takes nothing and writes no memory; the kernel keeps every register but the result's.
    unsafe {
        asm!(
            "2:", "bl 3f", "subs {turns}, {turns}, #1", "b.ne 2b", "b 4f",
            "3:", "svc #0", "ret",
            "4:",
            turns = inout(reg) turns => _, in("x8") libc::SYS_getppid, out("x0") _, out("lr") _, options(nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 40", "add {sum}, {sum}, {one}", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn beside(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 10", "add {a}, {a}, {one}", "add {b}, {b}, {one}", "add {c}, {c}, {one}",
            "add {d}, {d}, {one}", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64, turns = inout(reg) turns => _, options(nomem, nostack)
        );
    }
}
