//! Books: one that is read is printed as a run, with its departures.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some(text) = howslow_fuzz::text(data) else { return };
    let Ok(book) = record::Book::from_toml(text) else { return };
    book.departures();
    howslow_fuzz::print(&book.run());
});
