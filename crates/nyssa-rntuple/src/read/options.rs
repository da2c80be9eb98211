//! Defines the options of reading an RNTuple.

/// The options for reading an RNTuple. The defaults are safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RNTupleReadOptions {
    /// Whether the XXH3 checksum of every page that has one is checked before its bytes are used.
    pub verify_checksums: bool,
    /// The form in which streamer fields are read.
    pub streamer: StreamerForm,
}

/// The form of the objects of streamer fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamerForm {
    /// Records, by the streamer info of the RNTuple or of its file. A field whose class cannot be decoded is refused,
    /// and the error contains its name.
    #[default]
    Decoded,
    /// The stored bytes, for writing without change.
    Raw,
}

impl Default for RNTupleReadOptions {
    fn default() -> Self {
        Self { verify_checksums: true, streamer: StreamerForm::Decoded }
    }
}
