//! Makes the page of a recording: totals, rates over time, places in the files and sizes.
//!
//! The drawings are SVG inside the page. It needs no script, no other file and no network.

use minijinja::context;
use nyssa_io::trace::{Marks, Summary};

use super::totals::{curves, lines};
use crate::web_page;

/// Returns the page of a recording of this name.
pub(super) fn page(name: &str, summary: &Summary, marks: &Marks) -> String {
    let curves = curves(&summary.profile).into_iter().zip(["#2a78c2", "#c2662a"]);
    let curves = curves.map(|((label, values, unit), color)| {
        let most = values.iter().copied().fold(0.0, f64::max);
        let bars: Vec<_> = values.iter().map(|&value| (value, unit(value))).collect();
        context! { label, color, bars, most, shown => unit(most) }
    });
    let sizes = summary.sizes.iter();
    let most = sizes.clone().map(|bin| bin.requests.max(bin.ranges)).max().unwrap_or(0).max(1);
    let content = context! {
        name,
        lines => lines(summary),
        runtime => summary.runtime,
        curves => curves.collect::<Vec<_>>(),
        marks,
        most,
        sizes => sizes.map(|bin| (power(bin.bytes), bin.requests, bin.ranges)).collect::<Vec<_>>(),
    };
    web_page::page(name, "", &web_page::body("trace.html", content))
}

/// Returns a power of two as text: `64 Ki`.
fn power(bytes: u64) -> String {
    let units = ["", " Ki", " Mi", " Gi", " Ti", " Pi", " Ei"];
    let unit = bytes.checked_ilog2().map_or(0, |power| power as usize / 10);
    format!("{}{}", bytes >> (10 * unit), units[unit.min(6)])
}
