//! Contention: what tasks on several CPUs cost each other when they want the same lock, the same line of memory or the same
//! address space at the same time.

pub(crate) mod line;
pub(crate) mod lock;
pub(crate) mod shootdown;
pub(crate) mod space;
pub(crate) mod transfer;

use operation::Value::{Number, Word};
use operation::{Axis, Operation, cpus};

/// How many threads want the same: ours alone, one on each of two CPUs, one on every CPU, and two on every CPU, so that some
/// thread that is waited for has no CPU.
const THREADS: Axis = cpus("threads", &[Number(1), Number(2), Word("all"), Word("twice")]);

/// Iterations in which threads that share CPUs lose them now and then: a batch of some time slices.
const CROWDED: u64 = 100_000;

/// What operations on locks and lines are. Their own loops run beside the work and not after it, so nothing is subtracted.
const TOGETHER: Operation = Operation::DEFAULT;

#[cfg(test)]
mod tests {
    /// Batches are long where threads share CPUs, so there are few.
    #[test]
    fn every_operation_does_its_work_at_every_point() {
        use crate::kit::trial::{of_family, perform_batches};
        of_family("contention").for_each(|operation| perform_batches(operation, &[1, 3]));
    }
}
