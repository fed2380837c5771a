//! Removes what stands in the ledgers of howslows that have ended: what was made for an experiment, and what a killed one has left.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::device::{self, SwapFile};
use super::entry::{Entry, boot};
use super::group;
use super::ledger::{Left, folders};
use super::ours;

/// No ledger is longer: some 100,000 configurations.
const MOST_BYTES: u64 = 64 << 20;

/// What was found of howslows that have ended, in words.
#[derive(Debug, Default, PartialEq)]
pub struct Remains {
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
        let made = |wanted: &Path| {
            entries.iter().find_map(|entry| match entry {
                Entry::Made { path, identity } if path == wanted => Some(*identity),
                _ => None,
            })
        };
        for entry in entries.iter().rev() {
            let removed = match entry {
                Entry::Boot(_) | Entry::Made { .. } => Ok(false),
                Entry::SwapFile { path, mark } => {
                    let (owner, identity) = (ledger.name.clone(), made(path));
                    SwapFile { path: path.clone(), mark: *mark, owner, identity }.remove(same_boot)
                }
                // After another boot the names belong to somebody else.
                _ if !same_boot => Ok(false),
                Entry::Group(path) => group::remove(path, &ledger.name, made(path)),
                Entry::Enabled { path, identity } => {
                    group::disable(path, *identity);
                    Ok(false)
                }
                Entry::Zram { number, mark, ms } => device::remove_zram(*number, mark, *ms),
            };
            match removed {
                Ok(true) => self.removed.push(entry.to_string()),
                Ok(false) => {}
                Err(error) => self.stays.push(format!("{entry}: {error}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::controllers::Controllers;
    use super::super::entry::Identity;
    use super::super::header::header;
    use super::super::ledger::{Ledger, PREFIX};
    use super::*;

    /// A folder of ledgers as howslow makes it.
    fn folder() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().expect("a folder")
    }

    fn write(path: &Path, content: impl AsRef<[u8]>, mode: u32) {
        fs::write(path, content).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    }

    fn identity(path: &Path) -> Identity {
        Identity::of(fs::File::open(path).expect("it is there")).expect("the kernel gives it")
    }

    /// Writes a ledger of a process that has ended. Returns its name.
    fn ended(folder: &tempfile::TempDir, mode: u32, lines: &[Entry]) -> PathBuf {
        let lines: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).expect("JSON")).collect();
        let path = folder.path().join(format!("{PREFIX}1-1.ledger"));
        write(&path, lines.join("\n") + "\n{\"group\":\"/sys/fs/cg", mode);
        path
    }

    fn swept(folder: &tempfile::TempDir) -> Remains {
        Remains::sweep_in(&[folder.path().into()])
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
        let made = [&file, &others].map(|path| Entry::Made { path: path.clone(), identity: identity(path) });
        let dead = ended(&folder, 0o600, &[&[Entry::Boot(boot())], &lines[..], &made].concat());

        let remains = swept(&folder);
        assert_eq!((remains.removed.len(), remains.stays.len()), (1, 0), "{remains:?}");
        assert!(!file.exists() && !dead.exists());
        assert!(others.exists() && precious.exists(), "what bears another name or mark stays");
        let path = at(&format!("{}.ledger", living.name));
        assert!(path.exists(), "a locked ledger stays");
        drop(living);
        assert_eq!(swept(&folder), Remains::default());
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
        let lines = [
            Entry::Boot(boot()),
            Entry::Group(group.clone()),
            Entry::Made { path: group.clone(), identity: identity(&group) },
            Entry::Enabled { path: victim.clone(), identity: identity(&victim) },
        ];
        let unchanged = |child: &mut std::process::Child| {
            fs::read(&victim).expect("a file") == b"precious" && child.try_wait().expect("our child").is_none()
        };
        for (folder_mode, mode) in [(0o777, 0o600), (0o755, 0o666), (0o700, 0o600)] {
            let folder = folder();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(folder_mode)).expect("ours");
            let planted = ended(&folder, mode, &lines);
            assert_eq!(swept(&folder), Remains::default());
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
        ended(&folder, 0o600, &[Entry::Boot(boot()), Entry::SwapFile { path: file.clone(), mark: [7; 16] }]);
        assert_eq!(swept(&folder).removed.len(), 1);
        assert!(!file.exists() && !folder.path().exists());
    }

    /// The same name and even the same mark, in another file.
    #[test]
    fn what_has_taken_the_place_of_what_was_made_stays() {
        let (folder, scratch) = (folder(), folder());
        let file = scratch.path().join(format!("{PREFIX}1-1.swap"));
        let mark = [7; 16];
        write(&file, header(16, &mark), 0o600);
        let made = Entry::Made { path: file.clone(), identity: identity(&file) };
        let lines = [Entry::Boot(boot()), Entry::SwapFile { path: file.clone(), mark }, made];
        let kept = scratch.path().join("kept");
        fs::rename(&file, &kept).expect("ours");
        write(&file, header(16, &mark), 0o600);
        ended(&folder, 0o600, &lines);
        assert_eq!(swept(&folder), Remains::default());
        assert!(file.exists() && kept.exists());
        // The one that was made is removed, and so is one of which only the mark is known.
        fs::rename(&kept, &file).expect("ours");
        for known in [3, 2] {
            write(&file, header(16, &mark), 0o600);
            let folder = tests::folder();
            ended(&folder, 0o600, &lines[..known]);
            assert_eq!(swept(&folder).removed.len(), 1);
            assert!(!file.exists());
        }
    }

    /// A group of the same name that somebody else has made since, with a process in it.
    #[test]
    fn a_control_group_that_is_another_by_now_stays_with_its_processes() {
        let Some(place) = Controllers::find().time.map(|place| place.folder) else {
            return testing::left_out!("no control group can be made here; run as root");
        };
        let group = place.join(format!("{PREFIX}1-1-{:04x}", fastrand::u16(..)));
        let again = || {
            let _ = fs::remove_dir(&group);
            fs::create_dir(&group).expect("a group");
        };
        again();
        let first = identity(&group);
        // One more in between, so that the second cannot have the inode of the first.
        let spare = place.join(format!("{PREFIX}spare-{:04x}", fastrand::u16(..)));
        fs::create_dir(&spare).expect("a group");
        again();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
        fs::write(group.join("cgroup.procs"), child.id().to_string()).expect("our child enters");
        let lists = |identity: Option<Identity>| {
            let made = identity.map(|identity| Entry::Made { path: group.clone(), identity });
            let lines = [Entry::Boot(boot()), Entry::Group(group.clone())].into_iter().chain(made);
            let folder = folder();
            ended(&folder, 0o600, &lines.collect::<Vec<_>>());
            swept(&folder)
        };
        let stays = [lists(Some(first)), lists(None)];
        let lives = child.try_wait().expect("our child").is_none();
        let own = identity(&group);
        let goes = lists(Some(own));
        let ended = child.kill().and_then(|()| child.wait());
        let (is_gone, _) = (!group.exists(), fs::remove_dir(&spare));
        let _ = fs::remove_dir(&group);
        ended.expect("our child");
        assert!(lives && stays.iter().all(|remains| *remains == Remains::default()), "{stays:?}");
        assert!(is_gone && goes.removed.len() == 1 && first != own, "{goes:?}");
    }
}
