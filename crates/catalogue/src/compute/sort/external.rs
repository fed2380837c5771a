//! A text file sorted in a buffer smaller than the file. The method here is the plain one: sort as much as the buffer
//! holds, write it out as a run, then merge all runs with a heap of their next lines. GNU sort does the same in a process.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kit::{ensure, handles};
use operation::{Failure, Loop, Setting, repeat};

/// The bytes of a line, including its end.
pub(super) const LINE: usize = 80;
/// Lines in the file: 4 MB.
const LINES: usize = 50_000;
/// Memory to sort in: eight runs.
const BUFFER: usize = 512 << 10;
/// Memory for each run during the merge; all together have the size of the buffer.
const MERGED: usize = BUFFER / 8;

const PROGRAM: &str = "/usr/bin/sort";

type Line = [u8; LINE];

/// A file of lines, and the file for the sorted output.
struct Task {
    folder: PathBuf,
    input: PathBuf,
    output: PathBuf,
    checksum: u64,
}

impl Task {
    fn new(setting: &Setting) -> Result<Task, Failure> {
        let folder = setting.scratch().to_path_buf();
        let (input, output) = (folder.join("lines"), folder.join("sorted"));
        let mut random = fastrand::Rng::with_seed(setting.seed());
        let mut checksum = 0_u64;
        let mut file = BufWriter::new(File::create(&input)?);
        for number in 0..LINES {
            let line = format!("{:016x} {number:<62}\n", random.u64(..));
            checksum = checksum.wrapping_add(hash(line.as_bytes()));
            file.write_all(line.as_bytes())?;
        }
        file.flush()?;
        Ok(Task { folder, input, output, checksum })
    }

    /// Fails unless the output contains all lines of the input in order. Removes the output.
    fn verify(&self) -> Result<(), Failure> {
        let sorted = std::fs::read(&self.output)?;
        std::fs::remove_file(&self.output)?;
        let (lines, rest) = sorted.as_chunks::<LINE>();
        let checksum = lines.iter().fold(0, |sum: u64, line| sum.wrapping_add(hash(line)));
        ensure(
            lines.len() == LINES && rest.is_empty() && lines.is_sorted() && checksum == self.checksum,
            || "the output does not contain the lines of the input in order",
        )
    }
}

/// FNV-1a, 64 bits.
fn hash(line: &[u8]) -> u64 {
    line.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// The loop that sorts the file with `sort` and checks the output.
fn sorting(task: Task, sort: impl Fn(&Task) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let [task, checked] = handles(task);
    Ok(repeat(move || sort(&task)).unrolled(LINES as u64).at_most(1).skip_warmup().verify(move |_| checked.verify()))
}

/// The loop that sorts with the runs and the merge of this file.
pub(super) fn by_merge(setting: &Setting) -> Result<Loop, Failure> {
    sorting(Task::new(setting)?, |task| {
        let runs = runs(task)?;
        merge(&runs, &task.output)?;
        runs.iter().try_for_each(|run| Ok(std::fs::remove_file(run)?))
    })
}

/// Writes the input as sorted runs, each of one buffer.
fn runs(task: &Task) -> Result<Vec<PathBuf>, Failure> {
    let mut input = File::open(&task.input)?;
    let mut buffer = vec![0; BUFFER / LINE * LINE];
    let mut runs = Vec::new();
    loop {
        let filled = fill(&mut input, &mut buffer)?;
        if filled == 0 {
            return Ok(runs);
        }
        let lines = buffer[..filled].as_chunks_mut::<LINE>().0;
        lines.sort_unstable();
        let run = task.folder.join(format!("run{}", runs.len()));
        File::create(&run)?.write_all(lines.as_flattened())?;
        runs.push(run);
    }
}

/// Reads until the buffer is full or the file ends. Returns the number of bytes read.
fn fill(file: &mut File, buffer: &mut [u8]) -> Result<usize, Failure> {
    let mut filled = 0;
    loop {
        match file.read(&mut buffer[filled..])? {
            0 => return Ok(filled),
            more => filled += more,
        }
    }
}

fn merge(runs: &[PathBuf], output: &Path) -> Result<(), Failure> {
    let open = |run| Ok(BufReader::with_capacity(MERGED, File::open(run)?));
    let mut readers = runs.iter().map(open).collect::<Result<Vec<_>, std::io::Error>>()?;
    let mut output = BufWriter::with_capacity(MERGED, File::create(output)?);
    let mut heap = BinaryHeap::new();
    for (run, reader) in readers.iter_mut().enumerate() {
        heap.extend(next_line(reader)?.map(|line| Reverse((line, run))));
    }
    while let Some(Reverse((line, run))) = heap.pop() {
        output.write_all(&line)?;
        heap.extend(next_line(&mut readers[run])?.map(|line| Reverse((line, run))));
    }
    Ok(output.flush()?)
}

fn next_line(reader: &mut impl Read) -> Result<Option<Line>, Failure> {
    let mut line = [0; LINE];
    match reader.read_exact(&mut line) {
        Ok(()) => Ok(Some(line)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The loop that runs GNU sort on the file, with the same memory. Lines are compared byte by byte.
pub(super) fn by_gnu(setting: &Setting) -> Result<Loop, Failure> {
    is_gnu(PROGRAM)?;
    sorting(Task::new(setting)?, |task| {
        let status = Command::new(PROGRAM)
            .args(["--parallel=1", &format!("--buffer-size={BUFFER}b"), "-T"])
            .arg(&task.folder)
            .arg("-o")
            .args([&task.output, &task.input])
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .status()?;
        ensure(status.success(), || format!("{PROGRAM} ended with {status}"))
    })
}

/// Skips unless the program is GNU's: other programs have other options and methods.
fn is_gnu(program: &str) -> Result<(), Failure> {
    let stated = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    if stated.is_ok_and(|stated| stated.stdout.starts_with(b"sort (GNU coreutils)")) {
        return Ok(());
    }
    Err(Failure::skip(format!("{program} is not installed, or is not GNU sort"), "install GNU coreutils"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> (Task, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Default::default(), folder.path().into(), 0, None, 1);
        (Task::new(&setting).expect("a file"), folder)
    }

    #[test]
    fn the_file_is_larger_than_the_buffer_and_leaves_eight_runs_and_no_more_than_the_result() {
        let (task, folder) = task();
        assert_eq!(runs(&task).expect("runs").len(), 8);
        drop(folder);
        let folder = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Default::default(), folder.path().into(), 0, None, 1);
        by_merge(&setting).expect("a file").perform(1).expect("sorted");
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn an_output_that_is_unsorted_or_short_is_found_out() {
        let (task, _folder) = task();
        std::fs::copy(&task.input, &task.output).expect("a copy");
        assert!(matches!(task.verify(), Err(Failure::Wrong(_))));
        let mut bytes = std::fs::read(&task.input).expect("lines");
        bytes.as_chunks_mut::<LINE>().0.sort_unstable();
        std::fs::write(&task.output, &bytes).expect("a file");
        assert_eq!(task.verify(), Ok(()));
        std::fs::write(&task.output, &bytes[LINE..]).expect("a file");
        assert!(matches!(task.verify(), Err(Failure::Wrong(_))));
    }

    #[test]
    fn another_program_is_not_taken_for_gnu_sort() {
        for program in ["/bin/true", "/nowhere/sort"] {
            let Err(Failure::Skip { remedy, .. }) = is_gnu(program) else { panic!("{program}") };
            assert!(remedy.contains("coreutils"));
        }
    }
}
