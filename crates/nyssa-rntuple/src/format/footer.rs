//! Reads and writes the footer envelope (specification, "Footer Envelope").

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::{
    AttributeSet, ClusterGroup, Envelope, EnvelopeKind, FormatVersion, Header, SchemaDescription,
    feature_flags, frame,
};

/// The contents of the footer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// The checksum of the header envelope that this footer belongs to.
    pub header_checksum: u64,
    /// The fields and columns that were added while entries were written. Their ids continue the ids of the header.
    pub extension: SchemaDescription,
    /// The cluster groups in order.
    pub cluster_groups: Vec<ClusterGroup>,
    /// The linked attribute sets.
    pub attribute_sets: Vec<AttributeSet>,
    /// Whether the footer ends with the list of attribute sets, which can be empty. It does since specification
    /// 1.0.1.0. Some readers use the version in the anchor instead, so both must agree; see [`Footer::version`].
    pub lists_attribute_sets: bool,
}

impl Footer {
    /// Parses an uncompressed footer envelope.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported` for feature flags; `OutOfSpecification`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let envelope = Envelope::open(bytes, EnvelopeKind::Footer)?;
        Self::read(&mut envelope.cursor()).map_err(|error| EnvelopeKind::Footer.blame(error))
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        feature_flags::parse(cursor)?;
        let header_checksum = cursor.le_u64()?;
        let mut extension = frame::record(cursor)?;
        let extension = match extension.remaining() {
            [] => SchemaDescription::default(),
            _ => SchemaDescription::parse(&mut extension)?,
        };
        let (count, mut list) = frame::list(cursor, ClusterGroup::MIN_SIZE)?;
        let cluster_groups =
            (0..count).map(|_| ClusterGroup::parse(&mut list)).collect::<Result<_>>()?;
        // A footer of specification 1.0.0 ends here.
        let lists_attribute_sets = !cursor.remaining().is_empty();
        let attribute_sets = if lists_attribute_sets {
            let (count, mut list) = frame::list(cursor, AttributeSet::MIN_SIZE)?;
            (0..count).map(|_| AttributeSet::parse(&mut list)).collect::<Result<_>>()?
        } else {
            Vec::new()
        };
        Ok(Self {
            header_checksum,
            extension,
            cluster_groups,
            attribute_sets,
            lists_attribute_sets,
        })
    }

    /// Returns the version of the specification for the anchor of this footer. It is the oldest possible version, so
    /// that most readers accept it.
    pub fn version(&self) -> FormatVersion {
        match self.lists_attribute_sets || !self.attribute_sets.is_empty() {
            true => FormatVersion::WITH_ATTRIBUTE_SETS,
            false => FormatVersion::WRITTEN,
        }
    }

    /// Checks that this footer belongs to `header`.
    ///
    /// # Errors
    /// `Checksum` when the footer belongs to another header.
    pub fn check_header(&self, header: &Header) -> Result<()> {
        if self.header_checksum == header.checksum {
            return Ok(());
        }
        Err(Error::checksum(format!(
            "footer envelope belongs to a header of checksum {:016x}, the header here has {:016x}",
            self.header_checksum, header.checksum
        )))
    }

    /// Serializes the envelope in the layout of [`Footer::version`].
    ///
    /// # Errors
    /// `LimitExceeded` for strings or lists beyond 32 bits.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let (bytes, _) = Envelope::seal(EnvelopeKind::Footer, |out| {
            feature_flags::serialize(out);
            out.extend_from_slice(&self.header_checksum.to_le_bytes());
            frame::put_record(out, |out| self.extension.serialize(out))?;
            frame::put_list(out, &self.cluster_groups, |out, group| group.serialize(out))?;
            if self.version() == FormatVersion::WRITTEN {
                return Ok(());
            }
            frame::put_list(out, &self.attribute_sets, |out, set| set.serialize(out))
        })?;
        Ok(bytes)
    }
}
