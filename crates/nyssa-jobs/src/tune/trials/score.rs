//! Compares trials by an objective.

use super::expect::Expected;
use super::options::Objective;
use crate::heuristics::tune;

/// Returns the index of the best expectation, or `None` if there is none. Of equals, the first is taken.
pub(super) fn best(objective: Objective, all: &[&Expected]) -> Option<usize> {
    let bytes = |item: &Expected| item.bytes as f64;
    let write = |item: &Expected| item.write_cpu_seconds;
    match objective {
        Objective::Size => nearly_least(all, bytes, tune::SAME_SIZE, write),
        Objective::Read => nearly_least(all, |item| item.read_seconds, tune::SAME_TIME, bytes),
        Objective::Write => nearly_least(all, write, tune::SAME_TIME, bytes),
        Objective::Memory => {
            let memory = |item: &Expected| item.memory as f64 + 1e-3 * item.writer_memory as f64;
            nearly_least(all, bytes, tune::LARGER, |item| memory(item) + 1e-9 * bytes(item))
        }
        Objective::Balanced => nearly_least(all, balance, tune::SAME_SIZE, bytes),
    }
}

/// Returns the index of the recommended number of threads: the number with the least wall-clock time to write, or
/// with nearly as little time and less memory. If memory counts, the number with the least memory.
pub(super) fn fewest_threads(objective: Objective, all: &[&Expected]) -> Option<usize> {
    let (time, memory) =
        (|item: &Expected| item.write_seconds, |item: &Expected| item.memory as f64);
    match objective {
        Objective::Memory => nearly_least(all, memory, tune::SAME_TIME, time),
        _ => nearly_least(all, time, tune::SAME_TIME, memory),
    }
}

/// Returns the score if all quantities count: a percent of bytes is worth four percent of the time to read and eight
/// percent of the time to write.
fn balance(expected: &Expected) -> f64 {
    let times = expected.read_seconds.max(1e-6).powf(0.25)
        * expected.write_cpu_seconds.max(1e-6).powf(0.125);
    expected.bytes as f64 * times
}

/// Returns the index of the least by `second` among the expectations that are within `tolerance` of the least by
/// `first`.
fn nearly_least(
    all: &[&Expected],
    first: impl Fn(&Expected) -> f64,
    tolerance: f64,
    second: impl Fn(&Expected) -> f64,
) -> Option<usize> {
    let least = all.iter().map(|item| first(item)).fold(f64::INFINITY, f64::min);
    let near = all.iter().enumerate().filter(|(_, item)| first(item) <= least * (1.0 + tolerance));
    near.min_by(|(_, a), (_, b)| second(a).total_cmp(&second(b))).map(|(index, _)| index)
}

/// Returns for each expectation whether no other is better in size, times and memory.
pub(super) fn pareto(all: &[&Expected]) -> Vec<bool> {
    let numbers = |item: &Expected| {
        [item.bytes as f64, item.read_seconds, item.write_cpu_seconds, item.memory as f64]
    };
    let beats = |a: &Expected, b: &Expected| {
        let pairs = numbers(a).into_iter().zip(numbers(b));
        let (mut never_worse, mut better) = (true, false);
        for (a, b) in pairs {
            never_worse &= a <= b;
            better |= a < b;
        }
        never_worse && better
    };
    all.iter().map(|item| !all.iter().any(|other| beats(other, item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(bytes: u64, read: f64, write: f64, memory: u64) -> Expected {
        let (read_seconds, write_cpu_seconds) = (read, write);
        Expected { bytes, read_seconds, write_cpu_seconds, memory, ..Expected::default() }
    }

    #[test]
    fn each_objective_has_its_best() {
        let small = expected(1000, 4.0, 9.0, 90);
        let nearly = expected(1002, 4.0, 8.0, 80);
        let fast = expected(1500, 1.0, 2.0, 70);
        let lean = expected(1040, 4.0, 9.0, 10);
        let all = [&small, &nearly, &fast, &lean];
        let of = |objective| best(objective, &all);
        assert_eq!(of(Objective::Size), Some(1));
        assert_eq!(of(Objective::Read), Some(2));
        assert_eq!(of(Objective::Write), Some(2));
        assert_eq!(of(Objective::Memory), Some(3));
        assert_eq!(of(Objective::Balanced), Some(2));
        assert_eq!(best(Objective::Size, &[]), None);
        assert_eq!(pareto(&all), [true, true, true, true]);
        assert_eq!(pareto(&[&expected(9, 1.0, 1.0, 1), &expected(8, 1.0, 1.0, 1)]), [false, true]);
    }
}
