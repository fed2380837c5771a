//! Why an operation did not do its work.

use serde::{Deserialize, Serialize};

/// Why an operation did not do its work: either it is impossible here (a skip), or it went wrong (a lost round).
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum Failure {
    /// It cannot be measured here.
    #[error("{reason}")]
    Skip {
        reason: String,
        /// What would make it measurable; may be empty.
        remedy: String,
    },
    /// A system call failed that must succeed.
    #[error("{}", std::io::Error::from_raw_os_error(*errno))]
    Errno { errno: i32 },
    /// It ran, but did not do its work.
    #[error("{0}")]
    Wrong(String),
}

impl Failure {
    /// It cannot be measured here for this reason. `remedy` says what would change that; it may be empty.
    pub fn skip(reason: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::Skip { reason: reason.into(), remedy: remedy.into() }
    }

    /// It ran, but did not do its work.
    pub fn wrong(what: impl Into<String>) -> Failure {
        Failure::Wrong(what.into())
    }

    /// The calling thread's `errno` as a failure.
    pub fn last_os_error() -> Failure {
        std::io::Error::last_os_error().into()
    }

    /// A skip for this reason if it is one of these errors of the kernel; otherwise itself.
    pub fn skip_on(self, errnos: &[i32], reason: impl Into<String>, remedy: impl Into<String>) -> Failure {
        match self {
            Failure::Errno { errno } if errnos.contains(&errno) => Failure::skip(reason, remedy),
            other => other,
        }
    }

    /// The skip that results if this failure happens during set-up: the kernel lacks or refuses a call.
    pub fn into_skip(self) -> Failure {
        let Failure::Errno { errno } = self else { return self };
        let (reason, remedy) = match errno {
            libc::ENOSYS => ("this kernel has no such call", "a newer kernel, or one built with it"),
            libc::EOPNOTSUPP | libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT => {
                ("this kernel does not support it", "a kernel built with it")
            }
            libc::EPERM | libc::EACCES => ("refused: no permission", system::machine::remedy_of_refusal()),
            _ => return self,
        };
        Failure::skip(reason, remedy)
    }
}

impl From<rustix::io::Errno> for Failure {
    fn from(errno: rustix::io::Errno) -> Failure {
        Failure::Errno { errno: errno.raw_os_error() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.raw_os_error() {
            Some(errno) => Failure::Errno { errno },
            None => Failure::Wrong(error.to_string()),
        }
    }
}
