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
