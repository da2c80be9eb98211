//! Options of reading an RNTuple.

/// Reading options. The defaults are safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Check the XXH3 checksum of every page that has one before its bytes are used.
    pub verify_checksums: bool,
    /// Form in which streamer fields are read.
    pub streamer: StreamerForm,
}

/// Form of the objects of streamer fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamerForm {
    /// Records, by the streamer info of the RNTuple or of its file. A field whose class cannot be decoded is
    /// refused by name.
    #[default]
    Decoded,
    /// The stored bytes, to be written again unchanged.
    Raw,
}

impl Default for Options {
    fn default() -> Self {
        Self { verify_checksums: true, streamer: StreamerForm::Decoded }
    }
}
