//! The header says what the sources say, and has the names that the library exports.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::support::include;

/// Makes the header of the sources.
fn made() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let names = [
        "texts",
        "error",
        "handle",
        "context",
        "dataset",
        "reading",
        "stream",
        "writer",
        "table",
        "fill_context",
        "jobs",
    ];
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = names.iter().fold(builder, |builder, name| {
        builder.with_src(root.join("src").join(name).with_extension("rs"))
    });
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

/// With NYSSA_UPDATE=1 the test writes the header.
#[test]
fn the_header_is_that_of_the_sources() {
    let path = include().join("nyssa.h");
    let made = made();
    if std::env::var_os("NYSSA_UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(made == committed, "run this test with NYSSA_UPDATE=1 to write {}", path.display());
}

/// Returns the function that a line of the header declares.
fn name(line: &str) -> Option<String> {
    let (before, _) = line.split_once('(').filter(|(_, after)| !after.starts_with('*'))?;
    let name = before.rsplit([' ', '*']).next()?;
    name.starts_with("nyssa_").then(|| name.to_owned())
}

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<String> {
    summaries().into_iter().map(|(name, _)| name).collect()
}

/// Returns the functions with the first words of their comments, in the order of the header.
fn summaries() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(include().join("nyssa.h")).unwrap();
    let (mut functions, mut comment) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("//") {
            comment.push_str(words);
            continue;
        }
        if let Some(name) = name(line) {
            let first = comment.split(". ").next().and_then(|text| text.split(": ").next());
            functions.push((name, first.unwrap_or_default().trim().to_owned()));
        }
        comment.clear();
    }
    functions
}

/// With NYSSA_UPDATE=1 the test writes the table.
#[test]
fn the_page_has_a_row_for_each_function() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/c-api.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- functions -->\n").unwrap();
    let (rows, after) = rest.split_once("<!-- end of functions -->").unwrap();
    let row = |(name, sentence): (String, String)| format!("| `{name}` | {sentence} |\n");
    let made: String = summaries().into_iter().map(row).collect();
    let made = format!("| function | |\n|---|---|\n{made}");
    if std::env::var_os("NYSSA_UPDATE").is_some() {
        let page = format!("{before}<!-- functions -->\n{made}<!-- end of functions -->{after}");
        std::fs::write(&path, page).unwrap();
    }
    assert!(made == rows, "run this test with NYSSA_UPDATE=1 to write {}", path.display());
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the libraries of this system have another form")]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let mut nm = Command::new("nm");
    let listed = nm.args(["-D", "--defined-only"]).arg(folder.join("libnyssa_capi.so")).output();
    let listed = listed.expect("the program nm lists the symbols: install binutils");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<String> =
        listed.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect();
    assert!(exported.len() > 40, "{exported:?}");
    assert_eq!(exported, declared());
}
