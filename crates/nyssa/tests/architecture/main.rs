//! Checks that the imports of the crate follow the layers that `lib.rs` shows.

#![allow(clippy::panic, reason = "helpers of tests, where this is how to fail")]

mod imports;

use std::path::Path;

use imports::{Module, circles, imports, rust_files};

/// The layers of modules, from the lowest one. The modules of a line do not use each other.
const LAYERS: &[&[&str]] = &[
    &[
        "error",
        "guard",
        "cursor",
        "arena",
        "context",
        "fetch",
        "distinct",
        "page_pool",
        "pipeline",
        "names",
        "problem",
        "process",
        "waiting",
    ],
    &["type_name", "arrow", "compression", "monitor"],
    &["profile"],
    &["effort"],
    &["rootfile", "unpacked"],
    &["streamer"],
    &["shared_file", "fill"],
    &["rntuple::encoding"],
    &["rntuple::schema", "ttree::model"],
    &["rntuple::format", "ttree::stored"],
    &["rntuple::page"],
    &["rntuple::choose"],
    &["dataset"],
    &["cut"],
    &["rntuple::read", "rntuple::write", "ttree::read", "ttree::write"],
    &["view"],
    &["open"],
    &["compare"],
    &["verify"],
    &["job"],
    &["rewrite"],
    &["convert", "merge", "update"],
    &["tune"],
];

fn source() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn name(module: &Module) -> String {
    module.join("::")
}

/// Returns the number of the layer of a module, and the entry of the layer that it belongs to. Folders that
/// only hold modules of several layers have none.
fn layer_of(module: &Module) -> Option<(usize, &'static str)> {
    let name = name(module);
    let inside = |entry: &str| name == entry || name.starts_with(&format!("{entry}::"));
    let layers = LAYERS.iter().enumerate();
    let mut found = layers
        .filter_map(|(number, entries)| Some((number, *entries.iter().find(|it| inside(it))?)));
    found.next()
}

#[test]
fn modules_use_the_layers_below_them() {
    let mut wrong = Vec::new();
    for (module, others) in imports(&source()) {
        let Some((own_layer, own)) = layer_of(&module) else { continue };
        for other in others {
            let Some((layer, entry)) = layer_of(&other) else { continue };
            // The lowest layer has single files. Another test finds their circles.
            if entry != own && (layer > own_layer || layer == own_layer && own_layer > 0) {
                wrong.push(format!("{} uses {}", name(&module), name(&other)));
            }
        }
    }
    assert!(wrong.is_empty(), "upward imports:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let modules = imports(&source()).into_keys();
    let lost: Vec<_> =
        modules.filter(|module| layer_of(module).is_none()).map(|m| name(&m)).collect();
    assert_eq!(lost, ["", "rntuple", "ttree"], "only folders of several layers have none");
}

/// Tests all crates: those of the folder `crates`, and the extension module of Python.
#[test]
fn no_files_use_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(crates) = crates.read_dir() else { panic!("{} is not read", crates.display()) };
    let folders = crates.flatten().map(|entry| entry.path());
    let folders = folders.chain([Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")]);
    let sources = folders.map(|folder| folder.join("src"));
    let (mut count, mut shown) = (0, Vec::new());
    for source in sources.filter(|source| source.join("lib.rs").exists()) {
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

/// The names that only `nyssa-io` may use, and the files that ask the system about this process and keep what it
/// says.
const DISK: [&str; 7] =
    ["std::fs", "File::", ".exists()", ".is_dir()", ".is_file()", "canonicalize", "read_dir"];
const OF_THE_PROCESS: [&str; 3] =
    ["src/monitor/files.rs", "src/monitor/usage.rs", "src/process.rs"];

#[test]
fn only_nyssa_io_looks_at_the_disk() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    let mut seen = 0;
    for folder in ["src", "../nyssa-cli/src", "../../python/src"] {
        for file in rust_files(&core.join(folder)) {
            let name = file.strip_prefix(core).unwrap_or(&file).display().to_string();
            let of_tests = name.ends_with("tests.rs") || name.contains("/tests/");
            if of_tests || OF_THE_PROCESS.contains(&name.as_str()) {
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
