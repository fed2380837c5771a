//! Page devices: a swap file or a compressed device, made for one configuration and removed after it. The system's own swap
//! is left alone: howslow's has the highest priority, so the users' pages go there.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use analysis::load::PageDevice;
use rustix::fs::{AtFlags, OFlags, unlinkat};
use system::machine::remedy_of_refusal;

use super::entry::{Entry, Identity};
use super::header::{bears, header};
use super::ledger::Ledger;
use super::ours;
use crate::error::LoadError;

const CONTROL: &str = "/sys/class/zram-control";
/// What to do where it is not there.
const NO_ZRAM: &str = "load the module zram (modprobe zram)";

/// A page device in use. Dropping it removes it.
pub struct Device {
    kind: Kind,
    /// Where the kernel counts what the block device does.
    counts: Option<PathBuf>,
}

enum Kind {
    File(SwapFile),
    Zram(u32),
}

impl Device {
    /// Makes a page device of this size in bytes and turns it on. `None` for no device. Fails if there is no right, no
    /// space or no such device.
    pub fn make(kind: PageDevice, size: u64, folder: &Path, ledger: &Ledger) -> Result<Option<Device>, LoadError> {
        let mut mark = [0; 16];
        fastrand::Rng::new().fill(&mut mark);
        match kind {
            PageDevice::None => Ok(None),
            PageDevice::Swap => swap_file(size, folder, ledger, mark).map(Some),
            PageDevice::Zram => zram(size, ledger, mark).map(Some),
        }
    }

    /// Fails if no device of this kind can be had here, as far as that is known without making one.
    pub fn check(kind: PageDevice) -> Result<(), LoadError> {
        let lacking = |what: &str, remedy: &str| {
            let remedy = format!("{remedy}, or choose the device none");
            Err(LoadError::Lacking { what: what.into(), remedy })
        };
        // The kernel looks at the rights before the name, and there is no file without a name.
        let refused = || turn_on(Path::new("")).is_err_and(|error| error.raw_os_error() == Some(libc::EPERM));
        match kind {
            PageDevice::None => Ok(()),
            _ if refused() => lacking("this process may not turn on a page device", remedy_of_refusal()),
            PageDevice::Zram if !Path::new(CONTROL).exists() => lacking("this kernel has no zram", NO_ZRAM),
            PageDevice::Swap | PageDevice::Zram => Ok(()),
        }
    }

    /// Seconds in which the device was busy so far; `None` if the kernel does not give it. Field 10 of a block device's counts.
    pub fn busy(&self) -> Option<f64> {
        let text = fs::read_to_string(self.counts.as_ref()?).ok()?;
        text.split_whitespace().nth(9)?.parse::<f64>().ok().map(|ms| ms / 1e3)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = match &self.kind {
            Kind::File(file) => file.remove(true).map(|_| ()),
            Kind::Zram(number) => take_zram_away(*number),
        };
    }
}

fn swap_file(size: u64, folder: &Path, ledger: &Ledger, mark: [u8; 16]) -> Result<Device, LoadError> {
    const ELSEWHERE: &str = "set TMPDIR to a folder on a disk with more space, or give the plan a smaller device_size";
    let path = folder.join(format!("{}.swap", ledger.name));
    let failed = |what: &str, error: &Error, remedy: &str| {
        LoadError::setup(format!("{what} the swap file {}", path.display()), error, remedy)
    };
    ledger
        .note(&Entry::SwapFile { path: path.clone(), mark })
        .map_err(|error| failed("write down", &error, "check the ledger's folder"))?;
    let kind = |identity| Kind::File(SwapFile { path: path.clone(), mark, owner: ledger.name.clone(), identity });
    // Dropped, it removes what was made so far.
    let mut device = Device { kind: kind(None), counts: None };
    let mut make = || -> std::io::Result<File> {
        has_room(folder, size)?;
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        let identity = Identity::of(&file)?;
        ledger.note(&Entry::Made { path: path.clone(), identity })?;
        device.kind = kind(Some(identity));
        // The mark first: a file without it is never removed.
        file.write_all(&header(pages(size), &mark))?;
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size)?;
        file.sync_all()?;
        Ok(file)
    };
    let file = make().map_err(|error| failed("make", &error, ELSEWHERE))?;
    device.counts = file.metadata().ok().and_then(|found| counts_of(found.dev()));
    drop(file);
    turn_on(&path).map_err(|error| failed("turn on", &error, &remedy(&error)))?;
    Ok(device)
}

/// An error if this folder's file system has less space. To find out by taking it would leave other programs none meanwhile.
fn has_room(folder: &Path, size: u64) -> std::io::Result<()> {
    let found = rustix::fs::statvfs(folder)?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let reported = || format!("{} are needed and {} are free there", record::Bytes(size), record::Bytes(free));
    if free < size { Err(Error::new(std::io::ErrorKind::StorageFull, reported())) } else { Ok(()) }
}

fn zram(size: u64, ledger: &Ledger, mark: [u8; 16]) -> Result<Device, LoadError> {
    let failed = |what: &str, error: &Error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::PermissionDenied => remedy_of_refusal(),
            _ => NO_ZRAM,
        };
        LoadError::setup(what, error, &format!("{remedy}, or choose another device"))
    };
    let note = |number| {
        let noted = ledger.note(&Entry::Zram { number, mark, ms: milliseconds(SystemTime::now()) });
        noted.map_err(|error| failed("write down the zram device", &error))
    };
    // The kernel gives the lowest number that is free.
    let expected = (0..).find(|number| !Path::new(&format!("/sys/block/zram{number}")).exists()).unwrap_or(0);
    note(expected)?;
    let number = fs::read_to_string(format!("{CONTROL}/hot_add"));
    let number = number.map_err(|error| failed("add a zram device", &error))?;
    let number: u32 = number.trim().parse().map_err(|_| failed("add a zram device", &Error::other("no number")))?;
    let counts = Some(format!("/sys/block/zram{number}/stat").into());
    let device = Device { kind: Kind::Zram(number), counts };
    // Another program added one in the same moment.
    if number != expected {
        note(number)?;
    }
    fs::write(format!("/sys/block/zram{number}/disksize"), size.to_string())
        .map_err(|error| failed("size the zram device", &error))?;
    let path = PathBuf::from(format!("/dev/zram{number}"));
    let write = || OpenOptions::new().write(true).open(&path)?.write_all(&header(pages(size), &mark));
    write().map_err(|error| failed("write to the zram device", &error))?;
    turn_on(&path).map_err(|error| failed("turn on the zram device", &error))?;
    Ok(device)
}

fn pages(size: u64) -> u32 {
    (size / rustix::param::page_size() as u64).min(u64::from(u32::MAX)) as u32
}

fn remedy(error: &Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => format!("{}, or choose the device none", remedy_of_refusal()),
        _ => {
            "this file system may not support swap files: set TMPDIR to a folder on ext4 or xfs, or choose zram".into()
        }
    }
}

/// Where the kernel counts what this block device does.
fn counts_of(device: u64) -> Option<PathBuf> {
    let path = format!("/sys/dev/block/{}:{}/stat", rustix::fs::major(device), rustix::fs::minor(device));
    Some(PathBuf::from(path)).filter(|path| path.exists())
}

fn turn_on(path: &Path) -> std::io::Result<()> {
    /// Prefer this area, and the highest priority.
    const FLAGS: libc::c_int = 0x8000 | 0x7fff;
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a string that ends with zero.
    let status = unsafe { libc::syscall(libc::SYS_swapon, path.as_ptr(), FLAGS) };
    if status == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Turns an area off. One that is not on counts as turned off, and so does one that this user could not have turned on: it cannot be
/// removed while it is on.
fn turn_off(path: &Path) -> std::io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a string that ends with zero.
    let status = unsafe { libc::syscall(libc::SYS_swapoff, name.as_ptr()) };
    let error = Error::last_os_error();
    match error.raw_os_error() {
        _ if status == 0 => Ok(()),
        Some(libc::EINVAL | libc::ENOENT | libc::ENODEV | libc::EPERM) => Ok(()),
        _ => Err(error),
    }
}

/// True if a swap area with this mark can be read there.
fn is_marked(mut file: impl Read, mark: &[u8; 16]) -> bool {
    let mut page = vec![0; rustix::param::page_size()];
    file.read_exact(&mut page).is_ok_and(|()| bears(&page, mark))
}

/// A swap file as it stands in a ledger.
pub(super) struct SwapFile {
    pub path: PathBuf,
    pub mark: [u8; 16],
    /// The name of the ledger.
    pub owner: String,
    /// `None` if its maker was killed before it wrote this down.
    pub identity: Option<Identity>,
}

impl SwapFile {
    /// Turns it off and removes it. Returns false if there is another file, or one that may be somebody else's.
    pub fn remove(&self, same_boot: bool) -> std::io::Result<bool> {
        let name = format!("{}.swap", self.owner);
        let opened = self.path.parent().filter(|_| self.path.ends_with(&name)).map(ours::folder);
        let Some(Ok(folder)) = opened else { return Ok(false) };
        let Ok(file) = ours::file(&folder, &name, OFlags::RDONLY) else { return Ok(false) };
        let found = Identity::of(&file)?;
        // A howslow that was killed before the mark was written leaves an empty file.
        let is_marked = file.metadata()?.len() == 0 || is_marked(&file, &self.mark);
        if !is_marked || self.identity.is_some_and(|identity| identity != found) {
            return Ok(false);
        }
        if same_boot {
            turn_off(&PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))?;
        }
        unlinkat(&folder, &name, AtFlags::empty())?;
        Ok(true)
    }
}

/// Turns a compressed device of howslow's off and removes it. Returns false if it may be somebody else's: if it bears another mark,
/// or none and was not added right after the time in ms at which a ledger recorded it.
pub(super) fn remove_zram(number: u32, mark: &[u8; 16], noted: u64) -> std::io::Result<bool> {
    /// The kernel takes less than a millisecond, on a busy machine perhaps a second. Its clock of files is up to 10 ms behind.
    const BEFORE_MS: u64 = 10;
    const AFTER_MS: u64 = 1000;
    let path = format!("/dev/zram{number}");
    let Ok(mut device) = File::open(&path) else { return Ok(false) };
    let mut page = vec![0; rustix::param::page_size()];
    let is_own = match device.read_exact(&mut page) {
        Ok(()) if bears(&page, mark) => true,
        Ok(()) if page.iter().any(|byte| *byte != 0) => false,
        // It has no size yet, or no content. Its file was not written to, so its time is that of the device's beginning.
        _ => {
            let begun = fs::metadata(&path).and_then(|file| file.modified()).map_or(0, milliseconds);
            (noted.saturating_sub(BEFORE_MS)..=noted.saturating_add(AFTER_MS)).contains(&begun)
        }
    };
    drop(device);
    if is_own {
        take_zram_away(number)?;
    }
    Ok(is_own)
}

/// Since 1970.
fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn take_zram_away(number: u32) -> std::io::Result<()> {
    turn_off(Path::new(&format!("/dev/zram{number}")))?;
    // Whoever looks at new block devices may still have it open.
    patiently(|| fs::write(format!("/sys/block/zram{number}/reset"), "1"))?;
    patiently(|| fs::write(format!("{CONTROL}/hot_remove"), number.to_string()))
}

/// Tries again for a second while something is busy.
fn patiently(mut work: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
    for _ in 0..50 {
        match work() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(Duration::from_millis(20)),
            result => return result,
        }
    }
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is left by one that is killed before it gives its device a size, or before it writes the mark.
    #[test]
    fn a_zram_device_that_bears_no_mark_yet_is_known_by_when_it_was_added() {
        let added = || -> Option<(u32, u64)> {
            let noted = milliseconds(SystemTime::now());
            let number = fs::read_to_string(format!("{CONTROL}/hot_add")).ok()?;
            Some((number.trim().parse().expect("a number"), noted))
        };
        let size = |number: u32| fs::write(format!("/sys/block/zram{number}/disksize"), "1048576").expect("a size");
        let is_there = |number: u32| Path::new(&format!("/sys/block/zram{number}")).exists();
        for has_size in [false, true] {
            let Some((number, noted)) = added() else {
                return testing::left_out!("zram devices; run as root, with the module zram");
            };
            if has_size {
                size(number);
            }
            let stays = [noted - 60_000, noted + 60_000].map(|other| remove_zram(number, &[7; 16], other));
            let remained = is_there(number);
            let goes = remove_zram(number, &[7; 16], noted);
            assert!(stays.iter().all(|found| matches!(found, Ok(false))) && remained, "{stays:?}");
            assert!(matches!(goes, Ok(true)) && !is_there(number), "{goes:?}");
        }
        // One that somebody writes to is his.
        let Some((number, noted)) = added() else { return };
        size(number);
        let other = header(256, &[8; 16]);
        let written = OpenOptions::new()
            .write(true)
            .open(format!("/dev/zram{number}"))
            .and_then(|mut found| found.write_all(&other));
        let stays = remove_zram(number, &[7; 16], noted);
        let goes = remove_zram(number, &[8; 16], 0);
        assert!(written.is_ok() && matches!(stays, Ok(false)) && matches!(goes, Ok(true)), "{stays:?} {goes:?}");
    }
}
