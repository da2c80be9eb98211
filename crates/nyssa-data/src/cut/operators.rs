//! Evaluates the operators of cuts.

use std::borrow::Cow;

use nyssa_root::arrow::Number;

use super::value::{Data, Outcome, Side, Value, each_pair};

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
    if matches!(operator, Operator::Or | Operator::And) {
        if !bits {
            return Err("&& and || combine true and false: compare the numbers first".to_owned());
        }
        let (a, b) = (present(&left), present(&right));
        let (a, b) = (left.side(&a), right.side(&b));
        let bits = match operator {
            Operator::Or => each_pair(a, b, |a, b| a || b),
            _ => each_pair(a, b, |a, b| a && b),
        };
        return Ok(joined(left, right, Data::Bool(bits), Number::Bool, None));
    }
    let valid = both(left.valid.as_deref(), right.valid.as_deref());
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
    let data = match left.data.integers().zip(right.data.integers()) {
        Some((a, b)) if comparison => compare(operator, left.side(&a), right.side(&b)),
        Some((a, b)) if operator != Operator::Divide => {
            let count = if left.constant { b.len() } else { a.len() };
            let (a, b) = (left.side(&a), right.side(&b));
            Data::Integer(integer(operator, a, b, count, valid.as_deref())?)
        }
        None if matches!(operator, Operator::BitAnd | Operator::BitOr) => {
            return Err(
                "& and | combine true and false, or integers: put comparisons next to them \
                        in brackets"
                    .to_owned(),
            );
        }
        _ if comparison => {
            let (a, b) = (left.data.reals(), right.data.reals());
            compare(operator, left.side(&a), right.side(&b))
        }
        _ => {
            let (a, b) = (left.reals_of(number), right.reals_of(number));
            Data::Real(real(operator, left.side(&a), right.side(&b))).rounded(number)
        }
    };
    let number = if matches!(data, Data::Real(_)) { number } else { data.number() };
    if !comparison {
        return Ok(joined(left, right, data, number, valid));
    }
    let compared = joined(left, right, data, number, valid);
    let bits = Data::Bool(present(&compared).into_owned());
    Ok(Value { data: bits, valid: None, ..compared })
}

/// Returns truth values, which are false where they are missing.
fn present(value: &Value) -> Cow<'_, [bool]> {
    match (&value.data, &value.valid) {
        (Data::Bool(bits), None) => Cow::Borrowed(bits),
        (Data::Bool(bits), Some(valid)) => bits.iter().zip(valid).map(|(&a, &b)| a && b).collect(),
        _ => Cow::Borrowed(&[]),
    }
}

/// Returns which values are present in both. `None` means all.
pub(super) fn both(left: Option<&[bool]>, right: Option<&[bool]>) -> Option<Vec<bool>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.iter().zip(right).map(|(&a, &b)| a && b).collect()),
        (one, other) => one.or(other).map(<[bool]>::to_vec),
    }
}

/// Makes the result of an operation on two values, which are aligned.
pub(super) fn joined(
    left: Value,
    right: Value,
    data: Data,
    number: Number,
    valid: Option<Vec<bool>>,
) -> Value {
    let like = if left.constant { right } else { left };
    Value { data, number, valid, ..like }
}

/// Returns the type of the result of real arithmetic, as in NumPy.
pub(super) fn real_type(left: &Value, right: &Value) -> Number {
    let single = |value: &Value| value.number == Number::Float32;
    let narrow = left.is_narrow() && right.is_narrow();
    if narrow && (single(left) || single(right)) { Number::Float32 } else { Number::Float64 }
}

/// Gives both values the same lists. A constant stays one value for all.
pub(super) fn aligned(left: Value, right: Value) -> Outcome<(Value, Value)> {
    if left.constant || right.constant {
        return Ok((left, right));
    }
    match left.levels.len() > right.levels.len() {
        true => {
            let right = right.spread(&left.levels)?;
            Ok((left, right))
        }
        false => {
            let left = left.spread(&right.levels)?;
            Ok((left, right))
        }
    }
}

fn compare<T: PartialOrd + Copy>(operator: Operator, a: Side<'_, T>, b: Side<'_, T>) -> Data {
    Data::Bool(match operator {
        Operator::Less => each_pair(a, b, |a, b| a < b),
        Operator::LessOrEqual => each_pair(a, b, |a, b| a <= b),
        Operator::Greater => each_pair(a, b, |a, b| a > b),
        Operator::GreaterOrEqual => each_pair(a, b, |a, b| a >= b),
        Operator::Equal => each_pair(a, b, |a, b| a == b),
        _ => each_pair(a, b, |a, b| a != b),
    })
}

/// Applies an operator to `count` pairs of integers.
fn integer(
    operator: Operator,
    a: Side<'_, i64>,
    b: Side<'_, i64>,
    count: usize,
    valid: Option<&[bool]>,
) -> Outcome<Vec<i64>> {
    let result = (0..count).map(|index| {
        let (a, b) = (a.at(index), b.at(index));
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

fn real(operator: Operator, a: Side<'_, f64>, b: Side<'_, f64>) -> Vec<f64> {
    match operator {
        Operator::Add => each_pair(a, b, |a, b| a + b),
        Operator::Subtract => each_pair(a, b, |a, b| a - b),
        Operator::Multiply => each_pair(a, b, |a, b| a * b),
        Operator::Divide => each_pair(a, b, |a, b| a / b),
        // The square is the most frequent power, and its product is the correctly rounded result.
        Operator::Power => each_pair(a, b, |a, b| if b == 2.0 { a * a } else { a.powf(b) }),
        _ => each_pair(a, b, |a, b| a % b),
    }
}

/// Computes `-x`.
pub(super) fn negate(value: Value) -> Outcome<Value> {
    let data = match value.data.integers() {
        Some(integers) => {
            let negative = |&value: &i64| {
                value.checked_neg().ok_or_else(|| format!("-({value}) has more than 64 bits"))
            };
            Data::Integer(integers.iter().map(negative).collect::<Outcome<_>>()?)
        }
        None => Data::Real(value.data.reals().iter().map(|value| -value).collect()),
    };
    Ok(value.with(data))
}

/// Computes `!x`. A missing value counts as false, so its opposite is true.
pub(super) fn not(value: Value) -> Outcome<Value> {
    if !matches!(value.data, Data::Bool(_)) {
        return Err("! needs true or false: compare the number first".to_owned());
    }
    let data = Data::Bool(present(&value).iter().map(|bit| !bit).collect());
    Ok(Value { valid: None, ..value.with(data) })
}
