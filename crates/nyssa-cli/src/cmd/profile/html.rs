//! Shows a profile as one page: tables and SVG, without scripts and without other files.

use minijinja::context;
use nyssa_observe::{Flame, MemoryUse, ProfileReport};
use serde::Serialize;

use super::cells;
use super::table::{memory, summary};
use crate::web_page;

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
    web_page::page("Profile", style, &body(report))
}

/// Returns the content of the page, for notebooks.
pub fn body(report: &ProfileReport) -> String {
    let root = report.flame();
    let scale = if root.seconds > 0.0 { WIDTH / root.seconds } else { 0.0 };
    let mut flames = Vec::new();
    draw(&root.inside, (0.0, 0.0), scale, &mut flames);
    let stages = report.stages.iter().map(|stage| {
        let cells = cells::of_stage(stage).into_iter();
        cells.chain([stage.meaning.clone()]).collect::<Vec<_>>()
    });
    let columns = report.columns.iter().take(COLUMNS).map(cells::of_column);
    let content = context! {
        summary => summary(report),
        height => STEP * depth(&root) as f64,
        flames,
        stages => stages.collect::<Vec<_>>(),
        memory => report.memory.as_ref().map(|used| {
            context! { text => memory(used), points => curve(used, report.seconds) }
        }),
        threads => report.threads.iter().map(cells::of_thread).collect::<Vec<_>>(),
        columns => columns.collect::<Vec<_>>(),
        more => report.columns.len().saturating_sub(COLUMNS),
    };
    web_page::body("profile.html", content)
}

/// A stage of the flame graph.
#[derive(Serialize)]
struct Drawn {
    stage: &'static str,
    seconds: f64,
    calls: u64,
    meaning: &'static str,
    x: f64,
    y: f64,
    width: f64,
    color: &'static str,
    label: &'static str,
}

fn depth(flame: &Flame) -> usize {
    flame.inside.iter().map(|child| 1 + depth(child)).max().unwrap_or(0)
}

/// Places stages next to each other, and the stages inside them below.
fn draw(flames: &[Flame], (mut x, y): (f64, f64), scale: f64, drawn: &mut Vec<Drawn>) {
    for flame in flames {
        let Flame { stage, seconds, calls, .. } = *flame;
        let width = seconds * scale;
        if width >= LEAST {
            let color = COLORS[stage.bytes().map(usize::from).sum::<usize>() % COLORS.len()];
            let label = if stage.len() as f64 * LETTER < width { stage } else { "" };
            let meaning = flame.meaning();
            drawn.push(Drawn { stage, seconds, calls, meaning, x, y, width, color, label });
            draw(&flame.inside, (x, y + STEP), scale, drawn);
        }
        x += width;
    }
}

/// Returns the points of the memory over time.
fn curve(memory: &MemoryUse, seconds: f64) -> Vec<(f64, f64)> {
    let most = memory.peak_bytes.max(1) as f64;
    let point = |(at, bytes): &(f64, u64)| {
        (WIDTH * at / seconds.max(1e-9), HEIGHT * (1.0 - *bytes as f64 / most))
    };
    memory.samples.iter().map(point).collect()
}
