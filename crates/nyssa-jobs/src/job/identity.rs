//! Makes the identity (UUID) of an output. It is computed from the inputs and from the options, so that an output is
//! never taken for the output of other inputs.

use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use crate::open;

/// An input of an output.
#[derive(Clone, Copy, Debug)]
pub struct MadeOf<'a> {
    /// The path or URL, possibly with the path of the dataset.
    pub location: &'a str,
    /// A digest of the query of a URL; see [`nyssa_io::query_digest`].
    pub query: Option<&'a str>,
    /// The number of bytes; a negative number if it is not known.
    pub bytes: i64,
    /// The identity of this version of the input, if it is known.
    pub version: Option<&'a str>,
}

/// Returns the identity of the output that a job with these options makes from the inputs. An output that was verified has
/// another identity: verified outputs alone appear with it.
pub fn identity<'a>(
    inputs: impl IntoIterator<Item = MadeOf<'a>>,
    options: &str,
    verified: bool,
) -> [u8; 16] {
    let mut hash = Xxh3::new();
    let mut add = |part: &str| {
        hash.write(part.as_bytes());
        hash.write(b"\0");
    };
    for input in inputs {
        let (path, dataset) = open::split_path(input.location);
        // The folder may change later, like the secrets of a URL.
        add(&nyssa_io::file_name(&path));
        add(input.query.unwrap_or_default());
        add(dataset.unwrap_or_default());
        add(&input.bytes.to_string());
        add(input.version.unwrap_or_default());
    }
    add(options);
    if verified {
        add("verified");
    }
    // Version 8 of UUIDs, whose bits have a meaning that their maker defines (RFC 9562).
    let uuid = uuid::Builder::from_custom_bytes(hash.digest128().to_be_bytes());
    uuid.into_uuid().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_of_all_that_was_read_and_of_the_options() {
        let a = MadeOf {
            location: "https://h/d/a.root?x=1:Events",
            query: None,
            bytes: 7,
            version: Some("v"),
        };
        let moved = MadeOf { location: "/other/a.root:Events", ..a };
        let of = |inputs: &[MadeOf<'_>], options| identity(inputs.iter().copied(), options, false);
        let uuid = of(&[a], "o");
        assert_eq!(uuid, of(&[moved], "o"));
        assert_eq!((uuid[6] >> 4, uuid[8] >> 6), (8, 2));
        for other in [
            identity([a], "o", true),
            of(&[a], "p"),
            of(&[a, a], "o"),
            of(&[], "o"),
            of(&[MadeOf { location: "a.root", ..a }], "o"),
            of(&[MadeOf { location: "b.root:Events", ..a }], "o"),
            of(&[MadeOf { query: Some("q"), ..a }], "o"),
            of(&[MadeOf { bytes: 8, ..a }], "o"),
            of(&[MadeOf { bytes: -1, ..a }], "o"),
            of(&[MadeOf { version: None, ..a }], "o"),
        ] {
            assert_ne!(uuid, other);
        }
    }
}
