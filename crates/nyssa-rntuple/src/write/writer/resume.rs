//! Adds to an existing RNTuple. Its header and its page lists stay unchanged. A new footer refers to the old and the
//! new cluster groups.

use nyssa_root::compression::Compressor;
use nyssa_root::error::{Error, Result, ResultExt};

use super::super::{FinishedSet, RNTupleWriteOptions, SharedFile};
use super::{KnownPages, Resumed, Writer, validate};
use crate::format::{Anchor, DEFAULT_MAX_KEY_SIZE, Footer, Header};
use crate::heuristics::write;
use crate::schema::{Cluster, Schema};
use crate::write::WriteReport;

/// An existing RNTuple of the file.
pub struct Existing<'a> {
    /// The path in the file, without the cycle.
    pub path: &'a str,
    /// The cycle of its anchor.
    pub cycle: u16,
    /// Its anchor.
    pub anchor: &'a Anchor,
    /// Its header.
    pub header: &'a Header,
    /// Its footer.
    pub footer: &'a Footer,
    /// Its schema, from the header and its extension.
    pub schema: &'a Schema,
    /// Its clusters.
    pub clusters: &'a [Cluster],
}

impl Writer {
    /// Adds to an RNTuple of a file that is changed in place
    /// ([`nyssa_root::rootfile::writer::RootFileWriter::update`]). Its description, writer and maximum key size stay
    /// unchanged, whatever the options are. New clusters have the columns of the first representations. The report
    /// counts old and new entries and clusters, but only new pages.
    ///
    /// # Errors
    /// `InvalidArgument` for options; `Unsupported` for columns of unknown types.
    pub fn resume(
        file: &SharedFile,
        existing: &Existing<'_>,
        options: RNTupleWriteOptions,
    ) -> Result<Self> {
        let &Existing { path, cycle, anchor, header, footer, schema, clusters } = existing;
        options.validate()?;
        validate(schema)?;
        if let Some(column) = schema.columns.iter().find(|column| column.column_type.is_none()) {
            return Err(Error::unsupported(format!(
                "nothing can be added to an RNTuple with a column of the unknown type {:#x}",
                column.type_code
            )))
            .in_field(&schema.path(column.field));
        }
        file.resume(path)?;
        file.add_streamer_infos(&Anchor::streamer_info()?)?;
        let sets = footer.attribute_sets.iter().cloned();
        let last = clusters.last();
        Ok(Self {
            file: file.clone(),
            owns_file: false,
            settles: false,
            path: path.to_owned(),
            name: header.name.clone(),
            max_key_size: match anchor.max_key_size {
                0 => DEFAULT_MAX_KEY_SIZE,
                size => size.min(DEFAULT_MAX_KEY_SIZE),
            },
            elements: elements(schema, last),
            schema: schema.clone(),
            extra_types: Vec::new(),
            late_types: Vec::new(),
            header: Some((header.clone(), anchor.header)),
            open: None,
            clusters: Vec::new(),
            groups: footer.cluster_groups.clone(),
            attribute_sets: sets.map(FinishedSet::known).collect(),
            known: KnownPages::within(options.memory / write::KNOWN_PAGES_DIVISOR),
            unwritten: None,
            page_records: 0,
            compressor: Compressor::new(options.compression)?,
            options,
            report: WriteReport {
                entries: last.map_or(0, |cluster| cluster.first_entry + cluster.entries),
                clusters: clusters.len() as u64,
                ..WriteReport::default()
            },
            represented: super::represent::Represented::default(),
            resumed: Some(Resumed {
                cycle,
                version: anchor.version,
                max_key_size: anchor.max_key_size,
                lists_attribute_sets: footer.lists_attribute_sets,
                extra_types: footer.extension.extra_types.clone(),
                clusters: clusters.to_vec(),
                groups: footer.cluster_groups.len(),
                filled: false,
            }),
        })
    }
}

/// Returns the current number of elements of each column.
fn elements(schema: &Schema, last: Option<&Cluster>) -> Vec<u64> {
    let columns = last.map_or(&[][..], |cluster| &cluster.columns);
    let known = |(index, range): (usize, &crate::schema::ColumnRange)| {
        let first = schema.columns[index].first_element.map_or(0, i64::unsigned_abs);
        (range.first_element + range.elements).max(first)
    };
    let mut elements: Vec<u64> = columns.iter().enumerate().map(known).collect();
    // These are columns that were added after the last cluster.
    let late = schema.columns.iter().skip(elements.len());
    elements.extend(late.map(|column| column.first_element.map_or(0, i64::unsigned_abs)));
    elements
}
