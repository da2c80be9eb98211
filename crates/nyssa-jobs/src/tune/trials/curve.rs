//! Makes curves: the changes with one option.

use super::expect::Expected;
use super::report::{Curve, CurvePoint};

/// Returns the curve of an option, from its values in any order.
pub(super) fn curve(option: &str, recommended: u64, points: Vec<(u64, Expected)>) -> Curve {
    let point =
        |(value, expected)| CurvePoint { value, expected, recommended: value == recommended };
    let mut points: Vec<CurvePoint> = points.into_iter().map(point).collect();
    points.sort_by_key(|point| point.value);
    Curve { option: option.to_owned(), points }
}
