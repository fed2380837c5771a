//! How tests prepare an operation and run its loop a few times without timing it, as a round does.

use operation::{Failure, Loop, Operation, Setting};
use record::Point;

/// An operation's loop, with a scratch folder that lives as long.
pub(crate) struct Trial {
    pub(crate) looped: Loop,
    _scratch: tempfile::TempDir,
}

/// CPU 1, if the machine has it.
pub(crate) fn other_cpu() -> Option<u32> {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1).then_some(1)
}

/// The operations whose ids begin with this word.
pub(crate) fn of_family(family: &str) -> impl Iterator<Item = &'static Operation> {
    crate::registry::all().filter(move |operation| operation.family() == family)
}

pub(crate) fn prepare(operation: &Operation, point: Point) -> Result<Trial, Failure> {
    let scratch = tempfile::tempdir()?;
    let setting = Setting::new(point, scratch.path().into(), 0, other_cpu(), 1);
    Ok(Trial { looped: operation.set_up(&setting)?, _scratch: scratch })
}

/// Checks that every operation of a family does its work at every point, in batches of every kind. Names those that skip.
pub(crate) fn perform_all(operations: &[Operation]) {
    operations.iter().for_each(perform);
}

pub(crate) fn perform(operation: &Operation) {
    perform_batches(operation, &USUAL);
}

/// The same in batches of these lengths.
pub(crate) fn perform_batches(operation: &Operation, batches: &[u64]) {
    operation.points(false).iter().for_each(|point| perform_at(operation, point, batches));
}

/// The same at this point.
pub(crate) fn perform_at(operation: &Operation, point: &Point, batches: &[u64]) {
    done_or_skipped(operation, point, performed(operation, point, batches));
}

/// Iterations of batches of every kind.
const USUAL: [u64; 3] = [1, 2, 100];

/// The same for one that counts what others also cause: the kernel may move or reclaim its pages, and another program may take a turn on
/// its CPU, which the operation reports as a wrong result. What is wrong with the operation is wrong each time.
pub(crate) fn perform_again_if_wrong(operation: &Operation) {
    const TRIES: usize = 5;
    for point in operation.points(false) {
        let mut done = performed(operation, &point, &USUAL);
        for _ in 1..TRIES {
            if matches!(done, Err(Failure::Wrong(_))) {
                done = performed(operation, &point, &USUAL);
            }
        }
        done_or_skipped(operation, &point, done);
    }
}

fn performed(operation: &Operation, point: &Point, batches: &[u64]) -> Result<(), Failure> {
    let mut trial = prepare(operation, point.clone())?;
    batches.iter().try_for_each(|&times| trial.looped.perform(times))
}

/// Checks that the operation does its work in this setting, in one iteration and in two. Names a skip.
pub(crate) fn perform_in(setting: &Setting, operation: &Operation) {
    let done =
        operation.set_up(setting).and_then(|mut looped| [1, 2].into_iter().try_for_each(|times| looped.perform(times)));
    done_or_skipped(operation, setting.point(), done);
}

fn done_or_skipped(operation: &Operation, point: &Point, done: Result<(), Failure>) {
    match done {
        Ok(()) => {}
        Err(Failure::Skip { reason, remedy }) => testing::left_out!("{}{point}: {reason}; {remedy}", operation.id),
        Err(failure) if crate::kit::huge::is_withheld(&failure) => {
            testing::left_out!("{}{point}: {failure}; free memory is in small pieces", operation.id)
        }
        Err(failure) => panic!("{}{point}: {failure}", operation.id),
    }
}

macro_rules! perform {
    ($($test:ident: $family:path;)*) => {$(
        #[test]
        fn $test() {
            use $family as family;
            perform_all(family::OPERATIONS);
        }
    )*};
}

perform! {
    every_sort_sorts: crate::compute::sort;
    every_clock_can_be_read: crate::processor::clock;
    every_reader_reads_every_record: crate::file::keyed;
    what_is_moved_is_the_file: crate::file::moving;
    files_with_holes_are_written_read_and_walked: crate::file::sparse;
    every_way_adds_up_at_every_offset: crate::memory::align;
    every_touch_takes_one_fault: crate::memory::page;
    exactly_one_of_many_is_ready: crate::message::poll;
    flags_are_set_cleared_and_read: crate::processor::flag;
    every_called_call_does_its_work: crate::syscall::called;
    connections_are_served: crate::syscall::called::connection;
    calls_on_created_files_do_their_work: crate::syscall::called::created;
    folders_are_listed_whole: crate::syscall::called::listing;
    partners_on_another_cpu_get_what_they_wait_for: crate::syscall::called::peer;
    every_call_returns_what_it_must: crate::syscall::entry;
    every_cpu_does_its_part: crate::task::scaling;
    every_keystroke_is_echoed: crate::terminal::echo;
    what_is_typed_is_read: crate::terminal::input;
    everything_written_comes_out: crate::terminal::output;
    updates_come_out: crate::terminal::screen;
    a_session_shows_what_it_must_without_any_feature: crate::terminal::session;
}
