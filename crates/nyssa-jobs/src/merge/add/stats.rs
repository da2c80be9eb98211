//! The sums of weights and coordinates from which ROOT computes mean and deviation (`GetStats`). If they were not
//! filled, or an axis shows a part of its bins, they are computed from the bins.

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{ARRAY, View};

use super::axis::Axis;
use super::pair::doubles;

/// The names of the sums of a histogram, without the sums of the values of a profile.
const SUMS: [(&str, [usize; 3]); 11] = [
    ("fTsumw", [0, 0, 0]),
    ("fTsumw2", [0, 0, 0]),
    ("fTsumwx", [1, 0, 0]),
    ("fTsumwx2", [2, 0, 0]),
    ("fTsumwy", [0, 1, 0]),
    ("fTsumwy2", [0, 2, 0]),
    ("fTsumwxy", [1, 1, 0]),
    ("fTsumwz", [0, 0, 1]),
    ("fTsumwz2", [0, 0, 2]),
    ("fTsumwxz", [1, 0, 1]),
    ("fTsumwyz", [0, 1, 1]),
];
/// The value of `fStatOverflows` that counts entries beyond the axes (`TH1::kConsider`).
const CONSIDER: i64 = 1;

/// Returns the sums of a histogram or profile, with the names of their members. With `stored` the members give the
/// sums.
///
/// # Errors
/// `OutOfSpecification` for a histogram that lacks bins; `Unsupported` for members that are not numbers.
pub(super) fn of(view: View<'_>, axes: &[Axis], stored: bool) -> Result<Vec<(&'static str, f64)>> {
    let profile = view.get("fBinEntries").is_some();
    let dimensions = axes.len();
    let mut names: Vec<(&'static str, [usize; 3])> = SUMS.to_vec();
    names.retain(|(_, powers)| powers.iter().skip(dimensions).all(|&power| power == 0));
    let values = match (profile, dimensions) {
        (false, _) => None,
        (true, 1) => Some(["fTsumwy", "fTsumwy2"]),
        (true, 2) => Some(["fTsumwz", "fTsumwz2"]),
        (true, _) => Some(["fTsumwt", "fTsumwt2"]),
    };
    let all = names.iter().map(|(name, _)| *name).chain(values.into_iter().flatten());
    let partial = axes.iter().any(|axis| axis.range.is_some());
    if stored || view.f64("fTsumw")? != 0.0 && !partial {
        return all.map(|name| Ok((name, view.f64(name)?))).collect();
    }
    let bins = Bins::of(view, profile);
    let mut sums = vec![0.0; names.len() + 2];
    for (bin, at) in cells(view, axes) {
        let (weight, square) = bins.weight(bin)?;
        for (sum, &(name, powers)) in sums.iter_mut().zip(&names) {
            let mut term = if name == "fTsumw2" { square } else { weight };
            for ((axis, &bin), &power) in axes.iter().zip(&at).zip(&powers) {
                if power > 0 {
                    let x = if axis.only_labels { 0.0 } else { axis.center(bin) };
                    term *= if power == 2 { x * x } else { x };
                }
            }
            *sum += term;
        }
        if let (true, [.., value, square]) = (profile, &mut sums[..]) {
            *value += bins.contents.get(bin).copied().unwrap_or(0.0);
            *square += bins.squares.get(bin).copied().unwrap_or(0.0);
        }
    }
    Ok(all.zip(sums).collect())
}

/// The numbers of each bin.
struct Bins {
    contents: Vec<f64>,
    /// The sums of squares, which a histogram may lack.
    squares: Vec<f64>,
    /// The entries of the bins of a profile, and the sums of squares of their weights.
    entries: Option<(Vec<f64>, Vec<f64>)>,
}

impl Bins {
    fn of(view: View<'_>, profile: bool) -> Self {
        let entries = profile.then(|| (doubles(view, "fBinEntries"), doubles(view, "fBinSumw2")));
        Self { contents: doubles(view, ARRAY), squares: doubles(view, "fSumw2"), entries }
    }

    /// Returns the weight of a bin, and the sum of squares of its weights.
    fn weight(&self, bin: usize) -> Result<(f64, f64)> {
        let (weights, squares) = match &self.entries {
            Some((entries, squares)) => (entries, squares),
            None => (&self.contents, &self.squares),
        };
        let weight = weights.get(bin).copied().ok_or_else(|| {
            Error::out_of_spec(format!("bin {bin} of {} is not there", weights.len()))
        })?;
        let one = if self.entries.is_some() { weight } else { weight.abs() };
        Ok((weight, squares.get(bin).copied().unwrap_or(one)))
    }
}

/// Returns the bins that count, with their places on the axes.
fn cells(view: View<'_>, axes: &[Axis]) -> Vec<(usize, [usize; 3])> {
    let beyond = view.get("fStatOverflows").and_then(|value| value.as_i64()) == Some(CONSIDER);
    let part = |axis: &Axis| match axis.range {
        Some((first, last)) => (first, last.min(axis.bins + 1)),
        None if beyond => (0, axis.bins + 1),
        None => (1, axis.bins),
    };
    let mut cells = vec![(0, [0; 3])];
    let mut stride = 1;
    for (dimension, axis) in axes.iter().take(3).enumerate() {
        let (first, last) = part(axis);
        let mut next = Vec::new();
        for &(bin, at) in &cells {
            for place in first..=last {
                let mut at = at;
                at[dimension] = place;
                next.push((bin + place * stride, at));
            }
        }
        cells = next;
        stride *= axis.bins + 2;
    }
    cells
}
