//! Turns the bytes of a record into counts.

use crate::counts::{Call, Counts, Lengths, Times};
use crate::objects;
use crate::sketch::Sketch;
use crate::task::Task;

use record::WaitReason;

use super::layout::{self, Kind, Wait};

/// The counts of a record.
pub(crate) fn task(record: &[u8]) -> Task {
    // A thread that the kernel made for a process never returns from a call, so that its own number is known at its end.
    let identity = match number(record, layout::IDENTITY) {
        0 => number(record, layout::CREATOR) & !0xffff_ffff,
        known => known,
    };
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
    for (place, name) in objects::CALLS.iter().enumerate().skip(1) {
        let Some(call) = objects::number(name) else { continue };
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
    let sketch = record.get(layout::SKETCH as usize..layout::KINDS as usize).unwrap_or_default();
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
    let (first, second) = ((key >> 16) as u16, key as u16);
    let kind = (key >> 32) as u8;
    if kind == Kind::Pair as u8 {
        if first != layout::NONE as u16 {
            *counts.pairs.entry((Call::Native(first), Call::Native(second))).or_default() += count;
        }
    } else if kind == Kind::Error as u8 {
        *counts.errors.entry((Call::Native(first), second)).or_default() += count;
    } else if kind == Kind::Signal as u8 {
        *counts.signals.entry(second).or_default() += count;
    } else if kind == Kind::Wake as u8 {
        *counts.wakes.entry(Call::Native(second)).or_default() += count;
    } else if kind == Kind::WakeNear as u8 {
        *counts.wakes.entry(Call::Native(second)).or_default() += count;
        *counts.near.entry(Call::Native(second)).or_default() += count;
    } else if kind == Kind::Huge as u8 {
        counts.huge += count;
    } else if kind == Kind::Copied as u8 {
        counts.copied += count;
    } else if kind == Kind::GivenBack as u8 {
        *counts.given_back.entry(Call::Native(first)).or_default() += count;
    } else if kind == Kind::Fault as u8 {
        let sum = match second {
            2 => &mut counts.fault_kinds.new,
            3 => &mut counts.fault_kinds.copied,
            _ => &mut counts.fault_kinds.read,
        };
        *sum += count;
    } else if kind == Kind::Wait as u8 {
        let wait = counts.waits.entry((call_of(first), reason((second >> 8) as u8))).or_default();
        *wait.lengths.entry(second as u8).or_default() += count;
    } else if kind == Kind::WaitTime as u8 {
        counts.waits.entry((call_of(first), reason(second as u8))).or_default().total_ns += count;
    } else if kind == Kind::Sample as u8 {
        *sampled(counts, first).lengths.entry(second as u8).or_default() += count;
    } else if kind == Kind::WentOn as u8 {
        *sampled(counts, first).went_on.entry(second as u8).or_default() += count;
    } else if kind == Kind::SampleTime as u8 {
        sampled(counts, first).total_ns += count;
    } else if kind == Kind::Squares as u8 {
        sampled(counts, first).squares += count;
    } else if kind == Kind::Create as u8 {
        counts.creates += count;
    } else if kind == Kind::Writing as u8 {
        counts.writing += count;
    } else if kind == Kind::Truncating as u8 {
        counts.truncating += count;
    } else if kind == Kind::AskedFirst as u8 {
        counts.attributes_first += count;
    } else if kind == Kind::Ring as u8 {
        *counts.requests.entry(second).or_default() += count;
    } else {
        let call = match kind {
            _ if kind == Kind::Narrow as u8 => Call::Narrow(second),
            _ if kind == Kind::Short as u8 => Call::Short(second),
            _ => Call::Unknown(second),
        };
        counts.calls.entry(call).or_default().count += count;
    }
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
    match number {
        _ if number == Wait::Ready as u8 => WaitReason::Runnable,
        _ if number == Wait::Event as u8 => WaitReason::Event,
        _ if number == Wait::Kernel as u8 => WaitReason::Kernel,
        _ => WaitReason::Stopped,
    }
}

/// The call of a key; `None` if it names none.
fn call_of(number: u16) -> Option<Call> {
    (number != layout::NONE as u16).then_some(Call::Native(number))
}

/// The 8 bytes at an offset.
pub(crate) fn number(bytes: &[u8], at: i16) -> u64 {
    let at = at as usize;
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
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
