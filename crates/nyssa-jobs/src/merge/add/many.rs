//! Adds histograms of many dimensions (`THn`), of polygons (`TH2Poly`), and efficiencies.

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{Value, View};

use super::axis::Axis;
use super::histogram;
use super::pair::{Pair, doubles, refused};

/// Adds the other `THn`.
///
/// # Errors
/// `InvalidArgument` for other axes.
pub(super) fn add_dense(pair: &mut Pair<'_>) -> Result<()> {
    same_axes(pair)?;
    add_sums(pair)?;
    for member in ["fArray", "fSumw2"] {
        if let Some(mut inner) = pair.inner(member)? {
            inner.sum("fData")?;
        }
    }
    Ok(())
}

/// Adds the members that all histograms of many dimensions have beside their bins.
fn add_sums(pair: &mut Pair<'_>) -> Result<()> {
    // A negative sum means that there are no sums of squares.
    let has_squares = |view: View<'_>| Ok::<_, Error>(view.f64("fTsumw2")? >= 0.0);
    match (has_squares(pair.own())?, has_squares(pair.other)?) {
        (true, true) => pair.sum("fTsumw2")?,
        (false, false) => {}
        _ => {
            return Err(refused(
                "only one of the inputs has the sums of the squares of its weights",
            ));
        }
    }
    for member in ["fEntries", "fTsumw", "fTsumwx", "fTsumwx2"] {
        pair.sum(member)?;
    }
    Ok(())
}

/// Refuses histograms of many dimensions whose axes differ.
///
/// # Errors
/// `InvalidArgument` if they differ.
fn same_axes(pair: &Pair<'_>) -> Result<()> {
    let axes = |view: View<'_>| -> Result<Vec<Axis>> {
        view.list("fAxes")?.into_iter().flatten().map(Axis::of).collect()
    };
    let (own, other) = (axes(pair.own())?, axes(pair.other)?);
    if own.len() != other.len() {
        return Err(refused(&format!("it has {} axes, not {}", other.len(), own.len())));
    }
    let mut pairs = own.iter().zip(&other).enumerate();
    pairs.try_for_each(|(number, (own, other))| own.check(other, &format!("{}.", number + 1)))
}

/// Adds the other `TH2Poly`. The polygons must be equal.
///
/// # Errors
/// `InvalidArgument` for other polygons.
pub(super) fn add_polygons(pair: &mut Pair<'_>) -> Result<()> {
    const SHAPE: [&str; 6] = ["fNumber", "fArea", "fXmin", "fXmax", "fYmin", "fYmax"];
    let (own, other) = (pair.own().list("fBins")?, pair.other.list("fBins")?);
    let shape = |bin: View<'_>| SHAPE.iter().map(|name| bin.f64(name)).collect::<Result<Vec<_>>>();
    if own.len() != other.len() {
        return Err(refused(&format!("it has {} bins, not {}", other.len(), own.len())));
    }
    let mut bins = Vec::new();
    for (own, other) in own.into_iter().zip(other) {
        let (Some(own), Some(other)) = (own, other) else {
            return Err(refused("a bin is a null pointer"));
        };
        if shape(own)? != shape(other)? {
            return Err(refused("its bins have other shapes than in the inputs before"));
        }
        bins.push((own.id(), other));
    }
    let squares = (doubles(pair.own(), "fSumw2"), doubles(pair.other, "fSumw2"));
    if squares.0.len() != squares.1.len() {
        return Err(refused("only one of the inputs has the sums of the squares of its weights"));
    }
    for (own, other) in bins {
        pair.with(own, other).sum("fContent")?;
    }
    if !squares.0.is_empty() {
        pair.sum("fSumw2")?;
    }
    for member in [
        "fOverflow",
        "fEntries",
        "fTsumw",
        "fTsumw2",
        "fTsumwx",
        "fTsumwx2",
        "fTsumwy",
        "fTsumwy2",
        "fTsumwxy",
    ] {
        pair.sum(member)?;
    }
    Ok(())
}

/// Adds the other efficiency, like `TEfficiency::operator+=`.
///
/// # Errors
/// `InvalidArgument` for other axes, for averages, for entries in a buffer, and for an efficiency without histograms;
/// `Unsupported` for members that cannot be read.
pub(super) fn add_efficiency(pair: &mut Pair<'_>) -> Result<()> {
    for member in ["fTotalHistogram", "fPassedHistogram"] {
        let mut inner = pair.inner(member)?.ok_or_else(|| refused("it has no histograms"))?;
        if inner.own().class() != inner.other.class()
            || !histogram::is_histogram(inner.own().class())
        {
            return Err(refused(&format!("its histograms are {}", inner.other.class())));
        }
        histogram::add(&mut inner)?;
    }
    let (own, other) = (pair.own().f64("fWeight")?, pair.other.f64("fWeight")?);
    pair.set("fWeight", Value::Float(own * other / (own + other)))
}
