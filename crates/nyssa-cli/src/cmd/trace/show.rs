//! `nyssa trace show`: shows totals, rates over time, and sizes of requests.

use std::path::PathBuf;

use clap::Args;
use nyssa_io::trace;
use nyssa_root::Error;

use super::html::page;
use super::plot;
use super::totals::{curves, lines, percent};
use crate::app::App;
use crate::exit_code::FINE;
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::{count, size};

/// The largest number of files in the table.
const FILES: usize = 10;
/// The characters for the height of a bin, from zero to the largest.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Show totals, rates over time, and sizes of requests of a recording
#[derive(Args, Debug)]
pub(super) struct Show {
    /// The recording
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Also write a page with drawings, which any browser shows without a network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also draw these plots as an image, such as FILE.png or FILE.pdf (with the Python package and matplotlib)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &Show, app: &mut App<'_>) -> Result<u8> {
    let trace = trace::read(&args.trace).map_err(Error::from)?;
    let summary = trace.summary();
    if let Some(file) = &args.html {
        let name = nyssa_io::shown(&args.trace);
        let text = page(&name, &summary, &trace.marks(&summary));
        nyssa_io::write(file, text.as_bytes()).map_err(Error::from)?;
    }
    if let Some(file) = &args.plot {
        plot::draw(&args.trace, file)?;
    }
    if app.json {
        app.print_json(&summary)?;
        return Ok(FINE);
    }
    for (label, value) in lines(&summary) {
        writeln!(app.out, "{label:<18} : {value}")?;
    }
    for (label, values, unit) in curves(&summary.profile) {
        let most = values.iter().copied().fold(0.0, f64::max);
        writeln!(app.out, "\n{label}, at most {}", unit(most))?;
        writeln!(app.out, "|{}| {:.2} s", bar(values, most), summary.runtime)?;
    }
    writeln!(app.out)?;
    let mut table = Columns::new(&[">size from", ">requests", ">ranges"]);
    for bin in &summary.sizes {
        table.row([size(bin.bytes), count(bin.requests), count(bin.ranges)]);
    }
    table.print(app)?;
    writeln!(app.out)?;
    let header = ["file", ">opens", ">requests", ">ranges", ">read", ">of it", ">sync"];
    let mut table = Columns::new(&header);
    for file in summary.by_file.iter().take(FILES) {
        table.row([
            printable(&file.name),
            count(file.opens),
            count(file.requests),
            count(file.ranges),
            size(file.bytes),
            percent(file.distinct_bytes, file.size),
            format!("{:.1}%", file.synchronicity),
        ]);
    }
    table.print(app)?;
    let more = summary.by_file.len().saturating_sub(FILES);
    if more > 0 {
        writeln!(app.out, "… and {} more files (--json names all)", count(more as u64))?;
    }
    Ok(FINE)
}

fn bar(values: &[f64], most: f64) -> String {
    let height = |value: &f64| match *value > 0.0 && most > 0.0 {
        // A value above zero always has a visible mark.
        true => HEIGHTS[((value / most * 8.0).round() as usize).clamp(1, 8)],
        false => HEIGHTS[0],
    };
    values.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_curve_shows_what_is_not_nothing() {
        assert_eq!(bar(&[0.0, 0.01, 4.0, 8.0], 8.0), " ▁▄█");
        assert_eq!(bar(&[0.0, 0.0], 0.0), "  ");
    }
}
