//! Joins graphs like `TGraph::Merge`: the points of each input follow the points of earlier inputs. Joins lists of
//! entries like `TEventList::Add`.

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{Numbers, Value, View};

use super::pair::{Pair, array, doubles};

/// The mark that points are in the order of x (`TGraph::kIsSortedX`).
const IS_SORTED: i64 = 1 << 19;
/// The mark that the limits of the axes are computed again (`TGraph::kResetHisto`).
const FINDS_LIMITS: i64 = 1 << 17;

/// Returns the arrays of a class of graphs. Other classes are not joined.
pub(super) fn arrays(class: &str) -> Option<&'static [&'static str]> {
    match class {
        "TGraph" | "TCutG" => Some(&["fX", "fY"]),
        "TGraphErrors" => Some(&["fX", "fY", "fEX", "fEY"]),
        "TGraphAsymmErrors" => Some(&["fX", "fY", "fEXlow", "fEXhigh", "fEYlow", "fEYhigh"]),
        "TGraphBentErrors" => Some(&[
            "fX", "fY", "fEXlow", "fEXhigh", "fEYlow", "fEYhigh", "fEXlowd", "fEXhighd", "fEYlowd",
            "fEYhighd",
        ]),
        _ => None,
    }
}

/// Adds the points of the other graph.
///
/// # Errors
/// `OutOfSpecification` for arrays of another length than the number of points; `LimitExceeded` for too many points.
pub(super) fn add(pair: &mut Pair<'_>) -> Result<()> {
    let points = pair.own().i64("fNpoints")?.saturating_add(pair.other.i64("fNpoints")?);
    if i32::try_from(points).is_err() {
        return Err(Error::limit(format!("{points} points are too many for a graph")));
    }
    for &member in arrays(pair.own().class()).unwrap_or_default() {
        let mut all = of_points(pair.own(), member)?;
        all.extend(of_points(pair.other, member)?);
        pair.set(member, array(all))?;
    }
    pair.set("fNpoints", Value::Int(points))?;
    // The histogram with the titles of the axes stays unchanged. ROOT computes limits for all points when it draws.
    let has_axes = matches!(pair.own().get("fHistogram"), Some(Value::Object(_)));
    let bits = pair.own().i64("fBits")? & !IS_SORTED;
    pair.set_bits(if has_axes { bits | FINDS_LIMITS } else { bits });
    Ok(())
}

fn of_points(view: View<'_>, member: &str) -> Result<Vec<f64>> {
    let (values, points) = (doubles(view, member), view.usize("fNpoints")?);
    if values.len() != points {
        let message = format!("{member} has {} values for {points} points", values.len());
        return Err(Error::out_of_spec(message));
    }
    Ok(values)
}

/// Joins the titles of two lists of entries. A title is the selection of its list, and `TCut` joins selections in
/// this way. An empty title selects nothing, and is left out.
fn add_selection(pair: &mut Pair<'_>) -> Result<()> {
    let title = match (pair.own().str("fTitle")?, pair.other.str("fTitle")?) {
        (_, "") => return Ok(()),
        ("", other) => other.to_owned(),
        (own, other) => format!("({own})||({other})"),
    };
    pair.set_title(&title);
    Ok(())
}

/// Adds the entries of the other list, which stays sorted, with each entry once, and its selection.
///
/// # Errors
/// `Unsupported` for entries that are not integers; `LimitExceeded` for too many entries.
pub(super) fn add_entries(pair: &mut Pair<'_>) -> Result<()> {
    let mut entries = pair.own().i64s("fList")?;
    entries.extend(pair.other.i64s("fList")?);
    entries.sort_unstable();
    entries.dedup();
    let count = i32::try_from(entries.len())
        .map_err(|_| Error::limit(format!("{} entries are too many for a list", entries.len())))?;
    add_selection(pair)?;
    pair.set("fList", Value::Numbers(Numbers::Int64(entries.into())))?;
    pair.set("fN", Value::Int(count.into()))?;
    pair.set("fSize", Value::Int(count.into()))
}
