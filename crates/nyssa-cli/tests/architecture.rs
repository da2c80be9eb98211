//! No file of the command line uses another that uses it.

#![allow(clippy::panic, reason = "helpers of tests, where this is how to fail")]

#[path = "../../nyssa/tests/architecture/imports.rs"]
mod imports;

use std::path::Path;

use imports::{Module, circles, imports};

#[test]
fn no_files_use_each_other_in_a_circle() {
    let modules = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(modules.len() > 20, "{modules:?}");
    let show = |group: &Vec<Module>| {
        group.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", ")
    };
    let found: Vec<_> = circles(&modules).iter().map(show).collect();
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}
