//! `rsx`: the price list of the system directives of RSX, and its sentences, beside Linux.

mod messages;

use record::FixedPoint;
use record::Value::{Number, Word};

use super::claims::{Claim, Pair, Test};
use super::definition::Study;
use super::price_list::{self, PriceRow, PriceTable};
use crate::derived::{DERIVATIONS, Part, Route, cost};

/// The study.
pub(super) const RSX: Study = Study {
    name: "rsx",
    title: "How Fast (Slow) Is RSX?",
    legend: messages::LEGEND,
    books: &["pdp-11-24"],
    parts,
    seconds: 60.0,
    rounds: None,
    more: None,
    users: None,
    computed: None,
    curves: Some(messages::curves),
    printed: || rows().map(|row| row.paper.to_string()).collect(),
    tables: |paper, run| price_list::tables(TABLES, &BLOCK, paper, run),
    claims: CLAIMS,
};

fn rows() -> impl Iterator<Item = &'static PriceRow> {
    TABLES.iter().flat_map(|table| table.rows)
}

/// The unit, the costs of the tables, and the parts of derived costs.
fn parts() -> Vec<&'static Part> {
    let derived = DERIVATIONS.iter().flat_map(|derivation| derivation.routes);
    let routes = rows().flat_map(|row| row.here).chain(derived);
    std::iter::once(&BLOCK).chain(routes.flat_map(Route::parts).map(|(_, part)| part)).collect()
}

const BLOCK: Part = cost("memory.copy").at(&[("size", Number(512))]);

const SMALL: FixedPoint = &[("size", Number(26))];
const LARGE: FixedPoint = &[("size", Number(512))];
const TEN: FixedPoint = &[("descriptors", Number(10))];
const ONE: FixedPoint = &[("descriptors", Number(1))];
const PAGE: FixedPoint = &[("size", Number(4096))];

const FLAG: Part = cost("flag.set").at(&[("scope", Word("private"))]);
const SHARED_FLAG: Part = cost("flag.set").at(&[("scope", Word("shared"))]);
const EVENT: Part = cost("flag.set").at(&[("scope", Word("event"))]);
const WAIT_ONE: Part = cost("poll.poll").at(ONE);
const WAIT_ANY: Part = cost("poll.poll").at(TEN);
const MAPPING: Part = cost("page.map.unmap").at(PAGE);
const ITSELF: Part = cost("pipe.self").at(SMALL);
const ITSELF_LARGE: Part = cost("pipe.self").at(LARGE);
const SIGNAL: Route = DERIVATIONS[0].routes[0];
const SIGNAL_BY_READ: Route = DERIVATIONS[0].routes[1];
const SIGNAL_BY_MESSAGE: Route = DERIVATIONS[0].routes[2];
const SWITCH: Route = DERIVATIONS[1].routes[0];
const SWITCH_BY_YIELD: Route = DERIVATIONS[1].routes[1];
const SWITCH_IN_RING: Route = DERIVATIONS[1].routes[2];
const TWO_TASKS: Part = cost("pipe.roundtrip").at(&[("size", Number(26)), ("distance", Word("same"))]);

/// A message to a partner on the same CPU that is woken in this way, and the answer: of 13 words, or with another id of
/// 256.
macro_rules! woken {
    ($how:literal) => {
        woken!("pipe.woken", $how)
    };
    ($id:literal, $how:literal) => {
        cost($id).at(&[("distance", Word("same")), ("woken", Word($how))])
    };
}

const WOKEN_BLOCKED: Part = woken!("blocking");
const WOKEN_POLL: Part = woken!("poll");
const WOKEN_SIGNAL: Part = woken!("signal");
const WOKEN_STARTED: Part = woken!("start");
const LARGE_POLL: Part = woken!("pipe.woken.block", "poll");
const LARGE_SIGNAL: Part = woken!("pipe.woken.block", "signal");
const LARGE_STARTED: Part = woken!("pipe.woken.block", "start");
const LARGE_TO_OTHER: Part = cost("pipe.roundtrip").at(&[("size", Number(512)), ("distance", Word("same"))]);
const RING: Part = cost("async.read.ring").at(&[("batch", Number(1))]);

const fn row(paper: &'static str, here: &'static [Route]) -> PriceRow {
    PriceRow { paper, here }
}

const fn table(title: &'static str, rows: &'static [PriceRow]) -> PriceTable {
    PriceTable { title, payload: false, rows }
}

const fn messages(title: &'static str, rows: &'static [PriceRow]) -> PriceTable {
    PriceTable { title, payload: true, rows }
}

const TABLES: &[PriceTable] = &[
    table(
        "baseline",
        &[
            row("rsx.null", &[Route::of(&[cost("loop.empty")])]),
            row("rsx.block.move", &[Route::of(&[BLOCK])]),
            row("rsx.gssw", &[Route::of(&[cost("syscall.getppid")])]),
        ],
    ),
    table(
        "event flags",
        &[
            row("rsx.setf", &[Route::of(&[FLAG])]),
            row("rsx.clef", &[Route::of(&[cost("flag.clear")])]),
            row("rsx.rdef", &[Route::of(&[cost("flag.read")])]),
        ],
    ),
    table(
        "whose flags",
        &[
            row("rsx.setf", &[Route::of(&[FLAG])]),
            row("rsx.setf.global", &[Route::of(&[SHARED_FLAG])]),
            row("rsx.setf.group", &[Route::of(&[EVENT])]),
        ],
    ),
    table(
        "waiting for set flags",
        &[
            row(
                "rsx.wtlo",
                &[
                    Route::of(&[WAIT_ANY]),
                    Route::of(&[cost("poll.epoll").at(TEN)]),
                    Route::of(&[cost("call.futex_waitv")]),
                ],
            ),
            row("rsx.wtse", &[Route::of(&[WAIT_ONE]), Route::of(&[cost("call.futex")])]),
            row("rsx.stse", &[Route::of(&[cost("signal.receive.sigsuspend")])]),
        ],
    ),
    table(
        "pairs",
        &[
            row("rsx.encp.dscp", &[Route::of(&[cost("pair.lock.memory")])]),
            row("rsx.enar.dsar", &[Route::of(&[cost("signal.block.unblock")])]),
        ],
    ),
    table(
        "queued input and output",
        &[
            row(
                "rsx.qio.wtse",
                &[Route::of(&[cost("async.read.linux")]), Route::of(&[RING]), Route::of(&[cost("async.read.posix")])],
            ),
            row("rsx.qiow", &[Route::of(&[cost("async.read.plain")]), Route::of(&[cost("syscall.read.null")])]),
        ],
    ),
    table(
        "parsing names",
        &[
            row("rsx.pfcs", &[Route::of(&[cost("syscall.stat")])]),
            row("rsx.prms", &[Route::of(&[cost("syscall.open.close")])]),
        ],
    ),
    table(
        "mapping",
        &[
            row("rsx.map", &[Route::of(&[MAPPING])]),
            row("rsx.map.fast", &[Route::of(&[cost("call.remap_file_pages")]), Route::of(&[cost("call.madvise")])]),
            row("rsx.map.fast.length", &[Route::of(&[cost("call.mremap")])]),
        ],
    ),
    messages(
        "messages to oneself",
        &[row("rsx.self.13", &[Route::of(&[ITSELF])]), row("rsx.self.256", &[Route::of(&[ITSELF_LARGE])])],
    ),
    messages(
        "messages to a partner",
        &[
            row("rsx.send.13.flag", &[Route::of(&[WOKEN_POLL])]),
            row("rsx.send.13.ast", &[Route::of(&[WOKEN_SIGNAL])]),
            row("rsx.send.13.stop", &[Route::of(&[WOKEN_BLOCKED])]),
            row("rsx.send.13.exit", &[Route::of(&[WOKEN_STARTED])]),
            row("rsx.send.256.flag", &[Route::of(&[LARGE_POLL])]),
            row("rsx.send.256.ast", &[Route::of(&[LARGE_SIGNAL])]),
            row("rsx.send.256.stop", &[Route::of(&[LARGE_TO_OTHER])]),
            row("rsx.send.256.exit", &[Route::of(&[LARGE_STARTED])]),
        ],
    ),
    table(
        "AST and signal",
        &[
            row("rsx.qiow.ast", &[Route::of(&[cost("async.read.signal")])]),
            row("rsx.qiow", &[Route::of(&[cost("async.read.plain")])]),
            row("rsx.ast.qiow", &[SIGNAL_BY_READ, SIGNAL]),
            row("rsx.self.13.ast", &[]),
            row("rsx.self.13", &[Route::of(&[ITSELF])]),
            row("rsx.ast.send", &[SIGNAL_BY_MESSAGE]),
        ],
    ),
    table(
        "context switch",
        &[
            row("rsx.send.2", &[Route::of(&[TWO_TASKS])]),
            row("rsx.send.1", &[Route::of(&[ITSELF.times(2.0)])]),
            row("rsx.switch", &[SWITCH, SWITCH_BY_YIELD, SWITCH_IN_RING]),
        ],
    ),
];

const NOTHING: Route = Route::of(&[]);
const UNIT: Route = Route::of(&[BLOCK]);
const UNIT_THERE: Route = Route::of(&[cost("rsx.block.move")]);
const AST: Route = Route { name: "AST", plus: &[cost("rsx.qiow.ast")], minus: &[cost("rsx.qiow")], divide_by: 1.0 };
const AST_BY_SEND: Route =
    Route { name: "AST by SDAT/RCVD", plus: &[cost("rsx.self.13.ast")], minus: &[cost("rsx.self.13")], divide_by: 1.0 };

/// Two measured costs.
macro_rules! pair {
    ($one:expr, $other:expr) => {
        Pair { one: Route::of(&[$one]), other: Route::of(&[$other]) }
    };
}

/// One measured cost and the load it makes.
macro_rules! load {
    ($one:expr) => {
        Pair { one: Route::of(&[$one]), other: NOTHING }
    };
}

/// Cost per byte of a message.
macro_rules! per_byte {
    ($part:expr, $bytes:literal) => {
        Route { name: "", plus: &[$part], minus: &[], divide_by: $bytes }
    };
}

const CLAIMS: &[Claim] = &[
    Claim {
        claim: "The test loop takes less than 2 % of the fastest directive",
        test: Test::Below(0.02),
        there: pair!(cost("rsx.null"), cost("rsx.gssw")),
        here: &[pair!(cost("loop.empty"), cost("syscall.getppid"))],
        note: "",
    },
    Claim {
        claim: "What every directive has in common costs about a third of a block move",
        test: Test::Between(0.25, 0.42),
        there: pair!(cost("rsx.gssw"), cost("rsx.block.move")),
        here: &[pair!(cost("syscall.getppid"), BLOCK)],
        note: "",
    },
    Claim {
        claim: "A flag of all tasks takes less than a tenth longer to set than one of a task's own",
        test: Test::Below(1.1),
        there: pair!(cost("rsx.setf.global"), cost("rsx.setf")),
        here: &[pair!(SHARED_FLAG, FLAG)],
        note: "a futex nobody waits at, shared between processes, against one private to the process",
    },
    Claim {
        claim: "A flag of a group of tasks takes more than a tenth longer to set than one of a task's own",
        test: Test::Above(1.1),
        there: pair!(cost("rsx.setf.group"), cost("rsx.setf")),
        here: &[pair!(EVENT, FLAG)],
        note: "an event descriptor, which only those that were given it can use, against a private futex",
    },
    Claim {
        claim: "Waiting for any of several flags takes less time than waiting for one",
        test: Test::Below(1.0),
        there: pair!(cost("rsx.wtlo"), cost("rsx.wtse")),
        here: &[
            pair!(WAIT_ANY, WAIT_ONE),
            pair!(cost("poll.epoll").at(TEN), WAIT_ONE),
            pair!(cost("call.futex_waitv"), cost("call.futex")),
        ],
        note: "ten event descriptors of which the last is ready, against one that is",
    },
    Claim {
        claim: "Stopping takes longer than waiting",
        test: Test::Above(1.0),
        there: pair!(cost("rsx.stse"), cost("rsx.wtse")),
        here: &[pair!(cost("signal.receive.sigsuspend"), WAIT_ONE)],
        note: "a stopped task stands still until it is called; the nearest here is rt_sigsuspend, whose signal is part \
               of its cost",
    },
    Claim {
        claim: "Asking for input and waiting for it in one call takes less time than in two",
        test: Test::Below(1.0),
        there: pair!(cost("rsx.qiow"), cost("rsx.qio.wtse")),
        here: &[pair!(cost("async.read.plain"), cost("async.read.linux")), pair!(cost("async.read.plain"), RING)],
        note: "",
    },
    Claim {
        claim: "A null read costs more than four times what setting a flag costs",
        test: Test::Above(4.0),
        there: pair!(cost("rsx.qiow"), cost("rsx.setf")),
        here: &[pair!(cost("syscall.read.null"), FLAG)],
        note: "",
    },
    Claim {
        claim: "Moving a window takes less time than mapping anew",
        test: Test::Below(1.0),
        there: pair!(cost("rsx.map.fast"), cost("rsx.map")),
        here: &[pair!(cost("call.remap_file_pages"), MAPPING), pair!(cost("call.madvise"), MAPPING)],
        note: "mapping anew is mmap and munmap of a page",
    },
    Claim {
        claim: "Moving a window and changing its length takes less time than mapping anew",
        test: Test::Below(1.0),
        there: pair!(cost("rsx.map.fast.length"), cost("rsx.map")),
        here: &[pair!(cost("call.mremap"), MAPPING)],
        note: "",
    },
    Claim {
        claim: "256 words take about twice as long as 13 words",
        test: Test::Between(1.5, 2.5),
        there: pair!(cost("rsx.self.256"), cost("rsx.self.13")),
        here: &[pair!(ITSELF_LARGE, ITSELF)],
        note: "",
    },
    Claim {
        claim: "256 words cost less per byte than 13 words",
        test: Test::Below(1.0),
        there: Pair { one: per_byte!(cost("rsx.self.256"), 512.0), other: per_byte!(cost("rsx.self.13"), 26.0) },
        here: &[Pair { one: per_byte!(ITSELF_LARGE, 512.0), other: per_byte!(ITSELF, 26.0) }],
        note: "",
    },
    Claim {
        claim: "Waking a receiver by an AST costs the same as by a flag",
        test: Test::Between(0.95, 1.05),
        there: pair!(cost("rsx.send.13.ast"), cost("rsx.send.13.flag")),
        here: &[pair!(WOKEN_SIGNAL, WOKEN_POLL)],
        note: "a receiver interrupted by a signal against one in poll",
    },
    Claim {
        claim: "A receiver that stops takes longer to wake than one that waits for a flag",
        test: Test::Above(1.0),
        there: pair!(cost("rsx.send.13.stop"), cost("rsx.send.13.flag")),
        here: &[pair!(WOKEN_BLOCKED, WOKEN_POLL)],
        note: "a receiver asleep in read, which needs no second call to find no more, against one in poll",
    },
    Claim {
        claim: "Starting a task for a message and letting it exit costs half as much again as waking it",
        test: Test::Above(1.5),
        there: pair!(cost("rsx.send.13.exit"), cost("rsx.send.13.flag")),
        here: &[pair!(WOKEN_STARTED, WOKEN_POLL)],
        note: "",
    },
    Claim {
        claim: "Processing an AST costs about one block move",
        test: Test::Between(0.8, 1.25),
        there: Pair { one: AST, other: UNIT_THERE },
        here: &[Pair { one: SIGNAL, other: UNIT }],
        note: "",
    },
    Claim {
        claim: "Two routes to the cost of an AST agree",
        test: Test::Between(0.8, 1.25),
        there: Pair { one: AST_BY_SEND, other: AST },
        here: &[Pair { one: SIGNAL_BY_READ, other: SIGNAL }, Pair { one: SIGNAL_BY_MESSAGE, other: SIGNAL }],
        note: "",
    },
    Claim {
        claim: "A context switch costs about one block move",
        test: Test::Between(0.8, 1.25),
        there: pair!(cost("rsx.switch"), cost("rsx.block.move")),
        here: &[Pair { one: SWITCH, other: UNIT }],
        note: "",
    },
    Claim {
        claim: "A pair in a loop that runs 300 times a second takes more than 1 % of the CPU",
        test: Test::Load { per_second: 300.0, share: 0.01 },
        there: load!(cost("rsx.encp.dscp")),
        here: &[load!(cost("signal.block.unblock")), load!(cost("pair.lock.memory"))],
        note: "the loop that began the paper made 300 directives, half as many pairs",
    },
    Claim {
        claim: "800 directives a second are a substantial load, more than 8 % of the CPU",
        test: Test::Load { per_second: 800.0, share: 0.08 },
        there: load!(cost("rsx.setf")),
        here: &[load!(FLAG)],
        note: "8 % is what the paper would have called insignificant",
    },
    Claim {
        claim: "100 context switches a second take more than 1 % of the CPU",
        test: Test::Load { per_second: 100.0, share: 0.01 },
        there: load!(cost("rsx.switch")),
        here: &[Pair { one: SWITCH, other: NOTHING }],
        note: "",
    },
];

#[cfg(test)]
mod tests;
