//! Reads and writes of the block device that a file lies on, as the kernel counts them.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::Reads;
use system::machine::mounted_path;

/// The kernel counts sectors of this size, whatever the device's own sectors are.
const SECTOR: f64 = 512.0;

/// A block device, or a part of one, whose reads the kernel counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    counts: PathBuf,
}

impl Device {
    /// The device of this file. `None` if there is no device, or the kernel does not report it.
    pub fn of(file: BorrowedFd<'_>) -> Option<Device> {
        let number = rustix::fs::fstat(file).ok()?.st_dev;
        let named = || {
            let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
            let source = source_of(&fs::read_to_string("/proc/self/mountinfo").ok()?, &path)?;
            Some(fs::metadata(source).ok()?.rdev())
        };
        // File systems with several devices or volumes have numbers of no device. The mount names one of their real
        // devices.
        Device::numbered(number).or_else(|| Device::numbered(named()?))
    }

    fn numbered(number: u64) -> Option<Device> {
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let device = Device { counts: format!("/sys/dev/block/{major}:{minor}/stat").into() };
        device.reads().map(|_| device)
    }

    /// Writes completed since the device was there, and their bytes.
    fn writes(&self) -> Option<(u64, u64)> {
        let text = fs::read_to_string(&self.counts).ok()?;
        let mut fields = text.split_ascii_whitespace().skip(4);
        let count = fields.next()?.parse().ok()?;
        let sectors: u64 = fields.nth(1)?.parse().ok()?;
        Some((count, sectors * SECTOR as u64))
    }

    /// Reads of the device since it was there, and the part that this process caused.
    pub fn reads(&self) -> Option<Reads> {
        let reads = counted(&fs::read_to_string(&self.counts).ok()?)?;
        let own = fs::read_to_string("/proc/self/io").ok();
        let own =
            own.and_then(|text| text.lines().find_map(|line| line.strip_prefix("read_bytes:")?.trim().parse().ok()));
        Some(Reads { own_bytes: own, ..reads })
    }
}

/// The writes of a file's device since a given moment, including those of other programs.
#[derive(Debug)]
pub struct DeviceWrites {
    device: Device,
    before: (u64, u64),
}

impl DeviceWrites {
    /// Counts from now on. `None` if the file has no device, or the kernel does not report it.
    pub fn of(file: impl AsFd) -> Option<DeviceWrites> {
        let device = Device::of(file.as_fd())?;
        let before = device.writes()?;
        Some(DeviceWrites { device, before })
    }

    /// Counts from now on.
    pub fn restart(&mut self) {
        self.before = self.device.writes().unwrap_or(self.before);
    }

    /// Writes completed since then, and their bytes.
    pub fn since(&self) -> Option<(u64, u64)> {
        let (count, bytes) = self.device.writes()?;
        Some((count.saturating_sub(self.before.0), bytes.saturating_sub(self.before.1)))
    }
}

/// The counts in the text of a device's `stat`: reads completed, those merged into them, sectors read.
fn counted(text: &str) -> Option<Reads> {
    let mut fields = text.split_ascii_whitespace();
    let count = fields.next()?.parse().ok()?;
    let sectors: f64 = fields.nth(1)?.parse().ok()?;
    Some(Reads { count, bytes: sectors * SECTOR, own_bytes: None })
}

/// The device file that the innermost mount above `path` names as its source, by the text of `/proc/self/mountinfo`.
fn source_of(mounts: &str, path: &Path) -> Option<PathBuf> {
    let mounts = mounts.lines().filter_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let place = mounted_path(mount.split(' ').nth(4)?);
        let source = mounted_path(source.split(' ').nth(1)?);
        path.starts_with(&place).then_some((place, source))
    });
    // Of mounts on one place the last one hides the others. `max_by_key` takes the last of equals.
    let (_, source) = mounts.max_by_key(|(place, _)| place.components().count())?;
    source.starts_with("/dev/").then_some(source)
}

/// What was read between two readings of the counts.
pub fn between(before: Reads, after: Reads) -> Reads {
    Reads {
        count: after.count - before.count,
        bytes: after.bytes - before.bytes,
        own_bytes: after.own_bytes.zip(before.own_bytes).map(|(after, before)| after - before),
    }
}

/// Where a sum begins.
pub const NOTHING: Reads = Reads { count: 0.0, bytes: 0.0, own_bytes: Some(0.0) };

/// The sum of both. A count that is unknown in one is unknown in the sum.
pub fn together(sum: Option<Reads>, more: Option<Reads>) -> Option<Reads> {
    sum.zip(more).map(|(sum, more)| Reads {
        count: sum.count + more.count,
        bytes: sum.bytes + more.bytes,
        own_bytes: sum.own_bytes.zip(more.own_bytes).map(|(sum, more)| sum + more),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_third_count_are_read() {
        let text = "  163403     5013 12345678   456789   1  2 3 4 0 5 6 0 0 0 0 0 0\n";
        assert_eq!(counted(text), Some(Reads { count: 163_403.0, bytes: 12_345_678.0 * 512.0, own_bytes: None }));
        for damaged in ["", "1 2", "a b c", "1 2 c"] {
            assert_eq!(counted(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn the_fifth_and_the_seventh_count_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let counts = folder.path().join("stat");
        let write_counts = |text: &str| fs::write(&counts, text).expect("written");
        let device = Device { counts: counts.clone() };
        write_counts("1 2 3 4 50 6 700 8\n");
        let mut writes = DeviceWrites { before: device.writes().expect("counts"), device };
        write_counts("9 9 9 9 53 9 710 9\n");
        assert_eq!(writes.since(), Some((3, 10 * 512)));
        writes.restart();
        assert_eq!(writes.since(), Some((0, 0)));
        write_counts("1 2 3 4 5\n");
        assert_eq!(writes.since(), None);
    }

    #[test]
    fn the_innermost_mount_names_the_device() {
        let mounts = "22 1 254:1 / / rw shared:1 - ext4 /dev/vda1 rw\n\
                      40 22 0:30 /home /home rw - btrfs /dev/sdb2 rw\n\
                      41 22 0:31 / /run rw - tmpfs tmpfs rw\n\
                      42 22 0:32 / /home rw - btrfs /dev/sdc rw\nnonsense\n\
                      43 22 0:33 / /my\\040disk rw - ext4 /dev/my\\134disk rw\n";
        let source = |path: &str| source_of(mounts, Path::new(path));
        assert_eq!(source("/var/tmp/file"), Some("/dev/vda1".into()));
        assert_eq!(source("/home/me/file"), Some("/dev/sdc".into()));
        assert_eq!(source("/run/file"), None);
        assert_eq!(source("/my disk/file"), Some("/dev/my\\disk".into()));
        assert_eq!(source_of("", Path::new("/")), None);
    }

    #[test]
    fn what_is_unknown_once_stays_unknown() {
        let known = Reads { count: 1.0, bytes: 2.0, own_bytes: Some(3.0) };
        let less = Reads { own_bytes: None, ..known };
        assert_eq!(together(Some(NOTHING), Some(known)), Some(known));
        assert_eq!(together(None, Some(known)), None);
        assert_eq!(together(Some(known), Some(less)).and_then(|both| both.own_bytes), None);
        assert_eq!(together(Some(known), Some(known)), Some(Reads { count: 2.0, bytes: 4.0, own_bytes: Some(6.0) }));
        assert_eq!(between(known, Reads { count: 5.0, ..known }).count, 4.0);
    }
}
