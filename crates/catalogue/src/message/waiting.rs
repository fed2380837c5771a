//! Spinning against blocking: a task waits for the answer of another on another CPU, either watching a word or asleep at it. The
//! time that passes is the answer's and the waking; what differs is the waiting task's processor time, which is all that its cost
//! counts as processor time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::{Axis, Failure, Loop, Need, Operation, Setting, count, numbers, repeat};
use rustix::io::Errno;

use crate::kit::library::futex::{Flags, wait, wake};
use crate::kit::{BASE, Handshake, OTHER, Shared, handles};

/// How long the partner takes for its answer.
const ANSWER: Axis = count("nanoseconds", numbers![1000, 10_000, 100_000]).within(100, 10_000_000);

const WAIT: Operation = BASE.per("wait").axes(&[OTHER, ANSWER]).needs(&[Need::TwoCpus]).follows_clock(|_| false);

pub(crate) const OPERATIONS: &[Operation] = &[
    WAIT.named("wait.spin", "wait for a partner on another CPU that takes so long for its answer, watching a word")
        .prepare(|setting| waits(setting, By::Spinning)),
    WAIT.named("wait.block", "the same, asleep at the word (futex) until the partner wakes this task")
        .calls(&["futex"])
        .prepare(|setting| waits(setting, By::Blocking)),
];

#[derive(Clone, Copy, PartialEq)]
enum By {
    Spinning,
    Blocking,
}

/// What both tasks see: the number of the last question and of the last answer, and the batch in which the partner watches for
/// questions.
#[derive(Default)]
struct QuestionBoard {
    question_number: AtomicU32,
    answered: AtomicU32,
    batch: Handshake,
}

impl QuestionBoard {
    /// The partner's part: after each question so much work, then the answer.
    fn answer(&self, work: Duration, by: By) -> Result<(), Failure> {
        let mut done = 0;
        loop {
            self.batch.take_part();
            let question_number = self.question_number.load(Ordering::Acquire);
            if question_number == done {
                std::hint::spin_loop();
                continue;
            }
            let start = Instant::now();
            while start.elapsed() < work {
                std::hint::spin_loop();
            }
            done = question_number;
            self.answered.store(question_number, Ordering::Release);
            if by == By::Blocking {
                wake(&self.answered, Flags::empty(), 1)?;
            }
        }
    }

    /// Waits for the answer to this question.
    #[inline]
    fn wait_for(&self, question: u32, by: By) -> Result<(), Failure> {
        loop {
            let answered = self.answered.load(Ordering::Acquire);
            if answered == question {
                return Ok(());
            }
            match by {
                By::Spinning => std::hint::spin_loop(),
                By::Blocking => match wait(&self.answered, Flags::empty(), answered, None) {
                    Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                },
            }
        }
    }
}

fn waits(setting: &Setting, by: By) -> Result<Loop, Failure> {
    let [board, before, after] = handles(Shared::new(QuestionBoard::default())?);
    let work = Duration::from_nanos(setting.number("nanoseconds")?);
    let partner = setting.partner(setting.partner_cpu()?, || board.answer(work, by))?;
    // Its processor time is the answer's, however it is waited for.
    setting.partners().borrow_mut().retain(|&pid| pid != partner.pid());
    let mut question = 0_u32;
    let waiting = repeat(move || {
        let _alive = &partner;
        question = question.wrapping_add(1);
        board.question_number.store(question, Ordering::Release);
        board.wait_for(question, by)
    });
    Ok(waiting.before(move |_| before.batch.begin()).verify(move |_| after.batch.end()))
}

#[cfg(test)]
mod tests {
    use record::{Point, Value};

    use super::*;

    #[test]
    fn a_wait_takes_as_long_as_the_answer_and_a_sleeping_task_no_processor() {
        let Some(other) = crate::kit::trial::other_cpu() else {
            return testing::not_tested!("needs two CPUs");
        };
        let point = |nanoseconds| {
            Point::default().with("distance", OTHER.values[0].value()).with("nanoseconds", Value::Number(nanoseconds))
        };
        let used = |operation: &Operation| {
            let setting = Setting::new(point(5_000_000), std::env::temp_dir(), 0, Some(other), 1);
            let mut waiting = operation.set_up(&setting).expect("it prepares");
            assert!(setting.partners().borrow().is_empty(), "the partner's time is not the waiting task's");
            // The best of several: somebody else may have a CPU.
            let tries = (0..5).map(|_| {
                let before = processor();
                let took = waiting.timed(20).expect("20 answers");
                assert!(took >= Duration::from_millis(100), "{took:?}");
                processor() - before
            });
            tries.min().expect("a try")
        };
        let (spinning, blocking) = (used(&OPERATIONS[0]), used(&OPERATIONS[1]));
        assert!(spinning > blocking * 3, "{spinning:?} spinning, {blocking:?} asleep");
    }

    fn processor() -> Duration {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }
}
