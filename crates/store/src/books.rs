//! The books that come with howslow.

use std::io::Read;

use record::{Book, Run};

/// Name and packed text of a book.
macro_rules! book {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate")))
    };
}

/// The books of published costs: the papers' machines, then the cores of today.
const BOOKS: &[(&str, &[u8])] = &[
    book!("pdp-11-24"),
    book!("multics-645"),
    book!("multics-6180"),
    book!("multics-6180-adjusted"),
    book!("gcos-6080"),
    book!("mpe-xl-1.1"),
    book!("vax-1986"),
    book!("multics-1970"),
    book!("cascade-lake"),
    book!("golden-cove"),
    book!("zen-2"),
    book!("zen-3"),
    book!("zen-4"),
    book!("neoverse-n1"),
];

/// The reference machines, which were measured with howslow.
const REFERENCES: &[(&str, &[u8])] = &[book!("zen-4-kvm"), book!("granite-rapids-kvm"), book!("sapphire-rapids-kvm")];

/// The text of the book or reference machine of this name, if it comes with howslow.
pub(crate) fn text_of(name: &str) -> Option<String> {
    let (_, packed) = BOOKS.iter().chain(REFERENCES).find(|(known, _)| *known == name)?;
    let mut text = String::new();
    flate2::read::DeflateDecoder::new(*packed).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The names of the books of published costs.
pub fn book_names() -> impl Iterator<Item = &'static str> {
    BOOKS.iter().map(|(name, _)| *name)
}

/// The names of the reference machines.
pub fn reference_names() -> impl Iterator<Item = &'static str> {
    REFERENCES.iter().map(|(name, _)| *name)
}

/// The reference machines of an architecture, each in the form of a run.
pub fn references(architecture: &str) -> Vec<Run> {
    let books = reference_names().filter_map(text_of).filter_map(|text| Book::from_toml(&text).ok());
    books.filter(|book| book.machine.architecture == architecture).map(|book| book.run()).collect()
}

pub(crate) fn all_books() -> String {
    book_names().chain(reference_names()).collect::<Vec<_>>().join(", ")
}
