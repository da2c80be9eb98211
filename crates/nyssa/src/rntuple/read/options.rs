//! How an RNTuple is read.

/// Reading options; the defaults are the safe ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Check the XXH3 checksum of every page that has one before its bytes are used.
    pub verify_checksums: bool,
    /// What streamer fields read as.
    pub streamer: StreamerForm,
}

/// What the objects of streamer fields read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamerForm {
    /// Records, by the streamer info of the RNTuple or of its file. A field whose class cannot be
    /// taken apart is refused by name.
    #[default]
    Decoded,
    /// Their bytes, to be written again as they are.
    Raw,
}

impl Default for Options {
    fn default() -> Self {
        Self { verify_checksums: true, streamer: StreamerForm::Decoded }
    }
}
