//! Paths as the kernel writes them in lists of mounts.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A path of `/proc/self/mountinfo`, in which a blank is `\040`: the kernel writes some bytes as three octal digits.
pub fn mounted_path(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => bytes.extend([&[byte], &part.as_bytes()[3..]].concat()),
            None => bytes.extend([b"\\", part.as_bytes()].concat()),
        }
    }
    OsString::from_vec(bytes).into()
}
