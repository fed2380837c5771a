//! Linux aio: the kernel's older interface (`io_submit`, `io_getevents`). A read that need not wait is done while it is
//! submitted. So is this one, which is why a device without a disk will do.

use operation::{Operation, repeat, term};

use super::{check, zeros};
use crate::kit::{BoundRequest, NumberedContext};

pub(crate) const OPERATIONS: &[Operation] = &[super::READ
    .named("async.read.linux", "read one byte of /dev/zero by Linux aio (io_submit, io_getevents)")
    .version(2)
    .aliases(&["QIO/WTSE"])
    .calls(&["io_submit", "io_getevents"])
    .explained_by(&[term(1.0, "async.read.plain"), term(1.0, "syscall.getppid")])
    .prepare(|_| {
        let (context, mut request) = (NumberedContext::new(1)?, BoundRequest::reading(zeros()?, 1));
        Ok(repeat(move || {
            *request.first_byte() = 1;
            request.submit(&context)?;
            let result = context.take()?;
            check(result, *std::hint::black_box(request.first_byte()))
        }))
    })];
