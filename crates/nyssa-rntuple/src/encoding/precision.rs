//! Computes how much a stored floating-point number can differ from the original.

use super::{ColumnType, Encoding};

/// Half of the distance from 1 to the next `float`.
const FLOAT_ROUNDING: f64 = 1.0 / (1_u64 << 24) as f64;
/// Half of the smallest `float`.
const FLOAT_TINY: f64 = f64::from_bits(0x3690_0000_0000_0000);
/// An upper bound of the rounding errors of a few steps in double precision.
const DOUBLE_ROUNDING: f64 = 1.0 / (1_u64 << 50) as f64;

/// An upper bound of the error: for every `x` in `range`, the value that is read differs from `x` by at most the
/// larger of `relative * |x|` and `absolute`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The relative error. It is 0 when values are exact.
    pub relative: f64,
    /// The absolute error in the unit of the value. For types with an exponent it is the error of values near
    /// zero.
    pub absolute: f64,
    /// The range of values that can be stored.
    pub range: (f64, f64),
}

impl Precision {
    /// The precision of values that are stored exactly.
    pub const EXACT: Self =
        Self { relative: 0.0, absolute: 0.0, range: (f64::NEG_INFINITY, f64::INFINITY) };

    fn of_float(relative: f64, absolute: f64) -> Self {
        let most = f64::from(f32::MAX);
        Self { relative, absolute, range: (-most, most) }
    }

    /// Adds the error of rounding to `float` before the value is stored.
    fn after_float(self) -> Self {
        Self {
            relative: self.relative + FLOAT_ROUNDING + self.relative * FLOAT_ROUNDING,
            absolute: self.absolute + FLOAT_TINY,
            ..self
        }
    }

    /// Returns whether `b` may be the value that is read where `a` was written.
    pub fn allows(&self, a: f64, b: f64) -> bool {
        let (low, high) = self.range;
        let most = (self.relative * a.abs()).max(self.absolute);
        a.is_nan() && b.is_nan() || a == b || (low..=high).contains(&a) && (a - b).abs() <= most
    }
}

impl Encoding {
    /// Returns the precision with which this encoding stores a field of type `float`, or of type `double`
    /// (specification, "Column Description"). Returns `None` for types that hold no floating-point numbers.
    /// Fields of other types are stored exactly or refused.
    pub fn precision(&self, double: bool) -> Option<Precision> {
        let precision = match self.column_type {
            ColumnType::Real64 | ColumnType::SplitReal64 => return Some(Precision::EXACT),
            ColumnType::Real32 | ColumnType::SplitReal32 if !double => {
                return Some(Precision::EXACT);
            }
            ColumnType::Real32 | ColumnType::SplitReal32 => Precision::of_float(0.0, 0.0),
            // A half has 10 bits of mantissa, rounded, and exponents from -14 on.
            ColumnType::Real16 | ColumnType::SplitReal16 => {
                Precision { relative: power(-11), absolute: power(-25), range: (-65504.0, 65504.0) }
            }
            // A truncated float has a sign, 8 bits of exponent and the other bits of mantissa, cut off.
            // Exponents start at -126.
            ColumnType::Real32Trunc => {
                let mantissa = i32::from(self.bits) - 9;
                Precision::of_float(power(-mantissa), power(-126 - mantissa))
            }
            ColumnType::Real32Quant => {
                return self.range.map(|range| self.quantized(range, double));
            }
            _ => return None,
        };
        Some(if double { precision.after_float() } else { precision })
    }

    /// Returns the precision of quantized values: half a step plus the rounding errors.
    fn quantized(&self, (min, max): (f64, f64), double: bool) -> Precision {
        let steps = (1_u64 << self.bits.min(32)) as f64 - 1.0;
        let largest = min.abs().max(max.abs());
        let rounding = if double { DOUBLE_ROUNDING } else { FLOAT_ROUNDING + DOUBLE_ROUNDING };
        let absolute = (max - min) / steps / 2.0 + largest * rounding;
        Precision { relative: 0.0, absolute, range: (min, max) }
    }

    /// Returns the largest difference between values of one integer that are computed in different ways, for
    /// quantized values of a field of type `double`, or of type `float`. It is 0 for other types.
    pub fn rounding(&self, double: bool) -> f64 {
        let Some((min, max)) = self.range else { return 0.0 };
        // Two floats that are nearest to almost equal numbers may be neighbours.
        let rounding = if double { DOUBLE_ROUNDING } else { 2.0 * FLOAT_ROUNDING };
        min.abs().max(max.abs()) * rounding
    }
}

fn power(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_the_specification() {
        let of =
            |column_type: ColumnType, bits| Encoding { column_type, bits, range: Some((0.0, 4.0)) };
        let float = |encoding: Encoding| encoding.precision(false).unwrap();
        assert_eq!(float(of(ColumnType::SplitReal32, 32)), Precision::EXACT);
        // bfloat16 is a sign, 8 bits of exponent and 7 of mantissa.
        let truncated = float(of(ColumnType::Real32Trunc, 16));
        assert_eq!((truncated.relative, truncated.absolute), (1.0 / 128.0, 2.0_f64.powi(-133)));
        assert_eq!(float(of(ColumnType::Real16, 16)).relative, 1.0 / 2048.0);
        let quantized = float(of(ColumnType::Real32Quant, 2));
        assert!((quantized.absolute - 4.0 / 3.0 / 2.0).abs() < 1e-6);
        assert_eq!(quantized.range, (0.0, 4.0));
        let double = of(ColumnType::Real32, 32).precision(true).unwrap();
        assert_eq!(double.relative, 2.0_f64.powi(-24));
        assert_eq!(double.absolute, 2.0_f64.powi(-150));
        assert_eq!(of(ColumnType::Int32, 32).precision(false), None);
    }
}
