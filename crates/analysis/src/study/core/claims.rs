//! The paper's sentences as tests.

use super::here;
use crate::derived::{Part, Route, cost};
use crate::study::claims::{Claim, Pair, Test};

/// Two sums of costs of the paper.
macro_rules! pair {
    ($one:expr, $other:expr) => {
        Pair { one: Route::of($one), other: Route::of($other) }
    };
}

/// Costs with names for a page.
macro_rules! named {
    ($name:literal, $($id:literal),+) => {
        Route { name: $name, ..Route::of(&[$(cost($id)),+]) }
    };
}

const CPU_97: Part = cost("core.mpm97.cpu");
const CPU_98: Part = cost("core.mpm98.cpu");
const CPU_103: Part = cost("core.mpm103.cpu");
const CPU_102: Part = cost("core.mpm102.cpu");
const FAULTS_NOTE: &str = "totals of 66 interactions, a page fault standing as 1 ms";
const SHARE_NOTE: &str = "shares stand as milliseconds of each second; they are printed as whole percents";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        claim: "With half as much memory again, the time between page faults grows 1.5 to 2 times, 6.0 system",
        test: Test::Between(1.5, 2.0),
        there: Pair {
            one: named!(
                "the three depths of MPM98",
                "core.mpm98.between.1",
                "core.mpm98.between.2",
                "core.mpm98.between.3"
            ),
            other: named!("of MPM97", "core.mpm97.between.1", "core.mpm97.between.2", "core.mpm97.between.3"),
        },
        here: here::MEMORY_BETWEEN,
        note: "",
    },
    Claim {
        claim: "The same, 7.3b system",
        test: Test::Between(1.5, 2.0),
        there: Pair {
            one: named!(
                "the three depths of MPM102",
                "core.mpm102.between.1",
                "core.mpm102.between.2",
                "core.mpm102.between.3"
            ),
            other: named!("of MPM103", "core.mpm103.between.1", "core.mpm103.between.2", "core.mpm103.between.3"),
        },
        here: here::MEMORY_BETWEEN,
        note: "",
    },
    Claim {
        claim: "With more memory page faults fall to 61 to 65 %, 6.0 system",
        test: Test::Between(0.605, 0.655),
        there: pair!(&[cost("core.mpm98.faults")], &[cost("core.mpm97.faults")]),
        here: here::MEMORY_FAULTS,
        note: FAULTS_NOTE,
    },
    Claim {
        claim: "The same, 7.3b system",
        test: Test::Between(0.605, 0.655),
        there: pair!(&[cost("core.mpm102.faults")], &[cost("core.mpm103.faults")]),
        here: here::MEMORY_FAULTS,
        note: FAULTS_NOTE,
    },
    Claim {
        claim: "Drum traffic falls by 40 to 50 %",
        test: Test::Between(0.495, 0.605),
        there: Pair {
            one: named!("MPM98 and MPM102", "core.mpm98.drum", "core.mpm102.drum"),
            other: named!("MPM97 and MPM103", "core.mpm97.drum", "core.mpm103.drum"),
        },
        here: &[],
        note: SHARE_NOTE,
    },
    Claim {
        claim: "Disk traffic falls by about 30 %",
        test: Test::Between(0.65, 0.75),
        there: Pair {
            one: named!("MPM98 and MPM102", "core.mpm98.disk", "core.mpm102.disk"),
            other: named!("MPM97 and MPM103", "core.mpm97.disk", "core.mpm103.disk"),
        },
        here: &[],
        note: SHARE_NOTE,
    },
    Claim {
        claim: "Multiprogramming idle falls to less than half",
        test: Test::Below(0.5),
        there: Pair {
            one: named!("MPM98 and MPM102", "core.mpm98.idle", "core.mpm102.idle"),
            other: named!("MPM97 and MPM103", "core.mpm97.idle", "core.mpm103.idle"),
        },
        here: here::MEMORY_IDLE,
        note: "the paper says drastically; shares stand as milliseconds of each second",
    },
    Claim {
        claim: "A model predicts the multiprogramming idle of 384 K words from the page faults, within 2.5 points",
        test: Test::Below(1.0),
        there: Pair {
            one: named!("the larger miss of MPM98 and MPM102", "core.model.miss.384"),
            other: named!("2.5 points", "core.model.near"),
        },
        here: here::MODEL_IDLE,
        note: "with the page wait fitted on MPM97; the interval holds what the rounding of all figures leaves open",
    },
    Claim {
        claim: "The same for 256 K words and the fast page-fault handler",
        test: Test::Below(1.0),
        there: Pair {
            one: named!("the miss of MPM103", "core.model.miss.256"),
            other: named!("2.5 points", "core.model.near"),
        },
        here: &[],
        note: "",
    },
    Claim {
        claim: "CPU time of an interaction falls by 22 %, 6.0 system",
        test: Test::Between(0.775, 0.785),
        there: pair!(&[CPU_98], &[CPU_97]),
        here: here::MEMORY_CPU,
        note: "",
    },
    Claim {
        claim: "It falls by 18 %, 7.3b system",
        test: Test::Between(0.815, 0.825),
        there: pair!(&[CPU_102], &[CPU_103]),
        here: here::MEMORY_CPU,
        note: "",
    },
    Claim {
        claim: "A constant time of fault handling explains the decrease of CPU time, 6.0 system",
        test: Test::Between(0.8, 1.25),
        there: Pair {
            one: named!("faults saved x 8 ms", "core.explained.6.0"),
            other: Route { name: "CPU time saved", plus: &[CPU_97], minus: &[CPU_98], divide_by: 1.0 },
        },
        here: here::EXPLAINED_CPU,
        note: "within a fifth; the paper says that the effect may be easily predicted",
    },
    Claim {
        claim: "The same, 7.3b system",
        test: Test::Between(0.8, 1.25),
        there: Pair {
            one: named!("faults saved x 4 ms", "core.explained.7.3b"),
            other: Route { name: "CPU time saved", plus: &[CPU_103], minus: &[CPU_102], divide_by: 1.0 },
        },
        here: &[],
        note: "4 ms are printed with one digit, which leaves 3.5 to 4.5 open",
    },
    Claim {
        claim: "The mean response falls by about half",
        test: Test::Between(0.4, 0.6),
        there: pair!(
            &[cost("core.mpm98.response"), cost("core.mpm102.response")],
            &[cost("core.mpm97.response"), cost("core.mpm103.response")]
        ),
        here: here::MEMORY_RESPONSE,
        note: "both systems together: by 42 % on 6.0, by 57 % on 7.3b",
    },
    Claim {
        claim: "Every compilation answers sooner with more memory",
        test: Test::Below(1.0),
        there: pair!(&[cost("core.fortran.384")], &[cost("core.fortran.256")]),
        here: &[],
        note: "6 to 27 s against 45 to 86 s",
    },
    Claim {
        claim: "The fast page-fault handler shortens the time between page faults",
        test: Test::Below(1.0),
        there: Pair {
            one: named!(
                "the three depths of MPM103",
                "core.mpm103.between.1",
                "core.mpm103.between.2",
                "core.mpm103.between.3"
            ),
            other: named!("of MPM97", "core.mpm97.between.1", "core.mpm97.between.2", "core.mpm97.between.3"),
        },
        here: &[],
        note: "that time contains the handling: 4 ms less of 8",
    },
    Claim {
        claim: "It does not change the number of page faults",
        test: Test::Between(0.95, 1.05),
        there: pair!(&[cost("core.mpm103.faults")], &[cost("core.mpm97.faults")]),
        here: &[],
        note: FAULTS_NOTE,
    },
    Claim {
        claim: "A second CPU makes an interaction use more CPU time",
        test: Test::Above(1.0),
        there: pair!(&[cost("core.mpm101.cpu")], &[CPU_102]),
        here: here::CPUS_CPU,
        note: "interference at the memory; 23 users against 27, and system 7.1b against 7.3b",
    },
    Claim {
        claim: "A second CPU shortens the response",
        test: Test::Below(1.0),
        there: pair!(&[cost("core.mpm101.response")], &[cost("core.mpm102.response")]),
        here: here::CPUS_RESPONSE,
        note: "the paper says slightly, since the second CPU computes nothing while all wait for pages",
    },
];
