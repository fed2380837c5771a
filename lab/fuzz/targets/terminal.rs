//! What comes from a terminal: answers among keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    assert!(terminal::own::fuzz_answers(data) <= data.len());
});
