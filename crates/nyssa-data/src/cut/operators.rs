//! Evaluates the operators of cuts.

use nyssa_root::arrow::Number;

use super::value::{Data, Outcome, Value};

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Different,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    /// `&`, for truth values or the bits of integers.
    BitAnd,
    /// `|`
    BitOr,
}

impl Operator {
    /// Returns the operator of a sign. The parser gives only signs of operators.
    pub(super) fn of(sign: &str) -> Self {
        match sign {
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "==" => Self::Equal,
            "!=" => Self::Different,
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "%" => Self::Remainder,
            "**" => Self::Power,
            "&" => Self::BitAnd,
            "|" => Self::BitOr,
            "||" => Self::Or,
            _ => Self::And,
        }
    }
}

/// Applies an operator to each pair of values.
pub(super) fn binary(operator: Operator, left: Value, right: Value) -> Outcome<Value> {
    let number = real_type(&left, &right);
    let (left, right) = aligned(left, right)?;
    let bits = matches!((&left.data, &right.data), (Data::Bool(_), Data::Bool(_)));
    let operator = match operator {
        Operator::BitAnd if bits => Operator::And,
        Operator::BitOr if bits => Operator::Or,
        other => other,
    };
    let there = |index: usize| left.has(index) && right.has(index);
    if matches!(operator, Operator::Or | Operator::And) {
        let (Data::Bool(a), Data::Bool(b)) = (&left.data, &right.data) else {
            return Err("&& and || combine true and false: compare the numbers first".to_owned());
        };
        let pairs = a.iter().zip(b).enumerate();
        let bits = pairs.map(|(index, (&a, &b))| {
            let (a, b) = (a && left.has(index), b && right.has(index));
            if operator == Operator::Or { a || b } else { a && b }
        });
        let bits = Data::Bool(bits.collect());
        return Ok(Value { valid: None, ..left.with(bits) });
    }
    let valid = (left.valid.is_some() || right.valid.is_some())
        .then(|| (0..left.data.len()).map(there).collect::<Vec<_>>());
    let comparison = !matches!(
        operator,
        Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Remainder
            | Operator::Power
            | Operator::BitAnd
            | Operator::BitOr
    );
    let (levels, constant) = (left.levels.clone(), left.constant);
    let integers = left.data.integers().zip(right.data.integers());
    let data = match integers {
        Some((a, b)) if comparison => compare(operator, &a, &b, valid.as_deref()),
        Some((a, b)) if operator != Operator::Divide => {
            Data::Integer(integer(operator, &a, &b, valid.as_deref())?)
        }
        None if matches!(operator, Operator::BitAnd | Operator::BitOr) => {
            return Err(
                "& and | combine true and false, or integers: put comparisons next to them \
                        in brackets"
                    .to_owned(),
            );
        }
        _ if comparison => {
            compare(operator, &left.data.reals(), &right.data.reals(), valid.as_deref())
        }
        _ => {
            let (a, b) = (left.data.reals_of(number), right.data.reals_of(number));
            Data::Real(real(operator, &a, &b)).rounded(number)
        }
    };
    let valid = valid.filter(|_| !comparison);
    let number = if matches!(data, Data::Real(_)) { number } else { data.number() };
    Ok(Value { levels, data, number, valid, constant })
}

/// Returns the type of the result of real arithmetic, as in NumPy.
pub(super) fn real_type(left: &Value, right: &Value) -> Number {
    let single = |value: &Value| value.number == Number::Float32;
    let narrow = left.is_narrow() && right.is_narrow();
    if narrow && (single(left) || single(right)) { Number::Float32 } else { Number::Float64 }
}

/// Gives both values the same lists.
pub(super) fn aligned(left: Value, right: Value) -> Outcome<(Value, Value)> {
    match (left.constant, right.constant) {
        (true, true) => Ok((left, right)),
        (true, false) => Ok((like(left, &right)?, right)),
        (false, true) => {
            let right = like(right, &left)?;
            Ok((left, right))
        }
        (false, false) => {
            let levels =
                if left.levels.len() > right.levels.len() { &left.levels } else { &right.levels };
            let levels = levels.clone();
            Ok((left.spread(&levels)?, right.spread(&levels)?))
        }
    }
}

/// Repeats a constant for each value of `other`.
fn like(constant: Value, other: &Value) -> Outcome<Value> {
    match other.levels.is_empty() {
        true => Ok(constant.take(&vec![Some(0); other.data.len()])),
        false => constant.spread(&other.levels),
    }
}

fn compare<T: PartialOrd>(operator: Operator, a: &[T], b: &[T], valid: Option<&[bool]>) -> Data {
    let compare = |a: &T, b: &T| match operator {
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        Operator::GreaterOrEqual => a >= b,
        Operator::Equal => a == b,
        _ => a != b,
    };
    let mut bits: Vec<bool> = a.iter().zip(b).map(|(a, b)| compare(a, b)).collect();
    if let Some(valid) = valid {
        bits.iter_mut().zip(valid).for_each(|(bit, valid)| *bit &= valid);
    }
    Data::Bool(bits)
}

fn integer(operator: Operator, a: &[i64], b: &[i64], valid: Option<&[bool]>) -> Outcome<Vec<i64>> {
    let pairs = a.iter().zip(b).enumerate();
    let result = pairs.map(|(index, (&a, &b))| {
        let result = match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            Operator::BitAnd => Some(a & b),
            Operator::BitOr => Some(a | b),
            _ => a.checked_rem(b),
        };
        match result {
            Some(result) => Ok(result),
            None if valid.is_some_and(|valid| !valid[index]) => Ok(0),
            None if operator == Operator::Remainder => Err(format!("{a} % {b} is not a number")),
            None if operator == Operator::Power && b < 0 => {
                Err(format!("{a} ** {b}: integers have no negative powers, real numbers do"))
            }
            None => Err(format!("{a} and {b} give more than 64 bits")),
        }
    });
    result.collect()
}

fn real(operator: Operator, a: &[f64], b: &[f64]) -> Vec<f64> {
    let result = |(&a, &b): (&f64, &f64)| match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Power => a.powf(b),
        _ => a % b,
    };
    a.iter().zip(b).map(result).collect()
}

/// Computes `-x`.
pub(super) fn negate(value: Value) -> Outcome<Value> {
    let data = match value.data.integers() {
        Some(integers) => {
            let negative = |value: i64| {
                value.checked_neg().ok_or_else(|| format!("-({value}) has more than 64 bits"))
            };
            Data::Integer(integers.into_iter().map(negative).collect::<Outcome<_>>()?)
        }
        None => Data::Real(value.data.clone().reals().into_iter().map(|value| -value).collect()),
    };
    Ok(value.with(data))
}

/// Computes `!x`. A missing value counts as false, so its opposite is true.
pub(super) fn not(value: Value) -> Outcome<Value> {
    let Data::Bool(bits) = &value.data else {
        return Err("! needs true or false: compare the number first".to_owned());
    };
    let bits = bits.iter().enumerate().map(|(index, bit)| !(*bit && value.has(index)));
    let data = Data::Bool(bits.collect());
    Ok(Value { valid: None, ..value.with(data) })
}
