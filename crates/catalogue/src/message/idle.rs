//! What idle CPUs add to a message. The message itself is the same as without.

use std::num::NonZeroU64;
use std::time::Duration;

use operation::{Axis, Operation, Setting, Value, count, numbers, term};

use super::{RSX, TRIP, not_answered};
use crate::kit::{Channel, End, OTHER, pausing};

/// How long both tasks sleep before each message. The longer a CPU is idle, the deeper its sleep state, also that of a
/// hypervisor below.
const IDLE: Axis = count("microseconds", numbers![0, 10, 100, 1000, 10_000]).within(0, 100_000);

const BYTES: usize = 26;

pub(crate) const OPERATIONS: &[Operation] = &[
    // The sleep before the message is not part of it. What remains compared with a message between CPUs that never halt is
    // the cost of halting.
    TRIP.named(
        "pipe.idle",
        "26 bytes through a pipe to a partner process on another CPU after both have slept this long, and the \
            answer; the sleep is not timed",
    )
    .axes(&[OTHER, IDLE])
    .moves(|_| 2 * BYTES as u64)
    .explained_by(&[term(1.0, "pipe.roundtrip").at(&[("distance", Value::Word("awake")), ("size", RSX)])])
    .prepare(|setting: &Setting| {
        let (ours, theirs) = End::pipes()?;
        let mut block = [0_u8; BYTES];
        let partner = setting.partner(setting.partner_cpu()?, || {
            ours.close_inherited();
            let mut answer = [0_u8; BYTES];
            loop {
                theirs.receive(&mut answer)?;
                answer[0] = answer[0].wrapping_add(1);
                theirs.send(&answer)?;
            }
        })?;
        drop(theirs);
        // Sleeps then end on time instead of up to 50 us later, if the kernel allows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let idle = Duration::from_micros(setting.number("microseconds")?);
        let slept = setting.tally("ns idle before");
        Ok(pausing(move |waits| {
            let _alive = &partner;
            if !idle.is_zero() {
                slept.pass(waits.pause(|| std::thread::sleep(idle)) as u64);
            }
            let expected = block[0].wrapping_add(1);
            ours.send(&block)?;
            ours.receive(&mut block)?;
            if block[0] == expected { Ok(()) } else { not_answered() }
        }))
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sleep_is_no_part_of_the_message() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let point = |idle| {
            record::Point::default().with("distance", OTHER.values[0].value()).with("microseconds", Value::value(idle))
        };
        let Some(other) = crate::kit::trial::other_cpu() else {
            return testing::not_tested!("needs two CPUs");
        };
        let setting = Setting::new(point(Value::Number(10_000)), scratch.path().into(), 0, Some(other), 1);
        let mut looped = OPERATIONS[0].set_up(&setting).expect("it prepares");
        let start = std::time::Instant::now();
        let reported = looped.timed(20).expect("20 messages");
        let took = start.elapsed();
        // 20 sleeps of 10 ms took their time, and are not reported. The messages themselves take any time on a busy machine.
        assert!(reported + Duration::from_millis(200) <= took, "{reported:?} of {took:?}");
    }
}
