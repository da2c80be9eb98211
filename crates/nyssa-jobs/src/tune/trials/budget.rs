//! Tracks the time that a search may take.

use std::time::{Duration, Instant};

/// The time of a search, and a clock that measures how much of it is spent.
pub(super) struct Budget {
    total: Duration,
    clock: Box<dyn Fn() -> Duration>,
}

impl Budget {
    /// Makes a budget that starts now.
    pub(super) fn new(total: Duration) -> Self {
        let start = Instant::now();
        Self { total, clock: Box::new(move || start.elapsed()) }
    }

    /// Returns the time that the search may take.
    pub(super) fn total(&self) -> Duration {
        self.total
    }

    /// Returns the time that was spent.
    pub(super) fn spent(&self) -> Duration {
        (self.clock)()
    }

    /// Returns the time that is left.
    pub(super) fn left(&self) -> Duration {
        self.total.saturating_sub(self.spent())
    }

    /// Returns whether work of this number of seconds ends before this fraction of the budget is spent.
    pub(super) fn affords(&self, seconds: f64, part: f64) -> bool {
        self.spent().as_secs_f64() + seconds <= self.total.as_secs_f64() * part
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn work_that_would_end_too_late_is_not_affordable() {
        let now = Rc::new(Cell::new(0));
        let clock = Rc::clone(&now);
        let clock = Box::new(move || Duration::from_secs(clock.get()));
        let budget = Budget { total: Duration::from_secs(60), clock };
        let jobs = [20, 20, 20, 5];
        let mut done = 0;
        for seconds in jobs {
            if budget.affords(f64::from(seconds), 0.75) {
                now.set(now.get() + u64::from(seconds as u32));
                done += 1;
            }
        }
        // The third job would need 60 of the 45 s; the last job needs exactly the rest.
        assert_eq!((done, budget.spent().as_secs(), budget.left().as_secs()), (3, 45, 15));
        now.set(70);
        assert_eq!(budget.left(), Duration::ZERO);
        assert!(!budget.affords(0.0, 1.0));
    }
}
