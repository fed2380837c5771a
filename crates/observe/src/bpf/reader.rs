//! Turns the bytes of a record into counts.

use crate::counts::{Call, Counts, Lengths, Times};
use crate::objects;
use crate::sketch::Sketch;
use crate::task::Task;

use record::WaitReason;

use super::layout::{self, Kind};

/// The counts of a record.
pub(crate) fn task(record: &[u8]) -> Task {
    // A thread that the kernel made for a process never returns from a call, so that its own number is known at its end.
    let (own, creator) = (number(record, layout::IDENTITY), number(record, layout::CREATOR));
    let identity = if own == 0 { creator & !0xffff_ffff } else { own };
    let begin = number(record, layout::BEGIN);
    let end = number(record, layout::END);
    let name = &record[layout::NAME as usize..layout::NAME as usize + 16];
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let parent = number(record, layout::PARENT);
    let mut task = Task {
        id: number(record, layout::ID),
        parent: (parent > 0).then_some(parent),
        process: (identity >> 32) as u32,
        thread: identity as u32,
        name: String::from_utf8_lossy(name).into_owned(),
        begin_ns: begin,
        end_ns: (end > 0).then_some(end),
        run_time_ns: Some(number(record, layout::RUN_TIME)).filter(|time| *time > 0),
        cgroup: number(record, layout::CGROUP),
        ..Task::default()
    };
    task.counts.forks = number(record, layout::FORKS);
    task.counts.execs = number(record, layout::EXECS);
    task.counts.modes = layout::MODES.map(|places| places.map(|place| number(record, place)));
    task.counts.in_program = [layout::IN_PROGRAM, layout::IN_PROGRAM_CALLS].map(|place| number(record, place));
    for call in 0..layout::CALLS {
        let at = layout::COUNTS + (call * 16) as i16;
        let count = number(record, at);
        if count > 0 {
            let times = Times { count, results: number(record, at + 8) };
            task.counts.calls.insert(Call::Native(call as u16), times);
        }
    }
    for place in 1..objects::CALLS.len() {
        let Some(call) = objects::number(place) else { continue };
        for kind in 0..layout::OBJECT_KINDS {
            let at = layout::OBJECTS + ((place * layout::OBJECT_KINDS + kind) * 16) as i16;
            let (count, results) = (number(record, at), number(record, at + 8));
            if count > 0 {
                task.counts.objects.insert((Call::Native(call), kind as u8), Times { count, results });
                let all = task.counts.calls.entry(Call::Native(call)).or_default();
                *all = Times { count: all.count + count, results: all.results.wrapping_add(results) };
            }
        }
    }
    let sketch = record.get(layout::SKETCH as usize..layout::OBJECTS as usize).unwrap_or_default();
    task.counts.names = Sketch::of(sketch);
    for place in 0..layout::PLACES + layout::TRIES - 1 {
        let at = layout::TABLE + (place * 16) as i16;
        let key = number(record, at);
        if key != 0 {
            add_key(&mut task.counts, key, number(record, at + 8));
        }
    }
    task
}

/// Adds what a key of the table counts.
pub(crate) fn add_key(counts: &mut Counts, key: u64, count: u64) {
    if count == 0 {
        // It was taken back.
        return;
    }
    let (first, second) = ((key >> 16) as u16, key as u16);
    let (before, call) = (Call::Native(first), Call::Native(second));
    let kind = (key >> 32) as u8;
    let is = |one: Kind| kind == one as u8;
    let sum: &mut u64 = match kind {
        _ if is(Kind::Pair) && first == layout::NONE as u16 => return,
        _ if is(Kind::Pair) => counts.pairs.entry((before, call)).or_default(),
        _ if is(Kind::Error) => counts.errors.entry((before, second)).or_default(),
        _ if is(Kind::NarrowError) => counts.errors.entry((Call::Narrow(first), second)).or_default(),
        _ if is(Kind::UnknownError) => counts.errors.entry((Call::Unknown(first), second)).or_default(),
        _ if is(Kind::ShortError) => counts.errors.entry((Call::Short(first), second)).or_default(),
        _ if is(Kind::Signal) => counts.signals.entry(second).or_default(),
        _ if is(Kind::Wake) => counts.wakes.entry(call).or_default(),
        _ if is(Kind::WakeNear) => {
            *counts.near.entry(call).or_default() += count;
            counts.wakes.entry(call).or_default()
        }
        _ if is(Kind::Huge) => &mut counts.huge,
        _ if is(Kind::Copied) => &mut counts.copied,
        _ if is(Kind::GivenBack) => counts.given_back.entry(before).or_default(),
        _ if is(Kind::Fault) => match second {
            2 => &mut counts.fault_kinds.new,
            3 => &mut counts.fault_kinds.copied,
            _ => &mut counts.fault_kinds.read,
        },
        _ if is(Kind::Wait) => waits(counts, first, second >> 8).lengths.entry(second as u8).or_default(),
        _ if is(Kind::WaitTime) => &mut waits(counts, first, second).total_ns,
        _ if is(Kind::Sample) => sampled(counts, first).lengths.entry(second as u8).or_default(),
        _ if is(Kind::WentOn) => sampled(counts, first).went_on.entry(second as u8).or_default(),
        _ if is(Kind::SampleTime) => &mut sampled(counts, first).total_ns,
        _ if is(Kind::Squares) => &mut sampled(counts, first).squares,
        _ if is(Kind::Create) => &mut counts.creates,
        _ if is(Kind::Writing) => &mut counts.writing,
        _ if is(Kind::Truncating) => &mut counts.truncating,
        _ if is(Kind::AskedFirst) => &mut counts.attributes_first,
        _ if is(Kind::Ring) => counts.requests.entry(second).or_default(),
        _ if is(Kind::Narrow) => &mut counts.calls.entry(Call::Narrow(second)).or_default().count,
        _ if is(Kind::Short) => &mut counts.calls.entry(Call::Short(second)).or_default().count,
        _ => &mut counts.calls.entry(Call::Unknown(second)).or_default().count,
    };
    *sum += count;
}

/// The times off the CPU in this call for the reason with this number.
fn waits(counts: &mut Counts, call: u16, why: u16) -> &mut Lengths {
    counts.waits.entry((call_of(call), reason(why as u8))).or_default()
}

/// The samples with this number.
fn sampled(counts: &mut Counts, number: u16) -> &mut Lengths {
    match i32::from(number) {
        layout::FAULT => &mut counts.faults,
        _ => counts.samples.entry(Call::Native(number)).or_default(),
    }
}

/// The reason by the number that the programs use.
fn reason(number: u8) -> WaitReason {
    let known = [WaitReason::Runnable, WaitReason::Event, WaitReason::Kernel];
    known.into_iter().find(|reason| *reason as u8 == number).unwrap_or(WaitReason::Stopped)
}

/// The call of a key; `None` if it names none.
fn call_of(number: u16) -> Option<Call> {
    (number != layout::NONE as u16).then_some(Call::Native(number))
}

/// The 8 bytes at an offset.
pub(crate) fn number(bytes: &[u8], at: i16) -> u64 {
    bytes.get(at as usize..).and_then(<[u8]>::first_chunk).map_or(0, |number| u64::from_ne_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_without_a_number_belongs_to_the_process_that_created_it() {
        let mut record = vec![0; layout::RECORD];
        let place = layout::CREATOR as usize;
        record[place..place + 8].copy_from_slice(&(7_u64 << 32 | 9).to_ne_bytes());
        let task = task(&record);
        assert_eq!((task.process, task.thread), (7, 0));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut record = vec![0; layout::RECORD];
        let mut put = |at: i16, value: u64| record[at as usize..at as usize + 8].copy_from_slice(&value.to_ne_bytes());
        put(layout::IDENTITY, 7 << 32 | 9);
        put(layout::COUNTS + 3 * 16, 23);
        put(layout::COUNTS + 3 * 16 + 8, 4096);
        put(layout::TABLE, (Kind::Pair as u64) << 32 | 3 << 16 | 4);
        put(layout::TABLE + 8, 5);
        put(layout::TABLE + 16, (Kind::Error as u64) << 32 | 3 << 16 | 2);
        put(layout::TABLE + 24, 6);
        put(layout::TABLE + 32, (Kind::Pair as u64) << 32 | (layout::NONE as u64) << 16 | 4);
        put(layout::TABLE + 40, 1);
        let last = layout::SKETCH - 16;
        put(last, (Kind::Signal as u64) << 32 | 17);
        put(last + 8, 2);
        put(layout::SKETCH + 8, 1);
        let task = task(&record);
        assert_eq!((task.process, task.thread), (7, 9));
        assert_eq!(task.counts.calls[&Call::Native(3)], Times { count: 23, results: 4096 });
        assert_eq!(task.counts.pairs.len(), 1, "the first call has none before it");
        assert_eq!(task.counts.pairs[&(Call::Native(3), Call::Native(4))], 5);
        assert_eq!(task.counts.errors[&(Call::Native(3), 2)], 6);
        assert_eq!(task.counts.signals[&17], 2);
        assert_eq!(task.counts.names.distinct(), Some(1));
    }
}
