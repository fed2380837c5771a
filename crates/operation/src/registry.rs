//! What a measurement asks of the list of all operations.

use crate::operation::Operation;

/// The list of all operations, as a measurement uses it.
#[derive(Clone, Copy)]
pub struct Registry {
    pub find: fn(&str) -> Option<&'static Operation>,
    /// True for operations that leave work to the kernel's threads or to interrupts: those that cross a device, a queue
    /// or a network. They get rounds that look for hidden processor time.
    pub crosses: fn(&Operation) -> bool,
    pub heading: fn(&str) -> &'static str,
    /// The place of an operation on a page.
    pub position: fn(&str) -> Option<usize>,
}

impl Registry {
    /// That of operations which are not in any list.
    pub const EMPTY: Registry = Registry { find: |_| None, crosses: |_| false, heading: |_| "", position: |_| None };
}
