//! Makes the page of a search for the best options: its trials as plots and as a table, and the reasons.
//!
//! The plots are SVG inside the page. It needs no script, no other file and no network.

use std::fmt::Write;

use html_escape::{encode_quoted_attribute as quoted, encode_text as escaped};
use nyssa_jobs::tune::trials::{Curve, Expected, TriedCandidate, TuneReport};

use super::{HEADER, cells, numbers, time};
use crate::units::{count, size};
use crate::web_page::{END, begin};

const STYLE: &str = ".tune svg{display:inline-block;margin:0 1em 1em 0}.tune text{font-size:12px;fill:#777}\
    .tune circle{fill:#9aa;stroke:#566}.tune .pareto{fill:#2a78c8}.tune .best{fill:#d33}\
    .tune line,.tune polyline{stroke:#888;fill:none}.tune th{text-align:left;padding-right:.8em}";
/// The width and the height of a plot, and the space for numbers on the left and below.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 240.0;
const SPACE: f64 = 58.0;
/// The ends of the axes.
const RIGHT: f64 = WIDTH - 12.0;
const BOTTOM: f64 = HEIGHT - 40.0;

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

/// Returns the page of a report.
pub fn page(report: &TuneReport) -> String {
    begin(&title(report), "") + &body(report) + END
}

fn title(report: &TuneReport) -> String {
    format!("{}:{}", report.input, report.dataset)
}

/// Returns the content of the page, for notebooks.
pub fn body(report: &TuneReport) -> String {
    let title = title(report);
    let mut page = format!("<div class=\"tune\"><style>{STYLE}</style>");
    let objective = &report.objective;
    let text = format!("<h1>Options for {}</h1><p>Objective: {objective}.", escaped(&title));
    page.push_str(&text);
    for (what, one) in
        [("Expected", &report.expected), ("With the default options", &report.expected_by_default)]
    {
        let [bytes, write, read, memory] = numbers(one);
        let error = size(one.bytes_error);
        let _ = write!(
            page,
            "<br>{what}: {bytes} ± {error}, {write} CPU time to write, {read} to read, {memory} of memory."
        );
    }
    page.push_str("</p><h2>Why</h2><table>");
    for reason in &report.reasons {
        row(&mut page, &[&reason.option, &reason.value, &reason.reason]);
    }
    page.push_str("</table><h2>Trials</h2><div>");
    OVER_SIZE.iter().for_each(|quantity| plot(&mut page, report, quantity));
    page.push_str(
        "</div><p class=\"note\">Blue: no other trial is better in size, times and memory. Red: \
         recommended.</p><table><tr>",
    );
    for name in HEADER {
        let _ = write!(page, "<th>{}</th>", escaped(name.trim_start_matches('>')));
    }
    page.push_str("</tr>");
    for trial in &report.trials {
        row(&mut page, &cells(trial).each_ref().map(String::as_str));
    }
    page.push_str("</table>");
    for curve in report.curves.iter().filter(|curve| curve.points.len() > 1) {
        let _ = write!(page, "<h2>{}</h2><div>", escaped(&curve.option));
        OVER_OPTION.iter().for_each(|quantity| draw_curve(&mut page, curve, quantity));
        page.push_str("</div>");
    }
    for note in &report.notes {
        let _ = write!(page, "<p class=\"note\">{}</p>", escaped(note));
    }
    page.push_str("</div>");
    page
}

fn bytes(value: f64) -> String {
    size(value as u64)
}

fn row(page: &mut String, cells: &[&str]) {
    page.push_str("<tr>");
    for cell in cells {
        let _ = write!(page, "<td>{}</td>", escaped(cell));
    }
    page.push_str("</tr>");
}

/// Draws a quantity of all trials over their sizes.
fn plot(page: &mut String, report: &TuneReport, (name, quantity, shown): &Quantity) {
    let sizes = Axis::of(report.trials.iter().map(|trial| trial.expected.bytes as f64));
    let values = Axis::of(report.trials.iter().map(|trial| quantity(&trial.expected)));
    let ends = [sizes.least, sizes.most].map(bytes);
    begin_plot(page, &format!("{name} over size"), &values, shown, &ends);
    // The most important trials are drawn last, above the others.
    let mut trials: Vec<&TriedCandidate> = report.trials.iter().collect();
    trials.sort_by_key(|trial| (trial.recommended, trial.pareto));
    for trial in trials {
        let class = match (trial.recommended, trial.pareto) {
            (true, _) => "best",
            (false, true) => "pareto",
            (false, false) => "beaten",
        };
        let place = (sizes.x(trial.expected.bytes as f64), values.y(quantity(&trial.expected)));
        point(page, class, place, &cells(trial)[1..].join(", "));
    }
    page.push_str("</svg>");
}

/// Draws a quantity over the values of an option, which have equal distances.
fn draw_curve(page: &mut String, curve: &Curve, (name, quantity, shown): &Quantity) {
    let points = &curve.points;
    let values = Axis::of(points.iter().map(|item| quantity(&item.expected)));
    let places = Axis { least: 0.0, most: points.len().saturating_sub(1) as f64 };
    let text = |value: u64| match curve.option.as_str() {
        "threads" => count(value),
        _ => size(value),
    };
    let ends =
        [points.first(), points.last()].map(|item| item.map_or(0, |item| item.value)).map(text);
    begin_plot(page, &format!("{name} over {}", curve.option), &values, shown, &ends);
    let place = |index: usize, item: &Expected| (places.x(index as f64), values.y(quantity(item)));
    page.push_str("<polyline points=\"");
    for (index, item) in points.iter().enumerate() {
        let (x, y) = place(index, &item.expected);
        let _ = write!(page, "{x:.1},{y:.1} ");
    }
    page.push_str("\"/>");
    for (index, item) in points.iter().enumerate() {
        let class = if item.recommended { "best" } else { "pareto" };
        let title = format!("{}: {}", text(item.value), shown(quantity(&item.expected)));
        point(page, class, place(index, &item.expected), &title);
    }
    page.push_str("</svg>");
}

/// Begins a plot: its axes with their ends, and its name.
fn begin_plot(
    page: &mut String,
    name: &str,
    values: &Axis,
    shown: &fn(f64) -> String,
    ends: &[String; 2],
) {
    let _ = write!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"{0}\">\
         <line x1=\"{SPACE}\" y1=\"{BOTTOM}\" x2=\"{RIGHT}\" y2=\"{BOTTOM}\"/>\
         <line x1=\"{SPACE}\" y1=\"10\" x2=\"{SPACE}\" y2=\"{BOTTOM}\"/>\
         <text x=\"0\" y=\"18\">{1}</text><text x=\"0\" y=\"{BOTTOM}\">{2}</text>\
         <text x=\"{SPACE}\" y=\"{3}\">{4}</text>\
         <text x=\"{RIGHT}\" y=\"{3}\" text-anchor=\"end\">{5}</text>\
         <text x=\"{6}\" y=\"{HEIGHT}\" dy=\"-6\" text-anchor=\"middle\">{0}</text>",
        quoted(name),
        escaped(&shown(values.most)),
        escaped(&shown(values.least)),
        BOTTOM + 14.0,
        escaped(&ends[0]),
        escaped(&ends[1]),
        f64::midpoint(SPACE, RIGHT),
    );
}

/// Draws a point, whose title browsers show.
fn point(page: &mut String, class: &str, (x, y): (f64, f64), title: &str) {
    let _ = write!(
        page,
        "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
        escaped(title)
    );
}

/// The numbers of an axis.
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
        Self { least: least.unwrap_or(0.0), most: most.unwrap_or(0.0) }
    }

    /// Returns the horizontal place of a number.
    fn x(&self, value: f64) -> f64 {
        self.place(value, SPACE + 8.0, RIGHT - 8.0)
    }

    /// Returns the vertical place of a number.
    fn y(&self, value: f64) -> f64 {
        self.place(value, BOTTOM - 8.0, 18.0)
    }

    /// Returns the place of a number between `begin` and `end`.
    fn place(&self, value: f64, begin: f64, end: f64) -> f64 {
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
