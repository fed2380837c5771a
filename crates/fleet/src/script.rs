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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A howslow whose run waits for PostgreSQL, and that notes where it was to be kept.
    const HOWSLOW: &str = "#!/bin/sh
[ \"$1\" != --version ] || exit 0
echo \"$HOWSLOW_STORE $*\" >>\"${0%/*}/kept\"
while [ \"$1\" != -o ]; do shift; done
echo {} >\"$2\"
case $HOWSLOW_STORE in postgres:*) mkdir -p \"$HOWSLOW_DATA/waiting/db\" && cp \"$2\" \"$HOWSLOW_DATA/waiting/db/x.json\" ;; esac
";

    /// Runs the script with this variable. Returns the file of its end, and what howslow was told.
    fn run(at: &Path, variable: (&str, &str)) -> (String, String) {
        let mut shell = Command::new("sh");
        shell.args(["-c", NODE_SCRIPT, "node.sh"]).arg(at).args(["mark", "n0.a1", "60", "1,2"]);
        shell
            .arg(at.join("howslow"))
            .arg("run")
            .env_remove("HOWSLOW_STORE")
            .env("TMPDIR", at)
            .env(variable.0, variable.1);
        shell.status().expect("it runs");
        let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("a file");
        (read("n0.a1.exit"), read("kept"))
    }

    #[test]
    fn a_run_that_a_store_does_not_take_is_a_failure_and_no_other_store_is_used() {
        let place = tempfile::tempdir().expect("a folder");
        testing::executable(&place.path().join("howslow"), HOWSLOW.as_bytes());
        let (end, kept) = run(place.path(), ("HOWSLOW_STORE", "postgres://own"));
        assert_eq!((end.as_str(), kept.matches("files run -o").count()), ("0 done\n", 2), "{kept}");
        let (end, kept) = run(place.path(), ("HOWSLOW_FLEET_STORE", "postgres://pod"));
        assert_eq!(end, "76 the store did not take run 1\n");
        assert!(kept.contains("postgres://pod run --keep -o"), "{kept}");
    }
}
