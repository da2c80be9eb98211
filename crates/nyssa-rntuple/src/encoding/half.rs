//! Converts half precision floats of IEEE-754.

/// Rounds to the nearest half precision float, ties to even, bit by bit as ROOT does. A NaN becomes the quiet
/// NaN of its sign. A value that is too large becomes infinity.
pub fn to_half(value: f32) -> u16 {
    /// The bit pattern of the smallest single precision number whose half is infinite. The patterns for normal halves
    /// and NaN follow.
    const TOO_LARGE: u32 = 0x4780_0000;
    const NORMAL: u32 = 0x3880_0000;
    const NAN: u32 = 0x7F80_0001;
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = value.to_bits() & 0x7FFF_FFFF;
    let half = match magnitude {
        NAN.. => 0x7E00,
        TOO_LARGE.. => 0x7C00,
        // This changes the bias of the exponent from 127 to 15. A carry out of the mantissa is correct here.
        NORMAL.. => {
            let odd = magnitude >> 13 & 1;
            (magnitude - (112 << 23) + 0xFFF + odd) >> 13
        }
        // The half is subnormal. In a sum with 0.5 the last bit has the value 2^-24, so the addition rounds.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
    };
    sign | half as u16
}

#[cfg(test)]
mod tests {
    use super::to_half;

    #[test]
    fn nearest_even() {
        // The expected values come from IEEE 754-2008, binary16.
        for (value, half) in [
            (1.0, 0x3C00),
            (-2.0, 0xC000),
            (65504.0, 0x7BFF),
            (65519.0, 0x7BFF),
            (65520.0, 0x7C00),
            (1e9, 0x7C00),
            (-0.0, 0x8000),
            (2f32.powi(-14), 0x0400),
            (2f32.powi(-24), 0x0001),
            (2f32.powi(-25), 0x0000),
            (1.5 * 2f32.powi(-24), 0x0002),
            (1.0 + 2f32.powi(-11), 0x3C00),
            (1.0 + 3.0 * 2f32.powi(-11), 0x3C02),
            (2f32.powi(-14) * (1.0 - 2f32.powi(-12)), 0x0400),
            (f32::NEG_INFINITY, 0xFC00),
            (f32::NAN, 0x7E00),
        ] {
            assert_eq!(to_half(value), half, "{value}");
        }
    }
}
