//! The costs of memory in a run: by operation and working set.

use record::{Cost, Run};

/// The costs of an operation that are certainly above zero, by working set and by whatever else they are measured over.
pub(super) fn costs<'a>(run: &'a Run, operation: &'a str) -> impl Iterator<Item = &'a Cost> {
    let above_zero = |cost: &&Cost| cost.net_ns.low.0 > 0.0 && cost.quoted().0 > 0.0 && cost.net_ns.high.0.is_finite();
    run.costs.iter().filter(move |cost| cost.operation == operation).filter(above_zero)
}

/// Bytes of the working set; runs of the first days called it `size`.
pub(super) fn working_set(cost: &Cost) -> Option<u64> {
    cost.at.number("set").or_else(|| cost.at.number("size"))
}
