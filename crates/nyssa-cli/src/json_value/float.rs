//! Writes floats as JSON.

use std::io::{self, Write};

use super::JsonStyle;

/// The number of fraction bits of a double.
const FRACTION: u32 = 52;
/// The bias of the exponent of a double.
const BIAS: i64 = 1023;

/// Writes a single-precision number.
pub(super) fn write_f32(out: &mut dyn Write, value: f32, style: JsonStyle) -> io::Result<()> {
    match style {
        JsonStyle::Lines | JsonStyle::Object if value.is_finite() => write!(out, "{value:?}"),
        _ => write_f64(out, f64::from(value), style),
    }
}

/// Writes a double-precision number.
pub(super) fn write_f64(out: &mut dyn Write, value: f64, style: JsonStyle) -> io::Result<()> {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        write!(out, "\"{sign}nan\"")
    } else if value.is_infinite() {
        write!(out, "\"{sign}inf\"")
    } else if style != JsonStyle::Suite {
        // `Debug` prints the shortest number that reads back to the same value. It uses an exponent if this is
        // shorter.
        write!(out, "{value:?}")
    } else {
        write!(out, "\"{}\"", hexadecimal(value))
    }
}

/// Returns a finite number as `%a` of C prints it.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let fraction = bits & ((1 << FRACTION) - 1);
    let exponent = i64::try_from((bits >> FRACTION) & 0x7FF).unwrap_or_default();
    let (lead, exponent) = match exponent {
        0 if fraction == 0 => return format!("{sign}0x0p+0"),
        0 => (0, 1 - BIAS),
        exponent => (1, exponent - BIAS),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{lead}{point}{digits}p{exponent:+}")
}
