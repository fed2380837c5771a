//! Why a process cannot be followed by ptrace(2), in a sentence.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::status;
use system::machine::remedy_of_refusal;

/// The sentence.
pub(super) fn sentence(process: u32, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ESRCH) => format!("process {process} has ended"),
        Some(libc::ENOSYS) => "this kernel, or the sandbox around howslow, has no ptrace(2)".into(),
        Some(libc::EPERM) => forbidden(process),
        // An old kernel does not know the request.
        _ => format!("process {process} cannot be traced: {error}"),
    }
}

fn forbidden(process: u32) -> String {
    if let Some(tracer) = status::tracer_of(process) {
        let tracer = status::process_of(tracer).unwrap_or(tracer);
        let name = fs::read_to_string(format!("/proc/{tracer}/comm")).unwrap_or_default();
        return format!("process {process} is traced already, by process {tracer} ({})", name.trim_end());
    }
    let own = rustix::process::geteuid();
    let owner = fs::metadata(format!("/proc/{process}")).map(|metadata| metadata.uid()).ok();
    if owner.is_some_and(|owner| owner != own.as_raw()) && !own.is_root() {
        return format!("process {process} belongs to another user; run howslow as that user, or as root");
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let why = by_scope(scope.trim(), remedy_of_refusal());
    why.unwrap_or_else(|| {
        format!("process {process} may not be traced by this one: its program or this sandbox forbids it")
    })
}

/// Why the security module Yama forbids it, and what to do about that.
fn by_scope(scope: &str, remedy: &str) -> Option<String> {
    match scope {
        "1" => Some(format!(
            "this system lets a process trace only what it started (kernel.yama.ptrace_scope is 1); start the command with \
             howslow, or {remedy}"
        )),
        "2" => Some(format!("this system does not let users trace (kernel.yama.ptrace_scope is 2); {remedy}")),
        "3" => Some(
            "nobody may trace here until the next boot, not even root (kernel.yama.ptrace_scope is 3); counting by eBPF, as \
             root, needs no tracing"
                .into(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_of_yama_has_its_remedy() {
        let remedy = |scope: &str| by_scope(scope, "run as root").unwrap_or_default();
        assert!(remedy("1").contains("start the command with howslow, or run as root"));
        assert!(remedy("2").ends_with("run as root"));
        assert!(remedy("3").contains("not even root") && !remedy("3").contains("run as root"), "{}", remedy("3"));
        assert_eq!(remedy("0"), "");
    }

    #[test]
    fn refusals_are_sentences() {
        let text = |error: i32| sentence(std::process::id(), &io::Error::from_raw_os_error(error));
        assert!(text(libc::ESRCH).ends_with("has ended"));
        assert!(text(libc::ENOSYS).contains("no ptrace(2)"));
        assert!(text(libc::EPERM).contains("trace"));
        assert!(text(libc::EIO).contains("cannot be traced"));
    }
}
