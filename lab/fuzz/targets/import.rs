//! Results of other tools, each read as every format.
#![no_main]

use store::exchange::{IMPORTERS, import};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some(text) = howslow_fuzz::text(data) else { return };
    let formats = IMPORTERS.iter().map(Some).chain([None]);
    for format in formats {
        match import(text, format) {
            Ok(run) => {
                assert!(!run.costs.is_empty());
                howslow_fuzz::print(&run);
            }
            Err(error) => howslow_fuzz::is_plain(&error.to_string()),
        }
    }
});
