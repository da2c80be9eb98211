//! Defines storage options of the fields that a glob matches.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use nyssa_root::compression::{Codec, Compression};
use nyssa_root::error::{Error, Result};
use serde::{Serialize, Serializer};

use super::requested_type::RequestedType;
use crate::schema::{FieldId, Schema};
use crate::seal::{ColumnSettings, MAX_UNZIPPED_PAGE, MIN_UNZIPPED_PAGE};

/// The storage options of the fields that a glob matches, and of their subfields. For a projected field they apply to
/// the data that it shows. `None` keeps the option of an earlier match, or of the whole RNTuple.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let mut options = nyssa::FieldOptions::new("Jet_*")?;
/// options.compression = Some("lz4".parse()?);
/// assert!(nyssa::FieldOptions::new("Jet_[").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct FieldOptions {
    #[serde(rename = "glob", serialize_with = "glob_text")]
    matcher: GlobMatcher,
    /// The paths of further fields that have another name, which the glob matches.
    #[serde(skip)]
    also: Vec<String>,
    /// The column type, for fields that can have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<RequestedType>,
    /// The compression of the pages, with exactly this level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// The maximum size of a page before compression, in bytes. Pages are smaller if memory is short.
    #[serde(rename = "page_size", skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<usize>,
}

fn glob_text<S: Serializer>(matcher: &GlobMatcher, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(matcher.glob().glob())
}

impl FieldOptions {
    /// Makes empty options for a glob of dotted paths, such as `Jet_*` or `jets._0.pt`.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be parsed.
    pub fn new(glob: &str) -> Result<Self> {
        let parsed = GlobBuilder::new(glob).build().map_err(|error| {
            Error::invalid_argument(format!("{glob:?} is not a pattern")).with_source(error)
        })?;
        let matcher = parsed.compile_matcher();
        Ok(Self { matcher, also: Vec::new(), column: None, compression: None, page_bytes: None })
    }

    /// Sets one option by its name: `column` (see [`RequestedType`]), `compression` (`zstd:5`, `505`,
    /// `none`) or `page_size` (bytes).
    ///
    /// # Errors
    /// `InvalidArgument` for another name, and for a value that cannot be parsed.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self> {
        match name {
            "column" => self.column = Some(value.parse()?),
            "compression" => self.compression = Some(value.parse()?),
            "page_size" => {
                let bytes = value.parse().map_err(|_| {
                    Error::invalid_argument(format!("a page size of {value:?} is not an integer"))
                })?;
                self.page_bytes = Some(bytes);
                self.validate()?;
            }
            _ => {
                let known = ["column", "compression", "page_size"];
                return Err(Error::invalid_argument(format!(
                    "fields have no option {name:?}: they have {}",
                    known.join(", ")
                ))
                .suggest(name, known));
            }
        }
        Ok(self)
    }

    /// Returns the glob.
    pub fn glob(&self) -> &str {
        self.matcher.glob().glob()
    }

    /// Checks that the numbers are in their ranges.
    pub(crate) fn validate(&self) -> Result<()> {
        match self.page_bytes {
            Some(page) if !(MIN_UNZIPPED_PAGE..=MAX_UNZIPPED_PAGE).contains(&page) => {
                Err(Error::invalid_argument(format!(
                    "a page size of {page} bytes, for the fields {:?}, is outside \
                     {MIN_UNZIPPED_PAGE} to {MAX_UNZIPPED_PAGE}",
                    self.glob()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Adds another name of a field, which the glob may match.
    pub fn name_also(&mut self, name: &str, path: &str) {
        if self.matcher.is_match(name) {
            self.also.push(path.to_owned());
        }
    }

    /// Returns whether the glob matches each field or a field above it, by [`FieldId`].
    fn fields(&self, schema: &Schema) -> Vec<bool> {
        let mut matched = Vec::with_capacity(schema.fields.len());
        for (id, field) in (0u32..).map(FieldId).zip(&schema.fields) {
            // Parents come before their children.
            let above = field.parent.and_then(|parent| matched.get(parent.0 as usize));
            let named = |path: String| self.matcher.is_match(&path) || self.also.contains(&path);
            matched.push(above == Some(&true) || named(schema.path(id)));
        }
        matched
    }

    /// Returns whether these options apply to each column, by [`ColumnId`].
    pub(super) fn columns(&self, schema: &Schema) -> Vec<bool> {
        let mut matched = vec![false; schema.columns.len()];
        for (id, _) in (0u32..).map(FieldId).zip(self.fields(schema)).filter(|(_, is)| *is) {
            for column in schema.data_columns(id) {
                if let Some(matched) = matched.get_mut(column.0 as usize) {
                    *matched = true;
                }
            }
        }
        matched
    }

    /// Applies these options to the settings of the columns of `schema`.
    pub(crate) fn apply(&self, schema: &Schema, columns: &mut [ColumnSettings]) {
        let codec = self.compression.map(|compression| Arc::new(Codec::from(compression)));
        let matched = columns.iter_mut().zip(self.columns(schema)).filter(|(_, is)| *is);
        for (settings, _) in matched {
            if let (Some(codec), Some(compression)) = (&codec, self.compression) {
                settings.codec = Arc::clone(codec);
                settings.setting = compression.setting();
                settings.own_codec = true;
            }
            if let Some(page) = self.page_bytes {
                settings.page_bytes = page;
            }
            settings.own_type |= self.column.is_some();
        }
    }

    /// Checks that the glob matches a field.
    ///
    /// # Errors
    /// `InvalidArgument` with suggestions.
    pub fn require_match(&self, schema: &Schema) -> Result<()> {
        if self.fields(schema).contains(&true) {
            return Ok(());
        }
        let ids = (0..schema.fields.len() as u32).map(FieldId);
        let paths: Vec<String> = ids.map(|id| schema.path(id)).collect();
        let error = Error::invalid_argument(format!("no field matches {:?}", self.glob()));
        Err(error.suggest(self.glob(), paths.iter().map(String::as_str)))
    }
}
