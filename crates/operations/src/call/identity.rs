//! Calls on users, groups, capabilities, names of the machine, keys and what confines a process. Names are those of a
//! namespace of the round's own, keys those of a session keyring of its own.

use std::ffi::CStr;

use measure::{Failure, Loop, Operation, Setting, repeat};

use super::raw::{CALL, PAIR, call, owned};
use crate::syscall::{exactly, scratch};

/// Key rings and requests to them, as the kernel numbers them (linux/keyctl.h).
const SESSION_KEYRING: i32 = -3;
const JOIN_SESSION_KEYRING: i32 = 1;
const UPDATE: i32 = 2;
const READ: i32 = 11;

/// What the kernel calls the third version of capability sets (linux/capability.h).
const CAPABILITIES: u32 = 0x2008_0522;

/// An operation that asks who this process is.
macro_rules! asks {
    ($name:literal, $call:ident, $summary:literal) => {
        Operation {
            id: concat!("call.", $name),
            summary: $summary,
            calls: &[$name],
            prepare: |_| {
                let known = call!($call)?;
                Ok(repeat(move || exactly(known, call!($call)?)))
            },
            ..CALL
        }
    };
}

/// An operation that asks for the three ids of a kind.
macro_rules! asks_three {
    ($name:literal, $call:ident, $summary:literal) => {
        Operation {
            id: concat!("call.", $name),
            summary: $summary,
            calls: &[$name],
            prepare: |_| {
                let (mut real, mut effective, mut saved) = ([0_u32], [0_u32], [0_u32]);
                Ok(repeat(move || exactly(0, call!($call, &mut real, &mut effective, &mut saved)?)))
            },
            ..CALL
        }
    };
}

/// An operation that sets ids to what they are: the kernel makes and commits new credentials all the same.
macro_rules! keeps {
    ($name:literal, $call:ident, $own:ident, [$($id:ident),+], $summary:literal) => {
        Operation {
            id: concat!("call.", $name),
            summary: $summary,
            calls: &[$name],
            prepare: |_| {
                let own = call!($own)?;
                Ok(repeat(move || exactly(0, call!($call $(, { let $id = own; $id })+)?)))
            },
            ..CALL
        }
    };
}

pub(crate) const OPERATIONS: &[Operation] = &[
    asks!("getuid", getuid, "ask for the real user"),
    asks!("geteuid", geteuid, "ask for the effective user"),
    asks!("getgid", getgid, "ask for the real group"),
    asks!("getegid", getegid, "ask for the effective group"),
    asks_three!("getresuid", getresuid, "ask for the real, effective and saved user"),
    asks_three!("getresgid", getresgid, "ask for the real, effective and saved group"),
    keeps!("setuid", setuid, getuid, [user], "become the user one is"),
    keeps!("setgid", setgid, getgid, [group], "become the group one is"),
    keeps!("setreuid", setreuid, getuid, [real, effective], "become the real and effective user one is"),
    keeps!("setregid", setregid, getgid, [real, effective], "become the real and effective group one is"),
    keeps!("setresuid", setresuid, getuid, [real, effective, saved], "become all three users one is"),
    keeps!("setresgid", setresgid, getgid, [real, effective, saved], "become all three groups one is"),
    Operation {
        id: "call.setfsuid",
        summary: "set the user for file access to what it is, and be told what it was",
        calls: &["setfsuid"],
        prepare: |_| {
            let own = call!(geteuid)?;
            Ok(repeat(move || exactly(own, call!(setfsuid, own)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.setfsgid",
        summary: "set the group for file access to what it is, and be told what it was",
        calls: &["setfsgid"],
        prepare: |_| {
            let own = call!(getegid)?;
            Ok(repeat(move || exactly(own, call!(setfsgid, own)?)))
        },
        ..CALL
    },
    Operation {
        id: "pair.seteuid",
        summary: "give up the effective user root and take it back, as a server does around what it does for a user",
        calls: &["setresuid"],
        prepare: |_| {
            const NOBODY: u32 = 65534;
            const SAME: u32 = u32::MAX;
            let own = call!(geteuid)?;
            Ok(repeat(move || {
                exactly(0, call!(setresuid, SAME, NOBODY, SAME)?)?;
                exactly(0, call!(setresuid, SAME, own, SAME)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.getgroups",
        summary: "ask for the groups beside the first",
        calls: &["getgroups"],
        prepare: |_| {
            let mut groups = [0_u32; 64];
            let known = call!(getgroups, 64, &mut groups)?;
            Ok(repeat(move || exactly(known, call!(getgroups, 64, &mut groups)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.setgroups",
        summary: "set the groups beside the first to what they are",
        calls: &["setgroups"],
        prepare: |_| {
            let mut groups = [0_u32; 64];
            let known = call!(getgroups, 64, &mut groups)?;
            Ok(repeat(move || exactly(0, call!(setgroups, known, &groups)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.capget",
        summary: "ask for this task's capabilities",
        calls: &["capget"],
        prepare: |_| {
            let (mut header, mut sets) = ([CAPABILITIES, 0], [0_u32; 6]);
            Ok(repeat(move || exactly(0, call!(capget, &mut header, &mut sets)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.capset",
        summary: "set this task's capabilities to what they are",
        calls: &["capset"],
        prepare: |_| {
            let (mut header, mut sets) = ([CAPABILITIES, 0], [0_u32; 6]);
            exactly(0, call!(capget, &mut header, &mut sets)?)?;
            Ok(repeat(move || exactly(0, call!(capset, &mut header, &sets)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.sethostname",
        summary: "name the machine, in a namespace of one's own",
        calls: &["sethostname"],
        prepare: |_| named(|name| call!(sethostname, name, name.count_bytes())),
        ..CALL
    },
    Operation {
        id: "call.setdomainname",
        summary: "name the machine's domain, in a namespace of one's own",
        calls: &["setdomainname"],
        prepare: |_| named(|name| call!(setdomainname, name, name.count_bytes())),
        ..CALL
    },
    Operation {
        id: "call.add_key",
        summary: "store 32 bytes under a name in a key ring of one's own, in place of those before",
        calls: &["add_key"],
        prepare: |_| {
            key_ring()?;
            Ok(repeat(|| key().map(drop)))
        },
        ..CALL
    },
    Operation {
        id: "call.request_key",
        summary: "find a key by its name in a key ring of one's own",
        calls: &["request_key"],
        prepare: |_| {
            key_ring()?;
            let made = key()?;
            Ok(repeat(move || exactly(made, call!(request_key, c"user", c"howslow", 0, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.keyctl",
        summary: "read the 32 bytes of a key",
        calls: &["keyctl"],
        moves: |_| KEY.len() as u64,
        prepare: |_| {
            key_ring()?;
            let made = key()?;
            let mut content = [0_u8; KEY.len()];
            Ok(repeat(move || exactly(KEY.len(), call!(keyctl, READ, made, &mut content, KEY.len(), 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.keyctl.update",
        summary: "replace the 32 bytes of a key",
        calls: &["keyctl"],
        moves: |_| KEY.len() as u64,
        prepare: |_| {
            key_ring()?;
            let made = key()?;
            Ok(repeat(move || exactly(0, call!(keyctl, UPDATE, made, &KEY, KEY.len(), 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.landlock_create_ruleset",
        summary: "make a set of rules for what a process may do to files, and close it",
        calls: &["landlock_create_ruleset", "close"],
        prepare: |_| Ok(repeat(|| rules().map(drop))),
        ..PAIR
    },
    Operation {
        id: "call.landlock_add_rule",
        summary: "allow reading below a folder, in a set of rules that allows it already",
        calls: &["landlock_add_rule"],
        prepare: |setting| {
            let (rules, folder) = (rules()?, scratch(setting)?);
            Ok(repeat(move || allow(&rules, &folder)))
        },
        ..CALL
    },
    Operation {
        id: "call.landlock_restrict_self",
        summary: "start a task that submits to a set of rules and exits, and wait for it",
        calls: &["landlock_restrict_self"],
        per: "task",
        explained_by: &[measure::term(1.0, "process.fork")],
        prepare: restricted,
        ..CALL
    },
    Operation {
        id: "call.lsm_get_self_attr",
        summary: "ask the first security module that has one for this task's label",
        calls: &["lsm_get_self_attr"],
        prepare: |_| {
            let mut size = [512_u32];
            let mut labels = [0_u64; 64];
            // Which attribute there is depends on the modules: current, exec, previous and so on.
            let has = |attribute: &u32| {
                let mut size = [512_u32];
                let mut labels = [0_u64; 64];
                call!(lsm_get_self_attr, *attribute, &mut labels, &mut size, 0).is_ok_and(|count| count > 0)
            };
            let Some(attribute) = (100..106).find(has) else {
                return Err(Failure::skip(
                    "no security module here labels tasks",
                    "boot with AppArmor, SELinux or Smack",
                ));
            };
            Ok(repeat(move || {
                size[0] = 512;
                call!(lsm_get_self_attr, attribute, &mut labels, &mut size, 0).map(drop)
            }))
        },
        ..CALL
    },
    Operation {
        id: "call.lsm_list_modules",
        summary: "ask which security modules there are",
        calls: &["lsm_list_modules"],
        prepare: |_| {
            let mut size = [512_u32];
            let mut modules = [0_u64; 64];
            Ok(repeat(move || {
                size[0] = 512;
                call!(lsm_list_modules, &mut modules, &mut size, 0).map(drop)
            }))
        },
        ..CALL
    },
];

const KEY: [u8; 32] = [7; 32];

/// Replaces this process's session key ring by a new one that nobody else knows.
fn key_ring() -> Result<(), Failure> {
    call!(keyctl, JOIN_SESSION_KEYRING, 0, 0, 0, 0).map(drop)
}

/// Puts the key into it; the same one each time.
fn key() -> Result<usize, Failure> {
    call!(add_key, c"user", c"howslow", &KEY, KEY.len(), SESSION_KEYRING)
}

/// A loop that gives names in a namespace of this process's own.
fn named(mut give: impl FnMut(&CStr) -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    call!(unshare, libc::CLONE_NEWUTS)?;
    Ok(repeat(move || exactly(0, give(c"howslow")?)))
}

/// A set of rules about reading files and folders (LANDLOCK_ACCESS_FS_READ_FILE and _READ_DIR).
fn rules() -> Result<std::os::fd::OwnedFd, Failure> {
    const READING: [u64; 1] = [0b1100];
    Ok(owned(call!(landlock_create_ruleset, &READING, 8, 0)?))
}

/// Allows reading below a folder (LANDLOCK_RULE_PATH_BENEATH).
fn allow(rules: &std::os::fd::OwnedFd, folder: &std::os::fd::OwnedFd) -> Result<(), Failure> {
    use std::os::fd::AsRawFd;
    let mut rule = [0_u8; 12];
    rule[..8].copy_from_slice(&0b1100_u64.to_ne_bytes());
    rule[8..].copy_from_slice(&folder.as_raw_fd().to_ne_bytes());
    exactly(0, call!(landlock_add_rule, rules, 1, &rule, 0)?)
}

/// A task takes at most sixteen sets of rules in its life, so each iteration has a task of its own.
fn restricted(setting: &Setting) -> Result<Loop, Failure> {
    let (rules, folder) = (rules()?, scratch(setting)?);
    allow(&rules, &folder)?;
    exactly(0, call!(prctl, libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)?)?;
    Ok(repeat(move || {
        // SAFETY: the child makes one call and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let done = call!(landlock_restrict_self, &rules, 0).is_ok();
            // SAFETY: ends the child without running what belongs to the parent.
            unsafe { libc::_exit(if done { 0 } else { 1 }) };
        }
        if child < 0 {
            return Err(Failure::last_os_error());
        }
        let mut status = [0_i32];
        exactly(child as usize, call!(wait4, child, &mut status, 0, 0)?)?;
        if status[0] == 0 { Ok(()) } else { Err(Failure::wrong("a task could not submit to the rules")) }
    }))
}
