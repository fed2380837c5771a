//! What lies between a program that writes and what drains it: a terminal, a pipe, or a terminal behind another program, as
//! `script`, a login over TCP, or a login over SSH.

pub(super) mod login;
pub(super) mod relay;
pub(super) mod ssh;

use std::os::fd::OwnedFd;
use std::process::Child;

use operation::{Failure, Partner};
use rustix::process::{Pid, RawPid, WaitId, WaitIdOptions, waitid};

use super::pair::{Features, as_shown};

/// A way for output, from the program's end to the one that a terminal emulator drains.
pub struct Path {
    pub output: OwnedFd,
    /// The emulator's end; a file has none.
    pub drained: Option<OwnedFd>,
    /// What the terminal does with the bytes.
    pub(super) features: Features,
    /// Programs in between.
    pub(super) helpers: Vec<Helper>,
}

/// A process in between. It ends when this is dropped.
pub(super) enum Helper {
    /// A copy of this process.
    Partner(Partner),
    Program(Program),
}

/// Another program; dropping it kills and reaps it. What it has started ends when its terminal does.
pub(super) struct Program(Child);

impl Program {
    /// Whether it has ended. It stays to be reaped.
    fn has_ended(&self) -> Result<bool, Failure> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.0)), how)?.is_some())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Path {
    /// What these bytes are when they come out, written from the first column on.
    pub fn shown(&self, text: &[u8]) -> Vec<u8> {
        as_shown(text, self.features)
    }

    /// The processes in between that are no partners of the setting's: other programs, and what they have started.
    pub fn others(&self) -> Vec<RawPid> {
        let is_partner =
            |pid| move |helper: &Helper| matches!(helper, Helper::Partner(partner) if partner.pid() == pid);
        self.processes().into_iter().filter(|&pid| !self.helpers.iter().any(is_partner(pid))).collect()
    }

    /// The processes in between, and those that they have started.
    pub fn processes(&self) -> Vec<RawPid> {
        let mut found: Vec<RawPid> = self
            .helpers
            .iter()
            .map(|helper| match helper {
                Helper::Partner(partner) => partner.pid(),
                Helper::Program(program) => program.0.id() as RawPid,
            })
            .collect();
        let mut looked_at = 0;
        while let Some(&pid) = found.get(looked_at) {
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<RawPid>().ok()));
            looked_at += 1;
        }
        found
    }
}
