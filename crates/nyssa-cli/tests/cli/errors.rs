//! Tests exit codes and messages.

use crate::common::{NANOAOD, STAFF, ZMUMU, file, nyssa};

/// Runs a command that must fail with the exit code, and print nothing but the message that is returned.
fn fails(code: u8, args: &[&str]) -> String {
    let ran = nyssa(args);
    assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?}");
    ran.err
}

/// Runs a command that is wrong.
fn refused(args: &[&str]) -> String {
    fails(2, args)
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn wrong_names_come_with_the_nearest() {
    let file = file(NANOAOD);
    let expected = format!(
        "error: no \"Event\" in this file (file {file})\nhint: did you mean \"Events\"?\n\
         hint: `nyssa ls {file}` shows what the file holds\n"
    );
    assert_eq!(fails(3, &["cat", &format!("{file}:Event")]), expected);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn several_datasets_are_named() {
    let file = file("ttree/uproot-sample-6.20.04-zlib.root");
    let ran = nyssa(&["schema", &file]);
    assert_eq!(ran.code, 0, "one tree needs no name: {}", ran.err);
    let file = crate::common::file("ttree/roottest/tree__friend__short0.root");
    let trees = nyssa(&["ls", &file, "--json"]).out.matches("\"TTree\"").count();
    if trees > 1 {
        let err = refused(&["schema", &file]);
        assert!(err.contains("has several datasets: ") && err.contains("hint: name one"), "{err}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn inputs_that_are_not_data() {
    assert_eq!(
        fails(3, &["cat", "no-such.root"]),
        "error: cannot open no-such.root: No such file or directory (os error 2)\n"
    );
    let readme = file("README.md");
    let err = fails(1, &["ls", &readme]);
    assert!(err.starts_with("error: not a ROOT file: it begins with \"# Test d\""), "{err}");
    let file = file("ttree/uproot-histograms.root");
    let expected = format!(
        "error: {file} has no dataset that this command takes\n\
         hint: `nyssa ls {file}` shows what the file holds\n"
    );
    assert_eq!(refused(&["schema", &file]), expected);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn entries_beyond_the_end() {
    let file = file(ZMUMU);
    let expected = format!(
        "error: entries 5:9999 reach beyond events of {file}, which has 2304 entries\n\
         hint: entries are numbered from 0 to 2303\n"
    );
    assert_eq!(refused(&["cat", &file, "--entries", "5:9999"]), expected);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn filters_that_take_nothing() {
    let file = file(STAFF);
    let expected = format!(
        "error: the filter matches none of the 11 columns of {file}\n\
         hint: `nyssa schema {file}` lists their names\n"
    );
    for command in ["cat", "schema", "digest"] {
        assert_eq!(refused(&[command, &file, "--filter", "Jet_*"]), expected, "{command}");
    }
    let both = expected.replace("11", "22");
    assert_eq!(refused(&["diff", &file, &file, "--filter", "Jet_*"]), both);
    let err = refused(&["cat", &file, "--filter", "Jet_["]);
    assert!(err.starts_with("error: \"Jet_[\" is not a glob: "), "{err}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn nothing_in_common_is_not_equal() {
    let (a, b) = (file(STAFF), file(ZMUMU));
    let expected = format!(
        "error: {a} and {b} have no column in common: nothing was compared\n\
         hint: `nyssa schema` lists the columns of each\n"
    );
    assert_eq!(refused(&["diff", &a, &b, "--only-common"]), expected);
}

/// Lists inputs that cannot be read, and their messages. The folder is shown as `{in}`.
#[cfg(unix)]
#[test]
fn awkward_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty.root"), "").unwrap();
    std::fs::write(path("text.root"), "some words, not bytes of ROOT").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere.root", path("link.root")).unwrap();
    let base = folder.path().to_str().unwrap();
    let several = "`nyssa ls`, `schema`, `inspect`, `verify`, `cat`, `diff`, `digest`, `merge` and `convert --into` take folders and globs";
    let in_folder = format!(
        "error: cannot open {{in}}/folder: it is a folder, not a file\nhint: name a file in it; {several}"
    );
    let no_glob = format!(
        "error: cannot open {{in}}/*.none: No such file or directory (os error 2)\n\
         hint: name one file here; {several}"
    );
    let single = ["convert", "rewrite"];
    let many = ["ls", "schema", "inspect", "cat", "digest", "diff", "merge"];
    let all = [&single[..], &many[..]].concat();
    let stdin = "error: nyssa cannot read standard input, because it does not read the parts of a \
                 file in order\n\
                 hint: write the data to a file, and name the file";
    let table = [
        (2, "-", &all[..], stdin),
        (3, "", &all, "error: cannot open : the name is empty"),
        (
            3,
            "{in}/none.root",
            &all,
            "error: cannot open {in}/none.root: No such file or directory (os error 2)",
        ),
        (
            3,
            "{in}/link.root",
            &all,
            "error: cannot open {in}/link.root: it is a symbolic link to nowhere.root, which does \
             not exist",
        ),
        (1, "{in}/empty.root", &all, "error: not a ROOT file: it is empty (file {in}/empty.root)"),
        (
            1,
            "{in}/text.root",
            &all,
            "error: not a ROOT file: it begins with \"some wor\" (file {in}/text.root)",
        ),
        (
            4,
            "gopher://some.where/a.root",
            &all,
            "error: cannot open gopher://some.where/a.root: nyssa opens paths, and URLs of file, \
             http, https, dav, davs, s3, root and roots, not gopher://; copy the file first",
        ),
        (
            3,
            "file:///none.root",
            &all,
            "error: cannot open file:///none.root: No such file or directory (os error 2)",
        ),
        (2, "{in}/folder", &single, in_folder.as_str()),
        (3, "{in}/folder", &many, "error: no file matches {in}/folder/*.root"),
        (3, "{in}/*.none", &single, no_glob.as_str()),
        (3, "{in}/*.none", &many, "error: no file matches {in}/*.none"),
        (
            3,
            "@{in}/none.txt",
            &many,
            "error: cannot read the list {in}/none.txt: No such file or directory (os error 2)",
        ),
    ];
    let output = path("out.root");
    let output = output.to_str().unwrap();
    for (code, input, commands, expected) in table {
        let (input, expected) = (input.replace("{in}", base), expected.replace("{in}", base));
        for &command in commands {
            let args = match command {
                "convert" | "rewrite" => vec![command, &input, output],
                "merge" => vec![command, &input, "-o", output],
                "diff" => vec![command, &input, &input],
                _ => vec![command, &input],
            };
            assert_eq!(fails(code, &args), format!("{expected}\n"), "{command} {input}");
            let ran = nyssa(&[&args[..], &["--json"]].concat());
            assert_eq!((ran.code, ran.err), (code, format!("{expected}\n")));
            let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!(
                (&document["version"], &document["error"]["exit_code"]),
                (&1.into(), &code.into())
            );
            let message = document["error"]["message"].as_str().unwrap();
            assert!(expected.starts_with(&format!("error: {message}")), "{message}");
        }
    }
    let ran = nyssa(&["verify", path("empty.root").to_str().unwrap()]);
    let expected = format!(
        "problem: not a ROOT file: it is empty\ndamaged: 1 problem in 0 keys of {base}/empty.root\n"
    );
    assert_eq!((ran.code, ran.out, ran.err), (1, expected, String::new()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left behind");
}

/// The files of options are files. The input, which is not there, is not looked for.
#[test]
fn options_do_not_write_to_standard_output() {
    for (args, option) in [
        (["tune", "none.root", "--output", "-"], "--output"),
        (["tune", "none.root", "--html", "-"], "--html"),
        (["inspect", "none.root", "--html", "-"], "--html"),
    ] {
        let expected = format!(
            "error: {option} writes a file, and not to standard output\n\
             hint: name a file; `./-` is a file of that name\n"
        );
        assert_eq!(fails(2, &args), expected);
    }
}

#[test]
fn options_that_are_no_numbers() {
    for (args, expected) in [
        (
            &["ls", "x", "--threads", "0"][..],
            "'0' for '--threads <N>': the number of threads must be from 1 to 1024",
        ),
        (
            &["convert", "x", "y", "--threads", "-1"],
            "'-1' for '--threads <N>': the number of threads must be from 1 to 1024",
        ),
        (
            &["cat", "x", "--entries", "5:2"],
            "'5:2' for '--entries <A:B>': \"5:2\" ends before it starts",
        ),
        (
            &["rewrite", "x", "y", "--entries", "-3:"],
            "'-3:' for '--entries <A:B>': \"-3:\" is not a range of entries: write A:B, A: or :B",
        ),
        (&["cat", "x", "-n", "-1"], "'-1' for '--number <N>': invalid digit found in string"),
    ] {
        let expected =
            format!("error: invalid value {expected}\n\nFor more information, try '--help'.\n");
        assert_eq!(refused(args), expected);
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn reports_are_files() {
    let file = file(ZMUMU);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let err = refused(&["convert", &file, output.to_str().unwrap(), "--report", "-"]);
    let expected = "error: --report writes a file, and not to standard output\n\
                    hint: name a file; `./-` is a file of that name\n";
    assert_eq!(err, expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    let expected = format!(
        "error: not a report with digests: `nyssa convert --report FILE` or `nyssa digest --json` \
         writes one (file {file})\n"
    );
    assert_eq!(refused(&["digest", &file, "--compare", &file]), expected);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn outputs_that_exist_are_kept() {
    let file = file(ZMUMU);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    std::fs::write(&output, "mine").unwrap();
    let err = refused(&["convert", &file, output.to_str().unwrap()]);
    assert!(err.contains("it exists already"), "{err}");
    assert!(err.ends_with("hint: --force replaces it\n"), "{err}");
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "mine");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn what_cannot_be_converted_is_listed() {
    let file = file("ttree/roottest/meta__MakeProject__alice_ESDs.root");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let tree = format!("{file}:esdTree");
    let err = fails(4, &["convert", &tree, output.to_str().unwrap()]);
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
        &["diff", "x"],
        &["ls", "x", "--threads", "many"],
        &["cat", "x", "--threads", "0"],
    ] {
        let err = refused(args);
        assert!(!err.is_empty(), "{args:?}");
    }
    for args in [["verify", ""], ["verify", ":"], ["ls", "::::"]] {
        assert!(!fails(3, &args).is_empty(), "{args:?}");
    }
}

#[test]
fn wrong_arguments_have_a_document_too() {
    let ran = nyssa(&["ls", "--frobnicate", "--json"]);
    assert_eq!(ran.code, 2);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let error = &document["error"];
    assert_eq!(error["message"], "unexpected argument '--frobnicate' found");
    assert_eq!((&error["kind"], &error["exit_code"]), (&"InvalidArgument".into(), &2.into()));
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
