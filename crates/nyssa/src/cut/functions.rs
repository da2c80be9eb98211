//! Evaluates the functions of cuts.

use super::value::{Data, Outcome, Value, range};

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Sqrt,
    Min,
    Max,
    Sum,
    Any,
    All,
    Count,
    Len,
}

impl Function {
    /// All functions by name.
    pub const ALL: [(&'static str, Self); 9] = [
        ("abs", Self::Abs),
        ("sqrt", Self::Sqrt),
        ("min", Self::Min),
        ("max", Self::Max),
        ("sum", Self::Sum),
        ("any", Self::Any),
        ("all", Self::All),
        ("count", Self::Count),
        ("len", Self::Len),
    ];

    /// Returns the function with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(other, _)| *other == name).map(|(_, function)| *function)
    }

    /// Applies the function to each value, or to each innermost list.
    pub fn apply(self, value: Value) -> Outcome<Value> {
        match self {
            Self::Abs => abs(value),
            Self::Sqrt => {
                let data = value.data.clone().reals().into_iter().map(f64::sqrt).collect();
                Ok(value.with(Data::Real(data)))
            }
            _ => self.reduce(value),
        }
    }

    fn reduce(self, mut value: Value) -> Outcome<Value> {
        let name = Self::ALL.iter().find(|(_, other)| *other == self).map_or("", |(name, _)| name);
        let Some(level) = value.levels.pop() else {
            return Err(format!("{name} takes a list, this is one value for each entry"));
        };
        let lists = (0..level.len() - 1).map(|index| range(&level, index));
        let has = |index: &usize| value.has(*index);
        let mut valid = None;
        let data = match (self, &value.data) {
            (Self::Len, _) => Data::Integer(lists.map(|list| list.len() as i64).collect()),
            (Self::Any, Data::Bool(bits)) => {
                Data::Bool(lists.map(|mut list| list.any(|at| bits[at] && has(&at))).collect())
            }
            (Self::All, Data::Bool(bits)) => {
                Data::Bool(lists.map(|mut list| list.all(|at| bits[at] && has(&at))).collect())
            }
            (Self::Count, Data::Bool(bits)) => {
                let count = |list: std::ops::Range<usize>| {
                    list.filter(|at| bits[*at] && has(at)).count() as i64
                };
                Data::Integer(lists.map(count).collect())
            }
            (Self::Count, _) => {
                return Err(
                    "count takes a list of true and false: len is the number of items".to_owned()
                );
            }
            (Self::Any | Self::All, _) => {
                return Err(format!("{name} takes a list of true and false: compare the numbers"));
            }
            (Self::Sum, Data::Real(values)) => {
                Data::Real(lists.map(|list| list.filter(has).map(|at| values[at]).sum()).collect())
            }
            (Self::Sum, data) => {
                let values = data.integers().unwrap_or_default();
                let sum = |list: std::ops::Range<usize>| {
                    list.filter(has)
                        .try_fold(0i64, |sum, at| sum.checked_add(values[at]))
                        .ok_or_else(|| "a sum has more than 64 bits".to_owned())
                };
                Data::Integer(lists.map(sum).collect::<Outcome<_>>()?)
            }
            (_, data) => {
                let (data, there) = match data.integers() {
                    Some(values) => {
                        let pick = if self == Self::Min { i64::min } else { i64::max };
                        let best =
                            lists.map(|list| list.filter(has).map(|at| values[at]).reduce(pick));
                        let best = best.collect::<Vec<_>>();
                        let there = best.iter().map(Option::is_some).collect();
                        (
                            Data::Integer(
                                best.into_iter().map(Option::unwrap_or_default).collect(),
                            ),
                            there,
                        )
                    }
                    None => {
                        let values = data.clone().reals();
                        let pick = if self == Self::Min { f64::min } else { f64::max };
                        let best =
                            lists.map(|list| list.filter(has).map(|at| values[at]).reduce(pick));
                        let best = best.collect::<Vec<_>>();
                        let there: Vec<bool> = best.iter().map(Option::is_some).collect();
                        (
                            Data::Real(best.into_iter().map(Option::unwrap_or_default).collect()),
                            there,
                        )
                    }
                };
                valid = Some(there);
                data
            }
        };
        Ok(Value { levels: value.levels, data, valid, constant: false })
    }
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
