//! A disk that is slow on purpose: a loop device over a file, its reads throttled by a cgroup. Nothing of it stays: dropping
//! it takes it down, and where this process is killed, a shell that waits for its end does.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

/// Where the kernel's first kind of cgroups throttles block devices.
const GROUPS: &str = "/sys/fs/cgroup/blkio";

/// Takes the disk down, its readers first: `sh -c DOWN - MOUNT DEVICE GROUP FOLDER`. All of it may be gone already.
const DOWN: &str = r#"for reader in $(cat "$3/cgroup.procs" 2>/dev/null); do kill -9 "$reader" 2>/dev/null; done
umount -l "$1" 2>/dev/null
losetup -d "$2" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$3" 2>/dev/null && break; [ -d "$3" ] || break; sleep 0.3; done
rm -rf "$4""#;

/// A mounted, throttled file system.
pub(crate) struct SlowDisk {
    folder: TempDir,
    device: String,
    group: PathBuf,
    /// Takes everything down when its input closes, as it does when this process ends in any way.
    watch: Child,
}

impl SlowDisk {
    /// A disk of `mebibytes` whose readers in its group get `bytes` and `requests` a second.
    ///
    /// # Errors
    /// Why there is none here.
    pub(crate) fn new(mebibytes: u64, bytes: u64, requests: u64) -> anyhow::Result<SlowDisk> {
        ensure!(rustix::process::geteuid().is_root(), "mounting needs root; run the bench as root");
        ensure!(
            Path::new(GROUPS).join("blkio.throttle.read_bps_device").exists()
                || Path::new(GROUPS).join("cgroup.procs").exists(),
            "{GROUPS} is not there; mount -t cgroup -o blkio none {GROUPS}"
        );
        let folder = tempfile::Builder::new().prefix("howslow-slow-").tempdir_in("/var/tmp")?;
        let (image, mount) = (folder.path().join("image"), folder.path().join("mount"));
        fs::create_dir(&mount)?;
        fs::File::create(&image)?.set_len(mebibytes << 20)?;
        done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        let device = done(Command::new("losetup").args(["-f", "--show"]).arg(&image))?;
        let name = folder.path().file_name().context("a folder has a name")?;
        let group = Path::new(GROUPS).join(name);
        let watch = watch(&[&mount, Path::new(&device), &group, folder.path()]);
        let watch = match watch {
            Ok(watch) => watch,
            Err(error) => {
                let _ = done(Command::new("losetup").arg("-d").arg(&device));
                return Err(error);
            }
        };
        // From here on, whatever fails, dropping it takes down what there is.
        let disk = SlowDisk { folder, device, group, watch };
        done(Command::new("mount").arg(&disk.device).arg(&mount))?;
        let short = disk.device.trim_start_matches("/dev/");
        let number = fs::read_to_string(format!("/sys/block/{short}/dev")).context("the loop device has no number")?;
        fs::create_dir(&disk.group)?;
        for (file, limit) in [("read_bps_device", bytes), ("read_iops_device", requests)] {
            let path = disk.group.join(format!("blkio.throttle.{file}"));
            fs::write(&path, format!("{} {limit}", number.trim())).with_context(|| path.display().to_string())?;
        }
        Ok(disk)
    }

    /// Where its files are.
    pub(crate) fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    /// A command all of whose reads are throttled.
    pub(crate) fn slowed(&self, program: &Path) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$1/cgroup.procs\" && shift && exec \"$@\"", "-"])
            .arg(&self.group)
            .arg(program);
        command
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
