//! `howslow fleet run`: begins a fleet, or finishes one that is kept under the same name.

use std::path::Path;

use ::fleet::{Fleet, Folder, Means, Nodes, Plan, Program, Request, SlurmOptions, Suite};
use record::units::counted;

use super::args::{FleetRunArgs, PlanArgs, SlurmArgs};
use super::follow::{Begin, follow};
use crate::output::{Misuse, Outcome, print_note};
use crate::resolve;

/// This program, even if its file has been replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

pub(super) fn run(args: &FleetRunArgs) -> anyhow::Result<Outcome> {
    let folder = Folder::of_user()?;
    let plan = plan(&args.plan)?;
    let begin = if args.follow.detach { Begin::MissingAndEnd } else { Begin::Missing };
    if let Some(id) = args.id.as_deref().filter(|id| folder.holds(id)) {
        let _lock = folder.lock(id)?;
        let fleet = folder.read(id)?;
        same(&fleet, &plan, args)?;
        if !args.plan.binary.is_empty() {
            ::fleet::send(&fleet, &programs(&args.plan)?)?;
        }
        let (complete, all) = (fleet.complete(), fleet.nodes.len());
        print_note(&format!("the fleet {id} is kept: {complete} of {all} nodes are complete"));
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
    let (fleet, _lock, notes) = ::fleet::begin(&folder, &request)?;
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
    let suite = Suite::of(&args.suite)?;
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
        let own = Program::read(Path::new(OWN_PROGRAM))?;
        if !own.is_static {
            let text = "this howslow needs the C library of this host, and may not run on others: give a static one with \
                        --binary FILE (docs/SYSTEMS.md says how to build it), or use those of the nodes with --installed";
            return Err(Misuse(text.into()).into());
        }
        return Ok(vec![own]);
    }
    let programs = args.binary.iter().map(|file| Program::read(file)).collect::<Result<Vec<_>, _>>()?;
    for program in programs.iter().filter(|program| !program.is_static) {
        print_note(&format!("{} is not static: it runs only where its libraries are", program.file.display()));
    }
    Ok(programs)
}

/// Checks that a kept fleet is the one that is requested. Programs may be added.
fn same(fleet: &Fleet, plan: &Plan, args: &FleetRunArgs) -> anyhow::Result<()> {
    let (PlanArgs { installed, binary, .. }, SlurmArgs { nodes, shared, .. }) = (&args.plan, &args.slurm_options);
    let is_folder = |given: &Path, kept: &Path| std::path::absolute(given).is_ok_and(|given| given == *kept);
    let mut differing = Vec::new();
    let mut check = |what, is_same: bool| differing.extend((!is_same).then_some(what));
    check("what is measured", fleet.plan == *plan);
    check("--slurm or --ssh", matches!((&fleet.means, args.slurm), (Means::Slurm(_), true) | (Means::Ssh, false)));
    check("the program", if fleet.installed { binary.is_empty() } else { !installed });
    let folder = shared.as_deref().map(|shared| shared.join(format!("howslow-fleet-{}", fleet.id)));
    check("--shared", folder.is_none_or(|folder| is_folder(&folder, &fleet.shared)));
    check("-o", args.follow.output.as_deref().is_none_or(|output| is_folder(output, &fleet.documents)));
    if let (Means::Slurm(kept), Means::Slurm(given)) = (&fleet.means, means(args)) {
        check("--partition", kept.partition == given.partition);
        check("--account", kept.account == given.account);
        check("--constraint", kept.constraint == given.constraint);
        check("--time", kept.time == given.time);
        check("the options of sbatch", kept.further == given.further);
    }
    let named = match nodes {
        Some(list) if args.slurm => ::fleet::named(&means(args), Nodes::List(Some(list)))?,
        _ => args.ssh.clone(),
    };
    check("the nodes", named.iter().all(|name| fleet.nodes.iter().any(|node| node.name == *name)));
    if differing.is_empty() {
        return Ok(());
    }
    let (id, differing) = (&fleet.id, differing.join(", "));
    let why = format!("the fleet {id} was begun with other options ({differing}); give those, or another --id");
    Err(Misuse(format!("{why}. `howslow fleet retry {id}` finishes it as it is")).into())
}
