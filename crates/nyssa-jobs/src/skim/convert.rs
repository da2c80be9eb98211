//! Converts from and to tables: a skim that takes everything.

use std::path::{Path, PathBuf};

use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_tables::{format_of_name, format_of_source};

use super::job::skim;
use super::options::SkimOptions;
use super::report::SkimReport;
use crate::convert::{ConvertReport, Direction, FieldReport, Skipped, To};
use crate::job::Reencoded;
use crate::job::given::{flags, given};
use crate::open::split_path;

/// The options of a conversion that have a meaning for tables, besides the options that say how the output is stored.
const SHARED: [&str; 11] = [
    "include",
    "exclude",
    "entries",
    "skip_unsupported",
    "skip_unreadable",
    "compression",
    "effort",
    "memory",
    "no_carry",
    "name",
    "reproducible",
];

/// Converts a dataset to a table, or a table to an RNTuple or TTree, where [`has_table`] is true. `to` is the format of the
/// output if the user names it.
///
/// # Errors
/// `InvalidArgument` for options that tables do not have, and for an output that is not allowed; `NotFound` for the input
/// and for columns; `Unsupported` with a list of all columns that cannot be written; `Cancelled`; an error if the input is
/// damaged or cannot be read.
pub fn convert_table<D: Direction>(
    input: &str,
    output: &Path,
    to: Option<To>,
    options: &D,
    context: &Context,
) -> Result<ConvertReport> {
    let named = format_of_name(output).and_then(To::of_format);
    let format = to.or(match (named, D::TO) {
        (Some(named), To::RNTuple) => Some(named),
        (_, own) => Some(own),
    });
    let options = by_table(options, format)?;
    let report = skim(&[input.to_owned()], output, &options, context)?;
    Ok(report_of(report))
}

/// Returns whether the input or the output of a conversion is a table. Otherwise it is a conversion between TTrees and
/// RNTuples. An input whose name does not end in `.root` is opened.
pub fn has_table(input: &str, output: &Path, to: Option<To>) -> bool {
    matches!(to, Some(To::Parquet | To::Arrow))
        || format_of_name(output).is_some()
        || is_table_at(input)
}

/// Returns whether an argument names a table. A file whose name ends in `.root` is not opened. Files that cannot be opened
/// are left to the conversion of ROOT files, which says why.
fn is_table_at(argument: &str) -> bool {
    let (file, _) = split_path(argument);
    let path = PathBuf::from(&*file);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("root")) {
        return false;
    }
    let format = nyssa_io::open(&path).map(|source| format_of_source(&source));
    matches!(format, Ok(Ok(Some(_))))
}

fn by_table<D: Direction>(options: &D, format: Option<To>) -> Result<SkimOptions> {
    let storage = options.storage().cloned().unwrap_or_default();
    let baskets = options.baskets().cloned().unwrap_or_default();
    let mut refused = given(options)?;
    let (of_ntuple, of_tree) = (given(&storage)?, given(&baskets)?);
    let is_stored = |name: &String| of_ntuple.contains_key(name) || of_tree.contains_key(name);
    refused.retain(|name, _| !SHARED.contains(&name.as_str()) && !is_stored(name));
    if !refused.is_empty() {
        return Err(Error::invalid_argument(format!(
            "conversions from and to tables (Parquet, Arrow IPC) have no option {}",
            flags(&refused).join(", ")
        )));
    }
    let input = options.input();
    Ok(SkimOptions {
        columns: input.include.clone(),
        exclude: input.exclude.clone(),
        entries: input.entries,
        skip_unsupported: input.skip_unsupported,
        skip_unreadable: input.skip_unreadable,
        format,
        output: options.output().clone(),
        storage,
        baskets,
        ..SkimOptions::default()
    })
}

fn report_of(report: SkimReport) -> ConvertReport {
    let (own, source) = (report.written.ntuple.clone(), report.dataset.clone());
    let mut written = report.written;
    let tree = match report.format {
        To::TTree => {
            written.ntuple = source;
            own
        }
        _ => source,
    };
    let fields = report.columns.into_iter().map(|column| FieldReport {
        branch: column.name.clone(),
        field: column.name,
        type_name: column.type_name,
        input_bytes: 0,
        output_bytes: column.output_bytes.unwrap_or(0),
        digest: column.digest,
    });
    let skipped = report.skipped.into_iter().map(|item| Skipped {
        branch: item.name,
        reason: item.reason,
        unreadable: item.unreadable,
    });
    ConvertReport {
        written,
        reencoded: Reencoded {
            input: report.inputs.join(", "),
            input_bytes: report.input_bytes,
            uncompressed_bytes: report.uncompressed_bytes,
            compressed_bytes: report.compressed_bytes,
            threads: report.threads,
            left_out: report.left_out,
            ..Reencoded::default()
        },
        to: report.format,
        tree,
        first_entry: report.first_entry,
        digest_hash: report.digest_hash,
        fields: fields.collect(),
        skipped: skipped.collect(),
        ..ConvertReport::default()
    }
}
