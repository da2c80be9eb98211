//! Evaluates the functions of cuts and expressions.

use nyssa_root::arrow::Number;

use super::lists::{self, List};
use super::operators::{aligned, both, joined, real_type};
use super::particles;
use super::value::{Data, Outcome, Side, Value, each_pair};

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
    /// A function that gives each list other items.
    Order(lists::Order),
    /// `combinations(x, n, slot)`
    Combinations,
    /// `combined_mass(pt, eta, phi, mass, n)`
    CombinedMass,
    /// `min_deltaR(eta1, phi1, eta2, phi2)`
    MinDeltaR,
    /// `concatenate(x, y)`
    Concatenate,
    /// `local_index(x)`
    LocalIndex,
    /// `float64(x)`
    Float64,
    /// `where(condition, a, b)`
    Where,
    /// `deltaphi(phi1, phi2)`
    DeltaPhi,
    /// `deltaR(eta1, phi1, eta2, phi2)`
    DeltaR,
    /// `is_none(x)`
    IsNone,
    /// `fill_none(x, value)`
    FillNone,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All functions by name. Functions of real numbers have the names of NumPy, and common short names.
const ALL: [(&str, Kind); 61] = [
    ("abs", Kind::Abs),
    ("sqrt", Kind::Real(f64::sqrt)),
    ("min", Kind::Best(List::Min)),
    ("max", Kind::Best(List::Max)),
    ("sum", Kind::List(List::Sum)),
    ("any", Kind::List(List::Any)),
    ("all", Kind::List(List::All)),
    ("count", Kind::List(List::Count)),
    ("len", Kind::List(List::Len)),
    ("mean", Kind::List(List::Mean)),
    ("argmin", Kind::List(List::ArgMin)),
    ("argmax", Kind::List(List::ArgMax)),
    ("sort", Kind::Order(lists::Order::Sort)),
    ("argsort", Kind::Order(lists::Order::ArgSort)),
    ("combinations", Kind::Combinations),
    ("combined_mass", Kind::CombinedMass),
    ("min_deltaR", Kind::MinDeltaR),
    ("concatenate", Kind::Concatenate),
    ("local_index", Kind::LocalIndex),
    ("float64", Kind::Float64),
    ("where", Kind::Where),
    ("is_none", Kind::IsNone),
    ("fill_none", Kind::FillNone),
    ("deltaphi", Kind::DeltaPhi),
    ("deltaR", Kind::DeltaR),
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

/// Functions that NumPy, awkward and C++ have under other names.
const OTHERS: [(&str, &str); 12] = [
    ("absolute", "abs"),
    ("fabs", "abs"),
    ("num", "len"),
    ("size", "len"),
    ("maximum", "max"),
    ("fmax", "max"),
    ("minimum", "min"),
    ("fmin", "min"),
    ("count_nonzero", "count"),
    ("deltar", "deltaR"),
    ("delta_r", "deltaR"),
    ("rint", "round"),
];

impl Function {
    /// Returns whether this is `combinations`.
    pub(super) fn is_combinations(self) -> bool {
        matches!(self.kind, Kind::Combinations)
    }

    /// Returns the names of all functions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }

    /// Returns the name of the function that NumPy, awkward or C++ have under this name.
    pub(super) fn like(name: &str) -> Option<&'static str> {
        let (_, own) = OTHERS.iter().find(|(other, _)| *other == name).copied().unzip();
        own.or_else(|| Self::of(name).map(|function| function.name))
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
            Kind::Pair(_) | Kind::Best(_) | Kind::DeltaPhi => 2,
            Kind::FillNone | Kind::Concatenate => 2,
            Kind::Where | Kind::Combinations => 3,
            Kind::DeltaR | Kind::MinDeltaR => 4,
            Kind::CombinedMass => 5,
            _ => 1,
        }
    }

    /// Returns a message with the number of arguments.
    pub(super) fn takes(self) -> String {
        let number = match (self.least(), self.most()) {
            (1, 1) => "one argument",
            (1, _) => "one or two arguments",
            (_, 2) => "two arguments",
            (_, 3) => "three arguments",
            (_, 4) => "four arguments",
            _ => "five arguments",
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
                let number = function_type(&first, &first);
                let data = first.data.into_reals().into_iter().map(function).collect();
                let data = Data::Real(data).rounded(number);
                Ok(Value { data, number, ..first })
            }
            Kind::Test(function) => {
                let data = first.data.reals().iter().map(|&value| function(value)).collect();
                Ok(first.with(Data::Bool(data)))
            }
            Kind::Pair(function) => pair(function, first, next()?),
            Kind::List(list) => lists::reduce(self.name, list, first),
            Kind::Best(list) => match next() {
                Ok(second) => better(list, first, second),
                Err(_) => lists::reduce(self.name, list, first),
            },
            Kind::Order(order) => lists::ordered(self.name, order, first),
            Kind::Combinations => lists::combinations(first, &next()?, &next()?),
            Kind::CombinedMass => {
                particles::combined_mass([first, next()?, next()?, next()?], &next()?)
            }
            Kind::MinDeltaR => particles::min_delta_r([first, next()?], [next()?, next()?]),
            Kind::Concatenate => concatenate(first, next()?),
            Kind::LocalIndex => lists::local_index(first),
            Kind::Float64 => {
                let data = Data::Real(first.data.into_reals());
                Ok(Value { data, number: Number::Float64, ..first })
            }
            Kind::Where => choose(first, next()?, next()?),
            Kind::IsNone => Ok(is_none(first)),
            Kind::FillNone => fill_none(first, next()?),
            Kind::DeltaPhi => pair(particles::delta_phi, first, next()?),
            Kind::DeltaR => {
                let (phi1, eta2, phi2) = (next()?, next()?, next()?);
                let phi = pair(particles::delta_phi, phi1, phi2)?;
                pair(f64::hypot, pair(|a, b| a - b, first, eta2)?, phi)
            }
        }
    }
}

/// Returns the type of a function of real numbers. As in NumPy, it has single precision also for integers of 16 bits;
/// integers of 8 bits have half precision in NumPy, and single precision here.
fn function_type(left: &Value, right: &Value) -> Number {
    let single = left.is_narrow() && right.is_narrow() && !(left.constant && right.constant);
    if single { Number::Float32 } else { Number::Float64 }
}

fn pair(function: fn(f64, f64) -> f64, left: Value, right: Value) -> Outcome<Value> {
    let number = function_type(&left, &right);
    let (left, right) = aligned(left, right)?;
    let valid = both(left.valid.as_deref(), right.valid.as_deref());
    let (a, b) = (left.reals_of(number), right.reals_of(number));
    let data = Data::Real(each_pair(left.side(&a), right.side(&b), function)).rounded(number);
    Ok(joined(left, right, data, number, valid))
}

/// Returns whether each value is missing.
fn is_none(value: Value) -> Value {
    let bits = (0..value.data.len()).map(|index| !value.has(index)).collect();
    Value { valid: None, ..value.with(Data::Bool(bits)) }
}

/// Returns the values, and `other` where they are missing.
fn fill_none(value: Value, other: Value) -> Outcome<Value> {
    let there = (0..value.data.len()).map(|index| value.has(index)).collect();
    let condition = Value { valid: None, ..value.clone().with(Data::Bool(there)) };
    // A number that is missing has a place, and its type.
    let value = Value { valid: None, ..value };
    choose(condition, value, other)
}

/// Returns the smaller or the larger value of each pair. As in NumPy, the result is not a number if one of the values
/// is not a number.
fn better(list: List, left: Value, right: Value) -> Outcome<Value> {
    let real = real_type(&left, &right);
    let same = (left.number == right.number).then_some(left.number);
    let (left, right) = aligned(left, right)?;
    let valid = both(left.valid.as_deref(), right.valid.as_deref());
    let minimum = list == List::Min;
    let data = match left.data.integers().zip(right.data.integers()) {
        Some((a, b)) => {
            let pick = if minimum { i64::min } else { i64::max };
            Data::Integer(each_pair(left.side(&a), right.side(&b), pick))
        }
        None => {
            let (a, b) = (left.reals_of(real), right.reals_of(real));
            let first = |a: f64, b: f64| a.is_nan() || if minimum { a <= b } else { a >= b };
            let pick = |a, b| if first(a, b) { a } else { b };
            Data::Real(each_pair(left.side(&a), right.side(&b), pick))
        }
    };
    let number = computed(&data, real, same);
    Ok(joined(left, right, data, number, valid))
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
    let all = [&left, &right, &condition];
    let count = all.into_iter().find(|value| !value.constant).map_or(1, |value| value.data.len());
    let bits = condition.side(bits);
    let taken: Vec<bool> = (0..count).map(|at| bits.at(at) && condition.has(at)).collect();
    let valid = (left.valid.is_some() || right.valid.is_some()).then(|| {
        let has = |(at, &bit): (usize, &bool)| {
            let value = if bit { &left } else { &right };
            value.constant || value.has(at)
        };
        taken.iter().enumerate().map(has).collect()
    });
    let data = match (&left.data, &right.data) {
        (Data::Bool(a), Data::Bool(b)) => Data::Bool(pick(&taken, left.side(a), right.side(b))),
        (a, b) => match a.integers().zip(b.integers()) {
            Some((a, b)) => Data::Integer(pick(&taken, left.side(&a), right.side(&b))),
            None => {
                let (a, b) = (left.reals_of(real), right.reals_of(real));
                Data::Real(pick(&taken, left.side(&a), right.side(&b)))
            }
        },
    };
    let number = computed(&data, real, same);
    let made = joined(left, right, data, number, valid);
    Ok(match made.constant {
        true => Value { levels: condition.levels, constant: condition.constant, ..made },
        false => made,
    })
}

/// Returns lists of the items of both, which have the type that `where` gives them.
fn concatenate(left: Value, right: Value) -> Outcome<Value> {
    let real = real_type(&left, &right);
    let same = (left.number == right.number).then_some(left.number);
    let order = lists::joined_places(&left, &right)?;
    let data = match (&left.data, &right.data) {
        (Data::Bool(a), Data::Bool(b)) => Data::Bool(order.merge(a, b)),
        (a, b) => match a.integers().zip(b.integers()) {
            Some((a, b)) => Data::Integer(order.merge(&a, &b)),
            None => Data::Real(order.merge(&a.reals(), &b.reals())),
        },
    };
    let valid = (left.valid.is_some() || right.valid.is_some()).then(|| {
        let all = |value: &Value| value.valid.clone().unwrap_or(vec![true; value.data.len()]);
        order.merge(&all(&left), &all(&right))
    });
    let number = computed(&data, real, same);
    Ok(Value { levels: order.levels(), data, number, valid, constant: false })
}

/// Returns the values of `a` where the bits are set, and otherwise the values of `b`.
fn pick<T: Copy>(bits: &[bool], a: Side<'_, T>, b: Side<'_, T>) -> Vec<T> {
    let pick = |(at, &bit): (usize, &bool)| if bit { a.at(at) } else { b.at(at) };
    bits.iter().enumerate().map(pick).collect()
}

fn abs(value: Value) -> Outcome<Value> {
    let data = match value.data.integers() {
        Some(integers) => {
            let abs = |&value: &i64| {
                value.checked_abs().ok_or_else(|| format!("abs({value}) has more than 64 bits"))
            };
            Data::Integer(integers.iter().map(abs).collect::<Outcome<_>>()?)
        }
        None => Data::Real(value.data.reals().iter().map(|value| value.abs()).collect()),
    };
    Ok(value.with(data))
}
