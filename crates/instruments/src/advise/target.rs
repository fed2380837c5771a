//! The file that is measured.

use std::path::{Path, PathBuf};

use catalogue::residence::{self, FileError};

use crate::advise::error::AdviseError;
use crate::advise::limits::SMALLEST;

pub(crate) struct MeasuredFile {
    pub path: PathBuf,
    /// Said instead of the path.
    name: Option<String>,
    pub length: u64,
    /// Why it cannot be out of memory; `None` where it can.
    pub never_cold: Option<String>,
}

impl MeasuredFile {
    /// Fails for a file that cannot be read, or one too small for its methods to be distinguished.
    pub fn open(path: &Path) -> Result<MeasuredFile, AdviseError> {
        let file = residence::open(path)?;
        let length = residence::length(&file)?;
        if length == 0 {
            return Err(FileError::Empty { path: path.into() }.into());
        }
        if length < SMALLEST {
            return Err(AdviseError::TooShort { path: path.into(), length });
        }
        let never_cold = residence::can_be_cold(&file).err().map(|error| error.sentence());
        Ok(MeasuredFile { path: path.into(), name: None, length, never_cold })
    }

    pub fn called(self, name: Option<&str>) -> MeasuredFile {
        MeasuredFile { name: name.map(String::from), ..self }
    }

    /// What the file is called in a sentence.
    pub fn shown(&self) -> String {
        self.name.clone().unwrap_or_else(|| record::printable(&self.path.display().to_string()))
    }
}
