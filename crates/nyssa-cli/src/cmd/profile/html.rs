//! Shows a profile as one page: tables and SVG, without scripts and without other files.

use std::fmt::Write;

use html_escape::encode_quoted_attribute as escaped;
use nyssa_observe::{Flame, MemoryUse, ProfileReport};

use super::cells;
use super::table::{memory, summary};
use crate::units::count;
use crate::web_page::{END, begin};

/// The width of the drawings. A browser shows them smaller if its window is smaller.
const WIDTH: f64 = 1000.0;
/// The height of a stage of the flame graph.
const STEP: f64 = 22.0;
/// The height of the curve of the memory.
const HEIGHT: f64 = 120.0;
/// The width that a letter of a label takes.
const LETTER: f64 = 7.0;
/// The smallest width that is drawn.
const LEAST: f64 = 0.2;
/// The largest number of columns in the table.
const COLUMNS: usize = 100;
/// The colors of stages, by their names.
const COLORS: [&str; 8] =
    ["#e8a33d", "#5b9bd5", "#70ad6e", "#d9705b", "#9a7fc0", "#4fb3a9", "#c9be4b", "#c983ad"];

/// Returns the page of a profile.
pub fn page(report: &ProfileReport) -> String {
    let style = "th{text-align:left;padding-right:.8em}.flame text{fill:#111}";
    begin("Profile", style) + &body(report) + END
}

/// Returns the content of the page, for notebooks.
pub fn body(report: &ProfileReport) -> String {
    let mut page = String::new();
    let _ = writeln!(page, "<h1>Where the time and the memory go</h1>");
    let _ = writeln!(page, "<p>{}</p>", escaped(&summary(report)));
    page.push_str("<h2>Stages inside stages, over all threads</h2>\n");
    page.push_str(&flame_graph(&report.flame()));
    page.push_str("<h2>Stages</h2>\n");
    page.push_str(&stages(report));
    if let Some(used) = &report.memory {
        let _ = writeln!(page, "<h2>Memory over time</h2>\n<p>{}</p>", escaped(&memory(used)));
        page.push_str(&curve(used, report.seconds));
    }
    page.push_str("<h2>Threads</h2>\n");
    page.push_str(&threads(report));
    page.push_str("<h2>Columns</h2>\n");
    page.push_str(&columns(report));
    page
}

/// Returns a table with an id, a header and rows.
fn table<const N: usize>(
    id: &str,
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut table = format!("<table id=\"{id}\"><tr>");
    header.iter().for_each(|name| {
        let _ = write!(table, "<th>{name}</th>");
    });
    for row in rows {
        table.push_str("</tr>\n<tr>");
        row.iter().for_each(|cell| {
            let _ = write!(table, "<td>{}</td>", escaped(cell));
        });
    }
    table + "</tr></table>\n"
}

fn stages(report: &ProfileReport) -> String {
    let rows = report.stages.iter().map(|stage| {
        let [name, seconds, share, calls, read, made, rate] = cells::of_stage(stage);
        [name, seconds, share, calls, read, made, rate, stage.meaning.clone()]
    });
    table("stages", ["stage", "seconds", "share", "calls", "in", "out", "rate", "is"], rows)
}

fn threads(report: &ProfileReport) -> String {
    let rows = report.threads.iter().map(cells::of_thread);
    table("threads", ["thread", "threads", "seconds", "busy", "most in"], rows)
}

fn columns(report: &ProfileReport) -> String {
    let rows = report.columns.iter().take(COLUMNS).map(cells::of_column);
    let shown = table("columns", ["column", "seconds", "share", "most in"], rows);
    let more = report.columns.len().saturating_sub(COLUMNS);
    let note = format!("<p class=\"note\">{} more columns took less.</p>\n", count(more as u64));
    if more > 0 { shown + &note } else { shown }
}

fn flame_graph(root: &Flame) -> String {
    let height = STEP * depth(root) as f64;
    let mut svg = format!(
        "<svg class=\"flame\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">"
    );
    let scale = if root.seconds > 0.0 { WIDTH / root.seconds } else { 0.0 };
    draw(&mut svg, &root.inside, 0.0, 0.0, scale);
    svg + "</svg>\n<p class=\"note\">The width of a stage is its time, including the stages below it.</p>\n"
}

/// Returns the number of stages that are inside each other.
fn depth(flame: &Flame) -> usize {
    flame.inside.iter().map(|child| 1 + depth(child)).max().unwrap_or(0)
}

fn draw(svg: &mut String, flames: &[Flame], mut x: f64, y: f64, scale: f64) {
    for flame in flames {
        let width = flame.seconds * scale;
        if width >= LEAST {
            let seconds = flame.seconds;
            let (calls, meaning) = (count(flame.calls), flame.meaning());
            let label = if flame.stage.len() as f64 * LETTER < width { flame.stage } else { "" };
            let color = COLORS[flame.stage.bytes().map(usize::from).sum::<usize>() % COLORS.len()];
            let _ = write!(
                svg,
                "<g><title>{}: {seconds:.3} s, {calls} calls\n{}</title>\
                 <rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" fill=\"{color}\" stroke=\"#fff\" \
                 stroke-width=\".5\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
                escaped(flame.stage),
                escaped(meaning),
                STEP - 1.0,
                x + 3.0,
                y + STEP - 7.0,
                escaped(label)
            );
            draw(svg, &flame.inside, x, y + STEP, scale);
        }
        x += width;
    }
}

fn curve(memory: &MemoryUse, seconds: f64) -> String {
    let most = memory.peak_bytes.max(1) as f64;
    let points = memory.samples.iter().map(|(at, bytes)| {
        let (x, y) = (WIDTH * at / seconds.max(1e-9), HEIGHT * (1.0 - *bytes as f64 / most));
        format!("{x:.1},{y:.1}")
    });
    let points: Vec<_> = points.collect();
    format!(
        "<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#2a78c2\" stroke-width=\"1.5\"/></svg>\n",
        points.join(" ")
    )
}
