//! Another program that does what a user's machine does: a compiler that compiles the same file again and again.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

/// Functions in the file: two seconds of optimizing.
const FUNCTIONS: u32 = 60;

/// A compiler at work on one CPU at a time, wherever the kernel puts it. It ends with this.
pub(crate) struct Compilation {
    done: Arc<AtomicBool>,
    finished: Arc<AtomicU32>,
    work: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Compilation {
    /// # Errors
    /// When there is no compiler, or it cannot compile the file.
    pub(crate) fn start() -> anyhow::Result<Compilation> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("source.rs"), source())?;
        let (done, finished) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        // The first tells whether it works at all.
        ensure!(compile(&folder, &done)?, "the compiler did not finish");
        let work = std::thread::spawn({
            let (done, finished) = (Arc::clone(&done), Arc::clone(&finished));
            move || {
                while compile(&folder, &done)? {
                    finished.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }
        });
        Ok(Compilation { done, finished, work: Some(work) })
    }

    /// Ends it, and says how many compilations were finished.
    ///
    /// # Errors
    /// When it had ended before, so that nothing was beside what was measured.
    pub(crate) fn finish(mut self) -> anyhow::Result<u32> {
        self.done.store(true, Ordering::Relaxed);
        let end = self.work.take().map(JoinHandle::join);
        match end {
            Some(Ok(end)) => end?,
            _ => bail!("the thread that compiles panicked"),
        }
        Ok(self.finished.load(Ordering::Relaxed))
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(work) = self.work.take() {
            let _ = work.join();
        }
    }
}

/// Compiles the file once; false where it was told to stop before the end.
fn compile(folder: &TempDir, done: &AtomicBool) -> anyhow::Result<bool> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(&compiler);
    command.args(["--edition", "2021", "--crate-type", "lib", "-C", "opt-level=3", "-C", "codegen-units=1"]);
    command.args(["--out-dir", ".", "source.rs"]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: between fork and exec one system call is made, which is allowed there.
    unsafe { command.pre_exec(ends_with_parent) };
    let mut child = command.spawn().with_context(|| format!("{} does not start", compiler.display()))?;
    loop {
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "{} failed: {status}", compiler.display());
            return Ok(true);
        }
        if done.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A compiler that outlives a bench which was killed would disturb whatever is measured next.
fn ends_with_parent() -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// Functions that the optimizer has something to do with, all different.
fn source() -> String {
    let mut text = String::from("use std::collections::BTreeMap;\n");
    for number in 0..FUNCTIONS {
        let _ = writeln!(
            text,
            "pub fn work_{number}(words: &[String], by: u64) -> BTreeMap<String, u64> {{
                 let mut found = BTreeMap::new();
                 for (place, word) in words.iter().enumerate().filter(|(place, _)| place % {} != 1) {{
                     let sum = word.bytes().map(u64::from).fold(by, |sum, byte| sum.rotate_left({}) ^ byte);
                     *found.entry(format!(\"{{word}}-{number}\")).or_insert(place as u64) += sum;
                 }}
                 found
             }}",
            number % 7 + 2,
            number % 61 + 1,
        );
    }
    text
}
