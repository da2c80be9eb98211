//! Reads and writes the header envelope (specification, "Header Envelope").

use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;
use nyssa_root::type_name::normalize;

use super::{Envelope, EnvelopeKind, SchemaDescription, feature_flags, put};
use crate::schema::Schema;

/// The contents of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The name of the RNTuple.
    pub name: String,
    /// The description of the RNTuple in free text.
    pub description: String,
    /// The name of the library or program that wrote the RNTuple.
    pub writer: String,
    /// The fields, columns and extra type information, without the extension in the footer.
    pub records: SchemaDescription,
    /// The XXH3 of the envelope. The footer and the page lists refer to it. `parse` and `serialize` set it.
    pub checksum: u64,
}

impl Header {
    /// Parses an uncompressed header envelope.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported` for feature flags; `OutOfSpecification`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let envelope = Envelope::open(bytes, EnvelopeKind::Header)?;
        Self::read(&mut envelope.cursor(), envelope.checksum)
            .map_err(|error| EnvelopeKind::Header.blame(error))
    }

    fn read(cursor: &mut Cursor<'_>, checksum: u64) -> Result<Self> {
        feature_flags::parse(cursor)?;
        Ok(Self {
            name: cursor.le_string()?,
            description: cursor.le_string()?,
            writer: cursor.le_string()?,
            records: SchemaDescription::parse(cursor)?,
            checksum,
        })
    }

    /// Makes the whole schema from this header and the extension in the footer. Type names are normalised.
    ///
    /// # Errors
    /// `OutOfSpecification` when an id points nowhere, fields are nested too deeply, or the
    /// schema breaks a rule of [`Schema::validate`].
    pub fn schema(&self, extension: &SchemaDescription) -> Result<Schema> {
        let mut schema = Schema::default();
        self.records.extend(&mut schema).map_err(|error| EnvelopeKind::Header.blame(error))?;
        extension.extend(&mut schema).map_err(|error| EnvelopeKind::Footer.blame(error))?;
        for field in &mut schema.fields {
            field.type_name = normalize(&field.type_name);
        }
        schema.validate()?;
        Ok(schema)
    }

    /// Serializes the envelope and sets [`Header::checksum`].
    ///
    /// # Errors
    /// `LimitExceeded` for strings or lists beyond 32 bits.
    pub fn serialize(&mut self) -> Result<Vec<u8>> {
        let (bytes, checksum) = Envelope::seal(EnvelopeKind::Header, |out| {
            feature_flags::serialize(out);
            put::string(out, self.name.as_bytes())?;
            put::string(out, self.description.as_bytes())?;
            put::string(out, self.writer.as_bytes())?;
            self.records.serialize(out)
        })?;
        self.checksum = checksum;
        Ok(bytes)
    }
}
