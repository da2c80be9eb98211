//! Names the stages of the work, in the order of the data.

/// The stages and their meanings. A stage of another name comes after them.
pub(super) const STAGES: [(&str, &str); 19] = [
    ("open", "metadata: headers, page lists, trees"),
    ("request", "a thread that fetches waits for the answer to a request"),
    ("wait", "a thread that decodes waits for bytes, or reads them from the disk"),
    ("checksum", "XXH3 of pages, read or written"),
    ("unzip", "decompression"),
    ("decode", "elements in memory from those of a page or basket"),
    ("page", "other work on a page that is read: finding, converting, copying"),
    ("basket", "other work on a basket that is read: its key, offsets, copying"),
    ("assemble", "arrays from columns"),
    ("sample", "other work on samples of a field, by which encodings and codecs are chosen"),
    ("digest", "digests of what a conversion reads, for its verification"),
    ("choose", "other work on choosing encodings and codecs"),
    ("shred", "the elements of columns from arrays"),
    ("encode", "the elements of pages or baskets from those in memory"),
    ("zip", "compression"),
    ("seal", "other work on a page that is written"),
    ("commit", "the places of pages and baskets, keys, metadata"),
    ("write", "bytes to the disk or the server"),
    ("field", "other work on a field of a conversion"),
];

/// Returns the place of a stage in the order of the data.
pub(super) fn order(stage: &str) -> usize {
    STAGES.iter().position(|(name, _)| *name == stage).unwrap_or(STAGES.len())
}

/// Returns the meaning of a stage.
pub(super) fn meaning(stage: &str) -> &'static str {
    STAGES.iter().find(|(name, _)| *name == stage).map_or("", |(_, meaning)| meaning)
}
