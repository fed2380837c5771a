//! Mixes: one that is read is priced by a book.
#![no_main]

use std::sync::LazyLock;

use record::{Book, Run};

static RUN: LazyLock<Option<Run>> = LazyLock::new(|| {
    let book = Book::from_toml(include_str!("../../../books/pdp-11-24.toml")).ok()?;
    Some(book.run())
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (Some(text), Some(run)) = (howslow_fuzz::text(data), RUN.as_ref()) else { return };
    let Ok(mix) = record::Mix::from_toml(text).inspect_err(|error| howslow_fuzz::is_plain(&error.to_string())) else {
        return;
    };
    mix.lines.iter().for_each(|line| howslow_fuzz::is_plain(&line.term.typed()));
    analysis::predict::predict(&mix, run, 0, &|_| &[]);
});
