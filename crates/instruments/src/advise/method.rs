//! The ways to read a file that are tried: the call, the advice given to the kernel, and the window requested ahead.

/// How a stretch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `pread` of this many bytes.
    Read { bytes: u64 },
    /// The same after `POSIX_FADV_SEQUENTIAL`.
    ReadAdvised { bytes: u64 },
    /// `pread` past the page cache (O_DIRECT).
    Direct { bytes: u64 },
    /// io_uring: `depth` requests of this many bytes under way, past the page cache if `direct`.
    Ring { bytes: u64, depth: u32, direct: bool },
    /// Mapped, with an advice for all of it.
    Mapped(Advised),
    /// With all bytes up to `distance` beyond the one being read requested, `quantity` at a time.
    Ahead { way: Way, distance: u64, quantity: u64 },
}

/// What the kernel is advised about a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advised {
    Nothing,
    /// `MADV_SEQUENTIAL`.
    Sequential,
    /// `MADV_RANDOM`: no readahead.
    Random,
    /// `MAP_POPULATE`.
    Populated,
}

/// The call that requests what is needed later. The kernel's own readahead is switched off beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `MADV_WILLNEED` on a mapping.
    Mapped,
    /// `readahead` before `pread`.
    Readahead,
    /// `POSIX_FADV_WILLNEED` before `pread`.
    Advice,
}

impl Method {
    /// True if it bypasses the page cache, so that warm and cold are the same.
    pub fn is_direct(self) -> bool {
        matches!(self, Method::Direct { .. } | Method::Ring { direct: true, .. })
    }

    /// Bytes that come in one piece in a pass from beginning to end.
    pub(crate) fn piece(self) -> u64 {
        match self {
            Method::Read { bytes }
            | Method::ReadAdvised { bytes }
            | Method::Direct { bytes }
            | Method::Ring { bytes, .. } => bytes.max(8).next_multiple_of(8),
            // A window of any size moves by pages, whatever the call that fetches it.
            Method::Mapped(_) | Method::Ahead { .. } => rustix::param::page_size() as u64,
        }
    }
}
