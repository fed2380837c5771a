//! Calls on users, groups, capabilities, names and keys.

use operation::{Failure, Loop, Need, Operation, repeat};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::{CALL, PAIR};
use crate::kit::{
    Null, back_and_forth, call, exactly, invoke, namespaces, steadily, steady, steady_with, tried, turning,
};

/// The version of the sets of capabilities, `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h.
const CAPABILITIES: u32 = 0x2008_0522;

/// `NGROUPS_MAX` of linux/limits.h is 65536. A user in more groups than this cannot be measured.
const MOST_GROUPS: usize = 1024;

/// A user and a group that are neither root's nor this user's: nobody.
const OTHER: i32 = 65534;

const CONTENT: &[u8; 8] = b"howslow!";

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.getuid", "get this process's user id").prepare(|_| steadily(call::getuid()?, call::getuid)),
    CALL.named("call.geteuid", "get this process's effective user id")
        .prepare(|_| steadily(call::geteuid()?, call::geteuid)),
    CALL.named("call.getgid", "get this process's group id").prepare(|_| steadily(call::getgid()?, call::getgid)),
    CALL.named("call.getegid", "get this process's effective group id")
        .prepare(|_| steadily(call::getegid()?, call::getegid)),
    CALL.named("call.setuid", "set the user id to its current value")
        .prepare(|_| steady_with(call::getuid()?, |own| call::setuid(*own))),
    CALL.named("call.setgid", "set the group id to its current value")
        .prepare(|_| steady_with(call::getgid()?, |own| call::setgid(*own))),
    CALL.named("call.setreuid", "set the real and effective user id to their current values").prepare(|_| {
        steady_with((call::getuid()?, call::geteuid()?), |(real, effective)| call::setreuid(*real, *effective))
    }),
    CALL.named("call.setregid", "set the real and effective group id to their current values").prepare(|_| {
        steady_with((call::getgid()?, call::getegid()?), |(real, effective)| call::setregid(*real, *effective))
    }),
    CALL.named("call.getresuid", "get the real, effective and saved user id").prepare(|_| {
        steady_with(([0_u32], [0_u32], [0_u32]), |(real, effective, saved)| call::getresuid(real, effective, saved))
    }),
    // A call that changes nothing returns at once (since Linux 6.3).
    CALL.named("call.setresuid", "set the saved user to another and back to root: one of the two calls")
        .version(2)
        .prepare(|_| {
            as_root()?;
            turning([OTHER, 0], |saved| call::setresuid(-1, -1, saved)).map_err(alone)
        }),
    CALL.named("call.setfsuid", "set the user id for file accesses to another and back to root: one of the two calls")
        .version(2)
        .prepare(|_| changing_files(0, call::setfsuid).map(|pairs| pairs.verify(|_| dying_with_parent()))),
    CALL.named("call.getresgid", "get the real, effective and saved group id").prepare(|_| {
        steady_with(([0_u32], [0_u32], [0_u32]), |(real, effective, saved)| call::getresgid(real, effective, saved))
    }),
    CALL.named("call.setresgid", "set the saved group to another and back: one of the two calls").version(2).prepare(
        |_| {
            as_root()?;
            let own = call::getegid()? as i32;
            turning([OTHER, own], |saved| call::setresgid(-1, -1, saved)).map_err(alone)
        },
    ),
    CALL.named("call.setfsgid", "set the group id for file accesses to another and back: one of the two calls")
        .version(2)
        .prepare(|_| {
            let own = call::getegid()? as i32;
            changing_files(own, call::setfsgid).map(|pairs| pairs.verify(|_| dying_with_parent()))
        }),
    PAIR.named("pair.seteuid", "act as another user, and as root again (setresuid twice)")
        .calls(&["setresuid", "setresuid"])
        .needs(&[Need::Root])
        .prepare(|_| {
            let pairs = repeat(|| {
                exactly(0, call::setresuid(-1, OTHER, -1)?)?;
                exactly(0, call::setresuid(-1, 0, -1)?)
            });
            tried(pairs.verify(|_| dying_with_parent()))
        }),
    CALL.named("call.getgroups", "get the supplementary groups").prepare(|_| {
        let mut groups = Box::new([0_u32; MOST_GROUPS]);
        let count = call::getgroups(&mut *groups)?;
        steadily(count, move || call::getgroups(&mut *groups))
    }),
    CALL.named("call.setgroups", "set the supplementary groups to their current value").prepare(|_| {
        let mut groups = Box::new([0_u32; MOST_GROUPS]);
        let count = call::getgroups(&mut *groups)?;
        let groups = groups[..count].to_vec();
        steady(move || call::setgroups(&*groups))
    }),
    CALL.named("call.capget", "get this process's capabilities")
        .prepare(|_| steady_with(([CAPABILITIES, 0], [0_u32; 6]), |(header, sets)| call::capget(header, sets))),
    CALL.named("call.capset", "set this process's capabilities to their current value").prepare(|_| {
        let (mut header, mut sets) = ([CAPABILITIES, 0], [0_u32; 6]);
        exactly(0, call::capget(&mut header, &mut sets)?)?;
        steady(move || call::capset(&mut header, &sets))
    }),
    CALL.named("call.sethostname", "set the host name of a private namespace").prepare(|_| {
        namespaces(libc::CLONE_NEWUTS)?;
        steady(|| call::sethostname(b"howslow"))
    }),
    CALL.named("call.setdomainname", "set the domain name of a private namespace").prepare(|_| {
        namespaces(libc::CLONE_NEWUTS)?;
        steady(|| call::setdomainname(b"howslow"))
    }),
    CALL.named("call.getrandom", "get 32 random bytes from the kernel itself").moves(|_| 32).prepare(|_| {
        let mut bytes = [0_u8; 32];
        steadily(32, move || call::getrandom(&mut bytes, 0))
    }),
    CALL.named("call.add_key", "replace the content of a key in a private keyring").prepare(|_| {
        own_keyring()?;
        steadily(key()?, key)
    }),
    CALL.named("call.request_key", "find a key by its description in a private keyring").prepare(|_| {
        own_keyring()?;
        steadily(key()?, || call::request_key(c"user", c"howslow", Null, 0))
    }),
    CALL.named("call.keyctl", "read the content of a key in a private keyring").prepare(|_| {
        own_keyring()?;
        let key = key()?;
        let mut content = [0_u8; 16];
        // SAFETY: this command writes at most 16 bytes, which there are.
        steadily(CONTENT.len(), move || unsafe { invoke!(keyctl, libc::KEYCTL_READ, key, &mut content, 16) })
    }),
];

/// A loop that sets the identity for file accesses to [`OTHER`] and back to `own`, and counts both calls. Each call returns
/// the previous identity and no error.
fn changing_files(own: i32, mut set: impl FnMut(i32) -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    as_root()?;
    set(OTHER)?;
    if set(own)? != OTHER as usize {
        return Err(alone(Failure::Errno { errno: libc::EINVAL }));
    }
    back_and_forth(move || {
        exactly(own as usize, set(OTHER)?)?;
        exactly(OTHER as usize, set(own)?)
    })
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
    failure.skip_on(&[libc::EINVAL], "this user namespace has no second user", "run as root outside of a container")
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
