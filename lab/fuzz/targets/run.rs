//! Documents of runs: one that is read can be written, read again and printed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(run) = record::run_from_bytes(data).inspect_err(|error| howslow_fuzz::is_plain(&error.to_string())) else {
        return;
    };
    if let Ok(text) = serde_json::to_vec(&run) {
        // What JSON cannot represent is refused when a run is kept.
        if let Ok(again) = record::run_from_bytes(&text) {
            assert_eq!(again.costs.len(), run.costs.len());
        }
    }
    howslow_fuzz::print(&run);
});
