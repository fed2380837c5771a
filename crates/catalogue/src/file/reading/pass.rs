//! One pass over the file, from the state that the point names, in the same way for every method: the file is evicted from
//! memory or loaded into it, this is verified, then the file is read and its sum compared with the known one.

use std::cell::RefCell;

use operation::{Doubts, Failure, Loop, Setting};
use record::Doubt;

use super::order::VisitPlan;
use super::source::SourceFile;
use crate::file::residence;
use crate::kit::{ensure, handles};

/// A method of reading a file, ready to use.
pub(crate) trait Reader {
    /// What must happen before a pass and is not part of it.
    fn before(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Reads every record once. Returns the sum of all bytes.
    fn pass(&mut self) -> Result<u64, Failure>;
}

impl<Pass: FnMut() -> Result<u64, Failure>> Reader for Pass {
    fn pass(&mut self) -> Result<u64, Failure> {
        self()
    }
}

/// The loop of a reader that sums what it reads.
pub(crate) fn summing<R: Reader + 'static>(
    setting: &Setting,
    open: impl FnOnce(&SourceFile, VisitPlan) -> Result<R, Failure>,
) -> Result<Loop, Failure> {
    looped(setting, |source| source.sum, open)
}

/// The loop of a reader that moves the bytes without passing them to the program, and can only count them.
pub(crate) fn counting<R: Reader + 'static>(
    setting: &Setting,
    open: impl FnOnce(&SourceFile, VisitPlan) -> Result<R, Failure>,
) -> Result<Loop, Failure> {
    looped(setting, |source| source.length, open)
}

fn looped<R: Reader + 'static>(
    setting: &Setting,
    expected: fn(&SourceFile) -> u64,
    open: impl FnOnce(&SourceFile, VisitPlan) -> Result<R, Failure>,
) -> Result<Loop, Failure> {
    let source = SourceFile::of(setting)?;
    let plan = VisitPlan::of(setting, source.length)?;
    let state = FileState::of(setting, &source)?;
    let [reader, reading] = handles(RefCell::new(open(&source, plan)?));
    setting.count_reads(&source.file);
    let expected = expected(&source);
    let passes = Loop::new(move |times| {
        let mut reader = reading.borrow_mut();
        for _ in 0..times {
            ensure(reader.pass()? == expected, || "the bytes read are not those of the file")?;
        }
        Ok(())
    });
    let cold = matches!(state, FileState::Cold(_));
    let passes = passes.before(move |_| {
        reader.borrow_mut().before()?;
        state.restore(&source)
    });
    // The pass after a cold one is warm.
    Ok(if cold { passes.skip_warmup().at_most(1) } else { passes })
}

/// The state of the file when a pass begins.
enum FileState {
    /// Only on its device.
    Cold(Doubts),
    /// All of it in memory.
    Warm,
}

impl FileState {
    fn of(setting: &Setting, source: &SourceFile) -> Result<FileState, Failure> {
        match setting.word("state")? {
            "cold" if residence::lives_in_memory(&source.file) => Err(Failure::skip(
                "the scratch folder is in memory (tmpfs), so no file in it can be evicted from memory",
                "set TMPDIR to a folder on a disk",
            )),
            "cold" => {
                // A count that does not see existing pages cannot prove that there are none.
                match residence::is_seen(&source.file)? {
                    true => Ok(FileState::Cold(setting.doubts())),
                    false => Err(residence::unseen()),
                }
            }
            "warm" => Ok(FileState::Warm),
            other => Err(Failure::wrong(format!("there is no state '{other}'"))),
        }
    }

    fn restore(&self, source: &SourceFile) -> Result<(), Failure> {
        match self {
            FileState::Cold(doubts) => {
                let left = residence::evict(&source.file)?;
                if left.resident > 0 {
                    doubts.raise(Doubt::NotCold { passes: 1, resident: left.share() });
                }
                Ok(())
            }
            FileState::Warm => fill(source),
        }
    }
}

/// Loads all of the file into memory. A few pages may be evicted again while others need memory, hence several tries.
fn fill(source: &SourceFile) -> Result<(), Failure> {
    const TRIES: u32 = 5;
    let mut cached = residence::resident(&source.file)?;
    for _ in 0..TRIES {
        if cached.resident == cached.pages {
            return Ok(());
        }
        source.read_through()?;
        cached = residence::resident(&source.file)?;
    }
    match cached.resident {
        resident if resident == cached.pages => Ok(()),
        0 => Err(residence::unseen()),
        _ => Err(Failure::skip(
            format!("only {} of the file's {} pages stay in memory", cached.resident, cached.pages),
            "free memory, or raise the container's limit",
        )),
    }
}
