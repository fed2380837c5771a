//! Writers through a library's buffer, which makes records smaller than the buffer cheap.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use operation::Operation;
use rustix::fs::OFlags;

use super::content::Content;
use super::pass::writing;
use super::plain::each_record;
use super::target::refused;
use super::{BUFFERED, BUFFERED_POINTS, WRITE};
use crate::file::stream::{Stream, errno};
use crate::kit::by_c_library;

const FWRITE: Operation = WRITE.axes(BUFFERED).has_point(BUFFERED_POINTS);

pub(crate) const OPERATIONS: &[Operation] = &[
    FWRITE
        .id("write.stdio")
        .version(by_c_library(WRITE.version))
        .summary("write a file record by record: fwrite and fflush of the C library, in the buffer it chooses")
        .prepare(|setting| {
            writing(setting, OFlags::empty(), |target| {
                let (stream, plan) = (Stream::to_write(File::from(target.open()?))?, target.plan);
                let mut content = Content::new(plan.record as usize);
                Ok(move |pass| {
                    stream.rewind()?;
                    each_record(plan, &mut content, pass, |record, _| stream.write(record))?;
                    stream.flush().map_err(|error| refused(error, plan.length))
                })
            })
        }),
    FWRITE
        .named("write.bufwriter", "write a file record by record: Rust's BufWriter, flushed, in the buffer it chooses")
        .prepare(|setting| {
            writing(setting, OFlags::empty(), |target| {
                let (mut writer, plan) = (BufWriter::new(File::from(target.open()?)), target.plan);
                let mut content = Content::new(plan.record as usize);
                Ok(move |pass| {
                    writer.seek(SeekFrom::Start(0))?;
                    each_record(plan, &mut content, pass, |record, _| {
                        writer.write_all(record).map_err(|error| errno(&error))?;
                        Ok(record.len())
                    })?;
                    writer.flush().map_err(|error| refused(errno(&error), plan.length))
                })
            })
        }),
];
