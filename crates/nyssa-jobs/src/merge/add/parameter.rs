//! Merges parameters (`TParameter`), each in the way that it requests.

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::Value;

use super::pair::Pair;

/// The classes of parameters that are merged.
pub(super) const CLASSES: [&str; 6] = [
    "TParameter<bool>",
    "TParameter<int>",
    "TParameter<long>",
    "TParameter<Long64_t>",
    "TParameter<float>",
    "TParameter<double>",
];

/// The bit of `fBits` that is set if all merged values were equal (`TParameter::IsConst`).
const IS_CONST: i64 = 1 << 21;

/// How a parameter is merged (`TParameter::SetMergeMode`).
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Add,
    Multiply,
    Max,
    Min,
    First,
    Last,
}

/// Merges the other parameter.
///
/// # Errors
/// `Unsupported` for a value that is not a number.
pub(super) fn add(pair: &mut Pair<'_>) -> Result<()> {
    let bits = pair.own().get("fBits").and_then(Value::as_i64).unwrap_or(0);
    let modes = [Mode::Multiply, Mode::Max, Mode::Min, Mode::First, Mode::Last];
    let found = modes.iter().zip(16..).find(|(_, bit)| bits & (1 << bit) != 0);
    let mode = found.map_or(Mode::Add, |(mode, _)| *mode);
    let (value, is_equal) = match (pair.own().get("fVal"), pair.other.get("fVal")) {
        (Some(own), Some(other)) => (combine(mode, own, other), own == other),
        _ => (None, true),
    };
    let value = value.ok_or_else(|| Error::unsupported("its value is no number"))?;
    // ROOT compares each value with the merged value of earlier inputs, even if it adds them.
    if !is_equal && bits & IS_CONST != 0 {
        pair.set_bits(bits & !IS_CONST);
    }
    pair.set("fVal", value)
}

fn combine(mode: Mode, one: &Value, other: &Value) -> Option<Value> {
    Some(match (mode, one, other) {
        (Mode::First, one, _) => one.clone(),
        (Mode::Last, _, other) => other.clone(),
        (_, &Value::Float(one), &Value::Float(other)) => Value::Float(match mode {
            Mode::Multiply => one * other,
            Mode::Max => one.max(other),
            Mode::Min => one.min(other),
            _ => one + other,
        }),
        (_, &Value::Int(one), &Value::Int(other)) => Value::Int(match mode {
            Mode::Multiply => one.wrapping_mul(other),
            Mode::Max => one.max(other),
            Mode::Min => one.min(other),
            _ => one.wrapping_add(other),
        }),
        (_, &Value::Bool(one), &Value::Bool(other)) => Value::Bool(match mode {
            Mode::Multiply | Mode::Min => one && other,
            _ => one || other,
        }),
        _ => return None,
    })
}
