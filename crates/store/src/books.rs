//! The books that come with howslow.

/// Name and text of a book.
macro_rules! book {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../books/", $name, ".toml")))
    };
}

/// Name and text of every book: the papers' machines, then the cores of today.
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
];

/// The names of all books.
pub fn book_names() -> impl Iterator<Item = &'static str> {
    BOOKS.iter().map(|(name, _)| *name)
}

pub(crate) fn all_books() -> String {
    book_names().collect::<Vec<_>>().join(", ")
}
