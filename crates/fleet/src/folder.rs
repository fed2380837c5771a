//! Where fleets are kept: one folder each below the data folder, with the state in one file that is replaced as a whole.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::error::FleetError;
use crate::state::{Fleet, SCHEMA};

/// The name of the state's file.
const STATE: &str = "fleet.json";
/// No state is longer: 100,000 nodes with some attempts each.
const MOST_BYTES: u64 = 256 << 20;
/// No node measures more often.
const MOST_REPETITIONS: u32 = 1000;

/// All fleets of a user.
#[derive(Clone, Debug)]
pub struct Folder {
    all: PathBuf,
}

/// Held while a fleet is followed. Given up when it is dropped, or its process dies.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the lock is held while the file is open")] File);

impl Folder {
    /// The user's fleets. Fails if there is no data folder.
    pub fn of_user() -> Result<Folder, FleetError> {
        Ok(Folder { all: store::data_folder()?.join("fleet") })
    }

    /// The fleets in this folder, which need not exist yet.
    pub fn at(all: &Path) -> Folder {
        Folder { all: all.into() }
    }

    /// The folder of one fleet.
    pub fn of(&self, id: &str) -> PathBuf {
        self.all.join(id)
    }

    /// Makes the folder of one fleet, if it is missing. Fails if it cannot be made, or root would make it in the data
    /// folder of another user.
    pub(crate) fn make(&self, id: &str) -> Result<PathBuf, FleetError> {
        let (base, name) = (self.all.parent(), self.all.file_name());
        let (base, name) = (base.unwrap_or(Path::new("")), name.unwrap_or_default());
        Ok(store::make_folder(base, &Path::new(name).join(id))?)
    }

    /// The ids of all fleets, newest first. Fails if the folder exists and cannot be read.
    pub fn list(&self) -> Result<Vec<String>, FleetError> {
        let entries = match std::fs::read_dir(&self.all) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(FleetError::io("read the folder", &self.all, source)),
        };
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let created = |id: String| {
            let since = std::fs::metadata(self.of(&id).join("lock")).and_then(|found| found.created());
            let state = self.of(&id).join(STATE);
            state.is_file().then_some((since.or_else(|_| std::fs::metadata(&state)?.modified()).ok(), id))
        };
        let mut found: Vec<_> = ids.filter(|id| is_id(id)).filter_map(created).collect();
        found.sort_by(|one, other| other.cmp(one));
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// The id that a name means: itself, its unique beginning, or without a name the newest. Fails if there is no such
    /// fleet, or several.
    pub fn find(&self, name: Option<&str>) -> Result<String, FleetError> {
        let ids = self.list()?;
        let newest = ids.first().cloned();
        let none = || {
            FleetError::Misuse(format!("no fleet is kept in {}; `howslow fleet run` begins one", self.all.display()))
        };
        let Some(name) = name else { return newest.ok_or_else(none) };
        if ids.iter().any(|id| id == name) {
            return Ok(name.into());
        }
        let mut begin: Vec<String> = ids.into_iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
        let shown = record::printable(name);
        match (begin.len(), newest) {
            (1, _) => Ok(begin.remove(0)),
            (_, None) => Err(none()),
            (0, Some(newest)) => Err(FleetError::Misuse(format!("{shown} names no fleet; the newest is {newest}"))),
            (many, _) => Err(FleetError::Misuse(format!("{shown} is the beginning of {many} fleets; type more of it"))),
        }
    }

    /// True if a fleet of this name is kept.
    pub fn holds(&self, id: &str) -> bool {
        is_id(id) && self.of(id).join(STATE).is_file()
    }

    /// Reads a fleet's state. Fails if it cannot be read, is damaged, or was written by another version's format.
    pub fn read(&self, id: &str) -> Result<Fleet, FleetError> {
        let path = self.of(id).join(STATE);
        let wrong = |why: String| FleetError::State { path: path.clone(), why };
        let text = record::read_input(&path, MOST_BYTES).map_err(|source| FleetError::io("read", &path, source))?;
        let fleet: Fleet = serde_json::from_slice(&text).map_err(|error| {
            // It repeats what it found.
            wrong(format!("not a fleet: {}", record::printable(&error.to_string())))
        })?;
        if fleet.schema != SCHEMA || fleet.id != id {
            let (schema, named) = (record::printable(&fleet.schema), record::printable(&fleet.id));
            return Err(wrong(format!("this is the fleet {named} in the format {schema}, not {id} in {SCHEMA}")));
        }
        // All repetitions of a node are listed several times.
        if !(1..=MOST_REPETITIONS).contains(&fleet.plan.repeat) {
            return Err(wrong(format!("{} repetitions; from 1 to {MOST_REPETITIONS} are possible", fleet.plan.repeat)));
        }
        Ok(fleet)
    }

    /// Writes a fleet's state, completely or not at all. Fails if it cannot be written.
    pub fn write(&self, fleet: &Fleet) -> Result<(), FleetError> {
        let mut text = serde_json::to_vec(fleet).map_err(|error| FleetError::Trouble(error.to_string()))?;
        text.push(b'\n');
        Ok(store::write_whole(&self.of(&fleet.id).join(STATE), &text)?)
    }

    /// Makes this program the only one that follows a fleet. Fails if another one does, or the folder cannot be written.
    pub fn lock(&self, id: &str) -> Result<Lock, FleetError> {
        let path = self.make(id)?.join("lock");
        // A link there would be another user's.
        let mut options = File::options();
        options.create(true).truncate(false).write(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let file = options.open(&path);
        let file = file.map_err(|source| FleetError::io("write", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(FleetError::Followed(id.into())),
            Err(TryLockError::Error(source)) => Err(FleetError::io("lock", &path, source)),
        }
    }
}

/// The file by which a fleet knows the folder that it has made for its nodes. It holds the fleet's id.
const MARK: &str = ".howslow-fleet";

/// Makes the folder of a fleet's nodes, with its mark. Fails if it cannot be made, or is somebody else's already.
pub(crate) fn make_shared(fleet: &Fleet) -> Result<(), FleetError> {
    let folder = &fleet.shared;
    let failed = |source| FleetError::io("create the folder", folder, source);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let is_empty = std::fs::read_dir(folder).map_err(failed)?.next().is_none();
    if !is_empty && !is_marked(fleet) {
        let shown = record::printable(&folder.display().to_string());
        return Err(FleetError::Misuse(format!(
            "{shown} holds files of somebody else; choose another --id or --shared"
        )));
    }
    Ok(store::write_whole(&folder.join(MARK), fleet.id.as_bytes())?)
}

/// True if this fleet has made the folder of its nodes: the file `fleet.json`, which names it, may come from anywhere.
fn is_marked(fleet: &Fleet) -> bool {
    let is = |path: &Path, kind: fn(&std::fs::FileType) -> bool| {
        path.symlink_metadata().is_ok_and(|found| kind(&found.file_type()))
    };
    let mark = fleet.shared.join(MARK);
    is(&fleet.shared, std::fs::FileType::is_dir)
        && is(&mark, std::fs::FileType::is_file)
        && std::fs::read(mark).is_ok_and(|id| id == fleet.id.as_bytes())
}

/// Removes the folder of a fleet's nodes. Returns what the user should know.
pub(crate) fn remove_shared(fleet: &Fleet) -> Option<String> {
    let shown = record::printable(&fleet.shared.display().to_string());
    match is_marked(fleet) {
        _ if fleet.shared.symlink_metadata().is_err() => None,
        true => {
            let _ = std::fs::remove_dir_all(&fleet.shared);
            None
        }
        false => Some(format!("{shown} stays: this fleet did not make it (it holds no {MARK} of {})", fleet.id)),
    }
}

/// A new fleet's name: the time and four letters.
pub fn new_id() -> String {
    let letters: String = (0..4).map(|_| fastrand::lowercase()).collect();
    format!("{}-{letters}", Timestamp::now().strftime("%Y%m%d-%H%M%S"))
}

/// True for a plain name of at most 60 characters, which is also a job's name.
pub fn is_id(id: &str) -> bool {
    id.len() <= 60 && record::is_plain_name(id)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{lchown, symlink};

    use store::StoreError;

    use super::*;

    #[test]
    fn a_state_whose_repetitions_would_fill_the_memory_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(&place.path().join("fleet"));
        let state = r#"{"schema":"howslow-fleet/1","id":"a","created":"","howslow":"","means":"ssh","plan":{"suite":"headline",
            "repeat":REPEAT,"budget_s":null,"rounds":null,"precision":null,"limit_s":null},"installed":true,"shared":"/none",
            "documents":"/none","nodes":[]}"#;
        folder.make("a").expect("a folder");
        for (repeat, is_read) in [("1", true), ("1000", true), ("0", false), ("4294967295", false)] {
            std::fs::write(folder.of("a").join(STATE), state.replace("REPEAT", repeat)).expect("a state");
            let read = folder.read("a");
            let is_refused = read.as_ref().err().is_some_and(|error| error.to_string().contains("from 1 to 1000"));
            assert_eq!((read.is_ok(), is_refused), (is_read, !is_read), "{repeat}: {read:?}");
        }
        std::fs::write(folder.of("a").join(STATE), state.replace("headline", "head\u{7f}line")).expect("a state");
        let why = folder.read("a").expect_err("no suite").to_string();
        assert!(why.contains("head") && !why.contains(record::steers_terminal), "{why:?}");
    }

    /// As for runs: root writes nothing where another user could have it written elsewhere.
    #[test]
    fn a_fleet_in_another_user_s_folder_is_not_followed_by_root() {
        let place = tempfile::tempdir().expect("a folder");
        let (data, other) = (place.path().join("data"), place.path().join("other"));
        let folder = Folder::at(&data.join("fleet"));
        drop(folder.lock("own").expect("a lock in our folder"));
        assert!(data.join("fleet/own/lock").is_file());
        std::fs::create_dir_all(other.join("night")).expect("a folder");
        symlink(other.join("lock"), data.join("fleet/own/link")).expect("a link");
        std::fs::rename(data.join("fleet/own/link"), data.join("fleet/own/lock")).expect("ours");
        assert!(folder.lock("own").is_err() && !other.join("lock").exists(), "a link is not followed");

        std::fs::rename(data.join("fleet"), data.join("before")).expect("ours");
        symlink(&other, data.join("fleet")).expect("a link");
        if lchown(data.join("fleet"), Some(65_534), Some(65_534)).is_err() {
            return testing::not_tested!("only root can give a file to another user");
        }
        assert!(folder.lock("night").is_err(), "another user's link");
        assert!(!other.join("night/lock").exists());
        std::fs::remove_file(data.join("fleet")).expect("ours");
        // As with `sudo` that keeps HOME.
        lchown(&data, Some(65_534), Some(65_534)).expect("root may");
        let error = folder.lock("night").expect_err("another user's folder");
        assert!(matches!(error, FleetError::Store(StoreError::AnothersFolder { owner: 65_534, .. })), "{error}");
        assert!(!data.join("fleet").exists());
    }
}
