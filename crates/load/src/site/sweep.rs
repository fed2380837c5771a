//! Removes what stands in ledgers: what this howslow has made, and what a killed one has left.

use std::fs::{self, File};
use std::path::Path;

use super::device;
use super::entry::{Entry, boot};
use super::group;
use super::ledger::{Ledger, PREFIX};

/// Removes everything that stands in a ledger and still exists, and the ledger. For the guard of a killed howslow, and its end.
pub fn clear(ledger: &Ledger) {
    remove_all(ledger.path());
}

/// Removes what ended howslows have left, by their ledgers in this folder. Returns what was removed, in words.
pub fn sweep(folder: &Path) -> Vec<String> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(".ledger"));
        let locked = |path: &Path| File::open(path).map_or(true, |file| file.try_lock().is_err());
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) && !locked(&entry.path()) {
            removed.extend(remove_all(&entry.path()));
        }
    }
    removed
}

/// Removes what a ledger tells, the last first, then the ledger, if nothing is left. Returns what was there, in words.
fn remove_all(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    // A line that was cut short by the end of its writer tells of nothing that was made.
    let entries: Vec<Entry> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let same_boot = entries.first() == Some(&Entry::Boot(boot()));
    let (mut removed, mut stays) = (Vec::new(), false);
    for entry in entries.iter().rev() {
        let result = match entry {
            Entry::Boot(_) => Ok(None),
            Entry::SwapFile { path, mark } => device::remove_file(path, mark, same_boot),
            // After another boot the names belong to somebody else.
            _ if !same_boot => Ok(None),
            Entry::Group(path) => group::remove(path, PREFIX),
            Entry::Enabled(path) => group::disable(path),
            Entry::Zram { number, mark } => device::remove_zram(*number, mark),
        };
        match result {
            Ok(told) => removed.extend(told),
            Err(_) => stays = true,
        }
    }
    if !stays {
        let _ = fs::remove_file(path);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_ended_owner_has_written_down_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let living = Ledger::open(folder.path()).expect("a ledger");
        let living_path = living.path().to_path_buf();
        // What a killed howslow leaves: a ledger without a lock, a swap file that was never finished, a cut line.
        let file = folder.path().join(format!("{PREFIX}1-1.swap"));
        let mark = [7; 16];
        fs::write(&file, super::super::header::header(16, &mark)).expect("a file");
        let other = folder.path().join("precious");
        fs::write(&other, "not a swap file of howslow's").expect("a file");
        let lines = [
            Entry::Boot(boot()),
            Entry::SwapFile { path: file.clone(), mark },
            Entry::SwapFile { path: other.clone(), mark },
            Entry::Group(folder.path().join("somebody-elses")),
        ];
        let text: Vec<String> = lines.iter().map(|it| serde_json::to_string(it).expect("JSON")).collect();
        let dead = folder.path().join(format!("{PREFIX}1-1.ledger"));
        fs::write(&dead, text.join("\n") + "\n{\"group\":\"/sys/fs/cg").expect("a file");
        fs::create_dir(folder.path().join("somebody-elses")).expect("a folder");

        let removed = sweep(folder.path());
        assert_eq!(removed.len(), 1, "{removed:?}");
        assert!(!file.exists() && !dead.exists());
        assert!(other.exists() && folder.path().join("somebody-elses").exists(), "what bears no mark stays");
        assert!(living_path.exists(), "a locked ledger stays");
        clear(&living);
        assert!(!living_path.exists());
    }
}
