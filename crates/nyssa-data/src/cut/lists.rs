//! Evaluates the functions of lists.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use arrow_buffer::OffsetBuffer;
use nyssa_root::arrow::Number;

use super::value::{Data, Level, NOWHERE, Outcome, Value, places_of};

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
    let lists = level.ranges();
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
                None => best_places(lists, has, &data.reals(), minimum),
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
                    let values = data.reals();
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
    let values = data.reals();
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
    let reals = if integers.is_none() { value.data.reals() } else { Cow::Borrowed(&[][..]) };
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
    for list in level.ranges() {
        let start = list.start;
        let mut items: Vec<usize> = list.collect();
        // A stable order, as in awkward: equal items keep their order.
        items.sort_by(compare);
        if order == Order::ArgSort {
            indices.extend(items.iter().map(|at| (at - start) as i64));
        }
        places.extend(items);
    }
    let levels = std::mem::take(&mut value.levels);
    if order == Order::ArgSort {
        let data = Data::Integer(indices);
        return Ok(Value { levels, number: data.number(), data, valid: None, constant: false });
    }
    Ok(Value { levels, ..value.take(&places) })
}

/// Returns the number of items of combinations.
pub(super) fn combined(count: &Value) -> Option<usize> {
    let count = constant(count).filter(|count| (1..=MAX_SLOTS).contains(count))?;
    usize::try_from(count).ok()
}

/// Returns an integer that is the same for all entries.
fn constant(value: &Value) -> Option<i64> {
    match &value.data {
        Data::Integer(values) if value.constant => values.first().copied(),
        _ => None,
    }
}

/// Returns the number of items and the slot of combinations.
fn count_and_slot(count: &Value, slot: &Value) -> Outcome<(usize, usize)> {
    let slot = constant(slot).and_then(|slot| usize::try_from(slot).ok());
    combined(count).zip(slot).filter(|(count, slot)| slot < count).ok_or_else(|| {
        format!(
            "combinations(x, n, slot) takes numbers n, from 1 to {MAX_SLOTS}, and slot, from 0 to n - 1"
        )
    })
}

/// Counts the combinations of one step, which have a largest number.
#[derive(Default)]
pub(super) struct Combinations(usize);

impl Combinations {
    /// Counts further combinations.
    pub(super) fn add(&mut self, number: usize) -> Outcome<()> {
        self.0 = self.0.saturating_add(number);
        match self.0 <= MAX_COMBINATIONS {
            true => Ok(()),
            false => {
                Err("the lists have too many combinations for one step: read fewer entries"
                    .to_owned())
            }
        }
    }
}

/// Returns the number of combinations of `count` of `length` items.
pub(super) fn number_of(length: usize, count: usize) -> usize {
    if count > length {
        return 0;
    }
    match count {
        0 => 1,
        1 => length,
        2 if length < 1 << 31 => length * (length - 1) / 2,
        _ => {
            // Each product is divided without a remainder, because it is a number of combinations, too.
            let wide = (0..count).try_fold(1u128, |number, at| {
                Some(number.checked_mul((length - at) as u128)? / (at as u128 + 1))
            });
            wide.and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
        }
    }
}

/// Returns the items in one slot of the combinations of `count` items of each innermost list, in the order of their
/// places.
pub(super) fn combinations(mut value: Value, count: &Value, slot: &Value) -> Outcome<Value> {
    let (count, slot) = count_and_slot(count, slot)?;
    let Some(level) = value.levels.pop() else {
        return Err("combinations takes a list, this is one value for each entry".to_owned());
    };
    let mut places = Vec::new();
    let mut lengths = Vec::with_capacity(level.count());
    let mut total = Combinations::default();
    // Lists of one length have the same combinations.
    let mut known: HashMap<usize, Vec<usize>> = HashMap::new();
    for list in level.ranges() {
        let number = number_of(list.len(), count);
        total.add(number)?;
        lengths.push(number);
        let relative = known.entry(list.len()).or_insert_with(|| in_slot(list.len(), count, slot));
        places.extend(relative.iter().map(|at| list.start + at));
    }
    let mut levels = std::mem::take(&mut value.levels);
    levels.push(Level::new(OffsetBuffer::from_lengths(lengths)));
    Ok(Value { levels, ..value.take(&places) })
}

/// Returns one item of what [`combinations`] returns, where the list has no lists in it.
pub(super) fn combination(
    value: &Value,
    count: &Value,
    slot: &Value,
    index: &Value,
) -> Option<Outcome<Value>> {
    let [level] = value.levels.as_slice() else { return None };
    if !index.levels.is_empty() {
        return None;
    }
    let (count, slot) = count_and_slot(count, slot).ok()?;
    let mut places = Vec::with_capacity(level.count());
    let numbers = level.ranges().map(|list| 0..number_of(list.len(), count));
    let chosen = match places_of(index, numbers) {
        Ok(chosen) => chosen,
        Err(message) => return Some(Err(message)),
    };
    for (list, at) in level.ranges().zip(chosen) {
        places.push(match at {
            NOWHERE => NOWHERE,
            at => list.start + slot_of(list.len(), count, at, slot),
        });
    }
    Some(Ok(value.take_from(&[], &places).optional()))
}

/// Returns the item in a slot of the combination number `at` of `count` of `length` items.
fn slot_of(length: usize, count: usize, mut at: usize, slot: usize) -> usize {
    let mut first = 0;
    for taken in 0..=slot {
        // The combinations that have `first` in this slot come before the others.
        loop {
            let number = number_of(length.saturating_sub(first + 1), count - taken - 1);
            if at < number || first + 1 >= length {
                break;
            }
            at -= number;
            first += 1;
        }
        first += usize::from(taken < slot);
    }
    first
}

/// Returns the place in a slot of all combinations of `count` of `length` items.
fn in_slot(length: usize, count: usize, slot: usize) -> Vec<usize> {
    let mut places = Vec::with_capacity(number_of(length, count));
    if count > length {
        return places;
    }
    let mut chosen: Vec<usize> = (0..count).collect();
    loop {
        places.push(chosen[slot]);
        if !advance(&mut chosen, length) {
            return places;
        }
    }
}

/// Makes the next combination of places before `end`. Returns false after the last one.
pub(super) fn advance(chosen: &mut [usize], end: usize) -> bool {
    let count = chosen.len();
    let Some(at) = (0..count).rev().find(|&at| chosen[at] + (count - at) < end) else {
        return false;
    };
    let first = chosen[at] + 1;
    chosen[at..].iter_mut().zip(first..).for_each(|(place, next)| *place = next);
    true
}

/// Returns the place of each item in its list.
pub(super) fn local_index(value: Value) -> Outcome<Value> {
    let Some(level) = value.levels.last() else {
        return Err("local_index takes a list, this is one value for each entry".to_owned());
    };
    let data = Data::Integer(level.ranges().flat_map(|list| 0..list.len() as i64).collect());
    Ok(Value { valid: None, ..value.with(data) })
}

/// Returns the lists around the innermost lists of two values, which have to be equal, and the innermost lists of each.
/// `None` if one value has no lists.
pub(super) fn paired<'a>(
    left: &'a [Level],
    right: &'a [Level],
) -> Option<Outcome<(&'a [Level], &'a Level, &'a Level)>> {
    let ((a, outer), (b, other)) = left.split_last().zip(right.split_last())?;
    let fits = outer.len() == other.len()
        && a.count() == b.count()
        && outer.iter().zip(other).all(|(ours, theirs)| ours.is_like(theirs));
    Some(match fits {
        true => Ok((outer, a, b)),
        false => Err("these lists are in lists of different lengths".to_owned()),
    })
}

/// Where the items of two arrays of lists are in lists that have the items of both.
pub(super) struct Joined {
    levels: Vec<Level>,
    left: Level,
    right: Level,
}

/// Finds the lists that have the items of the innermost lists of both values, `left` first.
pub(super) fn joined_places(left: &Value, right: &Value) -> Outcome<Joined> {
    let pair = paired(&left.levels, &right.levels).ok_or("concatenate takes two lists")?;
    let (outer, a, b) = pair?;
    let lengths = a.ranges().zip(b.ranges()).map(|(a, b)| a.len() + b.len());
    let mut levels = outer.to_vec();
    levels.push(Level::new(OffsetBuffer::from_lengths(lengths.collect::<Vec<_>>())));
    Ok(Joined { levels, left: a.clone(), right: b.clone() })
}

impl Joined {
    /// Puts the items of both together.
    pub(super) fn merge<T: Copy>(&self, left: &[T], right: &[T]) -> Vec<T> {
        let mut merged = Vec::with_capacity(left.len() + right.len());
        for (a, b) in self.left.ranges().zip(self.right.ranges()) {
            merged.extend_from_slice(&left[a]);
            merged.extend_from_slice(&right[b]);
        }
        merged
    }

    /// Returns the lists.
    pub(super) fn levels(self) -> Vec<Level> {
        self.levels
    }
}
