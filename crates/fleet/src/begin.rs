//! Begins a fleet: checks what was requested, and puts the program where the nodes find it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::FleetError;
use crate::folder::{Folder, Lock, is_id, make_shared, new_id};
use crate::gather::program_file;
use crate::plan::Plan;
use crate::program::Program;
use crate::slurm::Slurm;
use crate::state::{Fleet, Means, Node, SCHEMA};

/// What a new fleet is.
#[derive(Debug)]
pub struct Request<'a> {
    /// Its name, if the user gives one.
    pub id: Option<&'a str>,
    pub means: Means,
    /// The nodes: a list in Slurm's notation, or hosts.
    pub nodes: Nodes<'a>,
    pub plan: Plan,
    /// The programs to send, one for each architecture; empty if the nodes have howslow.
    pub programs: Vec<Program>,
    /// A folder that all nodes share with this host, if not the data folder.
    pub shared: Option<&'a Path>,
    /// The folder of the documents, if not below the data folder.
    pub documents: Option<&'a Path>,
    pub howslow: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub enum Nodes<'a> {
    /// As the scheduler writes them; without a list, all of the partition.
    List(Option<&'a str>),
    Hosts(&'a [String]),
}

/// Creates a fleet and writes its state. Returns it, locked, and what the user should know. Fails if what was requested makes
/// no sense, the scheduler does not answer, something cannot be written, or the fleet was begun meanwhile.
pub fn begin(folder: &Folder, request: &Request) -> Result<(Fleet, Lock, Vec<String>), FleetError> {
    let id = match request.id {
        Some(id) if !is_id(id) => {
            let shown = record::printable(id);
            let text = format!("--id: {shown:?} is no name of a fleet: letters, digits, '-', '_' and '.', at most 60");
            return Err(FleetError::Misuse(text));
        }
        Some(id) => id.to_owned(),
        None => new_id(),
    };
    let mut notes = Vec::new();
    let nodes = once(&named(&request.means, request.nodes)?, &mut notes);
    if nodes.is_empty() {
        return Err(FleetError::Misuse("there is no node to measure; name some with --nodes, or a --partition".into()));
    }
    let own = folder.of(&id);
    let shared = match request.shared {
        Some(shared) => absolute(shared)?.join(format!("howslow-fleet-{id}")),
        None => absolute(&own)?.join("shared"),
    };
    let documents = match request.documents {
        Some(documents) => absolute(documents)?,
        None => absolute(&own)?.join("documents"),
    };
    let fleet = Fleet {
        schema: SCHEMA.into(),
        id,
        created: format!("{:.0}", Timestamp::now()),
        howslow: request.howslow.into(),
        means: request.means.clone(),
        plan: request.plan.clone(),
        installed: request.programs.is_empty(),
        shared,
        documents,
        nodes: nodes.iter().map(|name| Node::new(name)).collect(),
    };
    let lock = folder.lock(&fleet.id)?;
    if folder.holds(&fleet.id) {
        let text = format!("the fleet {} was begun meanwhile; the same command again finishes it", fleet.id);
        return Err(FleetError::Misuse(text));
    }
    let documents = &fleet.documents;
    std::fs::create_dir_all(documents).map_err(|source| FleetError::io("create the folder", documents, source))?;
    make_shared(&fleet)?;
    send(&fleet, &request.programs)?;
    folder.write(&fleet)?;
    Ok((fleet, lock, notes))
}

/// The names of these nodes. Fails if they are named otherwise than this means does, or the scheduler does not answer.
pub fn named(means: &Means, nodes: Nodes<'_>) -> Result<Vec<String>, FleetError> {
    match (means, nodes) {
        (Means::Slurm(options), Nodes::List(list)) => {
            crate::slurm::check_further(&options.further)?;
            Slurm { script: PathBuf::new(), options: options.clone() }.nodes(list)
        }
        (Means::Ssh, Nodes::Hosts(hosts)) => {
            for host in hosts {
                crate::ssh::check_host(host)?;
            }
            Ok(hosts.into())
        }
        _ => Err(FleetError::Misuse("--nodes is for Slurm and Kubernetes; --ssh takes the hosts itself".into())),
    }
}

fn once(names: &[String], notes: &mut Vec<String>) -> Vec<String> {
    let mut nodes: Vec<String> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for name in names {
        if known.insert(name) {
            nodes.push(name.clone());
        } else {
            notes.push(format!("{} is named twice and measured once", record::printable(name)));
        }
    }
    nodes
}

fn absolute(path: &Path) -> Result<PathBuf, FleetError> {
    std::path::absolute(path).map_err(|source| FleetError::io("find", path, source))
}

/// Puts the programs into the shared folder, each under its architecture's name, completely or not at all. Fails if two are
/// for the same architecture, or one cannot be copied.
pub fn send(fleet: &Fleet, programs: &[Program]) -> Result<(), FleetError> {
    for (number, program) in programs.iter().enumerate() {
        let architecture = program.architecture.name();
        if programs[..number].iter().any(|other| other.architecture == program.architecture) {
            return Err(FleetError::Misuse(format!("--binary: two programs are for {architecture}; give one")));
        }
        // One that is complete has removed it.
        make_shared(fleet)?;
        let place = program_file(&fleet.shared, architecture);
        let part = place.with_extension("part");
        let copied = std::fs::copy(&program.file, &part).and_then(|_| {
            std::fs::set_permissions(&part, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
            std::fs::rename(&part, &place)
        });
        copied.map_err(|source| FleetError::io("copy the program to", &place, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::remove_shared;
    use crate::gather::tests::fleet;
    use crate::program::Architecture;

    #[test]
    fn a_fleet_is_begun_by_one_program_only() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(&place.path().join("fleet"));
        let begun = |id: &str, host: &str| {
            let (hosts, plan) = ([host.to_owned()], Plan::default());
            let (means, nodes, programs) = (Means::Ssh, Nodes::Hosts(&hosts), Vec::new());
            let (id, shared, documents, howslow) = (Some(id), None, None, "");
            begin(&folder, &Request { id, means, nodes, plan, programs, shared, documents, howslow })
        };
        let _first = begun("a", "first").expect("a fleet");
        assert!(matches!(begun("a", "second"), Err(FleetError::Followed(_))));
        assert_eq!(folder.read("a").expect("a state").nodes, [Node::new("first")]);
        // One whose program has ended. The lock of another would be free a little later, if a child of a test is about to begin.
        let ended = folder.make("b").expect("a folder").join("fleet.json");
        std::fs::copy(folder.of("a").join("fleet.json"), ended).expect("a state");
        assert!(begun("b", "second").is_err_and(|error| error.is_misuse()), "the first's jobs would be forgotten");
    }

    #[test]
    fn a_program_sent_to_a_complete_fleet_is_removed_again() {
        let place = tempfile::tempdir().expect("a folder");
        let fleet = fleet(place.path(), &["n"]);
        let file = place.path().join("program");
        std::fs::write(&file, "a program").expect("a file");
        send(&fleet, &[Program { file, architecture: Architecture::Arm, is_static: true }]).expect("sent");
        assert_eq!((remove_shared(&fleet), fleet.shared.exists()), (None, false));
    }
}
