//! The header says what the sources say, compiles, and has the names that the library exports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
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

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let text = std::fs::read_to_string(include().join("nyssa.h")).unwrap();
    let code = text.lines().filter(|line| !line.starts_with("//"));
    let name = |line: &str| {
        let before = line.split('(').next()?.rsplit([' ', '*']).next()?;
        before.starts_with("nyssa_").then(|| before.to_owned())
    };
    code.filter(|line| line.contains('(') && !line.contains("(*")).filter_map(name).collect()
}

/// Returns the library that this test was built with.
fn library() -> Option<PathBuf> {
    let folder = std::env::current_exe().unwrap().parent()?.to_owned();
    Some(folder.join("libnyssa_capi.so")).filter(|library| library.exists())
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let Some(library) = library() else { return eprintln!("this system has other libraries") };
    let listed = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output();
    let Ok(listed) = listed else { return eprintln!("there is no program nm") };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<String> =
        listed.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect();
    assert!(exported.len() > 40, "{exported:?}");
    assert_eq!(exported, declared());
}

#[test]
fn the_header_is_c11_and_cpp17() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.c");
    let functions = declared();
    let used: Vec<String> =
        functions.iter().map(|name| format!("(void (*)(void)){name}")).collect();
    let code = "#include <nyssa.h>\ntypedef void (*function)(void);\nfunction all[] = {";
    std::fs::write(&source, format!("{code}{}}};\n", used.join(", "))).unwrap();
    let mut compiled = 0;
    for (compiler, language) in [
        ("gcc", "-std=c11"),
        ("g++", "-std=c++17"),
        ("clang", "-std=c11"),
        ("clang++", "-std=c++17"),
    ] {
        let kind = if compiler.ends_with('+') { "c++" } else { "c" };
        let command = Command::new(compiler)
            .args([
                language,
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                "-fsyntax-only",
                "-x",
                kind,
            ])
            .arg(&source)
            .arg("-I")
            .arg(include())
            .output();
        let Ok(output) = command else { continue };
        compiled += 1;
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }
    if compiled == 0 {
        eprintln!("there is no compiler of C");
    }
}
