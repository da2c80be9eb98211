//! Adds arrays of numbers.

use nyssa_root::streamer::values::Numbers;

/// Returns numbers as doubles.
#[allow(clippy::cast_precision_loss)]
pub(super) fn floats(numbers: &Numbers) -> Vec<f64> {
    match numbers {
        Numbers::Float64(values) => values.to_vec(),
        Numbers::Float32(values) => values.iter().map(|&value| value.into()).collect(),
        integers => {
            integers.to_i64().unwrap_or_default().into_iter().map(|item| item as f64).collect()
        }
    }
}

/// Adds arrays of one type. Integers saturate at the largest number and at its negative, as in `TH1I::AddBinContent`.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn add(one: &Numbers, other: &Numbers) -> Option<Numbers> {
    macro_rules! sums {
        ($one:ident, $other:ident, $sum:expr) => {
            ($one.len() == $other.len()).then(|| {
                $one.iter().zip($other.iter()).map(|(&item, &other)| $sum(item, other)).collect()
            })
        };
    }
    let within = |sum: i64, limit: i64| sum.clamp(-limit, limit);
    Some(match (one, other) {
        (Numbers::Float64(a), Numbers::Float64(b)) => {
            Numbers::Float64(sums!(a, b, |a: f64, b: f64| a + b)?)
        }
        (Numbers::Float32(a), Numbers::Float32(b)) => {
            Numbers::Float32(sums!(a, b, |a: f32, b: f32| a + b)?)
        }
        (Numbers::Int8(a), Numbers::Int8(b)) => Numbers::Int8(sums!(a, b, |a: i8, b: i8| within(
            i64::from(a) + i64::from(b),
            i8::MAX.into()
        )
            as i8)?),
        (Numbers::Int16(a), Numbers::Int16(b)) => Numbers::Int16(sums!(
            a,
            b,
            |a: i16, b: i16| within(i64::from(a) + i64::from(b), i16::MAX.into()) as i16
        )?),
        (Numbers::Int32(a), Numbers::Int32(b)) => Numbers::Int32(sums!(
            a,
            b,
            |a: i32, b: i32| within(i64::from(a) + i64::from(b), i32::MAX.into()) as i32
        )?),
        (Numbers::Int64(a), Numbers::Int64(b)) => {
            Numbers::Int64(sums!(a, b, |a: i64, b: i64| a.saturating_add(b).max(-i64::MAX))?)
        }
        _ => return None,
    })
}
