//! The accounting of all system calls: for every call of the architecture's table, the operation that times it or the
//! reason why none does. Does not know how an operation times a call.

use operation::Operation;

use crate::registry::all;
use crate::syscall::table::{known, reason};

/// One call of the architecture's table.
#[derive(Clone, Copy)]
pub struct Call {
    pub number: i32,
    /// The kernel's name for it.
    pub name: &'static str,
    /// The operation that times it. If several do: one that times it doing its work, and among these the one that times the
    /// fewest other calls.
    pub operation: Option<&'static Operation>,
    /// Why no operation times it.
    pub reason: Option<&'static str>,
}

/// Every call of this architecture's table, by number, followed by calls that only the running kernel has.
pub fn every_call() -> Vec<Call> {
    let timed_by = |name| timing(name).min_by_key(|operation| (operation.refused, operation.system_calls().count()));
    let call = |(number, name)| Call { number, name, operation: timed_by(name), reason: reason(name) };
    known().into_iter().map(call).collect()
}

/// The operations that time the call with this name, in the order of the registry.
pub fn timing(name: &str) -> impl Iterator<Item = &'static Operation> {
    all().filter(move |operation| operation.system_calls().any(|call| call == name))
}
