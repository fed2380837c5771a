//! One round, seen from inside: a fresh process sets up one operation, takes samples and reports.

use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use operation::{Failure, Item, Loop, Setting, pin};
use rustix::process::Resource;
use serde::{Deserialize, Serialize};
use system::guard::limit;

use crate::alternate::{Alternating, in_turns};
use crate::batch::{RoundPlan, RoundSamples, sample};
use crate::hidden::{HiddenSample, account};
use crate::speed::Checker;
use crate::tails::tails;
use crate::watch::{self, SystemWatch};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RoundRequest {
    /// Index of the item in the list that the launcher was started with.
    pub item: usize,
    pub cpu: u32,
    pub other_cpu: Option<u32>,
    /// CPUs beyond these two, no more than the operation keeps busy.
    #[serde(default)]
    pub more_cpus: Vec<u32>,
    pub seed: u64,
    pub plan: RoundPlan,
    /// The items whose batches alternate with those of this one, and of all of them the iterations per batch that an earlier
    /// round found. Empty for a round of one item.
    #[serde(default)]
    pub others: Vec<Companion>,
    /// The number of the first turn, which decides who begins.
    #[serde(default)]
    pub first_turn: u32,
    /// The CPUs that spinners account for, in a round that looks for hidden CPU time instead of taking batches.
    #[serde(default)]
    pub account_for: Vec<u32>,
}

/// Another item of a round in which batches alternate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Companion {
    /// Index of the item in the list that the launcher was started with.
    pub item: usize,
    pub hint: Option<u64>,
}

/// Where a round may put files.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// The round's own folder, made on demand and removed at its end.
    pub own: PathBuf,
    /// The run's folder.
    pub shared: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum RoundEnd {
    Measured(RoundSamples),
    /// It measured several items whose batches alternated.
    Alternated(Vec<RoundSamples>),
    /// Of several items, the one at this place ended it in this way.
    EndedBy(usize, Box<RoundEnd>),
    /// It accounted for the processor time.
    Accounted(Vec<HiddenSample>),
    /// It cannot be measured here: a reason and a remedy.
    Skipped(String, String),
    Lost(String),
    /// It was lost because it gave no result within the operation's patience.
    Hung(String),
}

/// Descriptors that a round may have open. An operation that leaks them should fail soon.
const MOST_DESCRIPTORS: u64 = 4096;

/// Performs one round in this process. Never call it in a process that continues to live: limits and pinning stay.
pub(crate) fn perform(items: &[&Item], order: &RoundRequest, checker: Checker, folders: Folders) -> RoundEnd {
    let item = items[0];
    limit(Resource::As, items.iter().map(|item| item.operation.memory).max().unwrap_or(u64::MAX));
    limit(Resource::Core, 0);
    limit(Resource::Nofile, MOST_DESCRIPTORS);
    // If memory runs out, the kernel should kill the round and not the user's programs.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    if let Err(failure) = pin(order.cpu) {
        return RoundEnd::Lost(format!("cannot pin to CPU {}: {failure}", order.cpu));
    }
    let mut random = fastrand::Rng::with_seed(order.seed);
    let _shift = shift_mappings(&mut random);
    // Before anything of the round itself runs. Reading takes up to a fifth of a millisecond, so only if it is of use.
    let unseen = items.iter().any(|item| item.operation.is_delayed_unseen(&item.point));
    let others = if unseen { watch::tasks_running_beside() } else { 0.0 };
    let end = on_shifted_stack(random.usize(0..256), &mut || match items.len() {
        1 => measured(item, order, checker, folders.clone()),
        _ => alternated(items, order, checker, &folders),
    });
    match end {
        // The kernel moves the tasks of a CPU that goes offline, pinned or not.
        RoundEnd::Measured(_) | RoundEnd::Alternated(_) if pin(order.cpu).is_err() => {
            RoundEnd::Lost(format!("CPU {} went offline, or was taken from this process", order.cpu))
        }
        RoundEnd::Measured(harvest) => RoundEnd::Measured(RoundSamples { others, ..harvest }),
        RoundEnd::Alternated(harvests) => {
            RoundEnd::Alternated(harvests.into_iter().map(|harvest| RoundSamples { others, ..harvest }).collect())
        }
        other => other,
    }
}

pub(crate) struct ReadyItem {
    pub setting: Setting,
    pub work: Loop,
    pub watch: SystemWatch,
}

impl ReadyItem {
    /// Sets an item up. A refusal means that the operation cannot be measured. The same refusal later is a fault of the round.
    fn of(item: &Item, order: &RoundRequest, checker: Checker, folders: Folders) -> Result<ReadyItem, Box<RoundEnd>> {
        if let Some((reason, remedy)) = item.operation.needs.iter().find_map(|need| need.missing(order.other_cpu)) {
            return Err(Box::new(RoundEnd::Skipped(reason, remedy)));
        }
        let partners_cpus = item.operation.cpus(&item.point) as usize - 1;
        let setting = Setting::new(item.point.clone(), folders.own, order.cpu, order.other_cpu, order.seed)
            .with_shared(folders.shared)
            .with_more_cpus(order.more_cpus.clone())
            .with_argument(item.operation.argument);
        let others = order.other_cpu.iter().chain(&order.more_cpus).copied().take(partners_cpus).collect();
        let sees_queue = order.plan.leaves_queue_out && (item.operation.waits)(&item.point);
        let schedule = sees_queue.then(|| File::open("/proc/thread-self/schedstat").ok()).flatten();
        let watch = SystemWatch::new(checker, &setting, others, schedule);
        let set_up = item.operation.set_up(&setting).map_err(Failure::into_skip);
        let work = set_up.map_err(|failure| Box::new(ended_by(failure, "setting up")))?;
        Ok(ReadyItem { setting, work, watch })
    }
}

/// What the operation itself counted and doubted.
fn with_own_counts(setting: &Setting, harvest: RoundSamples) -> RoundSamples {
    RoundSamples { doubts: setting.doubts().raised(), tallies: setting.tallied(), ..harvest }
}

/// Measures several items in this process, with batches that alternate.
fn alternated(items: &[&Item], order: &RoundRequest, checker: Checker, folders: &Folders) -> RoundEnd {
    // Made here because each item makes only its own folder in it.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folders.own);
    let mut ready = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let folders = Folders { own: folders.own.join(place.to_string()), ..folders.clone() };
        match ReadyItem::of(item, order, checker, folders) {
            Ok(item) => ready.push(item),
            Err(end) => return RoundEnd::EndedBy(place, end),
        }
    }
    let hints = std::iter::once(order.plan.hint).chain(order.others.iter().map(|other| other.hint));
    let mut turns: Vec<Alternating<_>> = ready
        .iter_mut()
        .zip(hints)
        .map(|(item, hint)| Alternating { work: &mut item.work, watch: &mut item.watch, hint })
        .collect();
    match in_turns(&mut turns, &order.plan, order.first_turn, checker.clock.cost) {
        Ok(harvests) => {
            let counted = ready.iter().zip(harvests).map(|(item, harvest)| with_own_counts(&item.setting, harvest));
            RoundEnd::Alternated(counted.collect())
        }
        Err((place, failure)) => RoundEnd::EndedBy(place, Box::new(ended_by(failure, "running"))),
    }
}

fn measured(item: &Item, order: &RoundRequest, checker: Checker, folders: Folders) -> RoundEnd {
    let ReadyItem { setting, mut work, mut watch } = match ReadyItem::of(item, order, checker, folders) {
        Ok(ready) => ready,
        Err(end) => return *end,
    };
    if !order.account_for.is_empty() {
        return match account(&mut work, &mut watch, &setting, &order.plan, &order.account_for) {
            Ok(samples) => RoundEnd::Accounted(samples),
            Err(failure) => ended_by(failure, "accounting for its processor time"),
        };
    }
    let reading = checker.clock.cost;
    let taken = sample(&mut work, &mut watch, &order.plan, reading).and_then(|harvest| {
        let timed = order.plan.tails.map(|plan| tails(&mut work, &mut watch, &plan, reading));
        Ok(RoundSamples { tails: timed.transpose()?.map(Box::new), ..harvest })
    });
    match taken {
        Ok(harvest) => RoundEnd::Measured(with_own_counts(&setting, harvest)),
        Err(failure) => ended_by(failure, "running"),
    }
}

fn ended_by(failure: Failure, doing: &str) -> RoundEnd {
    match failure {
        Failure::Skip { reason, remedy } => RoundEnd::Skipped(reason, remedy),
        other => RoundEnd::Lost(format!("while {doing}: {other}")),
    }
}

/// Reserves a random stretch of address space, so that later mappings have other addresses in every round.
fn shift_mappings(random: &mut fastrand::Rng) -> Option<Vec<u8>> {
    // It is larger than the allocator's threshold for mapping, and untouched, so it uses no memory.
    let pages = random.usize(64..4096);
    let mut reserved = Vec::new();
    reserved.try_reserve_exact(pages * 4096).ok()?;
    Some(reserved)
}

/// Runs `work` with the stack moved down by at least `steps` times 64 bytes. The size of the environment does this to a
/// program by accident; here it is done on purpose (Mytkowicz et al., ASPLOS 2009).
#[inline(never)]
fn on_shifted_stack(steps: usize, work: &mut dyn FnMut() -> RoundEnd) -> RoundEnd {
    let mut room = [0_u8; 64];
    std::hint::black_box(&mut room);
    let end = if steps == 0 { work() } else { on_shifted_stack(steps - 1, work) };
    std::hint::black_box(&mut room);
    end
}
