//! Tuning on a file made for it.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use analysis::prefetch::Tuning;
use catalogue::reading::unnamed;
use catalogue::residence;
use measure::Progress;

use crate::advise::error::AdviseError;
use crate::advise::tune::{TuningRequest, tuning};

/// Bytes of the file.
const BYTES: u64 = 256 << 20;

/// As [`tuning`], on a file made in `folder`, which is gone afterwards. Fails as [`tuning`] does; also for a folder in
/// memory, or one without room.
pub fn tuning_on_scratch(
    folder: &Path,
    budget: Duration,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Tuning, AdviseError> {
    let shown = record::printable(&folder.display().to_string());
    if File::open(folder).is_ok_and(residence::lives_in_memory) {
        return Err(AdviseError::ScratchInMemory { folder: shown });
    }
    let file = unnamed(folder, BYTES).map_err(|failure| AdviseError::NoScratch { folder: shown.clone(), failure })?;
    let name = format!("a scratch file in {shown}");
    // Each pass is a process of its own, which opens the file by this one's descriptor.
    let place = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    tuning(&TuningRequest { path: Path::new(&place), name: Some(&name), rate: None, budget }, progress)
}
