//! The script that runs on every node, and its arguments.

use std::path::PathBuf;

use crate::error::FleetError;
use crate::folder::Folder;
use crate::scheduler::Task;
use crate::state::Fleet;

pub const NODE_SCRIPT: &str = include_str!("node.sh");

/// The arguments of the script after the folder.
pub(crate) fn node_arguments(fleet: &Fleet, task: &Task) -> Vec<String> {
    let numbers: Vec<String> = task.repetitions.iter().map(u32::to_string).collect();
    let program = if fleet.installed { "howslow" } else { "sent" };
    let limit = format!("{:.0}", fleet.plan.limit_s().ceil());
    let mark = format!("howslow-fleet-{}-n{}", fleet.id, task.place);
    let mut arguments = vec![mark, task.name.clone(), limit, numbers.join(","), program.into()];
    arguments.extend(fleet.plan.arguments());
    arguments
}

/// Writes the node's script into the fleet's folder. Returns its file. Fails if it cannot be written.
pub(crate) fn script(folder: &Folder, fleet: &Fleet) -> Result<PathBuf, FleetError> {
    let path = folder.of(&fleet.id).join("node.sh");
    store::write_whole(&path, NODE_SCRIPT.as_bytes())?;
    Ok(path)
}
