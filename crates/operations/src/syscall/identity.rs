//! Calls on users, groups, capabilities, names and keys.

use operation::{Failure, Loop, Need, Operation, repeat};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::{CALL, PAIR};
use crate::kit::call;
use crate::kit::check::exactly;
use crate::kit::invoke::{Null, invoke};
use crate::kit::loops::{steadily, steady, tried, turning};
use crate::kit::sandbox::namespaces;

/// The version of the sets of capabilities, `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h.
const CAPABILITIES: u32 = 0x2008_0522;

/// `NGROUPS_MAX` of linux/limits.h is 65536. A user in more groups than this cannot be measured.
const MOST_GROUPS: usize = 1024;

/// A user and a group that are neither root's nor this user's: nobody.
const OTHER: i32 = 65534;

/// The content of the key.
const CONTENT: &[u8; 8] = b"howslow!";

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.getuid",
        summary: "get this process's user id",
        calls: &["getuid"],
        prepare: |_| steadily(call::getuid()?, call::getuid),
        ..CALL
    },
    Operation {
        id: "call.geteuid",
        summary: "get this process's effective user id",
        calls: &["geteuid"],
        prepare: |_| steadily(call::geteuid()?, call::geteuid),
        ..CALL
    },
    Operation {
        id: "call.getgid",
        summary: "get this process's group id",
        calls: &["getgid"],
        prepare: |_| steadily(call::getgid()?, call::getgid),
        ..CALL
    },
    Operation {
        id: "call.getegid",
        summary: "get this process's effective group id",
        calls: &["getegid"],
        prepare: |_| steadily(call::getegid()?, call::getegid),
        ..CALL
    },
    Operation {
        id: "call.setuid",
        summary: "set the user id to its current value",
        calls: &["setuid"],
        prepare: |_| {
            let own = call::getuid()?;
            steady(move || call::setuid(own))
        },
        ..CALL
    },
    Operation {
        id: "call.setgid",
        summary: "set the group id to its current value",
        calls: &["setgid"],
        prepare: |_| {
            let own = call::getgid()?;
            steady(move || call::setgid(own))
        },
        ..CALL
    },
    Operation {
        id: "call.setreuid",
        summary: "set the real and effective user id to their current values",
        calls: &["setreuid"],
        prepare: |_| {
            let (real, effective) = (call::getuid()?, call::geteuid()?);
            steady(move || call::setreuid(real, effective))
        },
        ..CALL
    },
    Operation {
        id: "call.setregid",
        summary: "set the real and effective group id to their current values",
        calls: &["setregid"],
        prepare: |_| {
            let (real, effective) = (call::getgid()?, call::getegid()?);
            steady(move || call::setregid(real, effective))
        },
        ..CALL
    },
    Operation {
        id: "call.getresuid",
        summary: "get the real, effective and saved user id",
        calls: &["getresuid"],
        prepare: |_| {
            let (mut real, mut effective, mut saved) = ([0_u32], [0_u32], [0_u32]);
            steady(move || call::getresuid(&mut real, &mut effective, &mut saved))
        },
        ..CALL
    },
    Operation {
        id: "call.setresuid",
        summary: "set the saved user to another and back to root: one of the two calls",
        version: 2,
        calls: &["setresuid"],
        // A call that changes nothing returns at once (since Linux 6.3).
        prepare: |_| {
            as_root()?;
            turning([OTHER, 0], |saved| call::setresuid(-1, -1, saved)).map_err(alone)
        },
        ..CALL
    },
    Operation {
        id: "call.setfsuid",
        summary: "set the user id for file accesses to another and back to root: one of the two calls",
        version: 2,
        calls: &["setfsuid"],
        prepare: |_| changing_files(0, call::setfsuid).map(|pairs| pairs.verify(|_| dying_with_parent())),
        ..CALL
    },
    Operation {
        id: "call.getresgid",
        summary: "get the real, effective and saved group id",
        calls: &["getresgid"],
        prepare: |_| {
            let (mut real, mut effective, mut saved) = ([0_u32], [0_u32], [0_u32]);
            steady(move || call::getresgid(&mut real, &mut effective, &mut saved))
        },
        ..CALL
    },
    Operation {
        id: "call.setresgid",
        summary: "set the saved group to another and back: one of the two calls",
        version: 2,
        calls: &["setresgid"],
        prepare: |_| {
            as_root()?;
            let own = call::getegid()? as i32;
            turning([OTHER, own], |saved| call::setresgid(-1, -1, saved)).map_err(alone)
        },
        ..CALL
    },
    Operation {
        id: "call.setfsgid",
        summary: "set the group id for file accesses to another and back: one of the two calls",
        version: 2,
        calls: &["setfsgid"],
        prepare: |_| {
            let own = call::getegid()? as i32;
            changing_files(own, call::setfsgid).map(|pairs| pairs.verify(|_| dying_with_parent()))
        },
        ..CALL
    },
    Operation {
        id: "pair.seteuid",
        summary: "act as another user, and as root again (setresuid twice)",
        calls: &["setresuid"],
        needs: &[Need::Root],
        prepare: |_| {
            let pairs = repeat(|| {
                exactly(0, call::setresuid(-1, OTHER, -1)?)?;
                exactly(0, call::setresuid(-1, 0, -1)?)
            });
            tried(pairs.verify(|_| dying_with_parent()))
        },
        ..PAIR
    },
    Operation {
        id: "call.getgroups",
        summary: "get the supplementary groups",
        calls: &["getgroups"],
        prepare: |_| {
            let mut groups = Box::new([0_u32; MOST_GROUPS]);
            let count = call::getgroups(&mut *groups)?;
            steadily(count, move || call::getgroups(&mut *groups))
        },
        ..CALL
    },
    Operation {
        id: "call.setgroups",
        summary: "set the supplementary groups to their current value",
        calls: &["setgroups"],
        prepare: |_| {
            let mut groups = Box::new([0_u32; MOST_GROUPS]);
            let count = call::getgroups(&mut *groups)?;
            let groups = groups[..count].to_vec();
            steady(move || call::setgroups(&*groups))
        },
        ..CALL
    },
    Operation {
        id: "call.capget",
        summary: "get this process's capabilities",
        calls: &["capget"],
        prepare: |_| {
            let (mut header, mut sets) = ([CAPABILITIES, 0], [0_u32; 6]);
            steady(move || call::capget(&mut header, &mut sets))
        },
        ..CALL
    },
    Operation {
        id: "call.capset",
        summary: "set this process's capabilities to their current value",
        calls: &["capset"],
        prepare: |_| {
            let (mut header, mut sets) = ([CAPABILITIES, 0], [0_u32; 6]);
            exactly(0, call::capget(&mut header, &mut sets)?)?;
            steady(move || call::capset(&mut header, &sets))
        },
        ..CALL
    },
    Operation {
        id: "call.sethostname",
        summary: "set the host name of a private namespace",
        calls: &["sethostname"],
        prepare: |_| {
            namespaces(libc::CLONE_NEWUTS)?;
            steady(|| call::sethostname(b"howslow"))
        },
        ..CALL
    },
    Operation {
        id: "call.setdomainname",
        summary: "set the domain name of a private namespace",
        calls: &["setdomainname"],
        prepare: |_| {
            namespaces(libc::CLONE_NEWUTS)?;
            steady(|| call::setdomainname(b"howslow"))
        },
        ..CALL
    },
    Operation {
        id: "call.getrandom",
        summary: "get 32 random bytes from the kernel itself",
        calls: &["getrandom"],
        moves: |_| 32,
        prepare: |_| {
            let mut bytes = [0_u8; 32];
            steadily(32, move || call::getrandom(&mut bytes, 0))
        },
        ..CALL
    },
    Operation {
        id: "call.add_key",
        summary: "replace the content of a key in a private keyring",
        calls: &["add_key"],
        prepare: |_| {
            own_keyring()?;
            steadily(key()?, key)
        },
        ..CALL
    },
    Operation {
        id: "call.request_key",
        summary: "find a key by its description in a private keyring",
        calls: &["request_key"],
        prepare: |_| {
            own_keyring()?;
            steadily(key()?, || call::request_key(c"user", c"howslow", Null, 0))
        },
        ..CALL
    },
    Operation {
        id: "call.keyctl",
        summary: "read the content of a key in a private keyring",
        calls: &["keyctl"],
        prepare: |_| {
            own_keyring()?;
            let key = key()?;
            let mut content = [0_u8; 16];
            // SAFETY: this command writes at most 16 bytes, which there are.
            steadily(CONTENT.len(), move || unsafe { invoke!(keyctl, libc::KEYCTL_READ, key, &mut content, 16) })
        },
        ..CALL
    },
];

/// A loop that sets the identity for file accesses to [`OTHER`] and back to `own`, and counts both calls. Each call returns
/// the previous identity and no error.
fn changing_files(own: i32, mut set: impl FnMut(i32) -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    as_root()?;
    set(OTHER)?;
    if set(own)? != OTHER as usize {
        return Err(alone(Failure::Errno { errno: libc::EINVAL }));
    }
    tried(
        repeat(move || {
            exactly(own as usize, set(OTHER)?)?;
            exactly(OTHER as usize, set(own)?)
        })
        .unrolled(2),
    )
}

/// A skip for users without a second identity: the kernel would accept their call, but it would change nothing.
fn as_root() -> Result<(), Failure> {
    match call::geteuid()? {
        0 => Ok(()),
        _ => Err(Failure::skip("needs root", "run as root")),
    }
}

/// A process that changes its user loses the setting by which it dies with its parent, so this sets it again.
fn dying_with_parent() -> Result<(), Failure> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// The error in a user namespace that has only one user.
fn alone(failure: Failure) -> Failure {
    match failure {
        Failure::Errno { errno: libc::EINVAL } => {
            Failure::skip("this user namespace has no second user", "run as root outside of a container")
        }
        other => other,
    }
}

/// Gives this process a separate keyring, which ends with the process.
fn own_keyring() -> Result<(), Failure> {
    // SAFETY: this command takes the address of a name, or null.
    unsafe { invoke!(keyctl, libc::KEYCTL_JOIN_SESSION_KEYRING, 0) }.map(drop)
}

/// Puts a key into the session keyring, or replaces the content of the existing key. Returns the key.
fn key() -> Result<usize, Failure> {
    call::add_key(c"user", c"howslow", CONTENT, libc::KEY_SPEC_SESSION_KEYRING)
}
