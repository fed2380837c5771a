//! The books that come with howslow.

use record::{Book, Run};

/// Name and text of a book.
macro_rules! book {
    ($name:literal) => {
        ($name, include_str!(concat!("../books/", $name, ".toml")))
    };
}

/// Name and text of every book: the papers' machines, the cores of today, then the reference machines.
pub(crate) const BOOKS: &[(&str, &str)] = &[
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
    book!("zen-4-kvm"),
    book!("granite-rapids-kvm"),
    book!("sapphire-rapids-kvm"),
];

/// The line that makes a book a reference machine.
const REFERENCE: &str = "\n[reference]\n";

fn is_reference(text: &str) -> bool {
    text.contains(REFERENCE)
}

/// The names of the books of published costs.
pub fn book_names() -> impl Iterator<Item = &'static str> {
    BOOKS.iter().filter(|(_, text)| !is_reference(text)).map(|(name, _)| *name)
}

/// The names of the reference machines.
pub fn reference_names() -> impl Iterator<Item = &'static str> {
    BOOKS.iter().filter(|(_, text)| is_reference(text)).map(|(name, _)| *name)
}

/// The reference machines of an architecture, each in the form of a run.
pub fn references(architecture: &str) -> Vec<Run> {
    let books = BOOKS.iter().filter(|(_, text)| is_reference(text)).filter_map(|(_, text)| Book::from_toml(text).ok());
    books.filter(|book| book.machine.architecture == architecture).map(|book| book.run()).collect()
}

pub(crate) fn all_books() -> String {
    book_names().chain(reference_names()).collect::<Vec<_>>().join(", ")
}
