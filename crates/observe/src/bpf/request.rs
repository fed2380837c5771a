//! Where the tracepoint of a request to an io_uring has the operation: kernels differ.

use std::ffi::CStr;
use std::fs;

/// Where the operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// In the request that the first argument points to.
    First,
    /// The argument with this number.
    Argument(i16),
}

impl Request {
    /// The operation code follows the request's command, which has 64 bytes (include/linux/io_uring_types.h, `struct io_kiocb`).
    pub(super) const CODE: i32 = 64;
    /// `IORING_OP_CLOSE` (include/uapi/linux/io_uring.h).
    pub(super) const CLOSE: i32 = 19;
    /// The tracepoint since Linux 6.4, and before.
    pub(super) const TRACEPOINTS: [&CStr; 2] = [c"io_uring_submit_req", c"io_uring_submit_sqe"];

    /// In the kernel that runs.
    pub(super) fn here() -> Request {
        let name = rustix::system::uname();
        let release = name.release().to_string_lossy();
        let mut numbers =
            release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
        Request::of((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
    }

    /// In a kernel by the first two numbers of its release. Until Linux 5.18, arguments and fields of the record are the same, and the
    /// operation is one of them.
    fn of(release: (u32, u32)) -> Request {
        if release >= (5, 19) {
            return Request::First;
        }
        let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
        let format = |folder| fs::read_to_string(format!("{folder}/events/io_uring/io_uring_submit_sqe/format"));
        let described = folders.into_iter().find_map(|folder| Request::described(&format(folder).ok()?));
        described.unwrap_or(Request::Argument(match release {
            (5, ..=13) => 1,
            (5, ..=17) => 2,
            _ => 3,
        }))
    }

    /// By the format of the record, which begins with fields that all tracepoints have.
    fn described(format: &str) -> Option<Request> {
        let fields = format.lines().filter_map(|line| line.trim().strip_prefix("field:")?.split(';').next());
        let mut fields = fields.filter(|field| !field.contains(" common_"));
        let place = fields.position(|field| field.ends_with(" opcode"))?;
        i16::try_from(place).ok().map(Request::Argument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_is_found_in_every_kernel() {
        let format = |fields: &[&str]| {
            let common = ["unsigned short common_type", "int common_pid"];
            let line = |field: &&str| format!("\tfield:{field};\toffset:0;\tsize:8;\tsigned:0;\n");
            let fields: String = common.iter().map(line).chain(["\n".into()]).chain(fields.iter().map(line)).collect();
            format!("name: io_uring_submit_sqe\nID: 1\nformat:\n{fields}\nprint fmt: \"op %d\", REC->opcode\n")
        };
        let of_5_11 = ["void * ctx", "u8 opcode", "u64 user_data", "bool force_nonblock", "bool sq_thread"];
        let of_5_14 = ["void * ctx", "void * req", "u8 opcode", "u64 user_data", "u32 flags"];
        let of_5_18 = ["void * ctx", "void * req", "unsigned long long user_data", "u8 opcode", "u32 flags"];
        for (fields, place) in [(&of_5_11, 1), (&of_5_14, 2), (&of_5_18, 3)] {
            assert_eq!(Request::described(&format(fields)), Some(Request::Argument(place)), "{fields:?}");
        }
        assert_eq!(Request::described(&format(&["void * ctx"])), None);
        assert_eq!([(5, 19), (6, 1), (7, 0)].map(Request::of), [Request::First; 3]);
    }
}
