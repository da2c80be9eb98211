//! `nyssa inspect`: shows how many bytes the parts of a dataset have.

mod html;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nyssa_jobs::tune::inspect::{Distribution, Inspection, PageMap, PartSizes, inspect};
use nyssa_root::Error;

pub use html::page;

use crate::app::App;
use crate::cmd::each::each;
use crate::data::{check_text_output, files, open_dataset};
use crate::exit_code::FINE;
use crate::failure::{Failure, Result};
use crate::output::{Columns, brief, printable};
use crate::units::{count, counted, ratio, share, size};

/// Show how many bytes the parts of a dataset have
///
/// Shows sizes on storage and before compression, by field or branch, by encoding, and by compression. Sizes on
/// storage include checksums, and shared pages count once. The compression algorithm is the one that the data
/// themselves show. Nothing is decompressed. With --json, one document has everything.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa inspect run3.root:Events\n  \
    nyssa inspect out.root --columns\n  \
    nyssa inspect 'run3/*.root:Events' --top 5\n  \
    nyssa inspect run3.root:Events --sort ratio --top 20\n  \
    nyssa inspect run3.root:Events --html run3.html --fields 'Muon_*'")]
pub(crate) struct Inspect {
    /// FILE or FILE:PATH; several, a glob in quotes, a folder, or @LIST
    #[arg(required = true)]
    data: Vec<String>,
    /// Show every physical column of an RNTuple
    #[arg(long)]
    columns: bool,
    /// Order of the rows [default: stored for fields and branches, file for --columns and --clusters]
    #[arg(long, value_enum, value_name = "stored|uncompressed|ratio|name|file")]
    sort: Option<Order>,
    /// Show only the first N rows of fields, branches, columns or clusters
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Show statistics of pages or baskets; with --columns, also the sizes of each column's pages
    #[arg(long)]
    pages: bool,
    /// Show statistics of clusters, and a row for each; a basket counts to the cluster with its first entry
    #[arg(long)]
    clusters: bool,
    /// Also write a page that any browser shows without a network: bytes by field, and where they lie in the file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Choose these fields on the page, which shows what reading them touches
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',', requires = "html")]
    fields: Vec<String>,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// The most bytes on storage first.
    Stored,
    /// The most bytes before compression first.
    Uncompressed,
    /// The worst compression first.
    Ratio,
    /// By name.
    Name,
    /// As in the file.
    File,
}

impl Order {
    /// Sorts rows, each with its numbers and name, and keeps the first ones.
    fn first<T>(
        self,
        rows: &mut Vec<T>,
        top: Option<usize>,
        of: impl Fn(&T) -> (&PartSizes, &str),
    ) {
        match self {
            Self::Stored => rows.sort_by_key(|row| Reverse(of(row).0.stored_bytes)),
            Self::Uncompressed => rows.sort_by_key(|row| Reverse(of(row).0.uncompressed_bytes)),
            Self::Ratio => rows.sort_by(|a, b| worth(of(a).0).total_cmp(&worth(of(b).0))),
            Self::Name => rows.sort_by(|a, b| of(a).1.cmp(of(b).1)),
            Self::File => {}
        }
        rows.truncate(top.unwrap_or(usize::MAX));
    }
}

/// Returns how many times smaller the bytes are on storage; infinity where there are none.
fn worth(part: &PartSizes) -> f64 {
    match part.stored_bytes {
        0 => f64::INFINITY,
        stored => part.uncompressed_bytes as f64 / stored as f64,
    }
}

pub(crate) fn run(args: &Inspect, app: &mut App<'_>) -> Result<u8> {
    if let (Some(_), [_, _, ..]) = (&args.html, files(&args.data)?.as_slice()) {
        let message = "--html writes the page of one dataset, but several files are named";
        return Err(Failure::Usage(message.to_owned(), None));
    }
    check_text_output("--html", args.html.as_deref())?;
    let look = |data: &str, _: &mut App<'_>| {
        let dataset = open_dataset(data)?;
        let inspection = inspect(&dataset)?;
        if let Some(file) = &args.html {
            let text = page(&inspection, &PageMap::of(&dataset)?, &args.fields)?;
            nyssa_io::write(file, text.as_bytes()).map_err(Error::from)?;
        }
        Ok((inspection, FINE))
    };
    each(&args.data, app, look, |inspection, app| print(&inspection, args, app))
}

fn print(inspection: &Inspection, args: &Inspect, app: &mut App<'_>) -> Result<()> {
    if !(args.columns || args.pages || args.clusters) {
        overview(inspection, args, app)?;
    }
    if args.columns {
        columns(inspection, args, app)?;
    }
    if args.pages || args.clusters {
        let header = ["what", ">count", ">min", ">median", ">max", ">total"];
        let mut table = Columns::new(&header);
        if args.pages {
            let what = match inspection.format {
                "TTree" => "basket size",
                "Arrow" => "batch size",
                _ => "page size",
            };
            distribution(&mut table, what, &inspection.pages, size);
        }
        if args.clusters {
            distribution(&mut table, "cluster size", &inspection.clusters, size);
            distribution(&mut table, "cluster entries", &inspection.cluster_entries, count);
        }
        table.print(app)?;
    }
    if args.clusters {
        writeln!(app.out)?;
        clusters(inspection, args, app)?;
    }
    Ok(())
}

/// Prints a row for each cluster.
fn clusters(inspection: &Inspection, args: &Inspect, app: &mut App<'_>) -> Result<()> {
    let pages = format!(">{}", inspection.words()[1]);
    let header = [
        ">cluster",
        ">first entry",
        ">entries",
        &pages,
        ">stored",
        ">share",
        ">uncompressed",
        ">ratio",
    ];
    let mut table = Columns::new(&header);
    let mut rows: Vec<_> = inspection.cluster_parts.iter().enumerate().collect();
    args.sort.unwrap_or(Order::File).first(&mut rows, args.top, |(_, item)| (&item.part, ""));
    for (index, item) in rows {
        let [pages, _, stored, share, uncompressed, ratio] =
            numbers(&item.part, inspection.stored_bytes);
        let (first, entries) = (count(item.first_entry), count(item.entries));
        table.row([index.to_string(), first, entries, pages, stored, share, uncompressed, ratio]);
    }
    table.print(app)
}

fn distribution(table: &mut Columns, what: &str, it: &Distribution, show: fn(u64) -> String) {
    let numbers = [it.min, it.median, it.max, it.total].map(show);
    let [min, median, max, total] = numbers;
    table.row([what.to_owned(), count(it.count), min, median, max, total]);
}

fn overview(inspection: &Inspection, args: &Inspect, app: &mut App<'_>) -> Result<()> {
    let Inspection { entries, stored_bytes, uncompressed_bytes, metadata_bytes, .. } = *inspection;
    writeln!(
        app.out,
        "{} {}, {}, {} on storage, {} uncompressed, ratio {}",
        inspection.format,
        printable(&inspection.name),
        counted(entries, "entry"),
        size(stored_bytes),
        size(uncompressed_bytes),
        ratio(uncompressed_bytes, stored_bytes),
    )?;
    let rest = inspection.file_bytes.saturating_sub(stored_bytes).saturating_sub(metadata_bytes);
    write!(app.out, "file {}", size(inspection.file_bytes))?;
    if inspection.format == "RNTuple" {
        write!(app.out, ", metadata of the RNTuple {}", size(metadata_bytes))?;
    }
    writeln!(app.out, ", everything else {}", size(rest))?;
    if let Some(layout) = &inspection.layout {
        writeln!(app.out, "{}", printable(&layout.to_string()))?;
    }
    writeln!(app.out)?;
    let [name, parts, elements] = inspection.words();
    let (parts, elements) = (&*format!(">{parts}"), &*format!(">{elements}"));
    let header = [name, "type", parts, elements, ">stored", ">share", ">uncompressed", ">ratio"];
    let mut table = Columns::new(&header);
    let mut fields: Vec<_> = inspection.fields.iter().collect();
    let order = args.sort.unwrap_or(Order::Stored);
    order.first(&mut fields, args.top, |part| (part, &part.name));
    for part in fields {
        let [pages, elements, stored, share, uncompressed, ratio] = numbers(part, stored_bytes);
        let (name, type_name) = (part.name.clone(), brief(part.type_name.clone()));
        table.row([name, type_name, pages, elements, stored, share, uncompressed, ratio]);
    }
    table.print(app)?;
    let groups = [
        ("encoding", &inspection.encodings),
        ("compression", &inspection.compressions),
        ("noted by the writer", &inspection.settings),
    ];
    for (what, groups) in groups {
        if !groups.is_empty() {
            writeln!(app.out)?;
            group(what, parts, elements, groups, stored_bytes, app)?;
        }
    }
    Ok(())
}

fn group(
    what: &str,
    parts: &str,
    elements: &str,
    groups: &[PartSizes],
    total: u64,
    app: &mut App<'_>,
) -> Result<()> {
    let header = [what, parts, elements, ">stored", ">share", ">uncompressed", ">ratio"];
    let mut table = Columns::new(&header);
    for part in groups {
        let [pages, elements, stored, share, uncompressed, ratio] = numbers(part, total);
        table.row([part.name.clone(), pages, elements, stored, share, uncompressed, ratio]);
    }
    table.print(app)
}

fn columns(inspection: &Inspection, args: &Inspect, app: &mut App<'_>) -> Result<()> {
    let mut header = vec![">column", "field", "encoding", ">bits", "codec", ">pages"];
    if args.pages {
        header.extend([">smallest page", ">median page", ">largest page"]);
    }
    header.extend([">elements", ">stored", ">share", ">uncompressed", ">ratio"]);
    let mut table = Columns::new(&header);
    let mut columns: Vec<_> = inspection.columns.iter().collect();
    let order = args.sort.unwrap_or(Order::File);
    order.first(&mut columns, args.top, |column| (&column.part, &column.field));
    for column in columns {
        let [pages, rest @ ..] = numbers(&column.part, inspection.stored_bytes);
        let (id, bits) = (column.id.to_string(), column.bits.to_string());
        let (field, encoding) = (column.field.clone(), column.column_type.clone());
        let mut row = vec![id, field, encoding, bits, column.codecs.join(" "), pages];
        if args.pages {
            row.extend([column.pages.min, column.pages.median, column.pages.max].map(size));
        }
        row.extend(rest);
        table.row(row);
    }
    table.print(app)
}

fn numbers(part: &PartSizes, total: u64) -> [String; 6] {
    [
        count(part.pages),
        count(part.elements),
        size(part.stored_bytes),
        share(part.stored_bytes, total),
        size(part.uncompressed_bytes),
        ratio(part.uncompressed_bytes, part.stored_bytes),
    ]
}
