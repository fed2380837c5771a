//! Records of a plain file in the order in which they were written, by a system call for each or through a buffer.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read, Seek};

use operation::{Failure, Loop, Setting, repeat};
use rustix::fs::SeekFrom;

use crate::kit::{Cycle, exactly, handles};

use super::content::{BYTES, Record, records, sum, sum_of_bytes};
use crate::kit::library::{read, seek};

pub(super) fn by_read(setting: &Setting) -> Result<Loop, Failure> {
    let (records, file) = written(setting)?;
    let mut next = 0;
    Ok(summed(&records, move |record, last| {
        if next == last {
            next = 0;
            seek(&file, SeekFrom::Start(0))?;
        }
        next += 1;
        exactly(record.len(), read(&file, record)?)
    }))
}

/// The loop that reads through the standard library's buffer of 8 KiB.
pub(super) fn buffered(setting: &Setting) -> Result<Loop, Failure> {
    let (records, file) = written(setting)?;
    let mut reader = BufReader::new(file);
    let mut next = 0;
    Ok(summed(&records, move |record, last| {
        if next == last {
            next = 0;
            reader.rewind()?;
        }
        next += 1;
        Ok(reader.read_exact(record)?)
    }))
}

/// The records, and a file of them that is positioned at its beginning.
fn written(setting: &Setting) -> Result<(Vec<Record>, File), Failure> {
    let path = setting.scratch().join("records");
    let records = records(setting);
    let bytes: Vec<u8> = records.as_flattened().iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::fs::write(&path, bytes)?;
    Ok((records, File::open(path)?))
}

/// The loop in which `next` reads the records in a cycle of this length and adds up their words.
fn summed(
    records: &[Record],
    mut next: impl FnMut(&mut [u8; BYTES as usize], usize) -> Result<(), Failure> + 'static,
) -> Loop {
    let mut cycle = Cycle::new(records.iter().map(|record| sum(record)));
    let (last, mut record) = (records.len(), [0; BYTES as usize]);
    let [total, result] = handles(Cell::new(0_u64));
    repeat(move || {
        next(&mut record, last)?;
        total.set(total.get().wrapping_add(sum_of_bytes(&record)));
        Ok(())
    })
    .verify(move |times| cycle.hold(times, result.replace(0)))
}
