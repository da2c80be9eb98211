//! `nyssa tune`: finds the options that store a dataset best.

mod html;

pub use html::{body, page};

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nyssa_jobs::tune::trials::{
    BasketReport, Candidate, CompressionChoice, Curve, CurvePoint, Expected, Link, Objective,
    TriedCandidate, TuneOptions, TuneReport, tune,
};

use crate::app::App;
use crate::data::{check_text_output, create_text, open_file, write_text};
use crate::exit_code::FINE;
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted, parse_size, parse_time, size};

/// Find the options that store a dataset best, by trying them on a sample
///
/// Writes a sample of the clusters with many options by nyssa's own writer, and reads it back. Shows the trials that no
/// other one beats, the recommended options with the reason of each, and what the whole dataset is expected to take.
/// `convert`, `rewrite` and `campaign` take the file of --output as their --profile.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa tune run3.root:Events --output options.toml\n  \
    nyssa convert run3.root:Events out.root --profile options.toml\n  \
    nyssa tune run3.root:Events --objective read --columns 'Muon_*' --link-latency 20ms --link-bandwidth 125MB\n  \
    nyssa tune out.root --objective size --budget 10s --compression zstd,zstd:9,lzma:7 --html trials.html")]
pub(crate) struct Tune {
    /// FILE or FILE:PATH
    data: String,
    /// size of the output; time to read it; CPU time to write it; memory of a writer; or balanced: size first, then
    /// times
    #[arg(long, value_name = "size|read|write|memory|balanced", default_value_t = Objective::default())]
    objective: Objective,
    /// Time that the search may take, such as 60s or 5min
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    budget: Duration,
    /// Compressions to try, as for `convert`, with both encodings [default: zstd, zstd:1, zstd:5, zstd:9, lz4:1, lz4:9,
    /// zlib:1, zlib:6, lzma:7]
    #[arg(long, value_name = "ALGORITHM[:LEVEL],…", value_delimiter = ',')]
    compression: Vec<CompressionChoice>,
    /// Columns of the analysis that will read the output [default: all]
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Round trip of the link over which the output will be read, such as 50ms
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    link_latency: Option<Duration>,
    /// Bandwidth of this link in bytes per second, such as 125MB for 1 Gbit/s
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    link_bandwidth: Option<u64>,
    /// Write the recommended options, and how each column is stored, to this file (TOML)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long, short)]
    force: bool,
    /// Also write a page that any browser shows without a network: the trials as plots and as a table, and the reasons
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show all trials, not only those that no other one beats
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Tune, app: &mut App<'_>) -> Result<u8> {
    let options = TuneOptions {
        objective: args.objective,
        budget: args.budget,
        compression: args.compression.clone(),
        columns: args.columns.clone(),
        link: link(args),
    };
    check_text_output("--output", args.output.as_deref())?;
    check_text_output("--html", args.html.as_deref())?;
    let (file, path) = open_file(&args.data)?;
    // Files that cannot be made are refused before the search.
    let output = create_text(args.output.as_deref(), args.force)?;
    let html = create_text(args.html.as_deref(), true)?;
    let (bar, context) = app.progress(&app.context()?, "tuning");
    let report = tune(&file, path, &options, &context);
    drop(bar);
    let report = report.map_err(Failure::from)?;
    write_text(output, || Ok(report.profile.clone()))?;
    write_text(html, || Ok(page(&report)))?;
    if app.json {
        app.print_json(&report)?;
    } else if !app.quiet {
        print(&report, args.all, app.out, app.terminal.width)?;
    }
    Ok(FINE)
}

fn link(args: &Tune) -> Option<Link> {
    let given = args.link_latency.is_some() || args.link_bandwidth.is_some();
    let latency = args.link_latency.unwrap_or_default().as_secs_f64();
    given.then_some(Link { latency, bandwidth: args.link_bandwidth })
}

/// Parses the time of the search: seconds, `60s` or `5min`.
fn parse_budget(text: &str) -> std::result::Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time of a search: write such as 60s or 5min");
    let trimmed = text.trim();
    let (number, factor) = match (trimmed.strip_suffix("min"), trimmed.strip_suffix('s')) {
        (Some(minutes), _) => (minutes, 60.0),
        (_, Some(seconds)) => (seconds, 1.0),
        _ => (trimmed, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| wrong())
}

/// Returns what the command prints about a report, for the Python package.
pub fn text(report: &TuneReport) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = print(report, false, &mut text, None);
    String::from_utf8_lossy(&text).into_owned()
}

fn print(report: &TuneReport, all: bool, out: &mut dyn Write, width: Option<u16>) -> Result<()> {
    let TuneReport { format, input, dataset, entries, input_bytes, objective, .. } = report;
    let line = format!(
        "{format} {input}:{dataset}, {}, {}; objective {objective}\n",
        counted(*entries, "entry"),
        size(*input_bytes)
    );
    writeln!(out, "{}\n", printable(line.trim_end()))?;
    let mut table = Columns::new(&HEADER);
    let shown = |pareto: bool, recommended: bool| all || pareto || recommended;
    for item in report.trials.iter().filter(|trial| shown(trial.pareto, trial.recommended)) {
        table.row(cells(item));
    }
    table.write(out, width)?;
    writeln!(out, "\nrecommended (*):")?;
    for reason in &report.reasons {
        writeln!(out, "  {} {}: {}", reason.option, reason.value, reason.reason)?;
    }
    for (what, item) in [
        ("expected", &report.expected),
        ("expected with the default options", &report.expected_by_default),
    ] {
        let [bytes, write, read, memory] = numbers(item);
        writeln!(
            out,
            "{what}: {bytes} ± {} in {}, {write} CPU time to write, {read} to read, {memory} of memory",
            size(item.bytes_error),
            counted(item.clusters, "cluster"),
        )?;
    }
    curves(&report.curves, out, width)?;
    if let Some(costs) = &report.baskets {
        baskets(costs, out, width)?;
    }
    for sample in &report.samples {
        writeln!(
            out,
            "sample ({}): {} in {}, {}",
            sample.stage,
            counted(sample.entries, "entry"),
            counted(sample.ranges, "range"),
            counted(sample.trials, "trial"),
        )?;
    }
    for note in &report.notes {
        writeln!(out, "note: {}", printable(note))?;
    }
    writeln!(out, "{:.1} s, {}", report.seconds, counted(report.threads as u64, "thread"))?;
    Ok(())
}

/// Prints what changes with each option.
fn curves(curves: &[Curve], out: &mut dyn Write, width: Option<u16>) -> Result<()> {
    for curve in curves.iter().filter(|curve| curve.points.len() > 1) {
        writeln!(out)?;
        let mut table = Columns::new(&[
            "",
            &format!(">{}", curve.option),
            ">size",
            ">time to write",
            ">time to read",
            ">memory",
        ]);
        for CurvePoint { value, expected, recommended } in &curve.points {
            let value = if curve.option == "threads" { count(*value) } else { size(*value) };
            let mark = if *recommended { "*" } else { "" };
            let [bytes, _, read, memory] = numbers(expected);
            let write = time(expected.write_seconds);
            table.row([mark.to_owned(), value, bytes, write, read, memory]);
        }
        table.write(out, width)?;
    }
    Ok(())
}

/// Prints what the baskets of a TTree cost.
fn baskets(costs: &BasketReport, out: &mut dyn Write, width: Option<u16>) -> Result<()> {
    writeln!(
        out,
        "\nbaskets: {} in {} of {}, {:.1} of a branch in a cluster; compressed again by {}: {}",
        count(costs.baskets),
        counted(costs.clusters, "cluster"),
        counted(costs.cluster_entries, "entry"),
        costs.per_cluster,
        costs.compression,
        counted(costs.sampled, "basket"),
    )?;
    writeln!(
        out,
        "most baskets are ended by {}; a cluster has {}",
        costs.ended_by,
        size(costs.cluster_bytes)
    )?;
    let names = [
        "baskets",
        ">uncompressed",
        ">size of all",
        ">time to decompress",
        ">AutoFlush",
        ">memory",
    ];
    let mut table = Columns::new(&names);
    let now = costs.now();
    for (name, item) in std::iter::once(("as they are".to_owned(), &now))
        .chain(costs.larger.iter().map(|item| (format!("{} times larger", item.factor), item)))
    {
        table.row([
            name,
            size(item.mean_uncompressed_bytes),
            format!("{:.3}", item.share),
            format!("{:.3}", item.read_share),
            count(item.auto_flush),
            size(item.memory),
        ]);
    }
    table.write(out, width)?;
    Ok(writeln!(out)?)
}

/// The names of the columns of the table of trials. A `>` marks a column of numbers.
const HEADER: [&str; 11] = [
    "",
    "compression",
    "effort",
    "encoding",
    "streamer",
    ">cluster size",
    ">page size",
    ">size",
    ">write",
    ">read",
    ">memory",
];

/// Returns the row of a trial.
fn cells(trial: &TriedCandidate) -> [String; HEADER.len()] {
    let Candidate { compression, effort, encoding, streamer, cluster_size, page_size } =
        trial.candidate;
    let [bytes, write, read, memory] = numbers(&trial.expected);
    [
        if trial.recommended { "*" } else { "" }.to_owned(),
        compression.to_string(),
        effort.to_string(),
        encoding.to_string(),
        streamer.map_or_else(String::new, |fields| fields.to_string()),
        size(cluster_size),
        size(page_size),
        bytes,
        write,
        read,
        memory,
    ]
}

/// Returns the size, the times and the memory as text.
fn numbers(expected: &Expected) -> [String; 4] {
    [
        size(expected.bytes),
        time(expected.write_cpu_seconds),
        time(expected.read_seconds),
        size(expected.memory),
    ]
}

/// Returns a time as text. Times of small files are in milliseconds.
fn time(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{:.2} ms", seconds * 1e3) } else { format!("{seconds:.3} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time(0.000_254_4), "0.25 ms");
        assert_eq!(time(0.0994), "99.40 ms");
        assert_eq!(time(0.25), "0.250 s");
    }

    #[test]
    fn budgets() {
        assert_eq!(parse_budget("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_budget("1.5 min"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_budget("2"), Ok(Duration::from_secs(2)));
        for text in ["", "s", "-1s", "1h", "nan"] {
            let message = format!("{text:?} is not a time of a search: write such as 60s or 5min");
            assert_eq!(parse_budget(text), Err(message));
        }
    }
}
