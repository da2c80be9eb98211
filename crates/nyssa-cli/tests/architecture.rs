//! Checks that few files of the command line know a format.

#![allow(clippy::panic, reason = "helpers of tests, where this is how to fail")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crates and modules that know a format, and the crates of arrays. A command that prints a report needs none.
const FORMATS: [&str; 7] = [
    "arrow_array",
    "arrow_schema",
    "compression",
    "nyssa_rntuple",
    "nyssa_ttree",
    "rootfile",
    "streamer",
];

/// The files that use one of these modules: to open the data that an argument names, and to print values.
const USES: [(&str, &str); 8] = [
    ("cmd/cat.rs", "arrow_array"),
    ("cmd/cat.rs", "rootfile"),
    ("cmd/cat.rs", "streamer"),
    ("cmd/columns.rs", "nyssa_rntuple"),
    ("data.rs", "rootfile"),
    ("json_value.rs", "arrow_array"),
    ("json_value.rs", "arrow_schema"),
    ("json_value/objects.rs", "streamer"),
];

#[test]
fn commands_know_no_format() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut uses = BTreeSet::new();
    for file in rust_files(&source) {
        let name = file.strip_prefix(&source).unwrap_or(&file).display().to_string();
        if name.ends_with("tests.rs") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&file) else { panic!("{name} is not read") };
        let code = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        for line in code.filter(|line| !line.trim_start().starts_with("//")) {
            let used = FORMATS.iter().filter(|format| names(line, format));
            uses.extend(used.map(|format| (name.clone(), (*format).to_owned())));
        }
    }
    let expected = USES.map(|(file, format)| (file.to_owned(), format.to_owned()));
    assert_eq!(uses, BTreeSet::from(expected));
}

/// Returns all Rust files of a folder and of the folders in it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let paths = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let files = paths.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// Returns whether a line has a path with this module. `my_rootfile::` is not a path with `rootfile::`.
fn names(line: &str, module: &str) -> bool {
    let path = format!("{module}::");
    let goes_on = |at: usize| line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    line.match_indices(&path).any(|(at, _)| !goes_on(at))
}
