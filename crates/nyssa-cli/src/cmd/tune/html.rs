//! Makes the page of a search for the best options: its trials as plots and as a table, and the reasons.
//!
//! The plots are SVG inside the page. It needs no script, no other file and no network.

use minijinja::context;
use nyssa_jobs::tune::trials::{Curve, Expected, TriedCandidate, TuneReport};
use serde::Serialize;

use super::{HEADER, cells, numbers, time};
use crate::units::{count, size};
use crate::web_page;

/// The places of the least and the largest number on the axes of `tune.html`.
const ACROSS: [f64; 2] = [66.0, 300.0];
const UP: [f64; 2] = [192.0, 18.0];

/// A quantity that a plot shows: its name, its value in an expectation, and the text of a value.
type Quantity = (&'static str, fn(&Expected) -> f64, fn(f64) -> String);

/// The quantities that are drawn over the size, for all trials.
const OVER_SIZE: [Quantity; 3] = [
    ("CPU time to write", |item| item.write_cpu_seconds, time),
    ("time to read", |item| item.read_seconds, time),
    ("memory", |item| item.memory as f64, bytes),
];
/// The quantities that are drawn over the values of one option.
const OVER_OPTION: [Quantity; 4] = [
    ("size", |item| item.bytes as f64, bytes),
    ("time to write", |item| item.write_seconds, time),
    ("time to read", |item| item.read_seconds, time),
    ("memory", |item| item.memory as f64, bytes),
];

#[derive(Serialize)]
struct Plot {
    name: String,
    least: String,
    most: String,
    /// The texts below the ends of the axis across.
    ends: [String; 2],
    is_line: bool,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    class: &'static str,
    x: f64,
    y: f64,
    title: String,
}

/// Returns the page of a report.
pub fn page(report: &TuneReport) -> String {
    web_page::page(&title(report), "", &body(report))
}

fn title(report: &TuneReport) -> String {
    format!("{}:{}", report.input, report.dataset)
}

/// Returns the content of the page, for notebooks.
pub fn body(report: &TuneReport) -> String {
    let expected =
        [("Expected", &report.expected), ("With the default options", &report.expected_by_default)];
    let curves = report.curves.iter().filter(|curve| curve.points.len() > 1).map(|curve| {
        (
            &curve.option,
            OVER_OPTION
                .iter()
                .map(|expectation| over_option(curve, expectation))
                .collect::<Vec<_>>(),
        )
    });
    let content = context! {
        title => title(report),
        report,
        expected => expected.map(|(what, expected)| (what, size(expected.bytes_error), numbers(expected))),
        plots => OVER_SIZE.iter().map(|expectation| over_size(report, expectation)).collect::<Vec<_>>(),
        header => HEADER.map(|name| name.trim_start_matches('>')),
        trials => report.trials.iter().map(cells).collect::<Vec<_>>(),
        curves => curves.collect::<Vec<_>>(),
    };
    web_page::body("tune.html", content)
}

fn bytes(value: f64) -> String {
    size(value as u64)
}

/// Returns the plot of a quantity of all trials over their sizes.
fn over_size(report: &TuneReport, (name, quantity, shown): &Quantity) -> Plot {
    let sizes = Axis::of(report.trials.iter().map(|item| item.expected.bytes as f64));
    let values = Axis::of(report.trials.iter().map(|trial| quantity(&trial.expected)));
    // The recommended trial is drawn last, above the others.
    let mut trials: Vec<&TriedCandidate> = report.trials.iter().collect();
    trials.sort_by_key(|trial| (trial.recommended, trial.pareto));
    let point = |trial: &TriedCandidate| Point {
        class: match (trial.recommended, trial.pareto) {
            (true, _) => "best",
            (false, true) => "pareto",
            (false, false) => "beaten",
        },
        x: sizes.place(trial.expected.bytes as f64, ACROSS),
        y: values.place(quantity(&trial.expected), UP),
        title: cells(trial)[1..].join(", "),
    };
    Plot {
        name: format!("{name} over size"),
        least: shown(values.least),
        most: shown(values.most),
        ends: [sizes.least, sizes.most].map(bytes),
        is_line: false,
        points: trials.into_iter().map(point).collect(),
    }
}

/// Returns the plot of a quantity over the values of an option, which are at equal distances.
fn over_option(curve: &Curve, (name, quantity, shown): &Quantity) -> Plot {
    let points = &curve.points;
    let values = Axis::of(points.iter().map(|point| quantity(&point.expected)));
    let places = Axis { least: 0.0, most: points.len().saturating_sub(1) as f64 };
    let text = |value: u64| match curve.option.as_str() {
        "threads" => count(value),
        _ => size(value),
    };
    let ends =
        [points.first(), points.last()].map(|point| point.map_or(0, |point| point.value)).map(text);
    let drawn = points.iter().enumerate().map(|(index, point)| Point {
        class: if point.recommended { "best" } else { "pareto" },
        x: places.place(index as f64, ACROSS),
        y: values.place(quantity(&point.expected), UP),
        title: format!("{}: {}", text(point.value), shown(quantity(&point.expected))),
    });
    let name = format!("{name} over {}", curve.option);
    let (least, most) = (shown(values.least), shown(values.most));
    Plot { name, least, most, ends, is_line: true, points: drawn.collect() }
}

/// The range of numbers that an axis shows.
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
        Self { least: least.unwrap_or(0.0), most: most.unwrap_or(0.0) }
    }

    /// Returns the place of a number between the least and the largest number. Equal numbers lie in the middle.
    fn place(&self, value: f64, [begin, end]: [f64; 2]) -> f64 {
        let length = self.most - self.least;
        let share = if length > 0.0 { (value - self.least) / length } else { 0.5 };
        begin + share * (end - begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_jobs::tune::trials::{CurvePoint, Reason};

    #[test]
    fn points_lie_where_their_numbers_are() {
        let trial = |bytes, seconds, pareto, recommended| TriedCandidate {
            expected: Expected {
                bytes,
                write_cpu_seconds: seconds,
                read_seconds: 1.0,
                ..Expected::default()
            },
            pareto,
            recommended,
            ..TriedCandidate::default()
        };
        let reason = Reason {
            option: "effort".into(),
            value: "auto".to_owned(),
            reason: "1 < 2".to_owned(),
        };
        let point = |value, bytes| CurvePoint {
            value,
            expected: Expected { bytes, ..Expected::default() },
            recommended: value == 1,
        };
        let curve = Curve { option: "threads".into(), points: vec![point(1, 5), point(4, 7)] };
        let report = TuneReport {
            dataset: "<b>".to_owned(),
            trials: vec![trial(100, 8.0, true, true), trial(300, 4.0, true, false)],
            reasons: vec![reason],
            curves: vec![curve],
            ..TuneReport::default()
        };
        let page = page(&report);
        // The smallest is at the left, the slowest at the top. Equal numbers lie in the middle.
        assert!(page.contains("class=\"best\" cx=\"66.0\" cy=\"18.0\""), "{page}");
        assert!(page.contains("class=\"pareto\" cx=\"300.0\" cy=\"192.0\""), "{page}");
        assert!(page.contains("class=\"pareto\" cx=\"300.0\" cy=\"105.0\""), "{page}");
        assert!(page.contains("<td>1 &lt; 2</td>") && !page.contains("<b>"), "{page}");
        // A curve goes from the first value at the left to the last at the right.
        assert!(page.contains("<polyline points=\"66.0,192.0 300.0,18.0 \"/>"), "{page}");
        assert!(page.contains("<title>4: 7 B</title>"), "{page}");
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    }
}
