//! Remembers choices in a file, so that the next file of a dataset is stored in the same way without samples. The file,
//! which users call a profile, may also contain options of the output, which `nyssa tune` recommends.
//!
//! ```toml
//! format = 1
//! compression = "zstd:5"
//!
//! [options]
//! effort = "auto"
//! encoding = "auto"
//! cluster_size = 134217728
//! page_size = 1048576
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

use nyssa_root::compression::Compression;
use nyssa_root::effort::{Chooser, Effort};
use nyssa_root::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::candidates::default_type;
use super::encodings::Encodings;
use super::field::FieldChooser;
use super::requested_type::RequestedType;
use super::storage::{Choices, ColumnStorage};
use crate::encoding::Encoding;
use crate::schema::{ColumnId, Schema};
use crate::seal::{PlaneRun, SealSettings};

/// The version of the format of the file.
const FORMAT: u32 = 1;
/// The maximum size of the file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The choices of earlier runs, in a file.
#[derive(Clone, Debug)]
pub struct StorageChoices {
    path: String,
    /// The compression to which the choices belong.
    compression: Compression,
    /// The options of the output that the file states.
    options: Option<StatedOptions>,
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
    /// The compression to which the choices belong.
    compression: Compression,
    options: Option<StatedOptions>,
    #[serde(default)]
    ntuple: Vec<NTuple>,
}

/// The options of the output that a file states.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedOptions {
    /// The compression to which the choices belong. It stands before the other options.
    #[serde(skip)]
    pub compression: Compression,
    /// The CPU time that compression may take.
    pub effort: Option<Effort>,
    /// The way in which column types are chosen.
    pub encoding: Option<Encodings>,
    /// The stored size of a cluster in bytes.
    pub cluster_size: Option<u64>,
    /// The largest size of a page before compression, in bytes.
    pub page_size: Option<u64>,
    /// The branches that become streamer fields, for a conversion: `all`, `auto`, or globs.
    pub streamer: Option<Vec<String>>,
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
    /// The number of the column among the columns of the field.
    #[serde(default)]
    index: usize,
    /// The column type, in the form of [`RequestedType`].
    r#type: String,
    /// The names of the codecs, in the form of reports.
    effort: String,
    /// The number of compressed bytes for each byte of the sample.
    ratio: f64,
}

impl StorageChoices {
    /// Reads the file at `path`, which may be a URL. It is empty if there is no such file.
    ///
    /// # Errors
    /// `InvalidArgument` for a file of another kind or for another compression; an error if the file cannot be read.
    pub fn open(path: &str, compression: Compression) -> Result<Self> {
        let path = path.to_owned();
        let Some(text) = Text::read(&path)? else {
            let ntuples = BTreeMap::new();
            return Ok(Self { path, compression, options: None, ntuples, changed: false });
        };
        if text.compression != compression && !text.ntuple.is_empty() {
            let known = text.compression;
            return Err(wrong(
                &path,
                format!(
                    "it is for compression {known}, but the output has {compression}: name another \
                     profile for this output"
                ),
            ));
        }
        let columns = |item: NTuple| {
            let column = |known: Known| ((known.field.clone(), known.index), known);
            (item.name, item.column.into_iter().map(column).collect())
        };
        let ntuples = text.ntuple.into_iter().map(columns).collect();
        Ok(Self { path, compression, options: text.options, ntuples, changed: false })
    }

    /// Returns whether the file at `path` states options of the output.
    ///
    /// # Errors
    /// `InvalidArgument` for a file of another kind; an error if the file cannot be read.
    pub fn has_options(path: &str) -> Result<bool> {
        Ok(Text::read(path)?.is_some_and(|text| text.options.is_some()))
    }

    /// Returns the options that the file at `path` states, or `None` if there is no such file.
    ///
    /// # Errors
    /// `InvalidArgument` for a file of another kind; an error if the file cannot be read.
    pub fn stated(path: &str) -> Result<Option<StatedOptions>> {
        let Some(text) = Text::read(path)? else { return Ok(None) };
        let compression = text.compression;
        Ok(Some(StatedOptions { compression, ..text.options.unwrap_or_default() }))
    }

    /// Returns the text of a file with these choices and these options.
    ///
    /// # Errors
    /// `InvalidArgument` for values that TOML cannot hold.
    pub fn with_options(&self, options: &StatedOptions) -> Result<String> {
        self.text(options.compression, Some(options.clone())).to_toml(&self.path)
    }

    /// Returns the content of a file with these choices.
    fn text(&self, compression: Compression, options: Option<StatedOptions>) -> Text {
        let ntuple = |(name, columns): (&String, &Columns)| NTuple {
            name: name.clone(),
            column: columns.values().cloned().collect(),
        };
        let ntuple = self.ntuples.iter().map(ntuple).collect();
        Text { format: FORMAT, compression, options, ntuple }
    }

    /// Returns the storage of the `columns` that the file knows.
    ///
    /// # Errors
    /// `InvalidArgument` for a choice that does not fit its column.
    pub fn known(
        &self,
        ntuple: &str,
        fields: &FieldChooser<'_>,
        columns: &[ColumnId],
    ) -> Result<Choices> {
        let Some(known) = self.ntuples.get(ntuple) else { return Ok(Vec::new()) };
        let known_storage = |&id: &ColumnId| {
            let fitting = self.fitting(known.get(&place(fields.schema, id))?, fields, id);
            fitting.map(|storage| Some((id, storage?))).transpose()
        };
        columns.iter().filter_map(known_storage).collect()
    }

    /// Returns the storage of a column, or `None` if a sample must decide.
    fn fitting(
        &self,
        known: &Known,
        FieldChooser { chooser, schema, settings }: &FieldChooser<'_>,
        id: ColumnId,
    ) -> Result<Option<ColumnStorage>> {
        let wrong = |why: String| {
            Error::invalid_argument(format!(
                "the profile {}: {} {why}: remove the field from the profile, or use another \
                 profile",
                self.path, known.field
            ))
        };
        let choice = known.r#type.parse().map_err(|error: Error| wrong(error.message().into()))?;
        let (RequestedType::Encoding(encoding), Some(current)) =
            (choice, schema.column(id).encoding())
        else {
            return Err(wrong(format!("has the type {:?}, which is no column type", known.r#type)));
        };
        let base = |encoding: Encoding| Encoding {
            column_type: encoding.column_type.unsplit_form(),
            ..encoding
        };
        let column_settings = settings.column(id);
        let may_narrow =
            column_settings.is_some_and(|setting| setting.narrower.contains(&encoding));
        let same = base(encoding) == base(current);
        if !same && !may_narrow {
            let both = [encoding, current].map(|element| element.precision(true).is_some());
            if both == [true, true] {
                // Both hold real numbers. It is not known here whether the narrower type holds all values.
                return Ok(None);
            }
            return Err(wrong(format!(
                "is stored as {}, but its values need {}",
                known.r#type,
                current.column_type.name()
            )));
        }
        let root = default_type(current.column_type);
        let storage = known.storage(chooser, encoding, !same);
        storage.map(|storage| Some(storage.compared(chooser, root))).ok_or_else(|| {
            wrong(format!(
                "has effort {:?}, which the options of the output do not have",
                known.effort
            ))
        })
    }

    /// Adds the choices of samples.
    pub fn learn<'a>(
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
            let r#type = RequestedType::Encoding(storage.encoding).to_string();
            let known = Known { field, index, r#type, effort: effort.to_owned(), ratio };
            self.ntuples.entry(ntuple.to_owned()).or_default().insert(place, known);
            self.changed = true;
        }
    }

    /// Writes the file, if there are new choices.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let text = self.text(self.compression, self.options.clone()).to_toml(&self.path)?;
        let mut sink = nyssa_io::create(&self.path, true)?;
        sink.write_at(0, text.as_bytes())?;
        sink.commit()?;
        Ok(())
    }
}

impl Known {
    /// Returns the storage in this encoding. Returns `None` if the chooser does not have the effort.
    fn storage(
        &self,
        chooser: &Chooser,
        encoding: Encoding,
        narrower: bool,
    ) -> Option<ColumnStorage> {
        let mut best = chooser.unseen();
        let mut planes = Vec::new();
        match chooser.candidate(&self.effort) {
            Some(candidate) => best.candidate = candidate,
            None => {
                for run in self.effort.split(" + ") {
                    let (count, name) = run.split_once(' ')?;
                    let count = count.parse().ok().filter(|count| (1..=8).contains(count))?;
                    planes.push(PlaneRun::new(count, chooser.candidate(name)?));
                }
            }
        }
        best.chosen.reason = "the profile";
        best.chosen.effort.clone_from(&self.effort);
        let ratio = self.ratio;
        Some(ColumnStorage { narrower, planes, ratio, ..ColumnStorage::new(encoding, best) })
    }
}

impl Text {
    /// Reads the file at `path`, or returns `None` if there is none.
    ///
    /// # Errors
    /// `InvalidArgument` for a file of another kind; an error if the file cannot be read.
    fn read(path: &str) -> Result<Option<Self>> {
        if nyssa_io::kind(path)?.is_none() {
            return Ok(None);
        }
        let source = nyssa_io::open(path)?;
        if source.size() > MAX_BYTES {
            return Err(wrong(path, format!("{} bytes are no profile", source.size())));
        }
        let bytes = source.read_range(0..source.size())?;
        let text = std::str::from_utf8(&bytes).map_err(|error| wrong(path, error.to_string()))?;
        let text: Self =
            toml::from_str(text).map_err(|error| wrong(path, error.message().to_owned()))?;
        if text.format != FORMAT {
            return Err(wrong(path, format!("its format is {}, not {FORMAT}", text.format)));
        }
        Ok(Some(text))
    }

    fn to_toml(&self, path: &str) -> Result<String> {
        toml::to_string(self).map_err(|error| wrong(path, error.to_string()))
    }
}

fn wrong(path: &str, why: String) -> Error {
    Error::invalid_argument(format!("the profile {path}: {why}"))
}

/// Returns the path of the field of a column, and the number of the column among the columns of the field.
fn place(schema: &Schema, id: ColumnId) -> (String, usize) {
    let field = schema.column(id).field;
    let index = schema.field(field).columns.iter().position(|&column| column == id);
    (schema.path(field), index.unwrap_or(0))
}
