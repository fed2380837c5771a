//! Which calls take the name of a file, and what becomes of what was named: the same for each way of counting.

use std::sync::OnceLock;

use catalogue::every_call;

/// Numbers of calls are below this.
pub(crate) const CALLS: usize = 512;
/// The longest name that is looked at, with its end.
pub(crate) const NAME_SIZE: usize = 128;
/// 2^64 over the golden ratio, which hashes are multiplied by.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// The first argument is a name.
pub(crate) const FIRST: u8 = 1;
/// The second argument is a name, relative to the descriptor that is the first.
pub(crate) const SECOND: u8 = 2;
/// The result is a descriptor of what was named.
pub(crate) const OPENS: u8 = 4;
/// What was named becomes the working folder.
pub(crate) const ENTERS: u8 = 8;
/// The result is a copy of the descriptor that is the first argument.
pub(crate) const COPIES: u8 = 16;
/// The same if the second argument requests it.
pub(crate) const MAY_COPY: u8 = 32;
/// The argument after the name may request that a file is created.
pub(crate) const MAY_CREATE: u8 = 64;
/// It requests the attributes of what was named.
pub(crate) const ATTRIBUTES: u8 = 128;

const CLASSES: &[(u8, &[&str])] = &[
    (FIRST | ATTRIBUTES, &["stat", "lstat", "access"]),
    (SECOND | ATTRIBUTES, &["newfstatat", "statx", "faccessat", "faccessat2"]),
    (
        FIRST,
        &[
            "readlink", "unlink", "mkdir", "rmdir", "chmod", "chown", "lchown", "truncate", "getxattr", "lgetxattr",
            "listxattr", "llistxattr", "utime", "utimes", "statfs",
        ],
    ),
    (FIRST | OPENS | MAY_CREATE, &["open"]),
    (FIRST | OPENS, &["creat"]),
    (FIRST | ENTERS, &["chdir"]),
    (SECOND, &["readlinkat", "unlinkat", "mkdirat", "fchmodat", "fchmodat2", "fchownat", "utimensat", "mknodat"]),
    (SECOND | OPENS | MAY_CREATE, &["openat"]),
    (SECOND | OPENS, &["openat2"]),
    (COPIES, &["dup", "dup2", "dup3"]),
    (COPIES | MAY_COPY, &["fcntl"]),
    (COPIES | ENTERS, &["fchdir"]),
];

/// What the arguments of each call name, by its number.
pub(crate) fn classes() -> &'static [u8] {
    static BY_NUMBER: OnceLock<Vec<u8>> = OnceLock::new();
    let class = |call: &str| CLASSES.iter().find(|(_, names)| names.contains(&call)).map_or(0, |(class, _)| *class);
    BY_NUMBER.get_or_init(|| by_number(class))
}

/// What is known of each call, by its number.
pub(crate) fn by_number(of_name: impl Fn(&str) -> u8) -> Vec<u8> {
    let mut table = vec![0; CALLS];
    for call in every_call() {
        if let Some(place) = usize::try_from(call.number).ok().and_then(|number| table.get_mut(number)) {
            *place = of_name(call.name);
        }
    }
    table
}

/// What the arguments of a call name; 0 for nothing.
pub(crate) fn class(number: u16) -> u8 {
    classes().get(usize::from(number)).copied().unwrap_or(0)
}

/// True if a call takes the name of a file.
pub(crate) fn takes_name(number: u16) -> bool {
    class(number) & (FIRST | SECOND) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_take_names_are_known_by_their_numbers() {
        let class = |number: i64| class(number as u16);
        assert_eq!(class(libc::SYS_openat), SECOND | OPENS | MAY_CREATE);
        assert_eq!(class(libc::SYS_fchdir), COPIES | ENTERS);
        assert_eq!(class(libc::SYS_read), 0);
    }
}
