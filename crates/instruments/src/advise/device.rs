//! What single requests to the device take: at random places, which a reader without prefetch waits for, and one after the
//! other in growing sizes, which prefetch requests.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use catalogue::reading::{Block, whole};
use catalogue::residence;
use operation::Failure;
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::pread;
use rustix::param::page_size;
use serde::{Deserialize, Serialize};
use system::guard::apart;

use crate::advise::stretch::{patience, put_out};
use crate::advise::ways::open_with;

/// The largest request timed.
const LARGEST: u64 = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Whether they went past the page cache; otherwise through it, the file put out of it before.
    pub direct: bool,
    /// Whether pages of the file stayed in memory when it was put out.
    pub stayed: bool,
    /// Reads of one page each at random places, in ns.
    pub page_ns: Vec<f64>,
    /// Reads one after the other: bytes of each, and what one takes in the long run in ns.
    pub in_order: Vec<(u64, f64)>,
}

/// Times requests on this file for about so long, in a process of its own. The file is put out of memory. Fails when it
/// cannot be read.
pub(crate) fn requests(path: &Path, length: u64, share: Duration) -> Result<Requests, Failure> {
    let timed = apart(share + Duration::from_secs(60), || here(path, length, share));
    timed.map_err(|lost| Failure::wrong(lost.to_string()))?
}

fn here(path: &Path, length: u64, share: Duration) -> Result<Requests, Failure> {
    let page = page_size() as u64;
    let cached = residence::open(path)?;
    let stayed = put_out(&cached, patience(false))? > 0;
    let direct = open_with(path, OFlags::DIRECT).ok();
    let mut block = Block::new(page as usize);
    let direct = direct
        .filter(|file| residence::is_past_memory(&cached, || Ok(pread(file, block.bytes(), 0).map(drop)?)).is_ok());
    let mut timed = Requests { direct: direct.is_some(), stayed, ..Requests::default() };
    let file = match direct {
        Some(file) => file,
        None => {
            // No more than what is requested, or the next read would find itself in memory.
            fadvise(&cached, 0, None, Advice::Random)?;
            put_out(&cached, patience(stayed))?;
            cached
        }
    };
    timed.page_ns = by_chance(&file, length, share / 2, timed.direct)?;
    let sizes: Vec<u64> = std::iter::successors(Some(4 * page), |size| Some(size * 2))
        .take_while(|size| *size <= length.min(LARGEST))
        .collect();
    let each = share / 2 / sizes.len().max(1) as u32;
    for &size in &sizes {
        if !timed.direct {
            put_out(&file, patience(stayed))?;
        }
        let took = in_order(&file, length, size, each, &timed)?;
        timed.in_order.push((size, took));
    }
    Ok(timed)
}

/// What a read of `size` bytes takes in the long run, in ns, one after the other from a place by chance. The first half of
/// the time is not counted: many disks, rented ones above all, save up credit while they rest and answer from it at first.
/// A file that is not read past the page cache is put out of it before it is read again.
fn in_order(file: &OwnedFd, length: u64, size: u64, share: Duration, known: &Requests) -> Result<f64, Failure> {
    let mut block = Block::new(size as usize);
    let mut place = fastrand::u64(..=(length - size) / size) * size;
    let began = Instant::now();
    let (mut counted, mut reads) = (0.0, 0_u32);
    loop {
        let is_counted = began.elapsed() >= share / 2;
        let took = one(file, &mut block, place)?;
        if is_counted {
            (counted, reads) = (counted + took, reads + 1);
            if began.elapsed() >= share {
                return Ok(counted / f64::from(reads));
            }
        }
        place = if place + 2 * size > length { 0 } else { place + size };
        if place == 0 && !known.direct {
            put_out(file, patience(known.stayed))?;
        }
    }
}

/// Reads of a page each, in ns. A page that is not read past the page cache is read once: then it is in memory.
fn by_chance(file: &OwnedFd, length: u64, share: Duration, direct: bool) -> Result<Vec<f64>, Failure> {
    /// More give the median of a fast device no better.
    const MOST: usize = 2000;
    let page = page_size() as u64;
    let mut block = Block::new(page as usize);
    let began = Instant::now();
    let (mut times, mut read) = (Vec::new(), HashSet::new());
    let pages = (length / page).max(1);
    while times.len() < MOST && (began.elapsed() < share || times.is_empty()) && (read.len() as u64) < pages {
        let place = fastrand::u64(..pages);
        if direct || read.insert(place) {
            times.push(one(file, &mut block, place * page)?);
        }
    }
    Ok(times)
}

/// One read, in ns.
fn one(file: &OwnedFd, block: &mut Block, place: u64) -> Result<f64, Failure> {
    let start = Instant::now();
    let got = pread(file, &mut *block.bytes(), place)?;
    let took = start.elapsed().as_nanos() as f64;
    whole(1, got.min(1), place)?;
    Ok(took)
}

/// Reads past the page cache for this time, if the file system has such reads.
pub(crate) fn drain(path: &Path, length: u64, share: Duration) -> Result<(), Failure> {
    const SIZE: u64 = 128 << 10;
    if share.is_zero() || length < SIZE {
        return Ok(());
    }
    let Ok(file) = open_with(path, OFlags::DIRECT) else { return Ok(()) };
    let mut block = Block::new(SIZE as usize);
    let began = Instant::now();
    while began.elapsed() < share {
        one(&file, &mut block, fastrand::u64(..=(length - SIZE) / SIZE) * SIZE)?;
    }
    Ok(())
}

/// Bytes that the kernel reads ahead for one request on the device of this file; it drops what is requested beyond. `None` if
/// the file's system does not name its device.
pub(crate) fn most_ahead(path: &Path) -> Option<u64> {
    let device = rustix::fs::stat(path).ok()?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let reported = |name: &str| {
        // A partition's queue is its disk's.
        let folders = ["queue", "../queue"].into_iter();
        let mut texts = folders.filter_map(|folder| {
            std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/{folder}/{name}")).ok()
        });
        texts.next()?.trim().parse::<u64>().ok()
    };
    Some(["read_ahead_kb", "max_sectors_kb"].into_iter().filter_map(reported).max()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_no_device_has_no_limit() {
        assert_eq!(most_ahead(Path::new("/proc/self/stat")), None);
    }

    #[test]
    fn a_file_that_stays_in_memory_once_read_is_read_once() {
        let page = page_size() as u64;
        let file: OwnedFd = catalogue::reading::unnamed(&std::env::temp_dir(), 16 * page).expect("a file").into();
        let share = Duration::from_secs(60);
        assert_eq!(by_chance(&file, 16 * page, share, false).expect("reads").len(), 16);
        assert_eq!(by_chance(&file, 16 * page, share, true).expect("reads").len(), 2000);
    }
}
