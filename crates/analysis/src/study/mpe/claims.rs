//! The paper's sentences as tests.

use super::beside::{CRATE, KEYED_HERE, LIBRARY, PLAIN_HERE};
use super::modes::{convert, keyed, read};
use super::points::{LARGE, LARGE_NEAR, SMALL, SMALL_NEAR};
use crate::derived::{Part, Route, cost};
use crate::study::claims::{Claim, Pair, Test};

/// Two measured costs.
macro_rules! pair {
    ($one:expr, $other:expr) => {
        Pair { one: Route::of(&[$one]), other: Route::of(&[$other]) }
    };
}

const SL_MAPPED: Part = cost("mpe.sl.mapped");
const SL_READ: Part = cost("mpe.sl.fread");
const SL_TUNED: Part = cost("mpe.sl.mapped.tuned");
const CATALOG_READ: Part = cost("mpe.catalog.nm.fread");

const MAPPED: Part = cost("read.mmap").at(LARGE.in_order);
const PAGED: Part = cost("read.mmap.random").at(LARGE.plain);
const AHEAD: Part = cost("read.mmap.ahead").at(LARGE.ahead);
const READ: Part = cost("read.read").at(LARGE.in_order);
const BY_NUMBER: Part = cost("read.pread").at(LARGE.in_order);
const ASKED: Part = cost("read.readahead").at(LARGE_NEAR);
const ADVISED: Part = cost("read.fadvise.ahead").at(LARGE_NEAR);

const WARM_MAPPED: Part = cost("read.mmap.kept").at(SMALL.plain);
const WARM_MAPPED_ANEW: Part = cost("read.mmap").at(SMALL.in_order);
const WARM_READ: Part = cost("read.read").at(SMALL.in_order);
const WARM_BY_NUMBER: Part = cost("read.pread").at(SMALL.in_order);
const WARM_ASKED: Part = cost("read.readahead").at(SMALL_NEAR);

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        claim: "A mapped file takes more than twice as long as Fread where it is not in memory",
        test: Test::Above(2.0),
        there: pair!(SL_MAPPED, SL_READ),
        here: &[pair!(MAPPED, READ), pair!(PAGED, READ)],
        note: "a fault of MPE read one page; read.mmap.random is told to, read.mmap reads around",
    },
    Claim {
        claim: "A mapped file takes less than a fifth of Fread's time where it is in memory",
        test: Test::Below(0.2),
        there: pair!(cost("mpe.catalog.nm.mapped"), CATALOG_READ),
        here: &[pair!(WARM_MAPPED, WARM_READ), pair!(WARM_MAPPED_ANEW, WARM_READ)],
        note: "through a mapping that stays; also mapped anew for each pass",
    },
    Claim {
        claim: "A mapped file that is not in memory is mostly waited for",
        test: Test::Above(0.5),
        there: pair!(SL_MAPPED.waiting(), SL_MAPPED),
        here: &[pair!(MAPPED.waiting(), MAPPED), pair!(PAGED.waiting(), PAGED)],
        note: "delta against elapsed time",
    },
    Claim {
        claim: "Fread takes more processor time than the mapped file even out of memory",
        test: Test::Above(1.5),
        there: pair!(SL_READ.processor(), SL_MAPPED.processor()),
        here: &[pair!(READ.processor(), MAPPED.processor()), pair!(READ.processor(), PAGED.processor())],
        note: "",
    },
    Claim {
        claim: "FreadDir is faster than Fread",
        test: Test::Below(1.0),
        there: pair!(cost("mpe.sl.freaddir"), SL_READ),
        here: &[pair!(BY_NUMBER, READ), pair!(WARM_BY_NUMBER, WARM_READ)],
        note: "pread against read; also in memory",
    },
    Claim {
        claim: "Prefetch without tuning costs processor time",
        test: Test::Above(1.0),
        there: pair!(cost("mpe.sl.freaddir.seek").processor(), cost("mpe.sl.freaddir").processor()),
        here: &[pair!(ASKED.processor(), BY_NUMBER.processor()), pair!(ADVISED.processor(), BY_NUMBER.processor())],
        note: "four records ahead",
    },
    Claim {
        claim: "Prefetch without tuning does not help",
        test: Test::Above(1.0),
        there: pair!(cost("mpe.sl.freaddir.seek"), cost("mpe.sl.freaddir")),
        here: &[pair!(ASKED, BY_NUMBER), pair!(ADVISED, BY_NUMBER)],
        note: "four records ahead, elapsed",
    },
    Claim {
        claim: "Prefetch costs more than a tenth where the data are in memory",
        test: Test::Above(1.1),
        there: pair!(cost("mpe.catalog.nm.freaddir.seek"), cost("mpe.catalog.nm.freaddir")),
        here: &[pair!(WARM_ASKED, WARM_BY_NUMBER)],
        note: "",
    },
    Claim {
        claim: "Prefetch of the right distance and quantity halves the mapped file's time, and more",
        test: Test::Below(0.5),
        there: pair!(SL_TUNED, SL_MAPPED),
        here: &[pair!(AHEAD, PAGED), pair!(AHEAD, MAPPED)],
        note: "against faults by single pages, as the paper's were; also against read.mmap as it is",
    },
    Claim {
        claim: "A mapped file with such prefetch takes less processor time than Fread",
        test: Test::Below(0.7),
        there: pair!(SL_TUNED.processor(), SL_READ.processor()),
        here: &[pair!(AHEAD.processor(), READ.processor())],
        note: "",
    },
    Claim {
        claim: "In memory the elapsed time is just slightly more than the processor time",
        test: Test::Between(0.98, 1.05),
        there: pair!(CATALOG_READ, CATALOG_READ.processor()),
        here: &[pair!(WARM_READ, WARM_READ.processor()), pair!(WARM_MAPPED, WARM_MAPPED.processor())],
        note: "the delta of resident data is close to zero",
    },
    Claim {
        claim: "Native code reads more than twice as fast as emulated code",
        test: Test::Above(2.0),
        there: pair!(cost("mpe.catalog.cm.fread"), CATALOG_READ),
        here: &[
            Pair { one: read!("interpreted"), other: read!("native") },
            Pair { one: keyed!("interpreted"), other: keyed!("native") },
            Pair { one: read!("emulated"), other: read!("native") },
        ],
        note: "interpreted against native; last, the native code run by qemu-user",
    },
    Claim {
        claim: "Native code reads more than twice as fast as translated code",
        test: Test::Above(2.0),
        there: pair!(cost("mpe.catalog.oct.fread"), CATALOG_READ),
        here: &[Pair { one: read!("jit"), other: read!("native") }],
        note: "JIT-translated against native",
    },
    Claim {
        claim: "A keyed file is slower from native code than from translated code",
        test: Test::Above(1.0),
        there: pair!(cost("mpe.ksam.nm"), cost("mpe.ksam.oct")),
        here: &[Pair { one: keyed!("native"), other: keyed!("jit") }],
        note: "KSAM itself was emulated, and native callers had the cost of the switch; here guests have it",
    },
    Claim {
        claim: "A record by key costs more than five times one in the order written",
        test: Test::Above(5.0),
        there: Pair {
            one: Route { name: "mpe.ksam.nm", plus: &[cost("mpe.ksam.nm")], minus: &[], divide_by: 1000.0 },
            other: Route { name: "mpe.catalog.nm.fread", plus: &[CATALOG_READ], minus: &[], divide_by: 7040.0 },
        },
        here: &[pair!(KEYED_HERE, PLAIN_HERE)],
        note: "for each record",
    },
    Claim {
        claim: "Of converting numbers the mode makes little: native takes 0.7 to 1 times the emulated time",
        test: Test::Between(0.7, 1.0),
        there: pair!(cost("mpe.ascii.nm"), cost("mpe.ascii.cm")),
        here: &[Pair { one: convert!("native"), other: convert!("interpreted") }],
        note: "the intrinsic ran emulated in every mode",
    },
    Claim {
        claim: "A clone of the conversion is almost 20 times as fast",
        test: Test::Above(15.0),
        there: pair!(cost("mpe.ascii.intrinsic"), cost("mpe.ascii.clone")),
        here: &[pair!(LIBRARY, CRATE)],
        note: "the C library against the crate taken instead",
    },
];
