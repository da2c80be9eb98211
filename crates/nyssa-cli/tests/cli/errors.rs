//! Exit codes and messages.

use crate::common::{NANOAOD, STAFF, ZMUMU, file, nyssa};

fn refused(args: &[&str]) -> String {
    let ran = nyssa(args);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
    ran.err
}

#[test]
fn wrong_names_come_with_the_nearest() {
    let Some(file) = file(NANOAOD) else { return };
    let expected = format!(
        "error: no \"Event\" in this file (file {file})\nhint: did you mean \"Events\"?\n\
         hint: `nyssa ls {file}` shows what the file holds\n"
    );
    assert_eq!(refused(&["cat", &format!("{file}:Event")]), expected);
}

#[test]
fn several_datasets_are_named() {
    let Some(file) = file("ttree/uproot-sample-6.20.04-zlib.root") else { return };
    let ran = nyssa(&["schema", &file]);
    assert_eq!(ran.code, 0, "one tree needs no name: {}", ran.err);
    let Some(file) = crate::common::file("ttree/roottest/tree__friend__short0.root") else {
        return;
    };
    let trees = nyssa(&["ls", &file, "--json"]).out.matches("\"TTree\"").count();
    if trees > 1 {
        let err = refused(&["schema", &file]);
        assert!(err.contains("has several datasets: ") && err.contains("hint: name one"), "{err}");
    }
}

#[test]
fn inputs_that_are_not_data() {
    assert_eq!(
        refused(&["cat", "no-such.root"]),
        "error: cannot open no-such.root: No such file or directory (os error 2)\n"
    );
    let Some(readme) = file("README.md") else { return };
    let err = refused(&["ls", &readme]);
    assert!(err.starts_with("error: not a ROOT file: it begins with \"# Test d\""), "{err}");
    let Some(file) = file("ttree/uproot-histograms.root") else { return };
    let expected = format!(
        "error: {file} has no dataset that this command takes\n\
         hint: `nyssa ls {file}` shows what the file holds\n"
    );
    assert_eq!(refused(&["schema", &file]), expected);
}

#[test]
fn entries_beyond_the_end() {
    let Some(file) = file(ZMUMU) else { return };
    let expected = format!(
        "error: entries 5:9999 reach beyond events of {file}, which has 2304 entries\n\
         hint: entries are numbered from 0 to 2303\n"
    );
    assert_eq!(refused(&["cat", &file, "--entries", "5:9999"]), expected);
}

#[test]
fn filters_that_take_nothing() {
    let Some(file) = file(STAFF) else { return };
    let expected = "error: the filter takes none of the 11 columns\n\
                    hint: `nyssa schema` lists their names\n";
    assert_eq!(refused(&["cat", &file, "--filter", "Jet_*"]), expected);
    let err = refused(&["cat", &file, "--filter", "Jet_["]);
    assert!(err.starts_with("error: \"Jet_[\" is not a glob: "), "{err}");
}

#[test]
fn outputs_that_exist_are_kept() {
    let Some(file) = file(ZMUMU) else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    std::fs::write(&output, "mine").unwrap();
    let err = refused(&["convert", &file, output.to_str().unwrap()]);
    assert!(err.contains("it exists already"), "{err}");
    assert!(err.ends_with("hint: --force replaces it\n"), "{err}");
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "mine");
}

#[test]
fn what_cannot_be_converted_is_listed() {
    let Some(file) = file("ttree/roottest/meta__MakeProject__alice_ESDs.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let tree = format!("{file}:esdTree");
    let err = refused(&["convert", &tree, output.to_str().unwrap()]);
    assert!(err.contains("\nhint: --skip-unsupported "), "{err}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn junk_is_refused() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["ls"],
        &["cat", "x", "-n", "-1"],
        &["cat", "x", "-n", "1", "--entries", "1:2"],
        &["cat", "x", "--entries", "5:1"],
        &["convert", "x", "y", "--cluster-size", "12XB"],
        &["convert", "x", "y", "--compression", "brotli:3"],
        &["convert", "x", "y", "--layout", "sideways"],
        &["convert", "x", "y", "--all", "--name", "z"],
        &["diff", "x"],
        &["ls", "x", "--threads", "many"],
        &["cat", "x", "--threads", "0"],
        &["verify", ""],
        &["verify", ":"],
        &["ls", "::::"],
    ] {
        let err = refused(args);
        assert!(!err.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_are_data() {
    let help = nyssa(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    for command in ["ls", "schema", "cat", "inspect", "convert", "verify", "diff"] {
        assert!(help.out.contains(&format!("\n  {command} ")), "{}", help.out);
        let help = nyssa(&[command, "--help"]);
        assert!(help.out.contains("Examples:\n  nyssa "), "{}", help.out);
    }
    let version = format!("nyssa {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(nyssa(&["--version"]).out, version);
}
