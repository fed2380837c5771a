//! `howslow file resident|evict|sync --json`: an array with one of these for each file.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::residence::ResidentFile;

/// Which pages of a file are in memory.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileResident<'a> {
    /// The file.
    pub path: &'a str,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages it has.
    pub pages: u64,
    /// Those in memory.
    pub resident_pages: u64,
    /// Those to be written; null where the kernel does not tell.
    pub dirty_pages: Option<u64>,
    /// The pages in memory, from the first of each range to the one after its last.
    pub ranges: Vec<[u64; 2]>,
}

/// What became of a file that was put out of memory.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileEvicted {
    /// The file.
    pub path: String,
    /// Pages it has.
    pub pages: u64,
    /// Those in memory before.
    pub resident_pages_before: u64,
    /// Those in memory after.
    pub resident_pages: u64,
}

/// What became of a file that was written to its device.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FileSynced {
    /// The file.
    pub path: String,
    /// Pages to be written before; null where the kernel does not tell.
    pub dirty_pages_before: Option<u64>,
}

impl<'a> From<&'a ResidentFile> for FileResident<'a> {
    fn from(it: &'a ResidentFile) -> FileResident<'a> {
        FileResident {
            path: &it.path,
            bytes: it.bytes,
            page_bytes: it.page,
            pages: it.pages,
            resident_pages: it.resident,
            dirty_pages: it.dirty,
            ranges: it.ranges.iter().map(|range| [range.start, range.end]).collect(),
        }
    }
}
