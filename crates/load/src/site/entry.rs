//! What a ledger holds.

use std::os::fd::AsFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One thing that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Entry {
    /// The boot that all other entries belong to.
    Boot(String),
    /// A folder of a control group that will be made.
    Group(PathBuf),
    /// A controller that was enabled by this file of a group.
    Enabled { path: PathBuf, identity: Identity },
    /// A swap file that will be made, and the mark in its header.
    SwapFile { path: PathBuf, mark: [u8; 16] },
    /// The group or file of an earlier entry, once it is made.
    Made { path: PathBuf, identity: Identity },
    /// A compressed device that will be added, the mark in its header, and the time in ms since 1970. There is no device of this
    /// number then.
    Zram { number: u32, mark: [u8; 16], ms: u64 },
}

/// What no other file has at the same time: another one of the same name has another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// That of an open file. Fails if the kernel does not give it.
    pub fn of(file: impl AsFd) -> std::io::Result<Identity> {
        let stat = rustix::fs::fstat(file)?;
        Ok(Identity { device: stat.st_dev, inode: stat.st_ino })
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Entry::Boot(boot) => write!(out, "the boot {boot}"),
            Entry::Group(path) => write!(out, "the control group {}", path.display()),
            Entry::Enabled { path, .. } => write!(out, "the controller for memory in {}", path.display()),
            Entry::Made { path, .. } => write!(out, "what is at {}", path.display()),
            Entry::SwapFile { path, .. } => write!(out, "the swap file {}", path.display()),
            Entry::Zram { number, .. } => write!(out, "the device /dev/zram{number}"),
        }
    }
}

/// What names this boot.
pub(super) fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}
