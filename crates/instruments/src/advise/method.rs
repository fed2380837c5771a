//! The ways to read a file that are tried: the call, the advice given to the kernel, and the window requested ahead.

/// How a stretch is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `pread`.
    Read {
        /// Bytes of a call.
        bytes: u64,
    },
    /// `pread` after `POSIX_FADV_SEQUENTIAL`.
    ReadAdvised {
        /// Bytes of a call.
        bytes: u64,
    },
    /// `pread` past the page cache (O_DIRECT).
    Direct {
        /// Bytes of a call.
        bytes: u64,
    },
    /// io_uring.
    Ring {
        /// Bytes of a request.
        bytes: u64,
        /// Requests under way.
        depth: u32,
        /// Past the page cache (O_DIRECT).
        direct: bool,
    },
    /// Mapped, with an advice for all of it.
    Mapped(Advised),
    /// With all bytes up to `distance` beyond the one being read requested, `quantity` at a time.
    Ahead {
        /// By which call.
        way: Way,
        /// Bytes between what is read and what has been requested.
        distance: u64,
        /// Bytes requested at a time.
        quantity: u64,
    },
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
