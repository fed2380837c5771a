//! What the study shows beside its tables: the paper's words, and messages of both sizes as rates, then and now.

use record::Run;
use record::Value::{Number, Word};

use crate::derived::{Part, cost, net};
use crate::statistics::Interval;
use crate::study::definition::Paper;
use crate::study::table::{Curve, Curves};

/// The words of the paper.
pub(super) const LEGEND: &[(&str, &str)] = &[
    ("bm", "a block move: copying 512 bytes, the unit of every cost"),
    ("directive", "a request to the executive; here a system call"),
    ("GSSW", "get the sense switches, the directive that does next to nothing; here getppid"),
    ("AST", "an asynchronous system trap: a task is interrupted by a handler of its own; here a signal"),
    ("SETF, CLEF, RDEF", "set, clear and read an event flag"),
    ("WTSE, WTLO, STSE", "wait for a flag, for any of several, stop until one is set; here the flag is set already"),
    ("ENCP/DSCP", "allow and forbid that the task is checkpointed, which is swapping it out"),
    ("ENAR/DSAR", "allow and forbid that ASTs are recognized"),
    ("QIO, QIOW", "ask for input or output; the same and wait"),
    ("PFCS, PRMS", "parse a file's name, by the rules of two file systems"),
    ("MAP", "move a window of the address space to another part of a region"),
    ("SDAT, RCVD", "send 13 words to a task; receive them. VSDA, VRCD: up to 256 words"),
    ("RCST, VRCS", "receive, or stop if there is nothing"),
    ("SDRC, RCVX", "send and start the receiver; receive, or exit if there is nothing. VSRC, VRCX: up to 256 words"),
];

/// Bytes of 13 and of 256 words.
const SIZES: [u64; 2] = [26, 512];

/// A curve here and the one there: the costs of both sizes.
struct CurvePair {
    there: (&'static str, [&'static str; 2]),
    here: (&'static str, [Part; 2]),
}

const ITSELF: Part = cost("pipe.self").at(&[("size", Number(26))]);
const ITSELF_LARGE: Part = cost("pipe.self").at(&[("size", Number(512))]);
const WOKEN_POLL: Part = cost("pipe.woken").at(&[("distance", Word("same")), ("woken", Word("poll"))]);
const LARGE_POLL: Part = cost("pipe.woken.block").at(&[("distance", Word("same")), ("woken", Word("poll"))]);

const MESSAGES: &[CurvePair] = &[
    CurvePair {
        there: ("then, to oneself", ["rsx.self.13", "rsx.self.256"]),
        here: ("now, to oneself (pipe)", [ITSELF, ITSELF_LARGE]),
    },
    CurvePair {
        there: ("then, to a waiting task", ["rsx.send.13.flag", "rsx.send.256.flag"]),
        here: ("now, to a task in poll", [WOKEN_POLL, LARGE_POLL]),
    },
];

/// The bytes a second of messages, by their size.
pub(super) fn curves(paper: &Paper, run: &Run) -> Vec<Curves> {
    let curve = |name: &'static str, costs: [Option<Interval>; 2]| {
        let points = SIZES.iter().zip(costs).filter_map(|(size, cost)| Some((*size, rate(*size, cost?))));
        Curve { name, points: points.collect() }
    };
    let curves = MESSAGES.iter().flat_map(|pair| {
        let (there, printed) = &pair.there;
        let (here, parts) = &pair.here;
        let measured = [&parts[0], &parts[1]].map(|part| part.find(run).map(net));
        [curve(there, printed.map(|id| paper.cost(id))), curve(here, measured)]
    });
    let title = "Messages: bytes a second, by bytes of a message, then and now".into();
    vec![Curves { name: "rsx-messages", title, curves: curves.collect() }]
}

fn rate(size: u64, cost: Interval) -> Interval {
    let each = |ns: f64| size as f64 * 1e9 / ns;
    Interval { value: each(cost.value), low: each(cost.high), high: each(cost.low) }
}
