//! Takes in what nodes have left in the shared folder: documents, exit statuses, complaints. All of it may be damaged.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use record::Run;

use crate::error::FleetError;
use crate::state::{Attempt, Fleet, Gathered};

/// Clocks that differ by no more than this many seconds are not worth a word.
const CLOCKS_AGREE_S: i64 = 5;

/// What an attempt left besides its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// True if the node's script has begun.
    pub started: bool,
    /// The script's status and reason, if it ended by itself.
    pub exit: Option<(i32, String)>,
    /// The last complaint of howslow.
    pub complaint: String,
}

/// Reads what the attempt whose files begin with `name` left.
pub(crate) fn left(shared: &Path, name: &str) -> Left {
    let exit = tail(&shared.join(format!("{name}.exit"))).and_then(|text| {
        let (status, reason) = text.trim().split_once(' ')?;
        Some((status.parse().ok()?, record::printable(reason)))
    });
    let log = tail(&shared.join(format!("{name}.log"))).unwrap_or_default();
    let complaint = log.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    Left {
        started: shared.join(format!("{name}.started")).is_file(),
        exit,
        complaint: record::printable(complaint).chars().take(300).collect(),
    }
}

/// The last 4 KiB of a file.
fn tail(path: &Path) -> Option<String> {
    const MOST: u64 = 4096;
    let mut file = record::open_unlinked(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(MOST))).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes in the documents of a node that have arrived, and adds them to `runs`. The node's files stay, so that a program that is
/// killed before it has written the state takes them in again. Returns what is wrong with documents of the open attempt that are
/// damaged. Fails if a document cannot be written here; those before it are taken in.
pub(crate) fn collect(fleet: &mut Fleet, place: usize, runs: &mut Vec<Run>) -> Result<Vec<String>, FleetError> {
    let mut damaged = Vec::new();
    for repetition in fleet.nodes[place].missing(&fleet.plan) {
        for attempt in 0..fleet.nodes[place].attempts.len() {
            let number = fleet.nodes[place].attempts[attempt].number;
            let file = format!("{}.r{repetition}.json", fleet.prefix(place, number));
            let path = fleet.shared.join(&file);
            // A link that a node made could lead to any file of ours.
            if !std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                continue;
            }
            match record::read_run(&path) {
                Ok(run) => {
                    runs.push(take(fleet, place, (attempt, repetition), run)?);
                    break;
                }
                Err(error) if fleet.nodes[place].attempts[attempt].stage.is_open() => {
                    damaged.push(record::printable(&format!("its document {file} cannot be read: {error}")));
                }
                // An earlier attempt failed because of it.
                Err(_) => {}
            }
        }
    }
    Ok(damaged)
}

/// Writes a document to the folder of documents, and notes it.
fn take(fleet: &mut Fleet, place: usize, of: (usize, u32), mut run: Run) -> Result<Run, FleetError> {
    let (attempt, repetition) = of;
    let node = &fleet.nodes[place];
    let plain = plain(&node.name, place);
    // A thousand nodes that begin in the same second draw the same four letters about once.
    run.id = format!("{}-{plain}", run.id).chars().take(100).collect();
    if store::check_label(&fleet.id).is_ok() {
        run.settings.label.get_or_insert_with(|| fleet.id.clone());
    }
    run.machine.host.get_or_insert_with(|| node.name.clone());
    let file = format!("{plain}.r{repetition}.json");
    store::write_run(&run, &fleet.documents.join(&file))?;
    let Attempt { submitted, number, .. } = &node.attempts[attempt];
    let started = tail(&fleet.shared.join(format!("{}.started", fleet.prefix(place, *number)))).unwrap_or_default();
    let gathered = Gathered {
        repetition,
        file,
        run: run.id.clone(),
        howslow: record::printable(&run.howslow),
        build: record::printable(&run.build),
        boot: started.split_whitespace().nth(2).filter(|boot| *boot != "-").map(record::printable),
        clock_ahead_s: clock_ahead(&run, submitted, Timestamp::now()),
    };
    fleet.nodes[place].gathered.push(gathered);
    Ok(run)
}

/// A node's name as a part of a file name. Names that had to be changed stay apart by their place.
fn plain(node: &str, place: usize) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text: String = node.chars().map(|c| if allowed(c) { c } else { '_' }).take(60).collect();
    match text == node && !text.starts_with(['.', '-']) {
        true => text,
        false => format!("node{place}-{}", text.trim_start_matches(['.', '-'])),
    }
}

/// How far a node's clock must be ahead of ours: a run cannot end in the future, nor begin before it was submitted.
fn clock_ahead(run: &Run, submitted: &str, now: Timestamp) -> Option<i64> {
    let time = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::as_second);
    let ahead = time(&run.finished)?.saturating_sub(now.as_second());
    let behind = time(&run.started)?.saturating_sub(time(submitted)?);
    Some(ahead).filter(|by| *by > CLOCKS_AGREE_S).or(Some(behind).filter(|by| *by < -CLOCKS_AGREE_S))
}

/// The folder in which nodes find the program, and the files there that are the fleet's own.
pub(crate) fn program_file(shared: &Path, architecture: &str) -> PathBuf {
    shared.join(format!("howslow-{architecture}"))
}

/// Takes in whatever lies in the folder of a fleet whose state may be anybody's.
#[cfg(feature = "fuzz")]
pub fn fuzz_gather(fleet: &mut Fleet) {
    let mut texts = Vec::new();
    for place in 0..fleet.nodes.len().min(4) {
        for number in [1, 2] {
            let left = left(&fleet.shared, &fleet.prefix(place, number));
            texts.extend([left.complaint].into_iter().chain(left.exit.map(|(_, reason)| reason)));
        }
        texts.extend(collect(fleet, place, &mut Vec::new()).unwrap_or_default());
    }
    assert!(!texts.concat().contains(record::steers_terminal), "{texts:?}");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::state::{Means, Node, SCHEMA, Stage};

    pub(crate) const EXAMPLE: &str = include_str!("../../record/tests/data/example-run.json");

    /// A fleet with one running attempt on each of these nodes.
    pub(crate) fn fleet(folder: &Path, names: &[&str]) -> Fleet {
        let attempt = Attempt {
            number: 1,
            job: None,
            submitted: "2026-01-01T00:00:00Z".into(),
            repetitions: vec![1],
            stage: Stage::Running,
            reason: String::new(),
        };
        let node = |name: &&str| Node { attempts: vec![attempt.clone()], ..Node::new(name) };
        Fleet {
            schema: SCHEMA.into(),
            id: "f".into(),
            created: String::new(),
            howslow: String::new(),
            means: Means::Ssh,
            plan: Plan::default(),
            installed: false,
            shared: folder.join("shared"),
            documents: folder.join("documents"),
            nodes: names.iter().map(node).collect(),
        }
    }

    #[test]
    fn documents_are_checked_renamed_and_taken_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fleet = fleet(folder.path(), &["n1", "../n2", "n3"]);
        std::fs::create_dir_all(&fleet.shared).expect("a folder");
        for name in ["n0.a1.r1.json", "n1.a1.r1.json"] {
            std::fs::write(fleet.shared.join(name), EXAMPLE).expect("a document");
        }
        std::fs::write(fleet.shared.join("n2.a1.r1.json"), &EXAMPLE[..EXAMPLE.len() / 2]).expect("half a document");
        let mut runs = Vec::new();
        // None is taken twice.
        for place in [0, 0, 1, 1] {
            assert_eq!(collect(&mut fleet, place, &mut runs).expect("documents"), [""; 0]);
        }
        let damaged = collect(&mut fleet, 2, &mut runs).expect("nothing");
        assert!(damaged[0].contains("cannot be read"), "{damaged:?}");
        assert_eq!(runs.len(), 2);
        assert_ne!(runs[0].id, runs[1].id, "the same id on two nodes");
        let files: Vec<&str> =
            fleet.nodes.iter().flat_map(|node| &node.gathered).map(|document| document.file.as_str()).collect();
        assert_eq!(files, ["n1.r1.json", "node1-_n2.r1.json"]);
        for file in files {
            assert!(record::read_run(&fleet.documents.join(file)).is_ok());
        }
    }

    #[test]
    fn clocks_that_disagree_are_noticed() {
        let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("the example");
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().expect("a time");
        let mut ahead = |started: &str, finished: &str| {
            (run.started, run.finished) = (started.into(), finished.into());
            clock_ahead(&run, "2026-11-22T11:59:00Z", now)
        };
        assert_eq!(ahead("2026-11-22T11:59:10Z", "2026-11-22T11:59:40Z"), None);
        assert_eq!(ahead("2026-11-22T13:00:00Z", "2026-11-22T13:00:20Z"), Some(3620));
        assert_eq!(ahead("2026-11-22T10:59:00Z", "2026-11-22T10:59:20Z"), Some(-3600));
        assert_eq!(ahead("yesterday", "now"), None);
    }

    #[test]
    fn what_an_attempt_left_is_read_whatever_it_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("a file");
        assert_eq!(left(folder.path(), "n0.a1"), Left::default());
        write("n0.a1.exit", b"74 run 1 took \x1b[31mlonger\n");
        write("n0.a1.log", b"first\n\xff\xfelast\n\n");
        let found = left(folder.path(), "n0.a1");
        assert_eq!(found.exit, Some((74, "run 1 took \u{fffd}[31mlonger".into())));
        assert_eq!(found.complaint, "\u{fffd}\u{fffd}last");
        write("n0.a1.exit", b"nonsense");
        assert_eq!(left(folder.path(), "n0.a1").exit, None);
    }
}
