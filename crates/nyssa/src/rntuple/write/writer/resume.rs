//! Going on with an RNTuple that is in the file already: its header stays, with its checksum; its page
//! lists stay; a new footer names the old cluster groups and the new ones.

use super::super::{FinishedSet, Options, SharedFile};
use super::{KNOWN_PAGES_DIVISOR, KnownPages, Resumed, Writer, validate};
use crate::compression::Compressor;
use crate::error::{Error, Result, ResultExt};
use crate::rntuple::format::{Anchor, DEFAULT_MAX_KEY_SIZE, Footer, Header};
use crate::rntuple::schema::{Cluster, Schema};
use crate::rntuple::write::Report;

/// An RNTuple as it is in its file.
pub struct Existing<'a> {
    /// Path in the file, without cycle.
    pub path: &'a str,
    /// Cycle of its anchor.
    pub cycle: u16,
    /// Its anchor.
    pub anchor: &'a Anchor,
    /// Its header.
    pub header: &'a Header,
    /// Its footer.
    pub footer: &'a Footer,
    /// Its schema: header and extension.
    pub schema: &'a Schema,
    /// Its clusters.
    pub clusters: &'a [Cluster],
}

impl Writer {
    /// Goes on with an RNTuple of a file that is being changed in place
    /// ([`crate::rootfile::writer::RootFileWriter::update`]). Description, writer and largest key size
    /// stay what they were, whatever the options say. The columns of first representations are
    /// written. The report counts old and new entries and clusters, and new pages only.
    ///
    /// # Errors
    /// `InvalidArgument` for options; `Unsupported` for columns of unknown types.
    pub fn resume(file: &SharedFile, existing: &Existing<'_>, options: Options) -> Result<Self> {
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
        let sets = footer.attribute_sets.iter().cloned();
        let last = clusters.last();
        Ok(Self {
            file: file.clone(),
            owns_file: false,
            path: path.to_owned(),
            name: header.name.clone(),
            max_key_size: match anchor.max_key_size {
                0 => DEFAULT_MAX_KEY_SIZE,
                size => size.min(DEFAULT_MAX_KEY_SIZE),
            },
            elements: elements(schema, last),
            schema: schema.clone(),
            extra_types: Vec::new(),
            header: Some((header.clone(), anchor.header)),
            open: None,
            clusters: Vec::new(),
            groups: footer.cluster_groups.clone(),
            attribute_sets: sets.map(FinishedSet::known).collect(),
            known: KnownPages::within(options.memory / KNOWN_PAGES_DIVISOR),
            page_records: 0,
            compressor: Compressor::new(options.compression)?,
            options,
            report: Report {
                entries: last.map_or(0, |cluster| cluster.first_entry + cluster.entries),
                clusters: clusters.len() as u64,
                ..Report::default()
            },
            represented: super::represent::Represented::default(),
            resumed: Some(Resumed {
                cycle,
                version: anchor.version,
                max_key_size: anchor.max_key_size,
                lists_attribute_sets: footer.lists_attribute_sets,
                extra_types: footer.extension.extra_types.clone(),
            }),
        })
    }
}

/// Number of elements of each column so far.
fn elements(schema: &Schema, last: Option<&Cluster>) -> Vec<u64> {
    let columns = last.map_or(&[][..], |cluster| &cluster.columns);
    let known = |(index, range): (usize, &crate::rntuple::schema::ColumnRange)| {
        let first = schema.columns[index].first_element.map_or(0, i64::unsigned_abs);
        (range.first_element + range.elements).max(first)
    };
    let mut elements: Vec<u64> = columns.iter().enumerate().map(known).collect();
    // Columns that came after the last cluster.
    let late = schema.columns.iter().skip(elements.len());
    elements.extend(late.map(|column| column.first_element.map_or(0, i64::unsigned_abs)));
    elements
}
