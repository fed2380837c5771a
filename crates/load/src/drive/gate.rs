//! The gate: so many may be inside, the others queue, first come, first served.

use std::collections::VecDeque;

/// A gate for requests of this kind.
#[derive(Debug)]
pub(super) struct Gate<T> {
    limit: usize,
    inside: usize,
    queue: VecDeque<T>,
}

impl<T> Gate<T> {
    pub(super) fn new(limit: usize) -> Gate<T> {
        Gate { limit, inside: 0, queue: VecDeque::new() }
    }

    pub(super) fn inside(&self) -> usize {
        self.inside
    }

    /// Those that queue.
    pub(super) fn queued(&self) -> impl Iterator<Item = &T> {
        self.queue.iter()
    }

    /// Someone arrives: goes in at once, and is returned, or queues.
    pub(super) fn arrive(&mut self, who: T) -> Option<T> {
        if self.inside < self.limit && self.queue.is_empty() {
            self.inside += 1;
            return Some(who);
        }
        self.queue.push_back(who);
        None
    }

    /// Someone leaves, and the first of the queue, if there is one, goes in and is returned.
    pub(super) fn leave(&mut self) -> Option<T> {
        self.inside = self.inside.saturating_sub(1);
        let next = if self.inside < self.limit { self.queue.pop_front() } else { None };
        self.inside += usize::from(next.is_some());
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_came_is_the_first_to_go_in() {
        let mut gate = Gate::new(2);
        assert_eq!(
            (gate.arrive('a'), gate.arrive('b'), gate.arrive('c'), gate.arrive('d')),
            (Some('a'), Some('b'), None, None)
        );
        assert_eq!((gate.inside(), gate.queued().collect::<Vec<_>>()), (2, vec![&'c', &'d']));
        assert_eq!(gate.leave(), Some('c'));
        assert_eq!(gate.arrive('e'), None);
        assert_eq!((gate.leave(), gate.leave(), gate.inside()), (Some('d'), Some('e'), 2));
        assert_eq!((gate.leave(), gate.leave(), gate.inside()), (None, None, 0));
    }

    #[test]
    fn never_more_are_inside_than_may_be() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut gate = Gate::new(3);
        let (mut came, mut went) = (0, 0);
        for _ in 0..10_000 {
            let before = gate.inside();
            if random.bool() || before == 0 {
                came += 1;
                went += u32::from(gate.arrive(came).is_some());
            } else if let Some(who) = gate.leave() {
                went += 1;
                assert_eq!(who, went, "in the order of arrival");
            }
            assert!(gate.inside() <= 3);
        }
    }
}
