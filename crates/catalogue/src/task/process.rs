//! Processes: one that ends at once, one that runs a program that does nothing, one that runs the shell.

pub(crate) mod apart;
pub(crate) mod ways;

use operation::{Need, Operation, repeat, term};

use crate::kit::{BASE, by_c_library, do_nothing, execute, fork, spawn, wait_for};

/// The defaults of the family: a child that is started, ends, and is reaped.
const CHILD: Operation = BASE.per("process").headline();

pub(crate) const OPERATIONS: &[Operation] = &[
    CHILD
        .named("process.fork", "copy this small process, let the copy end at once, wait for it (fork, wait)")
        .prepare(|_| Ok(repeat(|| wait_for(fork(|| 0)?)))),
    CHILD
        .id("process.exec")
        .summary("copy this small process, run a program that does nothing in the copy, wait (fork, execve, wait)")
        .calls(&["execve"])
        .explained_by(&[term(1.0, "process.fork")])
        .at_least(&["process.fork"])
        .prepare(|setting| {
            let program = do_nothing(setting)?;
            Ok(repeat(move || wait_for(fork(|| execute(&program))?)))
        }),
    CHILD
        .id("process.spawn")
        .version(by_c_library(1))
        .summary("run a program that does nothing, without copying this process, and wait for it (posix_spawn, wait)")
        .prepare(|setting| {
            let program = do_nothing(setting)?;
            Ok(repeat(move || wait_for(spawn(&[&program])?)))
        }),
    CHILD
        .named(
            "process.shell",
            "run the shell with nothing to do, without copying this process, and wait for it (posix_spawn of \
            /bin/sh -c :)",
        )
        .needs(&[Need::Program("/bin/sh")])
        .explained_by(&[term(1.0, "process.spawn")])
        .at_least(&["process.spawn"])
        .prepare(|_| Ok(repeat(|| wait_for(spawn(&[c"/bin/sh", c"-c", c":"])?)))),
];
