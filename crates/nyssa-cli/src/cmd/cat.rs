//! `nyssa cat`: prints entries as JSON.

use std::io::Write;
use std::ops::Range;

use arrow_array::ArrayRef;
use clap::Args;
use nyssa_data::cut::Cut;
use nyssa_data::dataset::{
    AnyDataset, ColumnInfo, CppType, Dataset, LeftOut, Window, Windows, select_readable,
};
use nyssa_data::view::{ChainOptions, Selected};
use nyssa_jobs::open::{self, Datasets, Opened};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ObjectReader;
use nyssa_root::{Context, Error};

use crate::app::App;
use crate::data;
use crate::document::VERSION;
use crate::exit_code::FINE;
use crate::failure::{Failure, Result};
use crate::json_value::{self, JsonStyle};
use crate::units::EntryRange;

/// The number of entries that are printed by default.
const DEFAULT_ENTRIES: u64 = 10;
/// The number of columns that are left out up to which each reason is printed.
const REASONS: usize = 3;

/// Print entries as JSON lines
///
/// Prints one JSON object for each entry. The entries of several files come one after the other, with the
/// columns of the first file. Integers are exact, and floats are the shortest numbers that read back to the
/// same value; "nan", "inf" and "-inf" are strings. A string that is not UTF-8 is an object with its bytes:
/// {"bytes": [195, 40]}. Dates (TDatime) are strings, "2020-02-29 12:34:56"; invalid dates are null. Maps with
/// strings as keys are objects; pairs and tuples are arrays.
///
/// With --json, `entries` of the document is an array of all entries in the form of the RNTuple Validation Suite: floats are
/// hexadecimal strings as C prints them with %a, and booleans are 0 and 1. If reading fails, the entries before it are there,
/// and `error`.
///
/// Any other object, such as a histogram, is one JSON object with its members, also of its base classes. With --json, it
/// is `object` of the document.
///
/// With --attributes, the attribute sets of an RNTuple follow its entries. Each attribute of these entries is
/// one object: {"attribute_set": NAME, "entries": [FIRST, END], "values": {...}}. With --json, it is only the
/// values.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa cat run3.root:Events -n 3\n  \
    nyssa cat run3.root:Events --entries 100:110 --filter 'Muon_*' | jq .Muon_pt\n  \
    nyssa cat 'run*.root:Events' --entries 1000000:1000010\n  \
    nyssa cat run3.root:hists/mass | jq .fArray")]
pub(crate) struct Cat {
    /// FILE or FILE:PATH; also globs, folders, and @LIST for the lines of a file
    #[arg(required = true)]
    data: Vec<String>,
    /// Print entries A up to, not including, B; A: ends with the last entry, and :B starts with the first one
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, conflicts_with = "number")]
    entries: Option<EntryRange>,
    /// Print the first N entries [default: 10, with --json all]
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    number: Option<u64>,
    /// Print only branches or fields that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Print only entries for which this is true, such as 'nMuon >= 2 && Muon_pt[0] > 20'; the aliases
    /// of a TTree may be used
    #[arg(long, value_name = "EXPRESSION", value_parser = cut, conflicts_with = "attributes")]
    cut: Option<Cut>,
    /// Also print the columns of the friends of a TTree, or of an RNTuple that was one, as
    /// friend.branch
    #[arg(long)]
    friends: bool,
    /// Also print attribute sets
    #[arg(long)]
    attributes: bool,
    /// Leave out columns, and members of objects, whose data cannot be read; a warning gives the reason
    #[arg(long, conflicts_with = "attributes")]
    skip_unreadable: bool,
}

pub(crate) fn run(args: &Cat, app: &mut App<'_>) -> Result<u8> {
    if let [argument] = &args.data[..]
        && let Some((file, key)) = find_object(argument)?
    {
        return print_object(args, &file, &key, app);
    }
    let context = app.context()?;
    let data = data::open_datasets(&args.data, &ChainOptions::default(), &context)?;
    if args.attributes && data.only().is_none() {
        return Err(Failure::Usage(
            "--attributes takes one file, because attributes belong to ranges of entries of one \
             file"
                .to_owned(),
            None,
        ));
    }
    let friends = if args.friends { Some(with_friends(&data, &context)?) } else { None };
    let dataset = friends.as_deref().unwrap_or(data.dataset());
    let mut columns = columns(dataset, data.first(), &args.filter, app)?;
    let selected = match &args.cut {
        Some(cut) => {
            let cut = data.with_aliases(cut, dataset)?;
            Some(select(dataset, &cut, args.entries, &context)?)
        }
        None => None,
    };
    let (dataset, range) = match &selected {
        Some(selected) => (selected as &dyn Dataset, None),
        None => (dataset, args.entries),
    };
    let total = dataset.num_entries();
    let number = args.number.unwrap_or(if app.json { total } else { DEFAULT_ENTRIES });
    let number = if selected.is_some() && args.entries.is_some() { total } else { number };
    let entries = range.map_or(0..number.min(total), |entries| entries.within(total));
    if entries.end > total {
        return Err(beyond(dataset, &entries));
    }
    let style = if app.json { JsonStyle::Suite } else { JsonStyle::Lines };
    let mut printer = Printer { columns: &mut columns, style, first: true };
    if app.json {
        write!(app.out, "{{\"version\":{VERSION},\"entries\":[")?;
    }
    let mut printed =
        print(dataset, entries.clone(), args.skip_unreadable, &context, &mut printer, app);
    if printed.is_ok() && args.attributes {
        printed = print_attributes(data.first(), &entries, &context, &mut printer, app);
    }
    if app.json {
        end_document(&printed, printer.first, app)?;
    }
    printed.map(|()| FINE)
}

/// Ends the document of the entries, with the error if there was one.
fn end_document(printed: &Result<()>, is_empty: bool, app: &mut App<'_>) -> Result<()> {
    write!(app.out, "{}]", if is_empty { "" } else { "\n" })?;
    if let Err(failure) = printed {
        let report = failure.report(app.exit_code(failure));
        write!(app.out, ",\"error\":")?;
        serde_json::to_writer(&mut *app.out, &report)?;
    }
    Ok(writeln!(app.out, "}}")?)
}

fn cut(text: &str) -> std::result::Result<Cut, String> {
    Cut::parse(text).map_err(|error| error.message().to_owned())
}

/// Opens the only dataset that is named, with its friends.
fn with_friends(data: &Datasets, context: &Context) -> Result<AnyDataset> {
    let joined = data.with_friends(context)?;
    joined.ok_or_else(|| Failure::Usage("--friends takes one dataset".to_owned(), None))
}

/// Selects the entries that pass a cut.
fn select<'a>(
    dataset: &'a dyn Dataset,
    cut: &Cut,
    entries: Option<EntryRange>,
    context: &Context,
) -> Result<Selected<&'a dyn Dataset>> {
    let total = dataset.num_entries();
    let entries = entries.map_or(0..total, |entries| entries.within(total));
    if entries.end > total {
        return Err(beyond(dataset, &entries));
    }
    Ok(Selected::passing(dataset, cut, entries, context)?)
}

/// Returns the error of a range that reaches beyond the entries.
fn beyond(dataset: &dyn Dataset, entries: &Range<u64>) -> Failure {
    let total = dataset.num_entries();
    let hint = total.checked_sub(1).map(|last| format!("entries are numbered from 0 to {last}"));
    Failure::Usage(
        format!(
            "entries {}:{} reach beyond {} of {}, which has {total} entries",
            entries.start,
            entries.end,
            dataset.name(),
            dataset.file()
        ),
        hint,
    )
}

/// A column that is printed.
struct PrintedColumn {
    name: String,
    cpp_type: CppType,
}

/// Returns the readable columns that the filter selects. Warns of those that cannot be read.
fn columns(
    dataset: &dyn Dataset,
    first: &Opened,
    patterns: &[String],
    app: &mut App<'_>,
) -> Result<Vec<PrintedColumn>> {
    let (readable, left_out) = select_readable(dataset, patterns)?;
    if readable.is_empty() && left_out.is_empty() {
        data::check_filter(patterns, &data::names(dataset), dataset.file())?;
    }
    let cpp_type = |item: &ColumnInfo| match first.dataset().cpp_type(item) {
        Some(known) => known,
        None => item.field.as_ref().map(CppType::of_arrow).unwrap_or_default(),
    };
    let column =
        |item: &ColumnInfo| PrintedColumn { name: item.name.clone(), cpp_type: cpp_type(item) };
    warn(&left_out, app);
    if readable.is_empty() && !left_out.is_empty() {
        let error = Error::unsupported("none of the columns can be read");
        return Err(error.at(|place| place.object = Some(dataset.name().to_owned())).into());
    }
    Ok(readable.into_iter().map(column).collect())
}

/// Warns that columns are left out. If they are few, each has its reason.
fn warn(left_out: &[LeftOut], app: &mut App<'_>) {
    if left_out.len() <= REASONS {
        for LeftOut { column, reason } in left_out {
            app.message(&format!("warning: {column} is left out: {reason}"));
        }
        return;
    }
    let names: Vec<_> = left_out.iter().map(|item| item.column.as_str()).collect();
    let (count, names) = (names.len(), names.join(", "));
    app.message(&format!("warning: {count} columns that cannot be read are left out: {names}"));
    app.message("hint: `nyssa schema` tells why");
}

/// Prints entries. With `skip_unreadable`, columns that cannot be read are left out from then on.
fn print(
    dataset: &dyn Dataset,
    entries: Range<u64>,
    skip_unreadable: bool,
    context: &Context,
    printer: &mut Printer<'_>,
    app: &mut App<'_>,
) -> Result<()> {
    let names: Vec<_> = printer.columns.iter().map(|column| column.name.as_str()).collect();
    let mut windows = Windows::new(dataset, &names, entries, skip_unreadable, context)?;
    while let Some(Window { names, arrays, rows, left_out }) = windows.next(context)? {
        if names.len() < printer.columns.len() {
            printer.columns.retain(|column| names.contains(&column.name));
        }
        warn(&left_out, app);
        for row in 0..rows {
            context.check()?;
            printer.entry(app.out, &arrays, row)?;
        }
    }
    Ok(())
}

/// A printer of values, one after the other.
struct Printer<'a> {
    columns: &'a mut Vec<PrintedColumn>,
    style: JsonStyle,
    /// Whether nothing has been printed yet.
    first: bool,
}

impl Printer<'_> {
    /// Starts an element of the array, or a line.
    fn start(&mut self, out: &mut dyn Write) -> Result<()> {
        if self.style == JsonStyle::Suite {
            out.write_all(if self.first { b"\n" } else { b",\n" })?;
        }
        self.first = false;
        Ok(())
    }

    /// Prints an entry.
    fn entry(&mut self, out: &mut dyn Write, arrays: &[ArrayRef], row: usize) -> Result<()> {
        self.start(out)?;
        out.write_all(b"{")?;
        for (index, (column, array)) in self.columns.iter().zip(arrays).enumerate() {
            if index > 0 {
                out.write_all(b",")?;
            }
            json_value::name(out, &column.name)?;
            json_value::write(out, array, row, &column.cpp_type, self.style)?;
        }
        out.write_all(b"}")?;
        if self.style == JsonStyle::Lines {
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Prints the attributes of all sets that concern some of `entries`. A TTree has no attributes.
fn print_attributes(
    data: &Opened,
    entries: &Range<u64>,
    context: &Context,
    printer: &mut Printer<'_>,
    app: &mut App<'_>,
) -> Result<()> {
    let Opened::NTuple(ntuple) = data else { return Ok(()) };
    for name in ntuple.attribute_links().iter().map(|link| &link.name) {
        let attributes = ntuple.attributes_of(name, entries, context)?;
        let cpp_type = attributes.cpp_type();
        for (row, range) in attributes.ranges {
            printer.start(app.out)?;
            if printer.style == JsonStyle::Lines {
                app.out.write_all(b"{\"attribute_set\":")?;
                serde_json::to_writer(&mut *app.out, name).map_err(std::io::Error::from)?;
                let (start, end) = (range.start, range.end);
                write!(app.out, ",\"entries\":[{start},{end}],\"values\":")?;
            }
            json_value::write(app.out, &attributes.values, row, &cpp_type, printer.style)?;
            if printer.style == JsonStyle::Lines {
                app.out.write_all(b"}\n")?;
            }
        }
    }
    Ok(())
}

/// Finds the object that an argument names, if it is neither a dataset nor a directory.
fn find_object(argument: &str) -> Result<Option<(RootFile, KeyEntry)>> {
    // An argument without a path may also be a folder, or a list of files.
    if open::split_path(argument).1.is_none() {
        return Ok(None);
    }
    let Ok((file, Some(path))) = data::open_file(argument) else { return Ok(None) };
    let key = data::find(&file, path)?;
    let other = open::format_of(&key).is_none() && !key.is_directory();
    Ok(other.then_some((file, key)))
}

/// Prints an object on one line.
fn print_object(args: &Cat, file: &RootFile, key: &KeyEntry, app: &mut App<'_>) -> Result<u8> {
    if args.entries.is_some() || args.number.is_some() || args.attributes || !args.filter.is_empty()
    {
        return Err(Failure::Usage(
            format!("{:?} is a {}, which has no entries to choose from", key.path, key.class),
            None,
        ));
    }
    let graph = ObjectReader::new(file.clone()).read(key)?;
    if app.json {
        write!(app.out, "{{\"version\":{VERSION},\"object\":")?;
    }
    json_value::write_object(app.out, &graph)?;
    writeln!(app.out, "{}", if app.json { "}" } else { "" })?;
    Ok(FINE)
}
