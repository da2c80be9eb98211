//! Makes the page of a search for the best options: its trials as plots and as a table, and the reasons.
//!
//! The plots are SVG inside the page. It needs no script, no other file and no network.

use std::fmt::Write;

use html_escape::{encode_quoted_attribute as quoted, encode_text as escaped};
use nyssa::tune::trials::{TriedSettings, TuneReport};

use super::{HEADER, cells, numbers};
use crate::units::size;
use crate::web_page::{END, begin};

const STYLE: &str = "svg{display:inline-block;margin:0 1em 1em 0}circle{fill:#9aa;stroke:#566}\
    .pareto{fill:#2a78c8}.best{fill:#d33}line{stroke:#888}th{text-align:left;padding-right:.8em}";
/// The width and the height of a plot, and the space for numbers on the left and below.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 240.0;
const SPACE: f64 = 58.0;

/// Returns the page of a report.
pub fn page(report: &TuneReport) -> String {
    let title = format!("{}:{}", report.input, report.dataset);
    let mut page = begin(&title, STYLE);
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
            "<br>{what}: {bytes} ± {error}, {write} CPU time to write, {read} to read, {memory} for \
             a writer."
        );
    }
    page.push_str("</p><h2>Why</h2><table>");
    for reason in &report.reasons {
        row(&mut page, &[reason.option, &reason.value, &reason.reason]);
    }
    page.push_str("</table><h2>Trials</h2><div>");
    let seconds = |value: f64| format!("{value:.3} s");
    let bytes = |value: f64| size(value as u64);
    plot(&mut page, report, "CPU time to write", &|one| one.expected.write_cpu_seconds, &seconds);
    plot(&mut page, report, "time to read", &|one| one.expected.read_seconds, &seconds);
    plot(&mut page, report, "memory", &|one| one.expected.memory as f64, &bytes);
    page.push_str(
        "</div><p class=\"note\">Blue: no other trial is better in size, times and memory. Red: \
         recommended.</p><table><tr>",
    );
    for name in HEADER {
        let _ = write!(page, "<th>{}</th>", escaped(name.trim_start_matches('>')));
    }
    page.push_str("</tr>");
    for one in &report.trials {
        row(&mut page, &cells(one).each_ref().map(String::as_str));
    }
    page.push_str("</table>");
    for note in &report.notes {
        let _ = write!(page, "<p class=\"note\">{}</p>", escaped(note));
    }
    page.push_str(END);
    page
}

fn row(page: &mut String, cells: &[&str]) {
    page.push_str("<tr>");
    for cell in cells {
        let _ = write!(page, "<td>{}</td>", escaped(cell));
    }
    page.push_str("</tr>");
}

/// Draws a quantity of all trials over their sizes.
fn plot(
    page: &mut String,
    report: &TuneReport,
    name: &str,
    quantity: &dyn Fn(&TriedSettings) -> f64,
    shown: &dyn Fn(f64) -> String,
) {
    let sizes = Axis::of(report.trials.iter().map(|one| one.expected.bytes as f64));
    let values = Axis::of(report.trials.iter().map(quantity));
    let (right, bottom) = (WIDTH - 12.0, HEIGHT - 40.0);
    let _ = write!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"{0}\">\
         <line x1=\"{SPACE}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>\
         <line x1=\"{SPACE}\" y1=\"10\" x2=\"{SPACE}\" y2=\"{bottom}\"/>\
         <text x=\"0\" y=\"18\">{1}</text><text x=\"0\" y=\"{bottom}\">{2}</text>\
         <text x=\"{SPACE}\" y=\"{3}\">{4}</text>\
         <text x=\"{right}\" y=\"{3}\" text-anchor=\"end\">{5}</text>\
         <text x=\"{6}\" y=\"{HEIGHT}\" dy=\"-6\" text-anchor=\"middle\">{0} over size</text>",
        quoted(name),
        escaped(&shown(values.most)),
        escaped(&shown(values.least)),
        bottom + 14.0,
        escaped(&size(sizes.least as u64)),
        escaped(&size(sizes.most as u64)),
        f64::midpoint(SPACE, right),
    );
    // What counts most is drawn last.
    let mut trials: Vec<&TriedSettings> = report.trials.iter().collect();
    trials.sort_by_key(|one| (one.recommended, one.pareto));
    for one in trials {
        let class = match (one.recommended, one.pareto) {
            (true, _) => "best",
            (false, true) => "pareto",
            (false, false) => "beaten",
        };
        let x = sizes.place(one.expected.bytes as f64, SPACE + 8.0, right - 8.0);
        let y = values.place(quantity(one), bottom - 8.0, 18.0);
        let title = cells(one)[1..].join(", ");
        let _ = write!(
            page,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
            escaped(&title)
        );
    }
    page.push_str("</svg>");
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
    use nyssa::tune::trials::{Expected, Reason};

    #[test]
    fn points_lie_where_their_numbers_are() {
        let trial = |bytes, seconds, pareto, recommended| TriedSettings {
            expected: Expected {
                bytes,
                write_cpu_seconds: seconds,
                read_seconds: 1.0,
                ..Expected::default()
            },
            pareto,
            recommended,
            ..TriedSettings::default()
        };
        let reason =
            Reason { option: "effort", value: "auto".to_owned(), reason: "1 < 2".to_owned() };
        let report = TuneReport {
            dataset: "<b>".to_owned(),
            trials: vec![trial(100, 8.0, true, true), trial(300, 4.0, true, false)],
            reasons: vec![reason],
            ..TuneReport::default()
        };
        let page = page(&report);
        // The smallest is at the left, the slowest at the top. Equal numbers lie in the middle.
        assert!(page.contains("class=\"best\" cx=\"66.0\" cy=\"18.0\""), "{page}");
        assert!(page.contains("class=\"pareto\" cx=\"300.0\" cy=\"192.0\""), "{page}");
        assert!(page.contains("class=\"pareto\" cx=\"300.0\" cy=\"105.0\""), "{page}");
        assert!(page.contains("<td>1 &lt; 2</td>") && !page.contains("<b>"), "{page}");
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    }
}
