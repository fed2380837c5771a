//! `howslow file`: how much of a file is in memory, evicting it, and writing its dirty pages.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use catalogue::residence::{self, Cached, FileError};
use record::units::counted;
use report::ResidentFile;
use report::document::{FileEvicted, FileSynced};
use rustix::param::page_size;

use crate::advise;
use crate::cli::{FileArgs, FileVerb, PathsArgs};
use crate::output::{self, Outcome};

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
        let ranges = residence::resident_ranges(file).map_err(|error| failed(path, &error))?;
        let cached = residence::resident(file).map_err(|error| failed(path, &error))?;
        let bytes = residence::length(file).map_err(|error| failed(path, &error))?;
        looked_at.push(ResidentFile {
            path: named(path),
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
    let mut outcome = Outcome::Done;
    let mut states = Vec::new();
    let files_open = opened(files)?;
    for &(path, ref file) in &files_open {
        let before = residence::resident(file).map_err(|error| failed(path, &error))?;
        residence::can_be_cold(file).map_err(|error| failed(path, &error))?;
        let after = residence::evict(file).map_err(|error| failed(path, &error))?;
        if after.resident > 0 {
            outcome = Outcome::Skipped;
        }
        states.push((path, before, after));
    }
    let each = states.iter().map(|(path, before, after)| FileEvicted {
        path: named(path),
        pages: after.pages,
        resident_pages_before: before.resident,
        resident_pages: after.resident,
    });
    let page = |_| states.iter().map(|(path, before, after)| evicted(path, *before, *after)).collect();
    output::answer(files.json, &each.collect::<Vec<_>>(), page)?;
    Ok(outcome)
}

fn evicted(path: &Path, before: Cached, after: Cached) -> String {
    let left = match after.resident {
        0 => "none are left".to_string(),
        left => format!("{left} are left, because something maps, locks or reads them"),
    };
    format!("{}: {} of {} pages were in memory, {left}\n", named(path), before.resident, after.pages)
}

fn sync(files: &PathsArgs) -> anyhow::Result<Outcome> {
    let files_open = opened(files)?;
    let mut synced = Vec::new();
    for &(path, ref file) in &files_open {
        let before = residence::resident(file).ok().and_then(|cached| cached.dirty);
        residence::sync(file).map_err(|error| failed(path, &error))?;
        synced.push((path, before));
    }
    let each = synced.iter().map(|(path, dirty)| FileSynced { path: named(path), dirty_pages_before: *dirty });
    let line = |(path, dirty): &(&PathBuf, Option<u64>)| match dirty {
        Some(dirty) => format!("{}: {}, all written\n", named(path), counted(*dirty, "dirty page")),
        None => format!("{}: all written\n", named(path)),
    };
    output::answer(files.json, &each.collect::<Vec<_>>(), |_| synced.iter().map(line).collect())?;
    Ok(Outcome::Done)
}

/// Opens all files before anything is done to one of them.
fn opened<'a>(files: &'a PathsArgs) -> anyhow::Result<Vec<(&'a PathBuf, OwnedFd)>> {
    let refused = |error| output::refused(matches!(error, FileError::Open { .. } | FileError::Kind { .. }), error);
    let open = |path: &'a PathBuf| residence::open(path).map(|file| (path, file)).map_err(refused);
    files.paths.iter().map(open).collect()
}

/// What failed with one of the files, and what to do.
fn failed(path: &Path, error: &FileError) -> anyhow::Error {
    anyhow::anyhow!("{}: {}", named(path), record::printable(&error.sentence()))
}

fn named(path: &Path) -> String {
    record::printable(&path.display().to_string())
}
