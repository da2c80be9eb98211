//! Adds histograms and profiles like `TH1::Merge`, if the axes are equal.

use nyssa_root::error::Result;
use nyssa_root::streamer::values::{ARRAY, Numbers, Value, View};

use super::axis::Axis;
use super::pair::{Pair, array, doubles, refused};
use super::stats;

/// The mark of a histogram that is an average (`TH1::kIsAverage`).
const IS_AVERAGE: i64 = 1 << 18;

/// Returns whether a class is a histogram or profile that is added.
pub(super) fn is_histogram(class: &str) -> bool {
    class.strip_prefix("TH").is_some_and(|rest| {
        matches!(rest.as_bytes(), [b'1'..=b'3', b'C' | b'S' | b'I' | b'L' | b'F' | b'D'])
    }) || matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
}

/// Adds the other histogram.
///
/// # Errors
/// `InvalidArgument` for other axes, for averages, and for entries in a buffer; `Unsupported` for members that cannot be
/// read.
pub(super) fn add(pair: &mut Pair<'_>) -> Result<()> {
    let (own, other) = (axes(pair.own())?, axes(pair.other)?);
    for (name, (own, other)) in ["x", "y", "z"].iter().zip(own.iter().zip(&other)) {
        own.check(other, name)?;
    }
    if let Some(problem) = problem(pair.own()).or_else(|| problem(pair.other)) {
        return Err(refused(problem));
    }
    let squares = squares(pair);
    let is_summed = pair.is_summed();
    let mut sums = stats::of(pair.own(), &own, is_summed)?;
    for (sum, more) in sums.iter_mut().zip(stats::of(pair.other, &other, false)?) {
        sum.1 += more.1;
    }
    if let Some((member, squares)) = squares {
        pair.set(member, array(squares))?;
    }
    for member in [ARRAY, "fBinEntries", "fEntries"] {
        pair.sum(member)?;
    }
    if pair.own().get("fBinEntries").is_some() {
        pair.sum("fSumw2")?;
    }
    sums.into_iter().try_for_each(|(member, sum)| pair.set(member, Value::Float(sum)))
}

/// Returns the sums of the squares of the weights, and their member, if one of the two histograms has them. The
/// weights of the other histogram are 1.
fn squares(pair: &Pair<'_>) -> Option<(&'static str, Vec<f64>)> {
    let profile = pair.own().get("fBinEntries").is_some();
    let (member, counts) = if profile { ("fBinSumw2", "fBinEntries") } else { ("fSumw2", ARRAY) };
    let (own, other) = (doubles(pair.own(), member), doubles(pair.other, member));
    if own.is_empty() && other.is_empty() {
        return None;
    }
    let or_counts = |squares: Vec<f64>, view: View<'_>| match squares.is_empty() {
        true => doubles(view, counts).into_iter().map(f64::abs).collect(),
        false => squares,
    };
    let (own, other) = (or_counts(own, pair.own()), or_counts(other, pair.other));
    Some((member, own.iter().zip(&other).map(|(own, other)| own + other).collect()))
}

/// Returns the reason why a histogram cannot be added to other histograms.
fn problem(view: View<'_>) -> Option<&'static str> {
    if view.get("fBits").and_then(Value::as_i64).unwrap_or(0) & IS_AVERAGE != 0 {
        return Some("it is an average");
    }
    let buffer = match view.get("fBuffer") {
        Some(Value::Numbers(Numbers::Float64(buffer))) => buffer.first().copied().unwrap_or(0.0),
        _ => 0.0,
    };
    (buffer != 0.0).then_some("it, or the histogram of an earlier input, has entries in its buffer")
}

fn axes(view: View<'_>) -> Result<Vec<Axis>> {
    let dimensions = match () {
        () if view.is_a("TH3") => 3,
        () if view.is_a("TH2") => 2,
        () => 1,
    };
    let mut axes = Vec::new();
    for name in ["fXaxis", "fYaxis", "fZaxis"].into_iter().take(dimensions) {
        let axis = view.view(name)?;
        axes.push(Axis::of(axis.ok_or_else(|| refused(&format!("{name} is a null pointer")))?)?);
    }
    Ok(axes)
}
