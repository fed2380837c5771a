//! Readers through a library's buffer, which makes records smaller than the buffer cheap.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use operation::Operation;
use rustix::fs::OFlags;

use super::pass::summing;
use super::plain::each_record;
use super::{BUFFERED, BUFFERED_POINTS, READ};
use crate::file::stream::Stream;
use crate::kit::{Block, by_c_library};

const FREAD: Operation = READ.aliases(&["Fread"]).axes(BUFFERED).has_point(BUFFERED_POINTS);

pub(crate) const OPERATIONS: &[Operation] = &[
    FREAD
        .id("read.stdio")
        .version(by_c_library(READ.version))
        .summary("read a file record by record and add it up: fread of the C library, in the buffer it chooses")
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let stream = Stream::to_read(File::from(source.open_with(OFlags::empty())?))?;
                let mut block = Block::new(plan.record as usize);
                Ok(move || {
                    stream.rewind()?;
                    each_record(plan, &mut block, |record, _| Ok(stream.read(record)))
                })
            })
        }),
    FREAD
        .id("read.bufreader")
        .summary("read a file record by record and add it up: Rust's BufReader, in the buffer it chooses")
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let mut reader = BufReader::new(File::from(source.open_with(OFlags::empty())?));
                let mut block = Block::new(plan.record as usize);
                Ok(move || {
                    reader.seek(SeekFrom::Start(0))?;
                    each_record(plan, &mut block, |record, _| {
                        reader.read_exact(record)?;
                        Ok(record.len())
                    })
                })
            })
        }),
];
