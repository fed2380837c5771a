//! What every means of reaching nodes must do: take tasks, report on them, cancel them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::error::FleetError;
use crate::state::Fleet;

/// One attempt on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The node's place in the fleet.
    pub place: usize,
    pub node: String,
    /// How its files begin.
    pub name: String,
    pub repetitions: Vec<u32>,
    /// The scheduler's job, if it is known.
    pub job: Option<String>,
}

/// What is known of a task's job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sight {
    Waiting(String),
    /// It has been running for this time, by the scheduler's clock.
    Running(f64),
    Ended(End, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself.
    Finished,
    /// By itself, with an error.
    Failed,
    TimedOut,
    Cancelled,
    /// The node or the job died.
    Killed,
}

/// A job as it was seen, with its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The job's id.
    pub job: String,
    pub sight: Sight,
}

/// Called after every submission: the task, and its job or why it was refused. A job of `None` may exist. Breaks off if that is returned.
pub(crate) type Submitted<'a> = &'a mut dyn FnMut(&Task, Result<Option<String>, String>) -> ControlFlow<()>;

/// The nodes that take no job now, with the reason.
pub(crate) type Refusing = BTreeMap<String, String>;

/// A way to reach nodes.
pub(crate) trait Scheduler {
    /// Fails if the scheduler does not answer.
    fn refusing(&self) -> Result<Refusing, FleetError> {
        Ok(BTreeMap::new())
    }

    /// Submits the tasks. Fails if there is no scheduler at all.
    fn submit(&self, fleet: &Fleet, tasks: &[Task], reported: Submitted<'_>) -> Result<(), FleetError>;

    /// What is known of the tasks, by place. A task that is unknown is absent. Fails if the scheduler does not answer, or
    /// not as it should.
    fn look(&self, fleet: &Fleet, tasks: &[Task]) -> Result<BTreeMap<usize, Seen>, FleetError>;

    /// Cancels these tasks' jobs. Returns for each of them why it was refused, if it was.
    fn cancel(&self, fleet: &Fleet, tasks: &[Task]) -> Vec<Result<(), String>>;

    /// Removes what the fleet has left on its nodes, once all is gathered.
    fn clean(&self, _: &Fleet) {}
}
