//! `howslow fleet run --kubernetes`: writes manifests, and starts nothing.

use ::fleet::{Collector, Manifests, Written, new_id};

use super::args::FleetRunArgs;
use crate::output::{self, Outcome, print_note};

/// Writes the manifests to the folder of `-o`, or those of one kind to stdout.
pub(super) fn write(args: &FleetRunArgs) -> anyhow::Result<Outcome> {
    let options = &args.kubernetes_options;
    let listed = args.slurm_options.nodes.as_deref().unwrap_or_default();
    let mut nodes: Vec<String> = listed.split(',').filter(|node| !node.is_empty()).map(str::to_owned).collect();
    nodes.sort();
    nodes.dedup();
    let manifests = Manifests {
        id: args.id.clone().unwrap_or_else(new_id),
        plan: super::run::plan(&args.plan)?,
        image: options.image.clone().unwrap_or_default(),
        count: options.count.unwrap_or(nodes.len() as u32),
        nodes,
        cpus: options.cpus,
        collector: Collector::parse(&options.collector)?,
        namespace: options.namespace.clone(),
    };
    let Written { config_map, job, daemon_set } = manifests.write()?;
    let Some(folder) = &args.follow.output else {
        let what = if options.daemon_set { daemon_set } else { job };
        let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": [config_map, what] });
        output::print(&format!("{list:#}\n"))?;
        return Ok(Outcome::Done);
    };
    for (name, document) in [("configmap", config_map), ("job", job), ("daemonset", daemon_set)] {
        let path = folder.join(format!("{name}.json"));
        store::write_whole(&path, format!("{document:#}\n").as_bytes())?;
        print_note(&format!("wrote {}", path.display()));
    }
    print_note("apply the ConfigMap and either the Job or the DaemonSet, not both: no node takes pods of both");
    Ok(Outcome::Done)
}
