//! Limits on this process: those of its cgroup and its own.

use record::{Bytes, Limits};
use rustix::process::{Resource, getrlimit};

use crate::machine::cgroup;
use crate::machine::host::Host;

pub fn describe(host: &Host) -> Limits {
    Limits {
        open_files: getrlimit(Resource::Nofile).current,
        locked_memory: getrlimit(Resource::Memlock).current.map(Bytes),
        root: rustix::process::geteuid().is_root(),
        ..cgroup::limits(host)
    }
}
