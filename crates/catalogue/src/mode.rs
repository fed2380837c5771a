//! The family `mode`: the same program as native code, as WebAssembly translated to native code while it runs
//! (wasmtime), as WebAssembly interpreted (wasmi), and as the native code run by an emulator of this processor
//! (qemu-user). The programs and their files are here, the guests beside.

pub mod emulated;
mod file;
pub(crate) mod guest;
mod held;
mod native;

use operation::{Axis, Operation, count, numbers, size, term, word, words};

use crate::kit::{BASE, Cycle};
use guest::Guest;

const MODE: Axis = word("mode", words!["native", "jit", "interpreted", "emulated"]);

/// The bytes of a record. They divide the file's length.
const RECORDS: Axis = size(numbers![80, 256, 2048]);

/// The address space of a round: wasmtime reserves 4 GiB for a guest's memory and 32 MiB before and behind it, so that the
/// hardware checks the guest's addresses.
const ADDRESSES: u64 = 16 << 30;

/// The loop around a program's steps is part of the program and runs in its mode.
const IN_A_MODE: Operation = BASE.memory(ADDRESSES).terms(&[]);

/// Numbers in the tables of keys and of numbers to convert: as many as the guests have space for.
const TABLE: usize = 4096;

pub(crate) const OPERATIONS: &[Operation] = &[
    IN_A_MODE.named(
        "mode.host.call",
        "call an empty procedure: of the program itself, or from a guest a procedure of its host (a system call \
            that an emulator answers itself)",
    )
    .axes(&[MODE])
    .explained_by(&[term(1.0, "instruction.call")])
    .prepare(|setting| {
        let guest = Guest { name: "call", code: include_bytes!("mode/call.wasm"), memory: vec![], files: vec![] };
        Ok(guest.held(setting, Cycle::new([native::CALLS]))?.unrolled(native::CALLS))
    }),
    IN_A_MODE.named("mode.read", "read the next record of a file and add up its words, starting again after the last one")
        .per("record")
        .aliases(&["FREAD"])
        .axes(&[MODE, RECORDS])
        .moves(|point| point.number("size").unwrap_or(0))
        .explained_by(&[term(1.0, "mode.host.call").same(&["mode"]), term(1.0, "syscall.read.null")])
        .prepare(|setting| {
            let content = file::content(setting.seed());
            let sums = content.chunks(setting.size()? / 8).map(file::sum);
            let guest = Guest {
                name: "read",
                code: include_bytes!("mode/read.wasm"),
                memory: vec![setting.number("size")?],
                files: vec![file::holding(setting, c"records", &content)?],
            };
            guest.held(setting, Cycle::new(sums))
        }),
    IN_A_MODE.named(
        "mode.keyed",
        "find a key in a sorted index file by binary search, read its record from another file and add up its words",
    )
    .per("lookup")
    .aliases(&["KSAM"])
    .axes(&[MODE, count("records", numbers![1000])])
    .moves(|_| file::KEYED as u64)
    // Ten probes find one of a thousand keys, and one reads its record.
    .explained_by(&[term(11.0, "mode.host.call").same(&["mode"]), term(11.0, "syscall.read.null")])
    .prepare(|setting| {
        let records = file::keyed(setting.number("records")?, setting.seed());
        let mut random = fastrand::Rng::with_seed(setting.seed());
        let wanted: Vec<&[u64]> =
            (0..TABLE).map(|_| &records[random.usize(0..records.len())]).map(Vec::as_slice).collect();
        let mut memory = vec![setting.number("records")?];
        memory.extend(wanted.iter().map(|record| record[0]));
        let cycle = Cycle::new(wanted.iter().map(|record| file::sum(record)));
        let guest = Guest {
            name: "keyed",
            code: include_bytes!("mode/keyed.wasm"),
            memory,
            files: vec![
                file::holding(setting, c"index", &file::index(&records))?,
                file::holding(setting, c"records", &records.concat())?,
            ],
        };
        guest.held(setting, cycle)
    }),
    IN_A_MODE.named("mode.convert", "write one of 4,096 repeated 64-bit integers as text and read it back, digit by digit")
        .per("number")
        .aliases(&["ASCII"])
        .axes(&[MODE])
        .prepare(|setting| {
            let mut random = fastrand::Rng::with_seed(setting.seed());
            let numbers: Vec<u64> = (0..TABLE).map(|_| random.u64(..) >> random.u32(0..64)).collect();
            let cycle = Cycle::new(numbers.iter().map(|number| native::trace(*number, number.to_string().as_bytes())));
            let memory = [vec![0], numbers].concat();
            let guest = Guest { name: "convert", code: include_bytes!("mode/convert.wasm"), memory, files: vec![] };
            guest.held(setting, cycle)
        }),
];

#[cfg(test)]
mod tests {
    use operation::Value::Word;
    use operation::{Failure, Setting};
    use record::Point;

    use super::emulated::Emulated;
    use super::guest::GuestProgram;
    use super::*;

    #[test]
    fn a_table_and_a_file_begin_again_after_their_ends() {
        for operation in OPERATIONS {
            for point in operation.points(false) {
                match crate::kit::trial::prepare(operation, point) {
                    Ok(mut trial) => [TABLE as u64 - 3, 5, 7040 - TABLE as u64].into_iter().for_each(|times| {
                        trial.looped.perform(times).expect(operation.id);
                    }),
                    Err(Failure::Skip { remedy, .. }) if remedy == crate::engines::REMEDY => {}
                    Err(Failure::Skip { reason, remedy }) => testing::not_tested!("{reason}; {remedy}"),
                    Err(failure) => panic!("{}: {failure}", operation.id),
                }
            }
        }
    }

    /// The program in any mode, without timing.
    fn program(guest: Guest, setting: &Setting) -> Result<GuestProgram, Failure> {
        if setting.word("mode")? != "emulated" {
            return guest.program(setting);
        }
        let mut emulated = Emulated::start(&guest, setting)?;
        Ok(Box::new(move |times| emulated.batch(times).map(|(_, sum)| sum)))
    }

    /// How readers in this mode treat a file that ends within a record, twice, and an index that names a record with
    /// another key.
    fn misled(mode: &'static str) -> Result<Vec<Result<u64, Failure>>, Failure> {
        let scratch = tempfile::tempdir().expect("a folder");
        let setting =
            Setting::new(Point::default().with("mode", Word(mode).value()), scratch.path().into(), 0, None, 1);
        let file = |name, words: &[u64]| file::holding(&setting, name, words).expect("a file");
        let short = Guest {
            name: "read",
            code: include_bytes!("mode/read.wasm"),
            memory: vec![80],
            files: vec![file(c"short", &[1; 11])],
        };
        let foreign = Guest {
            name: "keyed",
            code: include_bytes!("mode/keyed.wasm"),
            memory: [1, 7].into_iter().chain([7; TABLE - 1]).collect(),
            files: vec![file(c"index", &[7, 0]), file(c"records", &[8; 10])],
        };
        let mut read = program(short, &setting)?;
        let mut keyed = program(foreign, &setting)?;
        Ok(vec![read(1), read(1), keyed(1)])
    }

    #[test]
    fn a_short_record_and_a_wrong_one_are_found_out() {
        for mode in ["native", "emulated"] {
            let results = match misled(mode) {
                Ok(results) => results,
                Err(Failure::Skip { reason, remedy }) => {
                    testing::not_tested!("{reason}; {remedy}");
                    continue;
                }
                Err(failure) => panic!("{mode}: {failure}"),
            };
            assert_eq!(results[0], Ok(10), "{mode}");
            assert!(matches!(results[1], Err(Failure::Wrong(_))), "{mode}");
            assert!(matches!(results[2], Err(Failure::Wrong(_))), "{mode}");
        }
    }

    #[test]
    fn a_mode_that_is_not_built_in_skips_and_names_what_builds_it() {
        let refused = crate::kit::trial::prepare(&OPERATIONS[0], Point::default().with("mode", Word("jit").value()));
        let Err(Failure::Skip { remedy, .. }) = refused.map(|_| ()) else { panic!("it is not skipped") };
        assert!(remedy.contains("lab/Cargo.toml"));
    }
}
