//! Child processes that share this process's memory: for calls that a process can make only once, and for calls that return
//! twice. Does not know what is timed in them.

use std::ffi::{c_int, c_void};

use operation::{Failure, Loop, repeat};
use syscalls::Sysno;

use crate::kit::call;
use crate::kit::check::exactly;
use crate::kit::invoke::Null;
use crate::kit::process::{fork, status_of};

/// The child's stack, in units of 16 bytes: 256 KiB. Only the pages that the child touches use memory.
const STACK: usize = 16 << 10;

/// A child that shares this process's memory. This process waits for it.
const PLAIN: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;

/// What a child receives: its work, and a place for the result.
struct ChildWork<B> {
    body: B,
    end: Result<(), Failure>,
}

/// A loop that starts one child per iteration (in new namespaces if `flags` say so), lets it run `body`, and waits for its
/// end. The child is a separate process that shares only the memory, and this process is suspended meanwhile. Fails
/// with the error of the body, or the reason why no child could be started.
pub(crate) fn in_child<B: FnMut() -> Result<(), Failure> + 'static>(flags: c_int, body: B) -> Loop {
    let mut child = Child::new(flags, body);
    repeat(move || child.run())
}

/// What is needed to start such a child repeatedly.
pub(crate) struct Child<B> {
    stack: Vec<u128>,
    work: ChildWork<B>,
    flags: c_int,
}

impl<B: FnMut() -> Result<(), Failure>> Child<B> {
    /// A child that runs `body`, in new namespaces if `flags` say so.
    pub(crate) fn new(flags: c_int, body: B) -> Child<B> {
        Child { stack: vec![0_u128; STACK], work: ChildWork { body, end: Ok(()) }, flags: flags | PLAIN }
    }

    #[inline(always)]
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        let top = self.stack.as_mut_ptr_range().end.cast();
        let given = (&raw mut self.work).cast();
        // SAFETY: only the child uses the stack, and the work outlives the child, because this process is suspended until
        // the child has ended.
        let child = unsafe { libc::clone(run::<B>, top, self.flags, given) };
        if child == -1 {
            return Err(not_started(self.flags));
        }
        let status = status_of(child)?;
        std::mem::replace(&mut self.work.end, Ok(()))?;
        result_of(status)
    }
}

#[cold]
fn not_started(flags: c_int) -> Failure {
    match Failure::last_os_error() {
        Failure::Errno { errno: libc::EINVAL } if flags & !PLAIN != 0 => {
            Failure::skip("this kernel does not start a child that shares memory in a new namespace", "Linux itself")
        }
        other => other,
    }
}

extern "C" fn run<B: FnMut() -> Result<(), Failure>>(work: *mut c_void) -> c_int {
    // SAFETY: it is the parent's work, which the parent does not touch until this child has ended.
    let work = unsafe { &mut *work.cast::<ChildWork<B>>() };
    work.end = (work.body)();
    match work.end {
        Ok(()) => 0,
        Err(Failure::Errno { errno }) => errno,
        Err(_) => NO_ERRNO,
    }
}

/// The exit status of a child that failed for a reason other than a call's error. It is above every error number.
const NO_ERRNO: c_int = 255;

/// The meaning of a child's exit status. Some emulators of the kernel give the child a copy of the memory, and then the
/// status is the only result.
#[inline(always)]
fn result_of(status: c_int) -> Result<(), Failure> {
    match status {
        0 => Ok(()),
        _ if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) != NO_ERRNO => {
            Err(Failure::Errno { errno: libc::WEXITSTATUS(status) })
        }
        _ => Err(Failure::wrong(format!("the child ended with status {status:#x}"))),
    }
}

/// Makes a call that returns twice. The task in which it returns zero ends at once by the call `ending`, without touching
/// the stack, which it may share. Fails with the error the kernel answers.
///
/// # Safety
/// The call must be one that starts a task, with valid arguments.
#[inline(always)]
pub(crate) unsafe fn start_and_end(number: Sysno, arguments: [usize; 2], ending: Sysno) -> Result<i32, Failure> {
    // SAFETY: the caller guarantees it.
    let returned = unsafe { twice(number as usize, arguments, ending as usize) };
    if returned < 0 { Err(Failure::Errno { errno: -returned as i32 }) } else { Ok(returned as i32) }
}

/// The call and, in the new task, `xor edi, edi; syscall`. The third to fifth arguments are zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn twice(number: usize, [first, second]: [usize; 2], ending: usize) -> isize {
    let returned: isize;
    // SAFETY: the new task executes three instructions, all of them here, and writes no memory.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "mov rax, {ending}",
            "xor edi, edi",
            "syscall",
            "2:",
            ending = in(reg) ending,
            inlateout("rax") number as isize => returned,
            in("rdi") first,
            in("rsi") second,
            in("rdx") 0,
            in("r10") 0,
            in("r8") 0,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    returned
}

/// The call and, in the new task, `mov x0, xzr; svc 0`. The third to fifth arguments are zero.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn twice(number: usize, [first, second]: [usize; 2], ending: usize) -> isize {
    let returned: isize;
    // SAFETY: the new task executes three instructions, all of them here, and writes no memory.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x8, {ending}",
            "mov x0, xzr",
            "svc 0",
            "2:",
            ending = in(reg) ending,
            in("x8") number,
            inlateout("x0") first as isize => returned,
            in("x1") second,
            in("x2") 0,
            in("x3") 0,
            in("x4") 0,
            options(nostack),
        );
    }
    returned
}

/// Starts a child that shares this process's memory and ends at once. When this returns, the child is a zombie to be
/// reaped. Fails if no child can be started.
pub(crate) fn ended_child() -> Result<i32, Failure> {
    // SAFETY: the child writes no memory, and this process is suspended until it has ended.
    zombie(unsafe { start_and_end(Sysno::clone, [PLAIN as usize, 0], Sysno::exit_group) }?)
}

/// Starts a child that has a copy of this process's memory and ends at once. When this returns, the child is a zombie to be
/// reaped. Fails if no child can be started.
pub(crate) fn ended_copy() -> Result<i32, Failure> {
    zombie(fork(|| 0)?)
}

/// Waits for a child to end, without reaping it.
fn zombie(child: i32) -> Result<i32, Failure> {
    exactly(0, call::waitid(libc::P_PID, child, Null, libc::WEXITED | libc::WNOWAIT, Null)?)?;
    Ok(child)
}

/// The arguments of clone3: the kernel's structure `clone_args`, version 2.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Start {
    pub(crate) flags: u64,
    pub(crate) pidfd: u64,
    pub(crate) child_tid: u64,
    pub(crate) parent_tid: u64,
    pub(crate) exit_signal: u64,
    pub(crate) stack: u64,
    pub(crate) stack_size: u64,
    pub(crate) tls: u64,
    pub(crate) set_tid: u64,
    pub(crate) set_tid_size: u64,
    pub(crate) cgroup: u64,
}
