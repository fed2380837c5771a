//! Calls by which a process restricts itself.

use std::os::fd::{AsRawFd, OwnedFd};

use operation::{Failure, Operation, repeat, term};

use super::CALL;
use crate::kit::{Null, call, consuming, exactly, in_child, invoke, opening, owned, refusing, scratch, tried};

/// Rules and filters that one child adds; the kernel allows 16 layers of rules.
const EACH: u64 = 8;

/// A call made [`EACH`] times by a child, whose cost is subtracted.
const SOME_IN_CHILD: Operation =
    CALL.terms(&[term(1.0 / EACH as f64, "loop.empty"), term(1.0 / EACH as f64, "process.clone")]);

/// To read files: `LANDLOCK_ACCESS_FS_READ_FILE` of linux/landlock.h.
const RIGHTS: [u64; 1] = [1 << 2];

/// `LSM_ATTR_CURRENT` of linux/lsm.h.
const CURRENT: i32 = 100;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.landlock_create_ruleset", "create a set of rules by which a process restricts itself")
        .prepare(|_| opening(|| call::landlock_create_ruleset(&RIGHTS, 0))),
    CALL.named("call.landlock_add_rule", "allow reading below a folder in a set of rules without rules")
        .version(2)
        .prepare(|setting| {
            let folder = scratch(setting)?;
            // The structure has 12 bytes.
            let mut below = [0_u8; 16];
            below[..8].copy_from_slice(&RIGHTS[0].to_ne_bytes());
            below[8..12].copy_from_slice(&folder.as_raw_fd().to_ne_bytes());
            const PATH_BENEATH: i32 = 1;
            // A second rule for the same folder would only be merged with the first.
            tried(consuming(rules, move |rules| {
                let _open = &folder;
                exactly(0, call::landlock_add_rule(&rules, PATH_BENEATH, &below, 0)?)?;
                Ok(rules)
            }))
        }),
    SOME_IN_CHILD
        .id("call.landlock_restrict_self")
        .summary("add a set of rules that restricts this process, in a child that began without")
        .prepare(|_| {
            let rules = rules()?;
            gain_no_privileges()?;
            let confine = move || (0..EACH).try_for_each(|_| exactly(0, call::landlock_restrict_self(&rules, 0)?));
            Ok(tried(in_child(0, confine))?.unrolled(EACH))
        }),
    SOME_IN_CHILD
        .named("call.seccomp", "add a filter that allows every call, in a child that began without")
        .waits(|_| true)
        .prepare(|_| {
            gain_no_privileges()?;
            let filter = move || {
                let allow = [libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW }];
                let program = [libc::sock_fprog { len: 1, filter: allow.as_ptr().cast_mut() }];
                let mode = libc::SECCOMP_SET_MODE_FILTER;
                // SAFETY: the program has one instruction, which lives until the call has returned.
                (0..EACH).try_for_each(|_| exactly(0, unsafe { invoke!(seccomp, mode, 0, &program) }?))
            };
            Ok(tried(in_child(0, filter))?.unrolled(EACH))
        }),
    CALL.named("call.lsm_list_modules", "list the security modules").prepare(|_| {
        let (mut ids, mut size) = ([0_u64; 32], [256_u32]);
        // SAFETY: the size is that of the list in bytes.
        let count = unsafe { invoke!(lsm_list_modules, &mut ids, &mut size, 0) }?;
        tried(repeat(move || {
            size[0] = 256;
            // SAFETY: the size is that of the list in bytes.
            exactly(count, unsafe { invoke!(lsm_list_modules, &mut ids, &mut size, 0) }?)
        }))
    }),
    CALL.named("call.lsm_get_self_attr", "fail to get a security attribute of this process (no buffer given)")
        .refused()
        .prepare(|_| refusing(&[libc::EINVAL], || call::lsm_get_self_attr(CURRENT, Null, Null, 0))),
    CALL.named("call.lsm_set_self_attr", "fail to set a security attribute of this process (no attribute given)")
        .refused()
        .prepare(|_| refusing(&[libc::EINVAL], || call::lsm_set_self_attr(CURRENT, Null, 0))),
];

/// A set of rules without rules.
fn rules() -> Result<OwnedFd, Failure> {
    Ok(owned(call::landlock_create_ruleset(&RIGHTS, 0)?))
}

/// Sets no_new_privs, without which only root may restrict itself.
fn gain_no_privileges() -> Result<(), Failure> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}
