//! Tests axes, statistics and sums by values that follow from their definitions.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};

use super::axis::numbers;
use super::*;

fn bins(axis: &Axis, values: ArrayRef) -> Vec<usize> {
    axis.check().unwrap();
    axis.takes(values.data_type()).unwrap();
    axis.places(&values).unwrap().bins
}

fn reals(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn regular(bins: usize, low: f64, high: f64, closed: bool) -> Axis {
    Axis::Regular { bins, low, high, transform: Transform::None, closed }
}

#[test]
fn edges_belong_to_the_bin_above_them() {
    let values = [-0.1, 0.0, 0.5, 1.0, 1.5, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let open = [0, 1, 1, 2, 2, 3, 3, 3, 0];
    let closed = [0, 1, 1, 2, 2, 2, 3, 3, 0];
    for (is_closed, expected) in [(false, open), (true, closed)] {
        assert_eq!(bins(&regular(2, 0.0, 2.0, is_closed), reals(&values)), expected);
        let variable = Axis::Variable { edges: vec![0.0, 1.0, 2.0], closed: is_closed };
        assert_eq!(bins(&variable, reals(&values)), expected);
    }
    let log =
        Axis::Regular { bins: 2, low: 1.0, high: 100.0, transform: Transform::Log, closed: false };
    assert_eq!(bins(&log, reals(&[0.0, -1.0, 1.0, 9.0, 11.0, 100.0])), [0, 3, 1, 1, 2, 3]);
}

#[test]
fn integers_and_texts() {
    let axis = Axis::Integer { low: -1, bins: 3 };
    let values: ArrayRef = Arc::new(Int64Array::from(vec![i64::MIN, -2, -1, 1, 2, i64::MAX]));
    assert_eq!(bins(&axis, values), [0, 0, 1, 3, 4, 4]);
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![0, u64::MAX]));
    assert_eq!(bins(&axis, Arc::clone(&large)), [2, 4]);
    assert_eq!(numbers(&large), [0.0, u64::MAX as f64]);
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    assert_eq!(bins(&Axis::Integer { low: 0, bins: 2 }, flags), [2, 1]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]));
    let places = Axis::AllTexts(vec!["a".to_owned()]).places(&texts).unwrap();
    assert_eq!(
        (places.bins, places.texts),
        (vec![2, 0, 1, 2], vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(bins(&Axis::Texts(vec!["b".to_owned()]), texts)[2], 2);
}

#[test]
fn wrong_axes_are_refused() {
    for axis in [
        regular(0, 0.0, 1.0, false),
        regular(1, 1.0, 1.0, false),
        regular(1, f64::NAN, 1.0, false),
        regular(1, 0.0, f64::INFINITY, false),
        Axis::Variable { edges: vec![1.0], closed: false },
        Axis::Variable { edges: vec![0.0, f64::NAN], closed: false },
        Axis::Regular { bins: 1, low: 0.0, high: 1.0, transform: Transform::Log, closed: false },
    ] {
        assert!(axis.check().is_err(), "{axis:?}");
    }
    let axes = [regular(1 << 20, 0.0, 1.0, false), regular(1 << 20, 0.0, 1.0, false)];
    assert!(Histogram::new(&axes, false, false).is_err());
    let grown = [regular(1, 0.0, 1.0, false), Axis::AllTexts(Vec::new())];
    assert!(Histogram::new(&grown, false, false).is_err());
}

#[test]
fn statistics_of_parts_are_those_of_all() {
    let values = [1.0, 5.0, 2.5, f64::NAN, 8.0, -3.0, 4.0];
    let each = |values: &[f64]| {
        let values = values.to_vec();
        Statistics::of(values.into_iter().map(|value| (value, 2.0, value < 6.0)))
    };
    let mut parts = Statistics::default();
    for part in values.chunks(2) {
        parts.add(&each(part));
    }
    // The values below 6 are 1, 5, 2.5, -3 and 4.
    assert_eq!((parts.min, parts.max, parts.not_finite), (-3.0, 8.0, 1));
    assert_eq!(parts.weight, 10.0);
    assert!((parts.mean - 1.9).abs() < 1e-12);
    assert!((parts.deviation() - 7.84f64.sqrt()).abs() < 1e-12);
}

#[test]
fn categories_of_parts_are_put_together() {
    let text = |texts: &[&str]| Axis::AllTexts(texts.iter().map(|&text| text.to_owned()).collect());
    let part = |texts: &[&str], sums: &[f64]| {
        let axes = [text(texts), regular(1, 0.0, 1.0, false)];
        let mut part = Histogram::new(&axes, false, false).unwrap();
        part.sums = sums.to_vec();
        part
    };
    let mut all = part(&["a"], &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    all.add(&part(&["b", "a"], &[0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])).unwrap();
    assert_eq!(all.axes[0], text(&["a", "b"]));
    assert_eq!(all.sums, [0.0, 0.0, 0.0, 8.0, 10.0, 12.0, 4.0, 5.0, 6.0]);
}
