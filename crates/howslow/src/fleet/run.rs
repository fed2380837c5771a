//! `howslow fleet run`: begins a fleet, or finishes one that is kept under the same name.

use std::path::Path;

use ::fleet::{Fleet, Folder, Means, Nodes, Plan, Program, Request, SlurmOptions, Suite};
use record::units::counted;

use super::follow::{Begin, follow};
use super::status::or_misuse;
use crate::cli::{FleetRunArgs, PlanArgs};
use crate::output::{Misuse, Outcome, print_note};
use crate::resolve;

/// This program, even if its file has been replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

pub(super) fn run(args: &FleetRunArgs) -> anyhow::Result<Outcome> {
    let folder = or_misuse(Folder::of_user())?;
    let plan = plan(&args.plan)?;
    let begin = if args.follow.detach { Begin::MissingAndEnd } else { Begin::Missing };
    if let Some(id) = args.id.as_deref().filter(|id| folder.holds(id)) {
        let _lock = or_misuse(folder.lock(id))?;
        let fleet = or_misuse(folder.read(id))?;
        same(&fleet, &plan, args)?;
        print_note(&format!(
            "the fleet {id} is kept: {} of {} nodes are complete",
            fleet.complete(),
            fleet.nodes.len()
        ));
        return follow(&folder, fleet, &args.follow.every, begin);
    }
    let request = Request {
        id: args.id.as_deref(),
        means: means(args),
        nodes: if args.slurm { Nodes::List(args.slurm_options.nodes.as_deref()) } else { Nodes::Hosts(&args.ssh) },
        plan,
        programs: programs(&args.plan)?,
        shared: args.slurm_options.shared.as_deref(),
        documents: args.follow.output.as_deref(),
        howslow: env!("CARGO_PKG_VERSION"),
    };
    if !args.slurm && args.slurm_options.nodes.is_some() {
        return Err(Misuse("--nodes is for Slurm and Kubernetes; --ssh takes the hosts itself".into()).into());
    }
    let (fleet, notes) = or_misuse(::fleet::begin(&folder, &request))?;
    let _lock = or_misuse(folder.lock(&fleet.id))?;
    notes.iter().for_each(|note| print_note(note));
    print_note(&format!("fleet {}: {}", fleet.id, counted(fleet.nodes.len() as u64, "node")));
    follow(&folder, fleet, &args.follow.every, begin)
}

fn means(args: &FleetRunArgs) -> Means {
    let options = &args.slurm_options;
    if !args.slurm {
        return Means::Ssh;
    }
    Means::Slurm(SlurmOptions {
        partition: options.partition.clone(),
        account: options.account.clone(),
        constraint: options.constraint.clone(),
        time: options.time.clone(),
        further: options.sbatch.clone(),
    })
}

/// What each node does. Patterns are checked here, not on a thousand nodes.
pub(super) fn plan(args: &PlanArgs) -> anyhow::Result<Plan> {
    let suite = or_misuse(Suite::of(&args.suite))?;
    if let Suite::Patterns(patterns) = &suite {
        crate::pattern::choose(&resolve::patterns(patterns)?, false)?;
    }
    let PlanArgs { repeat, budget, rounds, precision, limit, .. } = *args;
    Ok(Plan { suite, repeat, budget_s: budget, rounds, precision, limit_s: limit })
}

fn programs(args: &PlanArgs) -> anyhow::Result<Vec<Program>> {
    if args.installed {
        return Ok(Vec::new());
    }
    if args.binary.is_empty() {
        let own = or_misuse(Program::read(Path::new(OWN_PROGRAM)))?;
        if !own.is_static {
            let text = "this howslow needs the C library of this host, and may not run on others: give a static one with \
                        --binary FILE (docs/SYSTEMS.md says how to build it), or use those of the nodes with --installed";
            return Err(Misuse(text.into()).into());
        }
        return Ok(vec![own]);
    }
    let programs: Vec<Program> =
        args.binary.iter().map(|file| or_misuse(Program::read(file))).collect::<Result<_, _>>()?;
    for program in programs.iter().filter(|program| !program.is_static) {
        print_note(&format!("{} is not static: it runs only where its libraries are", program.file.display()));
    }
    Ok(programs)
}

/// Checks that a kept fleet is the one that is requested.
fn same(fleet: &Fleet, plan: &Plan, args: &FleetRunArgs) -> anyhow::Result<()> {
    let means = means(args);
    let same_means = match (&fleet.means, &means) {
        (Means::Slurm(_), Means::Slurm(_)) => true,
        (Means::Ssh, Means::Ssh) => args.ssh.iter().all(|host| fleet.nodes.iter().any(|node| node.name == *host)),
        _ => false,
    };
    if fleet.plan == *plan && same_means {
        return Ok(());
    }
    let text = format!(
        "the fleet {id} measures something else or elsewhere; give the options that it was begun with, or another --id. \
         `howslow fleet retry {id}` finishes it as it is",
        id = fleet.id
    );
    Err(Misuse(text).into())
}
