//! A disk that is slow on purpose: a file system on a loop device, over a medium that this process serves. Nothing of it
//! stays: dropping it takes it down, and where this process is killed, a shell that waits for its end does.
//!
//! A cgroup's throttle is no slow disk: it saves up credit and hands it out in slices of a tenth of a second, so that
//! short passes run at the speed of memory.

mod served;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use fuser::BackgroundSession;
use tempfile::TempDir;

pub(crate) use served::Slowness;

/// Takes the disk down: `sh -c DOWN - MOUNT MEDIUM FOLDER`. All of it may be gone already; the loop device goes with its
/// last user.
const DOWN: &str = r#"umount "$1" 2>/dev/null || umount -l "$1" 2>/dev/null
umount -l "$2" 2>/dev/null
rm -rf --one-file-system "$3""#;

/// A mounted, slow file system.
pub(crate) struct SlowDisk {
    folder: TempDir,
    /// Takes everything down when its input closes, as it does when this process ends in any way.
    watch: Child,
    /// Serves the medium; ends after the rest was taken down.
    _medium: BackgroundSession,
}

impl SlowDisk {
    /// A disk of `mebibytes`.
    ///
    /// # Errors
    /// Why there is none here.
    pub(crate) fn new(mebibytes: u64, slowness: Slowness) -> anyhow::Result<SlowDisk> {
        ensure!(rustix::process::geteuid().is_root(), "mounting needs root; run the bench as root");
        let folder = tempfile::Builder::new().prefix("howslow-slow-").tempdir_in("/var/tmp")?;
        let (mount, medium) = (folder.path().join("mount"), folder.path().join("medium"));
        fs::create_dir(&mount)?;
        fs::create_dir(&medium)?;
        let watch = watch(&[&mount, &medium, folder.path()])?;
        let served = served::serve(&medium, mebibytes << 20, slowness)?;
        // From here on, whatever fails, dropping it takes down what there is.
        let disk = SlowDisk { folder, watch, _medium: served };
        let image = medium.join(served::NAME);
        let device = done(Command::new("losetup").args(["-f", "--show", "--direct-io=on"]).arg(&image))?;
        let made = done(Command::new("mkfs.ext4").args(["-q", "-F", "-E", "nodiscard"]).arg(&device))
            .and_then(|_| done(Command::new("mount").args(["-o", "noatime"]).arg(&device).arg(&mount)));
        // While it is mounted this only marks it: the device goes when the mount does.
        let marked = done(Command::new("losetup").arg("-d").arg(&device));
        made.and(marked)?;
        Ok(disk)
    }

    /// Where its files are.
    pub(crate) fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

/// A shell of a session of its own, which no signal to ours reaches, that waits for our end.
fn watch(places: &[&Path]) -> anyhow::Result<Child> {
    let script = format!("trap '' INT TERM HUP; cat >/dev/null; {DOWN}");
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", &script, "-"]).args(places);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("setsid does not start; install util-linux")
}

/// What a command printed.
fn done(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{:?} does not start", command.get_program()))?;
    if !output.status.success() {
        bail!("{:?}: {}", command.get_program(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// A file without a pattern, on its device.
pub(crate) fn filled(path: &Path, mebibytes: u64) -> anyhow::Result<()> {
    let mut file = fs::File::create(path)?;
    let mut block = vec![0_u8; 1 << 20];
    for _ in 0..mebibytes {
        fastrand::fill(&mut block);
        file.write_all(&block)?;
    }
    Ok(file.sync_all()?)
}
