//! Evaluates the functions of lists.

use std::ops::Range;

use arrow_buffer::OffsetBuffer;
use nyssa_root::arrow::Number;

use super::value::{Data, Level, Outcome, Value, range};

/// The largest number of combinations of one column in one step of reading.
const MAX_COMBINATIONS: usize = 1 << 28;
/// The largest number of items of one combination.
const MAX_SLOTS: i64 = 8;

/// A function that makes one value of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Min,
    Max,
    Sum,
    Mean,
    ArgMin,
    ArgMax,
    Any,
    All,
    Count,
    Len,
}

/// A function that orders the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Sort,
    ArgSort,
}

/// Makes one value of each innermost list.
pub(super) fn reduce(name: &str, function: List, mut value: Value) -> Outcome<Value> {
    let Some(level) = value.levels.pop() else {
        return Err(format!("{name} takes a list, this is one value for each entry"));
    };
    let lists = (0..level.len() - 1).map(|index| range(&level, index));
    let has = |index: &usize| value.has(*index);
    let mut valid = None;
    let mut number = None;
    let data = match (function, &value.data) {
        (List::Mean, data) => {
            let data = Data::Real(means(lists, has, data));
            return Ok(Value {
                levels: value.levels,
                data,
                number: Number::Float64,
                valid,
                constant: false,
            });
        }
        (List::ArgMin | List::ArgMax, data) => {
            let minimum = function == List::ArgMin;
            let places = match data.integers() {
                Some(values) => best_places(lists, has, &values, minimum),
                None => best_places(lists, has, &data.clone().reals(), minimum),
            };
            valid = Some(places.iter().map(Option::is_some).collect());
            Data::Integer(places.into_iter().map(Option::unwrap_or_default).collect())
        }
        (List::Len, _) => Data::Integer(lists.map(|list| list.len() as i64).collect()),
        (List::Any, Data::Bool(bits)) => {
            Data::Bool(lists.map(|mut list| list.any(|at| bits[at] && has(&at))).collect())
        }
        (List::All, Data::Bool(bits)) => {
            Data::Bool(lists.map(|mut list| list.all(|at| bits[at] && has(&at))).collect())
        }
        (List::Count, Data::Bool(bits)) => {
            let count = |list: Range<usize>| list.filter(|at| bits[*at] && has(at)).count() as i64;
            Data::Integer(lists.map(count).collect())
        }
        (List::Count, _) => {
            return Err(
                "count takes a list of true and false: len is the number of items".to_owned()
            );
        }
        (List::Any | List::All, _) => {
            return Err(format!("{name} takes a list of true and false: compare the numbers"));
        }
        (List::Sum, Data::Real(values)) => {
            number = Some(value.number);
            Data::Real(lists.map(|list| sum(list, has, values, value.number)).collect())
        }
        (List::Sum, data) => {
            let values = data.integers().unwrap_or_default();
            let sum = |list: Range<usize>| {
                list.filter(has)
                    .try_fold(0i64, |sum, at| sum.checked_add(values[at]))
                    .ok_or_else(|| "a sum has more than 64 bits".to_owned())
            };
            Data::Integer(lists.map(sum).collect::<Outcome<_>>()?)
        }
        (List::Min | List::Max, data) => {
            let minimum = function == List::Min;
            let (best, there) = match data.integers() {
                Some(values) => {
                    let pick = if minimum { i64::min } else { i64::max };
                    let (best, there) = best(lists, has, &values, pick);
                    (Data::Integer(best), there)
                }
                None => {
                    let values = data.clone().reals();
                    let pick = if minimum { f64::min } else { f64::max };
                    let (best, there) = best(lists, has, &values, pick);
                    (Data::Real(best), there)
                }
            };
            // The minimum of truth values is a number.
            number = Some(value.number).filter(|number| *number != Number::Bool);
            valid = Some(there);
            best
        }
    };
    let number = number.unwrap_or(data.number());
    Ok(Value { levels: value.levels, data, number, valid, constant: false })
}

/// Returns the best of the present items of each list, and whether the list has present items.
fn best<T: Copy + Default>(
    lists: impl Iterator<Item = Range<usize>>,
    has: impl Fn(&usize) -> bool,
    values: &[T],
    pick: fn(T, T) -> T,
) -> (Vec<T>, Vec<bool>) {
    let best = lists.map(|list| list.filter(&has).map(|at| values[at]).reduce(pick));
    best.map(|best| (best.unwrap_or_default(), best.is_some())).unzip()
}

/// Returns the place of the first smallest or largest present item of each list.
fn best_places<T: Copy + PartialOrd>(
    lists: impl Iterator<Item = Range<usize>>,
    has: impl Fn(&usize) -> bool,
    values: &[T],
    minimum: bool,
) -> Vec<Option<i64>> {
    let ahead = |a: T, b: T| if minimum { a < b } else { a > b };
    let better = |best: usize, at: usize| if ahead(values[at], values[best]) { at } else { best };
    let place = |list: Range<usize>| {
        let start = list.start;
        list.filter(&has).reduce(better).map(|at| (at - start) as i64)
    };
    lists.map(place).collect()
}

/// Returns the sum of the present items of a list. In single precision it is rounded after each item.
fn sum(list: Range<usize>, has: impl Fn(&usize) -> bool, values: &[f64], number: Number) -> f64 {
    let single = number == Number::Float32;
    let add = |sum: f64, at: usize| {
        let sum = sum + values[at];
        if single { f64::from(sum as f32) } else { sum }
    };
    // `Iterator::sum` starts with -0, which would then be the sum of an empty list.
    list.filter(has).fold(0.0, add)
}

/// Returns the sum of each list divided by the number of its present items.
fn means(
    lists: impl Iterator<Item = Range<usize>>,
    has: impl Fn(&usize) -> bool + Copy,
    data: &Data,
) -> Vec<f64> {
    let values = data.clone().reals();
    let mean = |list: Range<usize>| {
        let count = list.clone().filter(has).count();
        sum(list, has, &values, Number::Float64) / count as f64
    };
    lists.map(mean).collect()
}

/// Returns the items of each innermost list in ascending order, or their places in that order. As in awkward, NaN is
/// first and missing items are last.
pub(super) fn ordered(name: &str, order: Order, mut value: Value) -> Outcome<Value> {
    let Some(level) = value.levels.last() else {
        return Err(format!("{name} takes a list, this is one value for each entry"));
    };
    let integers = value.data.integers();
    let reals = if integers.is_none() { value.data.clone().reals() } else { Vec::new() };
    let compare = |a: &usize, b: &usize| {
        let missing = (!value.has(*a)).cmp(&!value.has(*b));
        missing.then_with(|| match &integers {
            Some(values) => values[*a].cmp(&values[*b]),
            None => {
                let (a, b) = (reals[*a], reals[*b]);
                a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
            }
        })
    };
    let mut places = Vec::with_capacity(value.data.len());
    let mut indices = Vec::new();
    for list in (0..level.len() - 1).map(|index| range(level, index)) {
        let start = list.start;
        let mut items: Vec<usize> = list.collect();
        // A stable order, as in awkward: equal items keep their order.
        items.sort_by(compare);
        if order == Order::ArgSort {
            indices.extend(items.iter().map(|at| (at - start) as i64));
        }
        places.extend(items.into_iter().map(Some));
    }
    let levels = std::mem::take(&mut value.levels);
    if order == Order::ArgSort {
        let data = Data::Integer(indices);
        return Ok(Value { levels, number: data.number(), data, valid: None, constant: false });
    }
    Ok(Value { levels, ..value.take(&places) })
}

/// Returns the items in one slot of the combinations of `count` items of each innermost list, in the order of their
/// places.
pub(super) fn combinations(mut value: Value, count: &Value, slot: &Value) -> Outcome<Value> {
    let number = |value: &Value| match &value.data {
        Data::Integer(values) if value.constant => values.first().copied(),
        _ => None,
    };
    let wrong = || {
        format!(
            "combinations(x, n, slot) takes numbers n, from 1 to {MAX_SLOTS}, and slot, from 0 to n - 1"
        )
    };
    let count = number(count).filter(|count| (1..=MAX_SLOTS).contains(count)).ok_or_else(wrong)?;
    let slot = number(slot).filter(|slot| (0..count).contains(slot)).ok_or_else(wrong)?;
    let (Ok(count), Ok(slot)) = (usize::try_from(count), usize::try_from(slot)) else {
        return Err(wrong());
    };
    let Some(level) = value.levels.pop() else {
        return Err("combinations takes a list, this is one value for each entry".to_owned());
    };
    let mut places = Vec::new();
    let mut lengths = Vec::with_capacity(level.len() - 1);
    for list in (0..level.len() - 1).map(|index| range(&level, index)) {
        let before = places.len();
        let mut chosen: Vec<usize> = list.clone().take(count).collect();
        while chosen.len() == count {
            if places.len() == MAX_COMBINATIONS {
                return Err(
                    "the lists have too many combinations for one step: read fewer entries"
                        .to_owned(),
                );
            }
            places.push(Some(chosen[slot]));
            if !advance(&mut chosen, list.end) {
                break;
            }
        }
        lengths.push(places.len() - before);
    }
    let mut levels = std::mem::take(&mut value.levels);
    levels.push(Level::new(OffsetBuffer::from_lengths(lengths)));
    Ok(Value { levels, ..value.take(&places) })
}

/// Makes the next combination of places before `end`. Returns false after the last one.
fn advance(chosen: &mut [usize], end: usize) -> bool {
    let count = chosen.len();
    let Some(at) = (0..count).rev().find(|&at| chosen[at] + (count - at) < end) else {
        return false;
    };
    let first = chosen[at] + 1;
    chosen[at..].iter_mut().zip(first..).for_each(|(place, next)| *place = next);
    true
}
