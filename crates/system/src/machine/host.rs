//! The sources of facts: files below a root, and what the processor itself reports. Tests use a recorded root.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::machine::processor::{Processor, this_processor};

/// The longest file worth reading. Configuration and memory files are far shorter.
const LONGEST: u64 = 1 << 20;

/// The sources of facts.
pub struct Host {
    root: PathBuf,
    /// What the processor reports about itself. Empty where only files count.
    pub processor: Processor,
}

impl Host {
    /// The system this process runs on.
    pub fn here() -> Host {
        Host { root: "/".into(), processor: this_processor() }
    }

    /// The files below this folder alone.
    pub fn below(root: &Path) -> Host {
        Host { root: root.into(), processor: Processor::default() }
    }

    /// The first `limit` bytes of a file, or all of a shorter file.
    pub fn bytes(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        fs::File::open(self.root.join(path)).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// A file's text without surrounding white space. `None` if it is missing, unreadable or empty.
    pub fn read(&self, path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(path, LONGEST)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file that holds one number.
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The CPUs that are online; none where they are not listed.
    pub fn online(&self) -> Vec<u32> {
        numbers(&self.read("sys/devices/system/cpu/online").unwrap_or_default())
    }

    /// True if a file or folder exists.
    pub fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The target of a symbolic link.
    pub fn link(&self, path: &str) -> Option<String> {
        Some(fs::read_link(self.root.join(path)).ok()?.to_string_lossy().into_owned())
    }

    /// The names in a folder, sorted; none if it cannot be read.
    pub fn list(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A value from the C library; `None` if it does not know.
pub fn sysconf(name: libc::c_int) -> Option<u64> {
    // SAFETY: takes a number and returns one, whatever the number is.
    let value = unsafe { libc::sysconf(name) };
    u64::try_from(value).ok().filter(|&value| value > 0)
}

/// The value of `key` in a file of `key : value` lines.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// The numbers in a kernel list such as `0-3,8`. At most 65536, because a kernel cannot have more CPUs.
pub fn numbers(list: &str) -> Vec<u32> {
    let ranges = list.trim().split(',').filter_map(|part| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    });
    ranges.flatten().take(65536).collect()
}

/// The word in brackets of a choice such as `always [madvise] never`, or in parentheses.
pub fn chosen(text: &str) -> Option<String> {
    let word = text.split_whitespace().find(|word| word.starts_with(['[', '(']))?;
    Some(word.trim_matches(['[', ']', '(', ')']).to_owned()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(numbers("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(numbers("0\n"), [0]);
        assert_eq!(numbers(""), Vec::<u32>::new());
        assert_eq!(numbers("0-4294967295").len(), 65536);
        assert_eq!(numbers("3-1,x,-"), Vec::<u32>::new());
    }

    #[test]
    fn choices_and_fields() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none voluntary (full) lazy").as_deref(), Some("full"));
        assert_eq!(chosen("0"), None);
        assert_eq!(field("cpu family\t: 6\nmodel\t\t: 85\n", "model"), Some("85"));
        assert_eq!(field("power management:\n", "power management"), None);
    }
}
