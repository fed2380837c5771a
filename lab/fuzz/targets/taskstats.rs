//! Messages of the kernel's exit accounting.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    observe::fuzz_taskstats(data);
});
