//! Names what tables keep of TTrees and RNTuples in their metadata.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::Metadata;
use nyssa_io::Source;

/// The key of field metadata with the title of a branch, or the description of a field.
pub(crate) const TITLE: &str = "nyssa:title";
/// The key of field metadata with the C++ type of a branch or field, for people.
pub(crate) const CPP_TYPE: &str = "nyssa:cpp";
/// The start of the description of a field of integers that were dates or times in a table.
pub(crate) const TIME_TITLE: &str = "nyssa:time ";

/// Returns the description of a field of integers that are dates or times in a table.
pub(crate) fn time_title(time: &str) -> String {
    format!("{TIME_TITLE}{time}")
}

/// The key of metadata of the table with the name of the TTree or RNTuple.
pub(crate) const OBJECT: &str = "nyssa:object";
/// The key of metadata of the table with its description.
pub(crate) const DESCRIPTION: &str = "nyssa:description";

/// The name of a table, and what its metadata say.
pub(crate) struct About {
    pub(crate) object: String,
    pub(crate) description: String,
}

impl About {
    /// Takes the metadata. Without a name, the table is called like its file.
    pub(crate) fn new(source: &Arc<dyn Source>, metadata: &Metadata) -> Self {
        let stem = || {
            let text = source.name().to_owned();
            let path = text.split(['?', '#']).next().unwrap_or_default();
            let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "table".to_owned())
        };
        let named = metadata.get(OBJECT).filter(|name| !name.is_empty()).cloned();
        let description = metadata.get(DESCRIPTION).cloned().unwrap_or_default();
        Self { object: named.unwrap_or_else(stem), description }
    }
}
