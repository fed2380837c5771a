//! Readers that do not touch what they read, as disk benchmarks do. The difference to the readers that add it up is the
//! cost of using the data. It is higher than adding up data in the cache, because a device or another CPU has just written
//! the data, and the next request finds it in this CPU's caches.

use operation::Operation;
use rustix::fs::OFlags;

use super::pass::counting;
use super::plain::{self, by_read, direct, past_the_cache};
use super::ring::{self, requested};
use crate::kit::Block;

pub(crate) const OPERATIONS: &[Operation] = &[
    plain::BY_READ
        .named("read.read.unused", "read a file record by record without using the bytes: read")
        .explained_by(&[])
        .aliases(&[])
        .prepare(|setting| counting(setting, |source, plan| by_read(source, plan, length))),
    plain::DIRECT
        .id("read.direct.unused")
        .summary("read a file record by record without using the bytes: pread bypassing the page cache (O_DIRECT)")
        .explained_by(&[])
        .prepare(|setting| {
            let block = Block::new(setting.number("record")? as usize);
            counting(setting, |source, plan| past_the_cache(source, plan, (block, length)))
        }),
    ring::PLAIN
        .named("read.uring.unused", "read a file without using the bytes: io_uring with several records in flight")
        .explained_by(&[])
        .prepare(|setting| {
            counting(setting, |source, plan| requested(setting, source.open_with(OFlags::empty())?, plan, length))
        }),
    ring::DIRECT
        .named(
            "read.uring.direct.unused",
            "read a file without using the bytes: io_uring bypassing the page cache (O_DIRECT), with several \
            records in flight",
        )
        .explained_by(&[])
        .prepare(|setting| counting(setting, |source, plan| requested(setting, direct(source, plan)?, plan, length))),
];

/// A record counts by its length.
fn length(record: &[u8]) -> u64 {
    record.len() as u64
}
