//! Removes what stands in the ledgers of howslows that have ended: what was made for an experiment, and what a killed one has left.

use std::io::Read;
use std::path::PathBuf;

use super::device;
use super::entry::{Entry, boot};
use super::group;
use super::ledger::{Left, folders};
use super::ours;

/// No ledger is longer: some 100,000 configurations.
const MOST_BYTES: u64 = 64 << 20;

/// What was found of howslows that have ended, in words.
#[derive(Debug, Default, PartialEq)]
pub struct Remains {
    /// What was removed.
    pub removed: Vec<String>,
    /// What cannot be removed, and why.
    pub stays: Vec<String>,
}

impl Remains {
    /// Removes what ended howslows of this user have left.
    pub fn sweep() -> Remains {
        Remains::sweep_in(&folders())
    }

    fn sweep_in(folders: &[PathBuf]) -> Remains {
        let mut remains = Remains::default();
        for folder in folders {
            for ledger in Left::all(folder) {
                let before = remains.stays.len();
                remains.remove(&ledger);
                if remains.stays.len() == before {
                    ledger.remove();
                }
            }
            // One that was killed before it had a ledger has left an empty folder.
            let _ = ours::folder(folder).map(|_| std::fs::remove_dir(folder));
        }
        remains
    }

    /// Removes what a ledger lists, the last first.
    fn remove(&mut self, ledger: &Left) {
        let mut text = String::new();
        let _ = (&ledger.file).take(MOST_BYTES).read_to_string(&mut text);
        // A line that was cut short by the end of its writer lists nothing that was made.
        let entries: Vec<Entry> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let same_boot = entries.first() == Some(&Entry::Boot(boot()));
        for entry in entries.iter().rev() {
            let result = match entry {
                Entry::Boot(_) => Ok(None),
                Entry::SwapFile { path, mark } => device::remove_file(path, mark, &ledger.name, same_boot),
                // After another boot the names belong to somebody else.
                _ if !same_boot => Ok(None),
                Entry::Group(path) => group::remove(path, &ledger.name),
                Entry::Enabled(path) => group::disable(path),
                Entry::Zram { number, mark } => device::remove_zram(*number, mark),
            };
            match result {
                Ok(removed) => self.removed.extend(removed),
                Err(error) => self.stays.push(format!("{entry}: {error}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::super::header::header;
    use super::super::ledger::{Ledger, PREFIX};
    use super::*;

    /// A folder of ledgers as howslow makes it.
    fn folder() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().expect("a folder")
    }

    /// A file with this mode.
    fn write(path: &Path, content: impl AsRef<[u8]>, mode: u32) {
        fs::write(path, content).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    }

    /// Writes a ledger of a process that has ended. Returns its name.
    fn ended(folder: &Path, number: u32, mode: u32, lines: &[Entry]) -> PathBuf {
        let lines: Vec<String> = lines.iter().map(|it| serde_json::to_string(it).expect("JSON")).collect();
        let path = folder.join(format!("{PREFIX}{number}-1.ledger"));
        write(&path, lines.join("\n") + "\n{\"group\":\"/sys/fs/cg", mode);
        path
    }

    #[test]
    fn only_what_an_ended_owner_has_written_down_is_removed() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let living = Ledger::open(&[folder.path().into()]).expect("a ledger");
        let mark = [7; 16];
        let (file, others, precious) =
            (at(&format!("{PREFIX}1-1.swap")), at(&format!("{PREFIX}2-1.swap")), at("precious.swap"));
        write(&file, header(16, &mark), 0o600);
        write(&others, header(16, &mark), 0o600);
        write(&precious, "", 0o600);
        let lines = [&file, &others, &precious].map(|path| Entry::SwapFile { path: path.clone(), mark });
        let dead = ended(folder.path(), 1, 0o600, &[&[Entry::Boot(boot())], &lines[..]].concat());

        let remains = Remains::sweep_in(&[folder.path().into()]);
        assert_eq!((remains.removed.len(), remains.stays.len()), (1, 0), "{remains:?}");
        assert!(!file.exists() && !dead.exists());
        assert!(others.exists() && precious.exists(), "what bears another name or mark stays");
        let path = at(&format!("{}.ledger", living.name()));
        assert!(path.exists(), "a locked ledger stays");
        drop(living);
        assert_eq!(Remains::sweep_in(&[folder.path().into()]), Remains::default());
        assert!(!path.exists());
    }

    /// What another user may have written is not believed: neither paths to be cut nor processes to be killed.
    #[test]
    fn a_planted_ledger_does_nothing() {
        let place = folder();
        let victim = place.path().join("victim");
        write(&victim, "precious", 0o600);
        let group = place.path().join(format!("{PREFIX}1-1-abcd"));
        fs::create_dir(&group).expect("a folder");
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
        write(&group.join("cgroup.procs"), format!("{}\n", child.id()), 0o600);
        let lines = [Entry::Boot(boot()), Entry::Group(group.clone()), Entry::Enabled(victim.clone())];
        let unchanged = |child: &mut std::process::Child| {
            fs::read(&victim).expect("a file") == b"precious" && child.try_wait().expect("our child").is_none()
        };
        for (folder_mode, mode) in [(0o777, 0o600), (0o755, 0o666), (0o700, 0o600)] {
            let folder = folder();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(folder_mode)).expect("ours");
            let planted = ended(folder.path(), 1, mode, &lines);
            assert_eq!(Remains::sweep_in(&[folder.path().into()]), Remains::default());
            // Only in the last folder is the ledger ours; but no control group is named in it.
            assert_eq!(planted.exists(), folder_mode != 0o700);
            assert!(unchanged(&mut child));
        }
        child.kill().and_then(|()| child.wait()).expect("our child");
    }

    /// A user who may not turn swap off has not turned any on.
    #[test]
    fn an_empty_swap_file_and_the_empty_folder_go() {
        let (folder, scratch) = (folder(), folder());
        let file = scratch.path().join(format!("{PREFIX}1-1.swap"));
        write(&file, "", 0o600);
        ended(folder.path(), 1, 0o600, &[Entry::Boot(boot()), Entry::SwapFile { path: file.clone(), mark: [7; 16] }]);
        assert_eq!(Remains::sweep_in(&[folder.path().into()]).removed.len(), 1);
        assert!(!file.exists() && !folder.path().exists());
    }
}
