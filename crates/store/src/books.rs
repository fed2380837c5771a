//! The books that come with howslow.

use record::Book;

use crate::StoreError;

/// Name and text of a book.
macro_rules! book {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../books/", $name, ".toml")))
    };
}

/// Name and text of every book: the papers' machines, then the cores of today.
const BOOKS: &[(&str, &str)] = &[
    book!("pdp-11-24"),
    book!("multics-645"),
    book!("multics-6180"),
    book!("multics-6180-adjusted"),
    book!("gcos-6080"),
    book!("mpe-xl-1.1"),
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

/// The book of this name, if there is one.
///
/// # Errors
/// If the text is not a valid book.
pub fn book(name: &str) -> Option<Result<Book, StoreError>> {
    let (name, text) = BOOKS.iter().find(|(known, _)| *known == name)?;
    Some(Book::from_toml(text).map_err(|source| StoreError::Book { name: (*name).into(), source }))
}
