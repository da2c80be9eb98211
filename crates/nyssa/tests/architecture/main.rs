//! Checks that no files of a crate import each other in a circle, that only `nyssa-io` looks at the disk, and that the
//! crate `nyssa` shows few names, each with an example.

#![allow(clippy::panic, reason = "helpers of tests, where this is how to fail")]

mod front_door;
mod imports;

use std::path::{Path, PathBuf};

use front_door::front_door;
use imports::{Module, circles, imports, rust_files};

/// Returns the folders of the sources of all crates.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(crates) = std::fs::read_dir(root.join("crates")) else { panic!("no crates") };
    let folders = crates.map(|folder| folder.map(|folder| folder.path().join("src")));
    let mut all: Vec<PathBuf> = folders.filter_map(|folder| folder.ok()).collect();
    all.push(root.join("python/src"));
    all.sort();
    all
}

fn name(module: &Module) -> String {
    module.join("::")
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let (mut count, mut shown) = (0, Vec::new());
    for source in sources() {
        let modules = imports(&source);
        count += modules.len();
        for group in circles(&modules) {
            let names: Vec<_> = group.iter().map(name).collect();
            shown.push(format!("{}: {}", source.display(), names.join(", ")));
        }
    }
    assert!(count > 600, "{count} files");
    assert!(shown.is_empty(), "{} circles:\n{}", shown.len(), shown.join("\n"));
}

/// The crates whose arrays and types are in the interface, which document themselves.
const OTHERS: [&str; 2] = ["arrow_array", "arrow_schema"];

#[test]
fn the_front_door_shows_few_names_with_examples() {
    let mut shown = front_door(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(shown.len() <= 63, "{} names at the root", shown.len());
    shown.retain(|name, _| !OTHERS.contains(&name.as_str()));
    let items: usize = shown.values().map(|shown| shown.items).sum();
    assert!((100..=500).contains(&items), "{items} public items");
    let missing = shown.iter().filter(|(_, shown)| shown.items == 0).map(|(name, _)| name);
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "are in no source");
    let plain = shown.iter().filter(|(_, shown)| !shown.has_example).map(|(name, _)| name);
    assert_eq!(plain.collect::<Vec<_>>(), Vec::<&String>::new(), "have no example");
}

/// The names that only `nyssa-io` and its neighbours may use.
const DISK: [&str; 7] =
    ["std::fs", "File::", ".exists()", ".is_dir()", ".is_file()", "canonicalize", "read_dir"];

#[test]
fn only_nyssa_io_looks_at_the_disk() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    let io = ["io", "net", "observe", "xrootd", "serve", "testdata"]
        .map(|name| format!("nyssa-{name}/src"));
    let others =
        sources().into_iter().filter(|source| !io.iter().any(|name| source.ends_with(name)));
    for source in others {
        for file in rust_files(&source) {
            let name = file.strip_prefix(&source).unwrap_or(&file).display().to_string();
            let of_tests = name.ends_with("tests.rs") || name.contains("/tests/");
            if of_tests {
                continue;
            }
            seen += 1;
            let Ok(text) = std::fs::read_to_string(&file) else { panic!("{name} is not read") };
            let code = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
            let code = code.filter(|line| !line.trim_start().starts_with("//"));
            for line in code.filter(|line| DISK.iter().any(|word| names(line, word))) {
                wrong.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(seen > 300, "{seen} files");
    assert!(wrong.is_empty(), "looks at the disk by itself:\n{}", wrong.join("\n"));
}

/// Returns whether a line has a word that does not go on to the left: `File::` is no part of `RootFile::`.
fn names(line: &str, word: &str) -> bool {
    let goes_on = |at: usize| line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| word.starts_with('.') || !goes_on(at))
}
