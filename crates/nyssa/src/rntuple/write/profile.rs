//! Remembers how columns are stored, so that the next file of a dataset is stored in the same way without samples.
//!
//! ```toml
//! format = 1
//! compression = "zstd:5"
//!
//! [[ntuple]]
//! name = "Events"
//!
//! [[ntuple.column]]
//! field = "Jet_pt"
//! index = 0
//! type = "SplitReal32"
//! effort = "3 entropy + 1 strong"
//! ratio = 0.385
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SealSettings;
use super::choosing::{ColumnStorage, Remembered};
use super::column_choice::ColumnChoice;
use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::rntuple::choose::Chooser;
use crate::rntuple::encoding::Encoding;
use crate::rntuple::schema::{Column, ColumnId, Schema};

/// The version of the format of profiles.
const FORMAT: u32 = 1;
/// A profile is not larger than this number of bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The choices of earlier runs, in a file.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    path: String,
    /// The compression that the choices are for.
    compression: String,
    /// The choices for each RNTuple, by its name.
    ntuples: BTreeMap<String, Columns>,
    changed: bool,
}

/// The choices for the columns of one RNTuple, by their places (see [`place`]).
type Columns = BTreeMap<(String, usize), Known>;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: u32,
    /// The compression that the choices are for.
    compression: String,
    #[serde(default)]
    ntuple: Vec<NTuple>,
}

/// The choices for one RNTuple.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NTuple {
    name: String,
    #[serde(default)]
    column: Vec<Known>,
}

/// The choice for one column.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// The path of the field.
    field: String,
    /// The number of the column among those of the field.
    #[serde(default)]
    index: usize,
    /// The column type, as in [`ColumnChoice`].
    r#type: String,
    /// The names of the codecs, as in reports.
    effort: String,
    /// The bytes of the sample after compression, for each byte before it.
    ratio: f64,
}

impl Profile {
    /// Reads the profile at `path`, which may be a URL. It is empty if there is no such file.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that is no profile, or one for another compression; those of reading.
    pub(crate) fn open(path: &str, compression: Compression) -> Result<Self> {
        let (path, compression) = (path.to_owned(), compression.to_string());
        if nyssa_io::kind(&path)?.is_none() {
            return Ok(Self { path, compression, ntuples: BTreeMap::new(), changed: false });
        }
        let source = nyssa_io::open(&path)?;
        let wrong = |why: String| Error::invalid_argument(format!("the profile {path}: {why}"));
        if source.size() > MAX_BYTES {
            return Err(wrong(format!("{} bytes are no profile", source.size())));
        }
        let bytes = source.read_range(0..source.size())?;
        let text = std::str::from_utf8(&bytes).map_err(|error| wrong(error.to_string()))?;
        let text: Text = toml::from_str(text).map_err(|error| wrong(error.message().to_owned()))?;
        if text.format != FORMAT {
            return Err(wrong(format!("its format is {}, not {FORMAT}", text.format)));
        }
        if text.compression != compression {
            return Err(wrong(format!(
                "it is for compression {}, but the output has {compression}: name another profile \
                 for this output",
                text.compression
            )));
        }
        let columns = |one: NTuple| {
            let column = |known: Known| ((known.field.clone(), known.index), known);
            (one.name, one.column.into_iter().map(column).collect())
        };
        let ntuples = text.ntuple.into_iter().map(columns).collect();
        Ok(Self { path, compression, ntuples, changed: false })
    }

    /// Returns the storage of those of `columns` that the profile knows.
    ///
    /// # Errors
    /// `InvalidArgument` for a choice that does not fit its column.
    pub(crate) fn known(
        &self,
        ntuple: &str,
        chooser: &Chooser,
        (schema, settings): (&Schema, &SealSettings),
        columns: &[ColumnId],
    ) -> Result<Vec<(ColumnId, ColumnStorage)>> {
        let Some(known) = self.ntuples.get(ntuple) else {
            return Ok(Vec::new());
        };
        let one = |&id: &ColumnId| {
            let known = known.get(&place(schema, id))?;
            let fitting = self.fitting(known, chooser, schema.column(id), id, settings);
            fitting.map(|storage| Some((id, storage?))).transpose()
        };
        columns.iter().filter_map(one).collect()
    }

    /// Returns the storage of a column, or `None` if a sample must decide.
    fn fitting(
        &self,
        known: &Known,
        chooser: &Chooser,
        column: &Column,
        id: ColumnId,
        settings: &SealSettings,
    ) -> Result<Option<ColumnStorage>> {
        let wrong = |why: String| {
            Error::invalid_argument(format!(
                "the profile {}: {} {why}: remove the field from the profile, or use another \
                 profile",
                self.path, known.field
            ))
        };
        let choice = known.r#type.parse().map_err(|error: Error| wrong(error.message().into()))?;
        let (ColumnChoice::Encoding(encoding), Some(current)) = (choice, column.column_type) else {
            return Err(wrong(format!("has the type {:?}, which is no column type", known.r#type)));
        };
        let current =
            Encoding { column_type: current, bits: column.bits, range: column.value_range };
        let base = |encoding: Encoding| Encoding {
            column_type: encoding.column_type.unsplit_form(),
            ..encoding
        };
        let column_settings = settings.column(id);
        let may_narrow = column_settings.is_some_and(|one| one.narrower.contains(&encoding));
        let same = base(encoding) == base(current);
        if !same && !may_narrow {
            let both = [encoding, current].map(|one| one.precision(true).is_some());
            if both == [true, true] {
                // Both hold real numbers. Whether the narrower one holds all values is not known here.
                return Ok(None);
            }
            return Err(wrong(format!(
                "is stored as {}, but its values need {}",
                known.r#type,
                current.column_type.name()
            )));
        }
        let remembered =
            Remembered { encoding, narrower: !same, effort: &known.effort, ratio: known.ratio };
        let storage = ColumnStorage::remembered(chooser, current, remembered);
        storage.map(Some).ok_or_else(|| {
            wrong(format!(
                "has effort {:?}, which the options of the output do not have",
                known.effort
            ))
        })
    }

    /// Adds choices that samples made.
    pub(crate) fn learn<'a>(
        &mut self,
        ntuple: &str,
        schema: &Schema,
        settings: &SealSettings,
        choices: impl IntoIterator<Item = &'a (ColumnId, ColumnStorage)>,
    ) {
        for (id, storage) in choices {
            let own = settings.column(*id).is_none_or(|own| own.own_codec || own.own_type);
            let Some((effort, ratio)) = storage.chosen_by_sample().filter(|_| !own) else {
                continue;
            };
            let place = place(schema, *id);
            let (field, index) = place.clone();
            let (effort, r#type) =
                (effort.to_owned(), ColumnChoice::Encoding(storage.encoding).short());
            let known = Known { field, index, r#type, effort, ratio };
            self.ntuples.entry(ntuple.to_owned()).or_default().insert(place, known);
            self.changed = true;
        }
    }

    /// Writes the file, if something was learnt.
    ///
    /// # Errors
    /// The errors of writing.
    pub(crate) fn save(&self) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let ntuple = |(name, columns): (&String, &Columns)| NTuple {
            name: name.clone(),
            column: columns.values().cloned().collect(),
        };
        let text = Text {
            format: FORMAT,
            compression: self.compression.clone(),
            ntuple: self.ntuples.iter().map(ntuple).collect(),
        };
        let text = toml::to_string(&text).map_err(|error| {
            Error::invalid_argument(format!("the profile {}: {error}", self.path))
        })?;
        let mut sink = nyssa_io::create(&self.path, true)?;
        sink.write_at(0, text.as_bytes())?;
        sink.commit()?;
        Ok(())
    }
}

/// Returns the path of the field of a column, and the number of the column among those of the field.
fn place(schema: &Schema, id: ColumnId) -> (String, usize) {
    let field = schema.column(id).field;
    let index = schema.field(field).columns.iter().position(|&one| one == id);
    (schema.path(field), index.unwrap_or(0))
}
