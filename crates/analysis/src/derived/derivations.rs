//! The derived costs and their routes: data only.

use record::Value;

use super::route::{Derivation, Route, cost};

const SMALL_SAME: &[(&str, Value<&str>)] = &[("size", Value::Number(26)), ("distance", Value::Word("same"))];
const SMALL_OTHER: &[(&str, Value<&str>)] = &[("size", Value::Number(26)), ("distance", Value::Word("other"))];
const SMALL: &[(&str, Value<&str>)] = &[("size", Value::Number(26))];
const SAME: &[(&str, Value<&str>)] = &[("distance", Value::Word("same"))];
const OTHER: &[(&str, Value<&str>)] = &[("distance", Value::Word("other"))];
const POLLED: &[(&str, Value<&str>)] = &[("distance", Value::Word("same")), ("woken", Value::Word("poll"))];
const SIGNALLED: &[(&str, Value<&str>)] = &[("distance", Value::Word("same")), ("woken", Value::Word("signal"))];

const NO_SET: &[(&str, Value<&str>)] = &[("set", Value::Number(0))];

/// The derivation of a refill, from the switches with this set.
macro_rules! refill {
    ($name:literal, $set:literal) => {
        Derivation {
            name: $name,
            routes: &[
                Route {
                    name: "switch to a process with the set, less to one without",
                    plus: &[cost("switch.process").at(&[("set", Value::Word($set))])],
                    minus: &[cost("switch.process").at(NO_SET)],
                    divide_by: 1.0,
                },
                Route {
                    name: "switch to a thread with the set, less to one without",
                    plus: &[cost("switch.thread").at(&[("set", Value::Word($set))])],
                    minus: &[cost("switch.thread").at(NO_SET)],
                    divide_by: 1.0,
                },
            ],
        }
    };
}

/// The name of the derived cost of signal delivery.
pub const SIGNAL: &str = "signal delivery";
/// The name of the derived cost of a context switch.
pub const SWITCH: &str = "context switch";

/// The costs derived from howslow's own operations.
pub const DERIVATIONS: &[Derivation] = &[
    Derivation {
        name: SIGNAL,
        routes: &[
            Route {
                name: "a signal that is handled, less one that is ignored",
                plus: &[cost("signal.deliver")],
                minus: &[cost("signal.ignored")],
                divide_by: 1.0,
            },
            Route {
                name: "a queued read that a signal completes, less the same waited for",
                plus: &[cost("async.read.signal")],
                minus: &[cost("async.read.posix")],
                divide_by: 1.0,
            },
            Route {
                name: "a message whose receiver a signal wakes, less one that waits in poll",
                plus: &[cost("pipe.woken").at(SIGNALLED)],
                minus: &[cost("pipe.woken").at(POLLED)],
                divide_by: 1.0,
            },
        ],
    },
    Derivation {
        name: SWITCH,
        routes: &[
            Route {
                name: "a message to another task and back, less two to oneself",
                plus: &[cost("pipe.roundtrip").at(SMALL_SAME)],
                minus: &[cost("pipe.self").at(SMALL).times(2.0)],
                // There and back.
                divide_by: 2.0,
            },
            Route {
                name: "ring of two that yield, less the call that yields to nobody",
                plus: &[cost("switch.yield")],
                minus: &[cost("call.sched_yield")],
                divide_by: 1.0,
            },
            Route {
                name: "ring of two through pipes, less the work of one alone",
                plus: &[cost("switch.process").at(&[("set", Value::Number(0))])],
                minus: &[],
                divide_by: 1.0,
            },
        ],
    },
    Derivation {
        name: "wake-up on another CPU, beyond a switch on the same",
        routes: &[
            Route {
                name: "message through pipes to a task on another CPU, less to one on the same",
                plus: &[cost("pipe.roundtrip").at(SMALL_OTHER)],
                minus: &[cost("pipe.roundtrip").at(SMALL_SAME)],
                divide_by: 2.0,
            },
            Route {
                name: "event to a task on another CPU, less to one on the same",
                plus: &[cost("eventfd.roundtrip").at(OTHER)],
                minus: &[cost("eventfd.roundtrip").at(SAME)],
                divide_by: 2.0,
            },
            Route {
                name: "shared word to a task on another CPU, less to one on the same",
                plus: &[cost("futex.roundtrip").at(OTHER)],
                minus: &[cost("futex.roundtrip").at(SAME)],
                divide_by: 2.0,
            },
        ],
    },
];

/// What a switch costs beyond itself, because the next task finds its working set gone from the caches: by size of the
/// set. Both routes subtract the same walk over the set without a switch (`switch.work`, a term of each cost), and the
/// switch without a set.
pub const REFILLS: &[Derivation] = &[
    refill!("refill of half the first cache after a switch", "half-l1"),
    refill!("refill of three quarters of the first cache after a switch", "most-l1"),
    refill!("refill of half the second cache after a switch", "half-l2"),
    refill!("refill of three quarters of the second cache after a switch", "most-l2"),
    refill!("refill of a set as large as the second cache after a switch", "all-l2"),
    refill!("refill of a set twice as large as the second cache after a switch", "twice-l2"),
    refill!("refill of a quarter of the third cache after a switch", "quarter-l3"),
];

/// The costs that the paper derived from its own directives.
pub const RSX_DERIVATIONS: &[Derivation] = &[
    Derivation {
        name: "AST processing",
        routes: &[
            Route {
                name: "read of the null device with an AST, less without",
                plus: &[cost("rsx.qiow.ast")],
                minus: &[cost("rsx.qiow")],
                divide_by: 1.0,
            },
            Route {
                name: "message to oneself with an AST, less without",
                plus: &[cost("rsx.self.13.ast")],
                minus: &[cost("rsx.self.13")],
                divide_by: 1.0,
            },
        ],
    },
    Derivation {
        name: SWITCH,
        routes: &[Route {
            name: "send and receives in two tasks, less in one",
            plus: &[cost("rsx.send.2")],
            minus: &[cost("rsx.send.1")],
            divide_by: 1.0,
        }],
    },
];
