//! Reads numbers as ROOT's streamers write them. All numbers are big-endian, and a `long` always has 8 bytes. The
//! comment of a member says how `Float16_t` and `Double32_t` are stored (`TStreamerElement`, "GetRange").

use crate::arrow::Number;
use crate::type_name;

/// The way in which a number is streamed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basic {
    /// A number with the same type as in memory, big-endian.
    Plain(Number),
    /// `Double32_t`, stored as a float.
    Double32,
    /// The bits of a `TObject`, a `UInt_t`. The number of a process follows if the object is referenced.
    Bits,
    /// A `TDatime`, which has 32 bits.
    Date,
    /// A `Float16_t` or `Double32_t` that is stored as an integer. The value is min + stored / factor.
    Ranged {
        /// The lowest value of the range.
        min: f64,
        /// The number of steps in an interval of length 1.
        factor: f64,
        /// The number of bits of the integer.
        bits: u32,
        /// The type of the number in memory.
        number: Number,
    },
    /// A `Float16_t` or `Double32_t` that is stored as a byte with the exponent and 16 bits with sign and
    /// mantissa.
    Truncated {
        /// The number of bits of the mantissa.
        bits: u32,
        /// The type of the number in memory.
        number: Number,
    },
}

/// The integers that a `Float16_t` or `Double32_t` is stored as. The value is `min + stored / factor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The lowest value of the range.
    pub min: f64,
    /// The number of steps in an interval of length 1.
    pub factor: f64,
    /// The number of bits of an integer, 2 to 32. With less than 32, the highest value of the range is one step more
    /// than these bits can hold.
    pub bits: u32,
}

/// The type code (`TVirtualStreamerInfo::EReadWrite`), the C++ type and the type in memory of each number.
const TYPES: [(i32, &str, Number); 13] = [
    (1, "char", Number::Int8),
    (2, "short", Number::Int16),
    (3, "int", Number::Int32),
    (4, "long", Number::Int64),
    (5, "float", Number::Float32),
    (8, "double", Number::Float64),
    (11, "unsigned char", Number::UInt8),
    (12, "unsigned short", Number::UInt16),
    (13, "unsigned int", Number::UInt32),
    (14, "unsigned long", Number::UInt64),
    (16, "long long", Number::Int64),
    (17, "ULong64_t", Number::UInt64),
    (18, "bool", Number::Bool),
];

/// The type code of an `int` that holds the length of an array (`kCounter`).
const COUNTER: i32 = 6;
/// The type code of the bits of a `TObject` (`kBits`).
pub(super) const BITS: i32 = 15;
/// The type code of a `char` in old files (`kLegacyChar`).
const LEGACY_CHAR: i32 = 10;
/// The type code of a `Double32_t`.
pub(super) const DOUBLE32: i32 = 9;
/// The type code of a `Float16_t`.
pub(super) const FLOAT16: i32 = 19;
/// The number of bits of the mantissa of a `Float16_t` if its comment does not say it.
const FLOAT16_BITS: u32 = 12;

impl Basic {
    /// Returns the way in which a member with the type code `code` is streamed
    /// (`TVirtualStreamerInfo::EReadWrite`, 1 to 19). `title` is the comment of the member, which may start
    /// with `[min,max,bits]`.
    pub fn from_code(code: i32, title: &str) -> Option<Self> {
        let plain = |code| TYPES.iter().find(|(known, ..)| *known == code);
        match code {
            COUNTER => Some(Self::Plain(Number::Int32)),
            BITS => Some(Self::Bits),
            LEGACY_CHAR => Some(Self::Plain(Number::Int8)),
            DOUBLE32 => Some(packed(title, None, Number::Float64).unwrap_or(Self::Double32)),
            FLOAT16 => {
                let packed = packed(title, Some(FLOAT16_BITS), Number::Float32);
                Some(packed.unwrap_or(Self::Plain(Number::Float32)))
            }
            code => plain(code).map(|&(_, _, number)| Self::Plain(number)),
        }
    }

    /// Returns the type code of a C++ type, whose name is spelt as in streamer infos.
    pub fn code_of(name: &str) -> Option<i32> {
        match name {
            "Double32_t" => Some(DOUBLE32),
            "Float16_t" => Some(FLOAT16),
            // ROOT has this name for `long long`.
            "Long64_t" => Self::code_of("long long"),
            _ => TYPES.iter().find(|(_, known, _)| *known == name).map(|(code, ..)| *code),
        }
    }

    /// Returns the type code and the C++ type of a number in memory. If there are several, returns the first pair.
    pub fn described(number: Number) -> Option<(i32, &'static str)> {
        TYPES.iter().find(|(.., known)| *known == number).map(|&(code, name, _)| (code, name))
    }

    /// Returns the type of the number in memory.
    pub fn number(self) -> Number {
        match self {
            Self::Plain(number) | Self::Ranged { number, .. } | Self::Truncated { number, .. } => {
                number
            }
            Self::Double32 => Number::Float64,
            Self::Bits | Self::Date => Number::UInt32,
        }
    }

    /// Returns how the number is quantized, if it is stored as an integer.
    pub fn quantization(self) -> Option<Quantization> {
        match self {
            Self::Ranged { min, factor, bits, .. } => Some(Quantization { min, factor, bits }),
            _ => None,
        }
    }

    /// Returns the way in which a number is streamed. `name` is the name of its type in C++ or ROOT.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "Double32_t" => Some(Self::Double32),
            "Float16_t" => Some(Self::Truncated { bits: FLOAT16_BITS, number: Number::Float32 }),
            // Streamer info treats `std::byte` as the enum that it is in C++.
            "byte" => None,
            _ => {
                let name = type_name::fundamental(name)?;
                Number::of_type_name(name).map(Self::Plain)
            }
        }
    }

    /// Returns the size of one streamed value in bytes. The `Bits` of a referenced object have 2 bytes more.
    pub fn size(self) -> usize {
        match self {
            Self::Plain(number) => number.size(),
            Self::Truncated { .. } => 3,
            Self::Double32 | Self::Bits | Self::Date | Self::Ranged { .. } => 4,
        }
    }

    /// Returns whether a floating-point number is stored with fewer bits than in memory.
    pub fn is_packed(self) -> bool {
        matches!(self, Self::Double32 | Self::Ranged { .. } | Self::Truncated { .. })
    }

    /// Encodes one floating-point number that is stored with fewer bits.
    pub fn put(self, value: f64, out: &mut Vec<u8>) {
        match self {
            Self::Double32 => out.extend_from_slice(&(value as f32).to_be_bytes()),
            packed => packed.pack(value, out),
        }
    }

    /// Decodes one floating-point number (`TBufferFile::ReadWithFactor`, `ReadWithNbits`).
    pub fn unpack(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Ranged { min, factor, .. }, &[a, b, c, d]) => {
                f64::from(u32::from_be_bytes([a, b, c, d])) / factor + min
            }
            (Self::Truncated { bits, .. }, &[exponent, high, low]) => {
                let mantissa = u32::from(u16::from_be_bytes([high, low]));
                let sign = 1 << (bits + 1);
                let bits_value = (u32::from(exponent) << 23)
                    | (mantissa & (sign - 1)).checked_shl(23 - bits).unwrap_or(0);
                let value = f64::from(f32::from_bits(bits_value & 0x7FFF_FFFF));
                if mantissa & sign != 0 { -value } else { value }
            }
            _ => f64::NAN,
        }
    }

    /// Appends the stored form of the floating-point number that is nearest to `value` (`TBufferFile::WriteDouble32`,
    /// `WriteFloat16`).
    pub fn pack(self, value: f64, out: &mut Vec<u8>) {
        match self {
            // A float cast saturates, and NaN becomes 0.
            Self::Ranged { min, factor, .. } => {
                let stored = (0.5 + factor * (value - min)) as u32;
                out.extend_from_slice(&stored.to_be_bytes());
            }
            Self::Truncated { bits, .. } => {
                let value = value as f32;
                let stored = value.to_bits();
                let exponent = (stored << 1 >> 24) as u8;
                let one_more = stored.checked_shr(22 - bits).unwrap_or(0) & ((2 << bits) - 1);
                // The mantissa is not rounded up if this would need the next exponent.
                let mantissa = ((one_more + 1) >> 1).min((1 << bits) - 1);
                let sign = if value < 0.0 { 2 << bits } else { 0 };
                out.push(exponent);
                out.extend_from_slice(&((mantissa | sign) as u16).to_be_bytes());
            }
            _ => {}
        }
    }
}

/// Returns the stored form that the comment of a member requests by `[min,max]` or `[min,max,bits]`. Without these,
/// the mantissa has `default` bits.
fn packed(title: &str, default: Option<u32>, number: Number) -> Option<Basic> {
    let truncated = |bits: u32| Basic::Truncated { bits, number };
    let Some(range) = range_in(title) else { return default.map(truncated) };
    let mut parts = range.split(',').map(str::trim);
    let min = bound(parts.next()?)?;
    let max = bound(parts.next()?)?;
    let bits: u32 = parts.next().and_then(|bits| bits.parse().ok()).unwrap_or(32);
    if !(2..=32).contains(&bits) {
        return default.map(truncated);
    }
    if min < max {
        let steps = if bits < 32 { f64::from(1_u32 << bits) } else { f64::from(u32::MAX) };
        Some(Basic::Ranged { min, factor: steps / (max - min), bits, number })
    } else if bits < 15 {
        Some(truncated(bits))
    } else {
        default.map(truncated)
    }
}

/// Returns the text of the first brackets with a comma at the start of a comment, as in `[fN][0,1,8] text`.
fn range_in(title: &str) -> Option<&str> {
    let mut rest = title.trim_start();
    while let Some(inner) = rest.strip_prefix('[') {
        let (range, after) = inner.split_once(']')?;
        if range.contains(',') {
            return Some(range);
        }
        rest = after;
    }
    None
}

/// Parses a bound of a range. It is a number, or a multiple or a fraction of pi (`2pi`, `pi/2`, `-pi`).
fn bound(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (value, divisor) = match text.split_once('/') {
        Some((value, divisor)) => (value, divisor.trim().parse::<f64>().ok()?),
        None => (text, 1.0),
    };
    let factor = value.trim().strip_suffix("pi")?.trim().trim_end_matches('*');
    let factor: f64 = if factor.is_empty() { 1.0 } else { factor.parse().ok()? };
    Some(sign * factor * std::f64::consts::PI / divisor)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn unpack(code: i32, title: &str, bytes: &[u8]) -> f64 {
        Basic::from_code(code, title).unwrap().unpack(bytes)
    }

    /// The values were calculated by hand from `TBufferFile::ReadWithFactor` and `ReadWithNbits`.
    #[test]
    fn packed_numbers() {
        let (float16, double32) = (19, 9);
        assert_eq!(unpack(double32, "[0,1,8] fraction", &[0, 0, 0, 128]), 0.5);
        assert_eq!(unpack(double32, "[n][-1,1,2]", &[0, 0, 0, 1]), -0.5);
        assert_eq!(unpack(double32, "[0, 2pi, 4]", &[0, 0, 0, 8]), PI);
        // 1.5 has exponent 127 and the highest of 12 mantissa bits; the sign is the bit above them.
        assert_eq!(unpack(float16, "", &[127, 0x08, 0x00]), 1.5);
        assert_eq!(unpack(float16, "", &[127, 0x28, 0x00]), -1.5);
        assert_eq!(unpack(double32, "[0,0,10]", &[127, 0x02, 0x00]), 1.5);
    }

    /// The bytes were calculated by hand from `TBufferFile::WriteDouble32` and `WriteFloat16`.
    #[test]
    fn numbers_are_packed() {
        let pack = |code: i32, title: &str, value: f64| {
            let mut out = Vec::new();
            Basic::from_code(code, title).unwrap().pack(value, &mut out);
            out
        };
        let (float16, double32) = (19, 9);
        assert_eq!(pack(double32, "[0,1,8]", 0.501), [0, 0, 0, 128]);
        assert_eq!(pack(double32, "[-1,1,2]", -7.0), [0, 0, 0, 0]);
        assert_eq!(pack(double32, "[0,1]", f64::NAN), [0, 0, 0, 0]);
        assert_eq!(pack(float16, "", 1.5), [127, 0x08, 0x00]);
        assert_eq!(pack(float16, "", -1.5), [127, 0x28, 0x00]);
        assert_eq!(pack(double32, "[0,0,10]", 1.5), [127, 0x02, 0x00]);
        // 1.9999 sets all bits of the mantissa, since the next number is 2.
        assert_eq!(pack(double32, "[0,0,2]", 1.9999), [127, 0x00, 0x03]);
    }
}
