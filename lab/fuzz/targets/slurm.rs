//! What Slurm's commands print.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some(text) = howslow_fuzz::text(data) else { return };
    fleet::fuzz_slurm(text);
});
