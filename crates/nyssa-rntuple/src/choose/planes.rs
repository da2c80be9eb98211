//! Chooses a codec for each byte plane of a split column.
//!
//! The planes of a column differ: the lowest bytes of a mantissa are noise or zero, the highest bytes have structure.
//! A strong codec only pays where there is structure. Neighbouring planes with one codec become one chunk of the
//! page. Readers take several chunks together as one page.

use std::ops::Range;

use nyssa_root::effort::{Chooser, PricedCodec, SampleSize, SplitForm};
use nyssa_root::error::Result;

use crate::heuristics::{choose, seal};
use crate::seal::{PlaneRun, Scratch};

/// Neighbouring planes, with their codec and the size of their sample.
struct Run<'a> {
    planes: Range<usize>,
    candidate: &'a PricedCodec,
    size: SampleSize,
}

/// The codecs of all planes.
pub(super) struct PlaneChoice {
    /// The runs, starting with the lowest plane.
    pub(super) runs: Vec<PlaneRun>,
    /// The number of compressed bytes of the sample.
    pub(super) compressed: u64,
    /// The size with the price of the time.
    pub(super) cost: f64,
}

/// Chooses codecs for the planes of `packed`, which is a sample of elements of `width` bytes in a split encoding.
/// Returns `None` if one codec is best for all planes, or the sample is too small.
///
/// # Errors
/// Returns an error if compression fails.
pub(super) fn choose_planes(
    chooser: &Chooser,
    packed: &[u8],
    width: usize,
    scratch: &mut Scratch,
) -> Result<Option<PlaneChoice>> {
    let plane = packed.len() / width.max(1);
    if width < 2 || plane < seal::MIN_PLANE {
        return Ok(None);
    }
    let mut sealed = |planes: &Range<usize>, candidate: &PricedCodec| {
        let part = &packed[planes.start * plane..planes.end * plane];
        let compressed = scratch.compressed(&candidate.codec, part, plane)? as u64;
        Ok::<_, nyssa_root::Error>(SampleSize { uncompressed: part.len() as f64, compressed })
    };
    let mut runs: Vec<Run<'_>> = Vec::with_capacity(width);
    for start in 0..width {
        let planes = start..start + 1;
        let form = [SplitForm { name: "", split: true }];
        let best = chooser.choose(&form, |_, candidate| sealed(&planes, candidate))?;
        let (candidate, SampleSize { uncompressed, compressed }) = (best.candidate, best.size);
        match runs.last_mut() {
            Some(last) if last.candidate.name == candidate.name => {
                last.planes.end = planes.end;
                last.size.uncompressed += uncompressed;
                last.size.compressed += compressed;
            }
            _ => {
                runs.push(Run { planes, candidate, size: SampleSize { uncompressed, compressed } })
            }
        }
    }
    let is_noise =
        |run: &Run<'_>| run.size.compressed as f64 > choose::MAX_RATIO * run.size.uncompressed;
    while runs.len() > 1
        && let Some(noise) = runs.iter().position(is_noise)
    {
        let first = noise.min(runs.len() - 2);
        let second = runs.remove(first + 1);
        let planes = runs[first].planes.start..second.planes.end;
        let of_first = sealed(&planes, runs[first].candidate)?;
        let of_second = sealed(&planes, second.candidate)?;
        let (low, high) = (runs[first].candidate, second.candidate);
        let (candidate, size) =
            match chooser.cost(low, &of_first, true) <= chooser.cost(high, &of_second, true) {
                true => (low, of_first),
                false => (high, of_second),
            };
        runs[first] = Run { planes, candidate, size };
    }
    if runs.len() < 2 || runs.iter().any(is_noise) {
        return Ok(None);
    }
    let cost = runs.iter().map(|run| chooser.cost(run.candidate, &run.size, true)).sum();
    let compressed = runs.iter().map(|run| run.size.compressed).sum();
    let runs = runs.iter().map(|run| PlaneRun::new(run.planes.len(), run.candidate)).collect();
    Ok(Some(PlaneChoice { runs, compressed, cost }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::Encodings;
    use nyssa_root::compression::Compression;
    use nyssa_root::effort::Effort;
    use nyssa_testdata::noise;

    /// Returns the runs that are chosen for planes of 8192 bytes.
    fn runs(planes: &[Vec<u8>]) -> Vec<(usize, String)> {
        let chooser = Encodings::Auto.chooser(Compression::DEFAULT, Effort::Auto).unwrap();
        let packed = planes.concat();
        let chosen = choose_planes(&chooser, &packed, planes.len(), &mut Scratch::new()).unwrap();
        let runs = chosen.map_or(Vec::new(), |chosen| chosen.runs);
        runs.into_iter().map(|run| (run.count, run.name)).collect()
    }

    fn plane(value: impl Fn(usize, u64) -> u64) -> Vec<u8> {
        noise().take(8192).enumerate().map(|(index, bits)| value(index, bits) as u8).collect()
    }

    #[test]
    fn each_plane_has_the_codec_that_suits_it() {
        let (zero, few) = (plane(|_, _| 0), plane(|_, bits| bits >> 7 & 3));
        // Words of 16 bytes that repeat in a random order.
        let words = plane(|index, _| {
            let word = noise().nth(index / 16).unwrap_or(0) % 7;
            word * 31 + index as u64 % 16 * 5
        });
        let chosen = runs(&[few.clone(), few.clone(), words]);
        assert_eq!(chosen[0], (2, "entropy".to_owned()));
        assert_eq!(chosen.len(), 2);
        assert_ne!(chosen[1].1, "entropy");
        // One codec for all planes is not a choice.
        assert!(runs(&[few.clone(), few]).is_empty());
        assert!(runs(&[zero.clone(), zero]).is_empty());
    }

    /// Bytes that do not become smaller must share the chunk of other bytes.
    #[test]
    fn no_run_is_noise() {
        let (noise, zero) = (plane(|_, bits| bits >> 7), plane(|_, _| 0));
        assert!(runs(&[noise.clone(), noise.clone()]).is_empty());
        for planes in [vec![noise.clone(), zero.clone()], vec![zero, noise]] {
            assert!(runs(&planes).len() < 2);
        }
    }
}
