//! Calls by which processes and threads begin and end. Their work is priced by process, not by call.

const CALLS: &[&str] =
    &["clone", "clone3", "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"];

/// True for a call that is priced together with the process or thread that it begins or ends.
pub fn is_priced_together(call: &str) -> bool {
    CALLS.contains(&call)
}
