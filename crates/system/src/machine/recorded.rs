//! A recorded system for tests: a temporary folder with the given files.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::machine::host::Host;

/// A recorded system. Its folder is removed when this is dropped.
pub struct Recorded {
    folder: TempDir,
}

impl Recorded {
    /// A system with these files: path and text.
    pub fn new<P: AsRef<Path>, T: AsRef<[u8]>>(files: &[(P, T)]) -> Recorded {
        let recorded = Recorded { folder: tempfile::tempdir().expect("a temporary folder") };
        files.iter().for_each(|(path, text)| recorded.add(path, text));
        recorded
    }

    /// Writes one more file.
    pub fn add(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("files are below the root")).expect("a folder below ours");
        fs::write(path, text).expect("a file in our folder");
    }

    /// A system without files.
    pub fn empty() -> Recorded {
        Recorded::new::<&str, &str>(&[])
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A host that reads it.
    pub fn host(&self) -> Host {
        Host::below(self.path())
    }
}
