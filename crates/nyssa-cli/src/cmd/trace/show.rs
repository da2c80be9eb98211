//! `nyssa trace show`: totals, rates over time, sizes of requests.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use nyssa::Error;
use nyssa_io::trace::{self, Profile, Summary};

use super::html::page;
use crate::FINE;
use crate::app::App;
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::{count, size};

/// Largest number of files in the table.
const FILES: usize = 10;
/// Marks for the height of a bin, from nothing to the largest.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Show totals, synchronicity, rates over time, sizes of requests, over-read
#[derive(Args, Debug)]
pub struct Show {
    /// The recording
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Also write a page with drawings, which any browser shows without a network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: &Show, app: &mut App<'_>) -> Result<u8> {
    let trace = trace::read(&args.trace).map_err(Error::from)?;
    let summary = trace.summary();
    if let Some(file) = &args.html {
        let name = args.trace.display().to_string();
        fs::write(file, page(&name, &trace, &summary)).map_err(|error| {
            Error::from(nyssa_io::Error::new(file.display().to_string(), "write", error))
        })?;
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

/// Returns the totals, with the labels of `xrdreplay` where it has the same.
pub(super) fn lines(all: &Summary) -> Vec<(&'static str, String)> {
    let over_read = all.over_read_bytes;
    let over_read = over_read.map_or_else(|| "-".to_owned(), |bytes| part(bytes, all.bytes()));
    let rate = |seconds: f64| match seconds > 0.0 {
        true => format!("{}/s", size((all.bytes() as f64 / seconds) as u64)),
        false => "-".to_owned(),
    };
    let mean = if all.busy_seconds > 0.0 { all.request_seconds / all.busy_seconds } else { 0.0 };
    let (open, std, vec) = (size(all.bytes_open), size(all.bytes_read), size(all.bytes_readv));
    let read = part(all.distinct_bytes, all.datasize);
    vec![
        ("Sampled Runtime", format!("{:.6} s", all.runtime)),
        ("IO Volume    (R)", format!("{} [ open:{open} std:{std} vec:{vec} ]", size(all.bytes()))),
        ("IOPS         (R)", {
            let Summary { iops_read, iops_readv, iops_readvread, .. } = all;
            let sum = iops_read + iops_readv;
            format!("{sum} [ std:{iops_read} vec:{iops_readv} in vec:{iops_readvread} ]")
        }),
        ("Files        (R)", format!("{} [ opened {} times ]", all.files, all.opens)),
        ("Datasize     (R)", format!("{} [ different bytes read: {read} ]", size(all.datasize))),
        ("IO BW        (R)", format!("{} [ busy {} ]", rate(all.runtime), rate(all.busy_seconds))),
        ("Synchronicity(R)", format!("{:.2}%", all.synchronicity)),
        ("In flight    (R)", format!("{mean:.1} [ at most {} ]", all.in_flight)),
        ("Over-read    (R)", over_read),
        ("Sparseness   (R)", format!("{:.2}%", 100.0 * all.sparseness)),
        ("Time opening", format!("{:.3} s", all.open_seconds)),
        (
            "Time of requests",
            format!("{:.3} s [ busy {:.3} s ]", all.request_seconds, all.busy_seconds),
        ),
        ("Time waited", format!("{:.3} s, summed over threads", all.wait_seconds)),
        ("Response Errors", all.errors.to_string()),
    ]
}

fn percent(part: u64, total: u64) -> String {
    match total {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", 100.0 * part as f64 / total as f64),
    }
}

fn part(bytes: u64, total: u64) -> String {
    format!("{} = {}", size(bytes), percent(bytes, total))
}

/// A curve over time: its name, its values, and how a value is printed.
pub(super) type Curve<'a> = (&'static str, &'a [f64], fn(f64) -> String);

/// Returns the curves of a profile.
pub(super) fn curves(profile: &Profile) -> [Curve<'_>; 2] {
    [
        ("Read rate", &profile.bytes_per_second, |rate| format!("{}/s", size(rate as u64))),
        ("IOPS", &profile.iops, |iops| format!("{iops:.1}/s")),
    ]
}

fn bar(values: &[f64], most: f64) -> String {
    let height = |value: &f64| match *value > 0.0 && most > 0.0 {
        // What is not nothing is seen.
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
