//! The family `keyed`: records of 80 bytes found by their keys in an SQLite file, and the same records read in the order in
//! which they were written. The words of every record are added up and the sum is checked.

#[cfg(any(test, not(feature = "keyed")))]
mod absent;
mod content;
#[cfg(feature = "keyed")]
mod database;
mod written;

#[cfg(not(feature = "keyed"))]
use absent as database;
use operation::Value::{Number, Word};
use operation::{Axis, Operation, count, term, word};
use record::Estimate;

use crate::kit::baseline::DEFAULT;
use content::{BYTES, COLD_RECORDS};

/// The number of records in the paper's test, and a file of ten megabytes.
const RECORDS: Axis = count("records", &[Number(1_000), Number(100_000)]);

const READ_BY: Axis = word("by", &[Word("read"), Word("buffered"), Word("sqlite")]);

/// `each`: every lookup is a transaction, which locks the file and checks whether it has changed. `one`: all lookups are in
/// one transaction.
const TRANSACTION: Axis = word("transaction", &[Word("each"), Word("one")]);

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "keyed.written",
        summary: "read the next record in the order in which they were written, from a plain file or by row number from an SQLite file",
        aliases: &["FREAD"],
        axes: &[READ_BY, RECORDS],
        prepare: |setting| match setting.word("by") {
            "read" => written::by_read(setting),
            "buffered" => written::buffered(setting),
            _ => database::written(setting),
        },
        ..KEYED
    },
    Operation {
        id: "keyed.order",
        summary: "read the next record in the order of keys, through the index of an SQLite file",
        aliases: &["KSAM"],
        axes: &[RECORDS],
        prepare: database::in_order,
        ..KEYED
    },
    Operation {
        id: "keyed.random",
        summary: "find a record by a random key, through the index of an SQLite file in memory",
        axes: &[TRANSACTION, RECORDS],
        prepare: database::at_random,
        ..KEYED
    },
    Operation {
        id: "keyed.random.cold",
        summary: "find a record by a random key in an SQLite file of 100 000 that is not in memory",
        quoted: Estimate::Typical,
        explained_by: &[
            term(1.0, "keyed.random").at(&[("transaction", Word("each")), ("records", Number(COLD_RECORDS))])
        ],
        prepare: database::cold,
        ..KEYED
    },
];

const KEYED: Operation = Operation {
    per: "record",
    moves: |_| BYTES,
    // The larger file does not fit in the private caches of a core.
    follows_clock: |point| point.number("records") == Some(1_000),
    ..DEFAULT
};

#[cfg(test)]
mod tests {
    use operation::{Failure, Setting};

    use super::*;

    #[test]
    fn every_reader_reads_every_record() {
        crate::kit::trial::perform_all(OPERATIONS);
    }

    #[test]
    fn readers_begin_again_after_the_last_record() {
        for operation in OPERATIONS {
            let point = operation.points(false).swap_remove(0);
            if point.number("records") == Some(1_000) {
                let mut trial = crate::kit::trial::prepare(operation, point).expect(operation.id);
                [997, 5, 2_500, 16_384, 1]
                    .into_iter()
                    .for_each(|times| trial.looped.perform(times).expect(operation.id));
            }
        }
    }

    #[test]
    fn without_sqlite_its_readers_skip_and_say_what_builds_them() {
        let setting = Setting::new(Default::default(), std::env::temp_dir(), 0, None, 1);
        for reader in [absent::written, absent::in_order, absent::at_random, absent::cold] {
            let Err(Failure::Skip { remedy, .. }) = reader(&setting) else { panic!("it is not skipped") };
            assert!(remedy.contains("--features keyed"));
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
