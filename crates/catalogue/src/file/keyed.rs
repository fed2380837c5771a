//! The family `keyed`: records of 80 bytes found by their keys in an SQLite file, and the same records read in the order in
//! which they were written. The words of every record are added up and the sum is checked.

pub(crate) mod content;
mod written;

use operation::Value::{Number, Word};
use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, term, word, words};
use record::Estimate;

use crate::engines::{KeyedReader, engines};
use crate::kit::BASE;
use content::{BYTES, COLD_RECORDS};

/// The number of records in the paper's test, and a file of ten megabytes.
const RECORDS: Axis = count("records", numbers![1_000, 100_000]);

const READ_BY: Axis = word("by", words!["read", "buffered", "sqlite"]);

/// `each`: every lookup is a transaction, which locks the file and checks whether it has changed. `one`: all lookups are in
/// one transaction.
const TRANSACTION: Axis = word("transaction", words!["each", "one"]);

pub(crate) const OPERATIONS: &[Operation] = &[
    KEYED
        .named(
            "keyed.written",
            "read the next record in the order in which they were written, from a plain file or by row number from \
            an SQLite file",
        )
        .aliases(&["FREAD"])
        .axes(&[READ_BY, RECORDS])
        .prepare(|setting| match setting.word("by")? {
            "read" => written::by_read(setting),
            "buffered" => written::buffered(setting),
            _ => by_sqlite(KeyedReader::Written, setting),
        }),
    KEYED
        .named("keyed.order", "read the next record in the order of keys, through the index of an SQLite file")
        .aliases(&["KSAM"])
        .axes(&[RECORDS])
        .prepare(|setting| by_sqlite(KeyedReader::InOrder, setting)),
    KEYED
        .named("keyed.random", "find a record by a random key, through the index of an SQLite file in memory")
        .axes(&[TRANSACTION, RECORDS])
        .prepare(|setting| by_sqlite(KeyedReader::AtRandom, setting)),
    KEYED
        .named("keyed.random.cold", "find a record by a random key in an SQLite file of 100 000 that is not in memory")
        .quoted(Estimate::Typical)
        .explained_by(&[
            term(1.0, "keyed.random").at(&[("transaction", Word("each")), ("records", Number(COLD_RECORDS))])
        ])
        .prepare(|setting| by_sqlite(KeyedReader::Cold, setting)),
];

const KEYED: Operation = BASE
    .per("record")
    .moves(|_| BYTES)
    // The larger file does not fit in the private caches of a core.
    .follows_clock(|point| point.number("records") == Some(1_000));

fn by_sqlite(reader: KeyedReader, setting: &Setting) -> Result<Loop, Failure> {
    (engines("SQLite")?.sqlite)(reader, setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_begin_again_after_the_last_record() {
        for by in ["read", "buffered"] {
            let points = OPERATIONS[0].points(false).into_iter();
            for point in points.filter(|point| point.word("by") == Some(by)) {
                let mut trial = crate::kit::trial::prepare(&OPERATIONS[0], point).expect(by);
                [997, 5, 2_500, 16_384, 1].into_iter().for_each(|times| trial.looped.perform(times).expect(by));
            }
        }
    }

    #[test]
    fn without_sqlite_its_readers_skip_and_name_what_builds_them() {
        for operation in &OPERATIONS[1..] {
            let refused = crate::kit::trial::prepare(operation, operation.points(false).swap_remove(0));
            let Err(Failure::Skip { remedy, .. }) = refused.map(|_| ()) else { panic!("it is not skipped") };
            assert!(remedy.contains("lab/Cargo.toml"));
        }
    }

    #[test]
    fn keys_are_not_in_the_order_written() {
        let setting = Setting::new(OPERATIONS[1].points(false).swap_remove(0), std::env::temp_dir(), 0, None, 1);
        let records = content::records(&setting);
        assert_eq!(records.len(), 1_000);
        let rising = records.windows(2).filter(|pair| pair[0][0] < pair[1][0]).count();
        assert!((400..600).contains(&rising), "{rising} of 999");
    }
}
