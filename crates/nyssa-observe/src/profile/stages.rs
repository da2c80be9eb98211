//! Names the stages of the work, in the order of the data.

/// The stages and their meanings. A stage of another name comes after them.
pub(super) const STAGES: [(&str, &str); 19] = [
    ("open", "metadata: headers, page lists, trees"),
    ("request", "a thread that fetches waits for the answer to a request"),
    ("wait", "a thread that decodes waits for bytes, or reads them from the disk"),
    ("checksum", "XXH3 of pages, read or written"),
    ("unzip", "decompression"),
    ("decode", "makes elements in memory from the elements of a page or basket"),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Adds the names of the stages in the Rust files of a folder, and of the folders in it.
    fn add_names(folder: &Path, names: &mut BTreeSet<String>) {
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                add_names(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                let stages = text.split("stage!(").skip(1);
                let quoted = stages.filter_map(|rest| rest.trim_start().strip_prefix('"'));
                let stage_names =
                    quoted.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
                names.extend(
                    stage_names.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())),
                );
            }
        }
    }

    #[test]
    fn each_stage_of_the_code_has_a_meaning() {
        let mut names = BTreeSet::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in crates.read_dir().unwrap().map(|entry| entry.unwrap().path().join("src")) {
            add_names(&folder, &mut names);
        }
        let known = STAGES.iter().map(|(name, _)| (*name).to_owned());
        assert_eq!(names, known.collect());
    }
}
