//! What a name means without a store: a file or a book.

use std::path::Path;

use record::{Book, Run};

use crate::books::text_of;
use crate::error::StoreError;
use crate::page::{is_page, open_page};

/// Reads the run in a file. A file that ends in `.toml` is a book, one that ends in `.html` a page of `howslow report`.
/// Fails if the file is neither.
pub fn open_file(path: &Path) -> Result<Run, StoreError> {
    if path.extension().is_some_and(|end| end == "toml") {
        return Ok(open_book(path)?.run());
    }
    if let Some(page) = path.to_str().filter(|name| is_page(name)) {
        return open_page(page);
    }
    record::read_run(path).map_err(|source| StoreError::Read { path: path.into(), source })
}

/// The book of this name, if there is one. Fails if the text is not a valid book.
pub fn book(name: &str) -> Option<Result<Book, StoreError>> {
    let text = text_of(name)?;
    Some(Book::from_toml(&text).map_err(|source| StoreError::Book { name: name.into(), source }))
}

fn open_book(path: &Path) -> Result<Book, StoreError> {
    let io = |source| StoreError::Io { what: "read", path: path.into(), source };
    let text = record::read_text(path, 1 << 20).map_err(io)?;
    Book::from_toml(&text).map_err(|source| StoreError::Book { name: path.display().to_string(), source })
}

/// True if the text looks like a file name, so that a missing file is reported as such.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains('/')
        || name.ends_with(".json")
        || name.ends_with(".toml")
        || is_page(name)
        || Path::new(name).is_file()
}
