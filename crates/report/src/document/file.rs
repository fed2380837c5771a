//! `howslow file evict|sync --json`: an array with one of these for each file.

use serde::Serialize;

/// What became of a file that was put out of memory.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileSynced {
    /// The file.
    pub path: String,
    /// Pages to be written before; null where the kernel does not tell.
    pub dirty_pages_before: Option<u64>,
}
