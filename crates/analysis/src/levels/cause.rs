//! Why a cost has levels, as far as it is known, and what its user can do about it.

use record::Machine;

/// What a page says of the likely cause on this machine.
pub(super) fn sentences(machine: &Machine) -> &'static [&'static str] {
    const WHAT: &str = "Each level is a state of the core that lasts for milliseconds and changes within a round, on an \
                        undisturbed core. No neighbour and no layout of the address space makes it. The figure of the cost is \
                        the lowest level at which, or below which, it is for 40 % of the time: that repeats. Predictions and \
                        bills with typical prices use a mean.";
    let untrained = |state: &String| state.contains("Safe RET") || state.contains("untrained return thunk");
    // Then the kernel makes the processor forget its predicted returns at every entry.
    if machine.kernel.mitigations.values().any(untrained) {
        &[
            WHAT,
            "Likely cause: the branch predictor. This kernel untrains predicted returns (mitigation Safe RET), and code with many \
             returns takes longer at the upper level.",
            "What helps: fewer calls with longer work each (io_uring, larger blocks); on a machine that runs only trusted code, \
             spec_rstack_overflow=off or retbleed=off at boot. Compare such a cost level with level, as howslow does.",
        ]
    } else {
        &[
            WHAT,
            "Likely cause: the branch predictor or another part of the core that learns. Nothing that this machine says of itself \
             tells which.",
        ]
    }
}
