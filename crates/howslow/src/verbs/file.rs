//! `howslow file`: how much of a file is in memory, evicting it, and writing its dirty pages.

pub(crate) mod advise;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use catalogue::residence::{self, FileError};
use clap::{Args, Subcommand};
use record::units::counted;
use report::ResidentFile;
use report::document::{FileEvicted, FileSynced};
use rustix::param::page_size;

use crate::output::{self, Outcome, shown};
use advise::{AdviseArgs, TuneArgs};

const EXPLAINED: &str = "\
Each verb acts only on the given files, and needs no permission beyond those of the file.
Examples:
  howslow file resident /var/log/syslog
  howslow file evict big.dat && howslow time -- wc big.dat
  howslow file advise big.dat --order random
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file; 3 some pages stay in memory
because something maps, locks or reads them.";

const RESIDENT: &str = "\
Examples:
  howslow file resident /usr/lib/os-release
  howslow file resident *.dat --json
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file.";

const EVICTED: &str = "\
Examples:
  howslow file evict big.dat
  howslow time --prepare 'howslow file evict big.dat' -- wc big.dat
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file; 3 some pages stay in memory
because something maps, locks or reads them.";

const SYNCED: &str = "\
Examples:
  howslow file sync big.dat
  howslow file sync *.db --json
Exit status: 0 done; 1 failed, also if the device reports an error; 2 misused: no such file, not a regular file.";

const ADVISED: &str = "\
Examples:
  howslow file advise big.dat
  howslow file advise big.dat --order random --record 4KiB
  howslow file advise big.dat --rate 200MB --budget 60s
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file, too small; 130 interrupted.";

const TUNED: &str = "\
Examples:
  howslow file tune big.dat
  howslow file tune big.dat --rate 1GB --budget 60s
Exit status: 0 done; 1 failed; 2 misused: no such file, not a regular file, too small; 130 interrupted.";

/// Show how much of a file is in memory, evict it, write it to its device, or find the fastest way to read it
#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct FileArgs {
    #[command(subcommand)]
    pub verb: FileVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FileVerb {
    /// Show which pages are in memory, as counts, ranges and a map
    #[command(after_help = RESIDENT)]
    Resident(PathsArgs),
    /// Evict the file from memory; its dirty pages are written first
    #[command(after_help = EVICTED)]
    Evict(PathsArgs),
    /// Write the file's dirty pages to its device and wait for them
    #[command(after_help = SYNCED)]
    Sync(PathsArgs),
    /// Find the fastest way to read this file from its disk, cold and warm, by measuring the ways on it
    #[command(after_help = ADVISED)]
    Advise(AdviseArgs),
    /// Find how far ahead and how much at a time to prefetch this file: arithmetic, and a sweep around its result
    #[command(after_help = TUNED)]
    Tune(TuneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PathsArgs {
    /// Regular files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn file(args: &FileArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        FileVerb::Resident(files) => resident(files),
        FileVerb::Evict(files) => evict(files),
        FileVerb::Sync(files) => sync(files),
        FileVerb::Advise(args) => advise::advise(args),
        FileVerb::Tune(args) => advise::tune(args),
    }
}

fn resident(files: &PathsArgs) -> anyhow::Result<Outcome> {
    let mut looked_at = Vec::new();
    for (path, file) in &opened(files)? {
        let ranges = residence::resident_ranges(file).map_err(failed(path))?;
        let cached = residence::resident(file).map_err(failed(path))?;
        let bytes = residence::length(file).map_err(failed(path))?;
        looked_at.push(ResidentFile {
            path: shown(path),
            bytes,
            page_bytes: page_size() as u64,
            // The file may have become shorter since its ranges were read.
            pages: cached.pages.max(ranges.last().map_or(0, |range| range.end)),
            resident_pages: ranges.iter().map(|range| range.end - range.start).sum(),
            dirty_pages: cached.dirty,
            ranges,
        });
    }
    output::answer(files.json, &looked_at, |style| report::resident_files(&looked_at, style))?;
    Ok(Outcome::Done)
}

fn evict(files: &PathsArgs) -> anyhow::Result<Outcome> {
    let mut evicted = Vec::new();
    for (path, file) in &opened(files)? {
        let before = residence::resident(file).map_err(failed(path))?;
        residence::can_be_cold(file).map_err(failed(path))?;
        let after = residence::evict(file).map_err(failed(path))?;
        evicted.push(FileEvicted {
            path: shown(path),
            pages: after.pages,
            resident_pages_before: before.resident,
            resident_pages: after.resident,
        });
    }
    let line = |FileEvicted { path, pages, resident_pages_before, resident_pages }: &FileEvicted| {
        let left = match resident_pages {
            0 => "none are left".to_string(),
            left => format!("{left} are left, because something maps, locks or reads them"),
        };
        format!("{path}: {resident_pages_before} of {pages} pages were in memory, {left}\n")
    };
    output::answer(files.json, &evicted, |_| evicted.iter().map(line).collect())?;
    let is_left = evicted.iter().any(|file| file.resident_pages > 0);
    Ok(if is_left { Outcome::Skipped } else { Outcome::Done })
}

fn sync(files: &PathsArgs) -> anyhow::Result<Outcome> {
    let mut synced = Vec::new();
    for (path, file) in &opened(files)? {
        let before = residence::resident(file).ok().and_then(|cached| cached.dirty);
        residence::sync(file).map_err(failed(path))?;
        synced.push(FileSynced { path: shown(path), dirty_pages_before: before });
    }
    let line = |FileSynced { path, dirty_pages_before }: &FileSynced| match dirty_pages_before {
        Some(dirty) => format!("{path}: {}, all written\n", counted(*dirty, "dirty page")),
        None => format!("{path}: all written\n"),
    };
    output::answer(files.json, &synced, |_| synced.iter().map(line).collect())?;
    Ok(Outcome::Done)
}

/// Opens all files before anything is done to one of them.
fn opened(files: &PathsArgs) -> anyhow::Result<Vec<(&PathBuf, OwnedFd)>> {
    files.paths.iter().map(|path| Ok((path, residence::open(path)?))).collect()
}

/// What failed with one of the files, and what to do.
fn failed(path: &Path) -> impl Fn(FileError) -> anyhow::Error {
    move |error| anyhow::anyhow!("{}: {}", shown(path), record::printable(&error.sentence()))
}
