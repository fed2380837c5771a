//! What a ledger tells.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Entry {
    /// The boot that all other entries belong to.
    Boot(String),
    /// A folder of a control group.
    Group(PathBuf),
    /// A controller that was enabled below this group.
    Enabled(PathBuf),
    /// A swap file, and the mark in its header.
    SwapFile { path: PathBuf, mark: [u8; 16] },
    /// A compressed device, and the mark in its header.
    Zram { number: u32, mark: [u8; 16] },
}

impl std::fmt::Display for Entry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Entry::Boot(boot) => write!(out, "the boot {boot}"),
            Entry::Group(path) => write!(out, "the control group {}", path.display()),
            Entry::Enabled(path) => write!(out, "the controller for memory in {}", path.display()),
            Entry::SwapFile { path, .. } => write!(out, "the swap file {}", path.display()),
            Entry::Zram { number, .. } => write!(out, "the device /dev/zram{number}"),
        }
    }
}

/// What names this boot.
pub(super) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}
