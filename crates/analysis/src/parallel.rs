//! Many answers on all CPUs.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// The answers there are, in the order of the questions.
///
/// # Panics
/// If an answer panics.
pub fn answers<Q: Sync, A: Send>(questions: &[Q], answer: impl Fn(&Q) -> Option<A> + Sync) -> Vec<A> {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    let answer = &answer;
    thread::scope(|scope| {
        let parts = questions.chunks(questions.len().div_ceil(cpus).max(1));
        let running: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().filter_map(answer).collect::<Vec<A>>())).collect();
        running.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_order_of_their_questions() {
        for count in [0, 1, 7, 120] {
            let questions: Vec<u32> = (0..count).collect();
            let even = answers(&questions, |number| (number % 2 == 0).then_some(number * 3));
            assert_eq!(even, (0..count).filter(|number| number % 2 == 0).map(|number| number * 3).collect::<Vec<_>>());
        }
    }
}
