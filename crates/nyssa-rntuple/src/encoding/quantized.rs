//! Implements `Real32Quant`: integers divide a range of values into equal steps.

use nyssa_root::error::{Error, Result};

use super::bits;

/// A map between integers and a range of values. It computes in double precision, bit by bit as ROOT does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantizer {
    width: u16,
    min: f64,
    max: f64,
    /// The largest integer, 2^width - 1.
    steps: f64,
}

impl Quantizer {
    /// Makes a quantizer for integers of `width` bits, 1 to 32.
    pub(super) fn new(width: u16, (min, max): (f64, f64)) -> Self {
        Self { width, min, max, steps: (u64::MAX >> (64 - width)) as f64 }
    }

    #[inline(always)]
    fn value(self, step: u32) -> f64 {
        let scale = (self.max - self.min) / self.steps;
        (f64::from(step) * scale + self.min).min(self.max)
    }

    /// Returns the value that is read where `value` was written. It is NaN if `value` is outside the range.
    pub(super) fn nearest(self, value: f64) -> f64 {
        if !(self.min <= value && value <= self.max) {
            return f64::NAN;
        }
        self.value(self.step(value))
    }

    /// Returns the integer of the step that is nearest to a value in the range.
    #[inline(always)]
    fn step(self, value: f64) -> u32 {
        (0.5 + (value - self.min) * (self.steps / (self.max - self.min))) as u32
    }

    /// Unpacks to 32-bit floats.
    #[inline(always)]
    pub(super) fn decode(self, packed: &[u8], out: &mut [[u8; 4]]) {
        bits::unpack(packed, self.width, out, |step| (self.value(step) as f32).to_bits());
    }

    /// Unpacks to 64-bit floats.
    #[inline(always)]
    pub(super) fn decode_f64(self, packed: &[u8], out: &mut [[u8; 8]]) {
        let mut steps = [[0; 4]; Self::BLOCK];
        let block_bytes = bits::packed_size(Self::BLOCK, self.width);
        for (out, packed) in out.chunks_mut(Self::BLOCK).zip(packed.chunks(block_bytes)) {
            let steps = &mut steps[..out.len()];
            bits::unpack(packed, self.width, steps, |step| step);
            for (out, step) in out.iter_mut().zip(steps) {
                *out = self.value(u32::from_le_bytes(*step)).to_le_bytes();
            }
        }
    }

    /// The number of elements that are encoded at a time. It is a multiple of 8, so that each block starts at a
    /// byte.
    const BLOCK: usize = 128;

    /// Rounds values to the nearest step and packs the integers.
    ///
    /// # Errors
    /// `InvalidArgument` for a value outside the range. Then `out` is unchanged.
    pub(super) fn encode(
        self,
        elements: impl ExactSizeIterator<Item = f64> + Clone,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        // This form of the comparison also refuses NaN.
        let outside = |value: &f64| !(self.min <= *value && *value <= self.max);
        if let Some((index, value)) = elements.clone().enumerate().find(|(_, v)| outside(v)) {
            return Err(Error::invalid_argument(format!(
                "value {value} of element {index} is outside the range {} to {} of its quantized \
                 column",
                self.min, self.max
            )));
        }
        bits::pack(self.width, elements.map(|value| self.step(value)), out);
        Ok(())
    }
}
