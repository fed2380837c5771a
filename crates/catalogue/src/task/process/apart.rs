//! Children that run on another CPU than their parent, placed there by the scheduler, as it happens to a user's process
//! that may use every CPU. Elsewhere in this family children run on the parent's CPU.

use std::rc::Rc;

use libc::c_int;
use operation::{Failure, Loop, Operation, Setting, term};

use crate::kit::{BASE, Child, OTHER, Places, do_nothing, execute, fork, wait_for};

/// The defaults. Each is explained by the same operation on one CPU: the residual is what another CPU adds, or saves where
/// parent and child work at the same time.
const APART: Operation = BASE.per("process").axes(&[OTHER]);

pub(crate) const OPERATIONS: &[Operation] = &[
    APART
        .id("process.fork.apart")
        .summary("copy this small process, let the copy end at once on another CPU, wait for it (fork, wait)")
        .explained_by(&[term(1.0, "process.fork")])
        .prepare(|setting| forked(setting, || 0)),
    APART
        .named(
            "process.exec.apart",
            "copy this small process, run a program that does nothing in the copy on another CPU, wait (fork, \
            execve, wait)",
        )
        .explained_by(&[term(1.0, "process.exec")])
        .at_least(&["process.fork.apart"])
        .prepare(|setting| {
            let program = do_nothing(setting)?;
            forked(setting, move || execute(&program))
        }),
    APART
        .named(
            "process.clone.apart",
            "run nothing on another CPU in a child that shares this process's memory, with its own stack, wait for \
            it (clone, wait)",
        )
        .explained_by(&[term(1.0, "process.clone")])
        .prepare(|setting| {
            let places = Places::new(setting)?;
            let seen = Rc::clone(&places);
            let mut child = Child::new(0, move || {
                seen.child_runs();
                Ok(())
            });
            Ok(places.around(move || child.run()))
        }),
];

/// A copy of this process, on another CPU, and what it does there.
fn forked(setting: &Setting, work: impl Fn() -> c_int + 'static) -> Result<Loop, Failure> {
    let places = Places::new(setting)?;
    let seen = Rc::clone(&places);
    let child = move || {
        seen.child_runs();
        work()
    };
    Ok(places.around(move || wait_for(fork(&child)?)))
}
