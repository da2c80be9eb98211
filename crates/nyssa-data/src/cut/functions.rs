//! Evaluates the functions of cuts and expressions.

use std::ops::Range;

use nyssa_root::arrow::Number;

use super::operators::{aligned, real_type};
use super::value::{Data, Outcome, Value, range};

/// A function. Two functions are equal if they have the same name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Abs,
    /// A function of one real number.
    Real(fn(f64) -> f64),
    /// A question about one real number.
    Test(fn(f64) -> bool),
    /// A function of two real numbers.
    Pair(fn(f64, f64) -> f64),
    /// A function of the items of a list.
    List(List),
    /// `min` and `max`, of the items of a list or of two values.
    Best(List),
    /// `where(condition, a, b)`
    Where,
}

/// A function of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Min,
    Max,
    Sum,
    Any,
    All,
    Count,
    Len,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All functions by name. Functions of real numbers have the names of NumPy, and common short names.
const ALL: [(&str, Kind); 46] = [
    ("abs", Kind::Abs),
    ("sqrt", Kind::Real(f64::sqrt)),
    ("min", Kind::Best(List::Min)),
    ("max", Kind::Best(List::Max)),
    ("sum", Kind::List(List::Sum)),
    ("any", Kind::List(List::Any)),
    ("all", Kind::List(List::All)),
    ("count", Kind::List(List::Count)),
    ("len", Kind::List(List::Len)),
    ("where", Kind::Where),
    ("cbrt", Kind::Real(f64::cbrt)),
    ("exp", Kind::Real(f64::exp)),
    ("exp2", Kind::Real(f64::exp2)),
    ("expm1", Kind::Real(f64::exp_m1)),
    ("log", Kind::Real(f64::ln)),
    ("log10", Kind::Real(f64::log10)),
    ("log1p", Kind::Real(f64::ln_1p)),
    ("log2", Kind::Real(f64::log2)),
    ("sin", Kind::Real(f64::sin)),
    ("cos", Kind::Real(f64::cos)),
    ("tan", Kind::Real(f64::tan)),
    ("asin", Kind::Real(f64::asin)),
    ("acos", Kind::Real(f64::acos)),
    ("atan", Kind::Real(f64::atan)),
    ("arcsin", Kind::Real(f64::asin)),
    ("arccos", Kind::Real(f64::acos)),
    ("arctan", Kind::Real(f64::atan)),
    ("sinh", Kind::Real(f64::sinh)),
    ("cosh", Kind::Real(f64::cosh)),
    ("tanh", Kind::Real(f64::tanh)),
    ("asinh", Kind::Real(f64::asinh)),
    ("acosh", Kind::Real(f64::acosh)),
    ("atanh", Kind::Real(f64::atanh)),
    ("arcsinh", Kind::Real(f64::asinh)),
    ("arccosh", Kind::Real(f64::acosh)),
    ("arctanh", Kind::Real(f64::atanh)),
    ("floor", Kind::Real(f64::floor)),
    ("ceil", Kind::Real(f64::ceil)),
    ("trunc", Kind::Real(f64::trunc)),
    ("round", Kind::Real(f64::round_ties_even)),
    ("isnan", Kind::Test(f64::is_nan)),
    ("isinf", Kind::Test(f64::is_infinite)),
    ("isfinite", Kind::Test(f64::is_finite)),
    ("atan2", Kind::Pair(f64::atan2)),
    ("arctan2", Kind::Pair(f64::atan2)),
    ("hypot", Kind::Pair(f64::hypot)),
];

impl Function {
    /// Returns the names of all functions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }

    /// Returns the function with this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (name, kind) = ALL.iter().find(|(other, _)| *other == name)?;
        Some(Self { name, kind: *kind })
    }

    /// Returns the smallest number of arguments.
    pub(super) fn least(self) -> usize {
        match self.kind {
            Kind::Best(_) => 1,
            _ => self.most(),
        }
    }

    /// Returns the largest number of arguments.
    pub(super) fn most(self) -> usize {
        match self.kind {
            Kind::Pair(_) | Kind::Best(_) => 2,
            Kind::Where => 3,
            _ => 1,
        }
    }

    /// Returns a message with the number of arguments.
    pub(super) fn takes(self) -> String {
        let number = match (self.least(), self.most()) {
            (1, 1) => "one argument",
            (1, _) => "one or two arguments",
            (_, 2) => "two arguments",
            _ => "three arguments",
        };
        format!("{} takes {number}", self.name)
    }

    /// Applies the function to each value, or to each innermost list. The number of arguments is right.
    pub(super) fn apply(self, arguments: Vec<Value>) -> Outcome<Value> {
        let mut arguments = arguments.into_iter();
        let mut next = || arguments.next().ok_or_else(|| self.takes());
        let first = next()?;
        match self.kind {
            Kind::Abs => abs(first),
            Kind::Real(function) => {
                let data = first.data.clone().reals().into_iter().map(function).collect();
                Ok(first.with(Data::Real(data)))
            }
            Kind::Test(function) => {
                let data = first.data.clone().reals().into_iter().map(function).collect();
                Ok(first.with(Data::Bool(data)))
            }
            Kind::Pair(function) => pair(function, first, next()?),
            Kind::List(list) => reduce(self.name, list, first),
            Kind::Best(list) => match next() {
                Ok(second) => better(list, first, second),
                Err(_) => reduce(self.name, list, first),
            },
            Kind::Where => choose(first, next()?, next()?),
        }
    }
}

/// Returns which values are present in both.
fn both(left: &Value, right: &Value) -> Option<Vec<bool>> {
    let there = |index: usize| left.has(index) && right.has(index);
    (left.valid.is_some() || right.valid.is_some())
        .then(|| (0..left.data.len()).map(there).collect())
}

fn pair(function: fn(f64, f64) -> f64, left: Value, right: Value) -> Outcome<Value> {
    let number = real_type(&left, &right);
    let (left, right) = aligned(left, right)?;
    let valid = both(&left, &right);
    let (a, b) = (left.data.clone().reals(), right.data.reals());
    let data = Data::Real(a.into_iter().zip(b).map(|(a, b)| function(a, b)).collect());
    Ok(Value { data, number, valid, ..left })
}

/// Returns the smaller or the larger value of each pair. As in NumPy, the result is not a number if one of the values
/// is not a number.
fn better(list: List, left: Value, right: Value) -> Outcome<Value> {
    let real = real_type(&left, &right);
    let same = (left.number == right.number).then_some(left.number);
    let (left, right) = aligned(left, right)?;
    let valid = both(&left, &right);
    let minimum = list == List::Min;
    let data = match left.data.integers().zip(right.data.integers()) {
        Some((a, b)) => {
            let pick = if minimum { i64::min } else { i64::max };
            Data::Integer(a.into_iter().zip(b).map(|(a, b)| pick(a, b)).collect())
        }
        None => {
            let pairs = left.data.clone().reals().into_iter().zip(right.data.reals());
            let first = |a: f64, b: f64| a.is_nan() || if minimum { a <= b } else { a >= b };
            Data::Real(pairs.map(|(a, b)| if first(a, b) { a } else { b }).collect())
        }
    };
    let number = computed(&data, real, same);
    Ok(Value { data, number, valid, ..left })
}

/// Returns the type of values that are taken from two others: real numbers, or other values whose types are the
/// `same`.
fn computed(data: &Data, real: Number, same: Option<Number>) -> Number {
    match data {
        Data::Real(_) => real,
        Data::Integer(_) => same.filter(|same| *same != Number::Bool).unwrap_or(Number::Int64),
        Data::Bool(_) => Number::Bool,
    }
}

/// Returns the values of `a` where the bits are set, and otherwise the values of `b`.
fn pick<T>(bits: &[bool], a: Vec<T>, b: Vec<T>) -> Vec<T> {
    let pairs = a.into_iter().zip(b).zip(bits);
    pairs.map(|((a, b), bit)| if *bit { a } else { b }).collect()
}

/// Returns the value of `left` where the condition is true, and otherwise the value of `right`.
fn choose(condition: Value, left: Value, right: Value) -> Outcome<Value> {
    if !matches!(condition.data, Data::Bool(_)) {
        return Err("where needs true or false: compare the number first".to_owned());
    }
    let real = real_type(&left, &right);
    let same = (left.number == right.number).then_some(left.number);
    let (left, right) = aligned(left, right)?;
    // The condition and the values may be of different depth.
    let (left, condition) = aligned(left, condition)?;
    let (right, condition) = aligned(right, condition)?;
    let Data::Bool(bits) = &condition.data else {
        return Err("where needs a condition".to_owned());
    };
    let bits: Vec<bool> =
        bits.iter().enumerate().map(|(at, bit)| *bit && condition.has(at)).collect();
    let valid = (left.valid.is_some() || right.valid.is_some()).then(|| {
        let has = |at: usize| if bits[at] { left.has(at) } else { right.has(at) };
        (0..bits.len()).map(has).collect()
    });
    let data = match (left.data.clone(), right.data) {
        (Data::Bool(a), Data::Bool(b)) => Data::Bool(pick(&bits, a, b)),
        (a, b) => match a.integers().zip(b.integers()) {
            Some((a, b)) => Data::Integer(pick(&bits, a, b)),
            None => Data::Real(pick(&bits, a.reals(), b.reals())),
        },
    };
    let number = computed(&data, real, same);
    Ok(Value { data, number, valid, ..left })
}

fn reduce(name: &str, function: List, mut value: Value) -> Outcome<Value> {
    let Some(level) = value.levels.pop() else {
        return Err(format!("{name} takes a list, this is one value for each entry"));
    };
    let lists = (0..level.len() - 1).map(|index| range(&level, index));
    let has = |index: &usize| value.has(*index);
    let mut valid = None;
    let mut number = None;
    let data = match (function, &value.data) {
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
            // `Iterator::sum` starts with -0, which would then be the sum of an empty list.
            let sum = |list: Range<usize>| {
                list.filter(has).map(|at| values[at]).fold(0.0, |sum, value| sum + value)
            };
            Data::Real(lists.map(sum).collect())
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

fn abs(value: Value) -> Outcome<Value> {
    let data = match value.data.integers() {
        Some(integers) => {
            let abs = |value: i64| {
                value.checked_abs().ok_or_else(|| format!("abs({value}) has more than 64 bits"))
            };
            Data::Integer(integers.into_iter().map(abs).collect::<Outcome<_>>()?)
        }
        None => Data::Real(value.data.clone().reals().into_iter().map(f64::abs).collect()),
    };
    Ok(value.with(data))
}
