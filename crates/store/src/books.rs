//! The books that come with howslow.

use record::Book;

use crate::StoreError;

/// Name and text of every book.
const BOOKS: &[(&str, &str)] = &[("pdp-11-24", include_str!("../../../books/pdp-11-24.toml"))];

/// The names of all books.
pub fn book_names() -> impl Iterator<Item = &'static str> {
    BOOKS.iter().map(|(name, _)| *name)
}

/// The book of this name, if there is one.
///
/// # Errors
/// A book that does not hold what a book must.
pub fn book(name: &str) -> Option<Result<Book, StoreError>> {
    let (name, text) = BOOKS.iter().find(|(known, _)| *known == name)?;
    Some(Book::from_toml(text).map_err(|source| StoreError::Book { name: (*name).into(), source }))
}
