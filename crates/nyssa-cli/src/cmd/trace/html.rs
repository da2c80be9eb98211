//! Draws a trace as one page: SVG inside HTML, without scripts and without other files.

use std::fmt::Write;

use html_escape::encode_quoted_attribute as escaped;
use nyssa_io::trace::{Marks, SizeBin, Summary};

use super::totals::{curves, lines};
use crate::units::{count, size};
use crate::web_page::{END, begin};

/// The width and height of the drawings. A browser shows them smaller if its window is smaller.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 180.0;
/// The space for the labels.
const LEFT: f64 = 90.0;
const BELOW: f64 = 24.0;
/// The width that the label of a size needs.
const LABEL: f64 = 50.0;
/// The smallest width and height of a mark.
const LEAST: f64 = 1.5;

/// Returns the page of the trace `name`.
pub fn page(name: &str, summary: &Summary, marks: &Marks) -> String {
    let mut page = begin(name, "");
    let _ = writeln!(page, "<h1>Reads of {}</h1>\n<table>", escaped(name));
    for (label, value) in lines(summary) {
        let (label, value) = (escaped(label), escaped(&value));
        let _ = writeln!(page, "<tr><td>{label}</td><td>{value}</td></tr>");
    }
    page.push_str("</table>\n");
    for ((label, values, unit), color) in
        curves(&summary.profile).into_iter().zip(["#2a78c2", "#c2662a"])
    {
        let _ = writeln!(page, "<h2>{label} over time</h2>");
        page.push_str(&curve(values, unit, summary.runtime, color));
    }
    page.push_str("<h2>Which bytes were read when</h2>\n");
    page.push_str(&offsets(marks, summary.runtime));
    page.push_str("<h2>Sizes of requests and of their ranges</h2>\n");
    page.push_str(&histogram(&summary.sizes));
    page.push_str(END);
    page
}

/// Begins a drawing with its axes and the label of the largest value.
fn axes(most: &str) -> String {
    let (width, height) = (LEFT + WIDTH + 40.0, HEIGHT + BELOW);
    let right = LEFT + WIDTH;
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\
         <path d=\"M{LEFT} 0V{HEIGHT}H{right}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{}\" y=\"12\" text-anchor=\"end\">{}</text>",
        LEFT - 6.0,
        escaped(most)
    )
}

/// Begins a drawing over time with the labels of its axes.
fn drawing(most: &str, seconds: f64) -> String {
    let mut svg = axes(most);
    let _ = write!(svg, "<text x=\"{}\" y=\"{HEIGHT}\" text-anchor=\"end\">0</text>", LEFT - 6.0);
    for part in 0..=4_u32 {
        let x = LEFT + WIDTH * f64::from(part) / 4.0;
        let time = seconds * f64::from(part) / 4.0;
        let _ = write!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{time:.3} s</text>",
            HEIGHT + 18.0
        );
    }
    svg
}

fn curve(values: &[f64], unit: fn(f64) -> String, seconds: f64, color: &str) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let mut svg = drawing(&unit(most), seconds);
    let width = WIDTH / values.len().max(1) as f64;
    for (number, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        let height = (HEIGHT * value / most).max(LEAST);
        let (x, y) = (LEFT + number as f64 * width, HEIGHT - height);
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{color}\">\
             <title>{}</title></rect>",
            width * 0.92,
            escaped(&unit(*value))
        );
    }
    svg + "</svg>\n"
}

/// Draws each range from the begin to the end of its request. Files lie above each other.
fn offsets(marks: &Marks, seconds: f64) -> String {
    let mut svg = drawing(&size(marks.bytes), seconds);
    let bytes = marks.bytes as f64;
    let is_drawn = bytes > 0.0 && seconds > 0.0;
    let drawn = if is_drawn { marks.marks.as_slice() } else { &[] };
    for mark in drawn {
        let x = LEFT + WIDTH * mark.start / seconds;
        let width = (WIDTH * (mark.end - mark.start) / seconds).max(LEAST);
        let height = (HEIGHT * mark.length as f64 / bytes).max(LEAST);
        let y = (HEIGHT - HEIGHT * mark.offset as f64 / bytes - height).max(0.0);
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#2a9d5c\" fill-opacity=\".5\"/>"
        );
    }
    svg.push_str("</svg>\n");
    let _ = writeln!(
        svg,
        "<p class=\"note\">Each mark is a range: from left to right the time of its request, from bottom to top its \
         place in the file, or in all files, one above the other. {} of {} ranges are drawn.</p>",
        count(drawn.len() as u64),
        count(marks.ranges)
    );
    svg
}

fn histogram(bins: &[SizeBin]) -> String {
    let most = bins.iter().map(|bin| bin.requests.max(bin.ranges)).max().unwrap_or(0).max(1);
    let width = (WIDTH / bins.len().max(1) as f64).min(80.0);
    // Labels do not overlap.
    let every = if width < LABEL { 2 } else { 1 };
    let mut svg = axes(&count(most));
    for (number, bin) in bins.iter().enumerate() {
        let x = LEFT + number as f64 * width;
        for (shift, value, color) in [(0.05, bin.requests, "#2a78c2"), (0.5, bin.ranges, "#8ab8e0")]
        {
            let height = HEIGHT * value as f64 / most as f64;
            let height = if value > 0 { height.max(LEAST) } else { 0.0 };
            let _ = write!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{color}\">\
                 <title>{}</title></rect>",
                x + shift * width,
                HEIGHT - height,
                width * 0.42,
                count(value)
            );
        }
        if number % every != 0 {
            continue;
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + width / 2.0,
            HEIGHT + 18.0,
            power(bin.bytes)
        );
    }
    svg + "</svg>\n<p class=\"note\">Dark: requests. Light: ranges. Each pair of bars is for sizes from its label \
           on, up to twice as much.</p>\n"
}

/// Returns a power of two as `64 Ki`.
fn power(bytes: u64) -> String {
    let units = ["", " Ki", " Mi", " Gi", " Ti", " Pi", " Ei"];
    let unit = bytes.checked_ilog2().map_or(0, |power| power as usize / 10);
    format!("{}{}", bytes >> (10 * unit), units[unit.min(6)])
}
