//! Rewrites, merges and updates a damaged file with corrected checksums. These jobs fail, or their output has
//! the values that are read from the input.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use nyssa_data::dataset::Dataset;
use nyssa_fuzz::sink::InPlace;
use nyssa_fuzz::{context, folder, open, repair};
use nyssa_jobs::compare::{Selection, diff};
use nyssa_jobs::job::OutputOptions;
use nyssa_jobs::update::Update;
use nyssa_jobs::{merge, rewrite};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write;
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::FileOptions;

/// The maximum number of entries of inputs. A few bytes of metadata may claim any number, which takes time.
const MAX_ENTRIES: u64 = 1000;
/// The number of entries that are appended.
const APPENDED: u64 = 2;

fuzz_target!(|data: &[u8]| {
    let Some((name, bytes)) = repair::repaired(data) else { return };
    let Ok(file) = open(&bytes) else { return };
    let Ok(input) = Reader::open(&file, &name) else { return };
    if input.num_entries() > MAX_ENTRIES {
        return;
    }
    let quiet = context().quiet();
    let output = folder::path("output.root");
    let options = rewrite::RewriteOptions {
        output: OutputOptions { force: true, ..OutputOptions::default() },
        ..Default::default()
    };
    if rewrite::rewrite(&file, &name, &output, &options, &quiet).is_ok() {
        same(&input, &output_file(&output), &name, &quiet);
    }
    let path = format!("{}:{name}", folder::file("input.root", &bytes).display());
    let options = merge::MergeOptions {
        output: OutputOptions { force: true, name: Some("n".into()), ..OutputOptions::default() },
        ..Default::default()
    };
    if let Ok(report) = merge::merge(&[path.clone(), path], &output, &options, &quiet) {
        assert_eq!(report.written.entries, 2 * input.num_entries());
        same(&input, &output_file(&output), "n", &quiet);
    }
    if let Ok(after) = append(&file, &bytes, &name, &input, &quiet) {
        let Ok(file) = open(&after) else { panic!("the file cannot be opened") };
        same(&input, &file, &name, &quiet);
    }
});

/// Appends the first entries of an RNTuple to it.
fn append(
    file: &RootFile,
    bytes: &[u8],
    name: &str,
    input: &Reader,
    context: &Context,
) -> nyssa_root::Result<Vec<u8>> {
    let physical = input.schema().top_level().filter(|(_, field)| field.source.is_none());
    let names: Vec<_> = physical.map(|(_, field)| field.name.as_str()).collect();
    let arrays = input.read(&names, 0..input.num_entries().min(APPENDED), context)?;
    let sink = InPlace::new(bytes.to_vec());
    let update = Update::over(file.clone(), Box::new(sink.clone()), FileOptions::default())?;
    let mut table = update.append(name, write::RNTupleWriteOptions::default(), context)?;
    table.extend(&arrays)?;
    table.finish()?;
    update.finish()?;
    Ok(sink.bytes())
}

fn output_file(path: &Path) -> RootFile {
    let bytes = std::fs::read(path).unwrap_or_default();
    match open(&bytes) {
        Ok(file) => file,
        Err(error) => panic!("the output cannot be opened: {error}"),
    }
}

/// Checks that the output has the values that can be read from the input. It can have more entries.
fn same(input: &Reader, output: &RootFile, name: &str, context: &Context) {
    let output = match Reader::open(output, name) {
        Ok(reader) => reader,
        Err(error) => panic!("the RNTuple written cannot be opened: {error}"),
    };
    let names = |reader: &Reader| -> Vec<String> {
        reader.columns().iter().map(|item| item.name.clone()).collect()
    };
    assert_eq!(names(input), names(&output));
    for item in input.columns() {
        let pair = (item.name.clone(), item.name.clone());
        let entries = Some(0..input.num_entries());
        let selection = Selection { entries, ..Selection::default() };
        let options = diff::DiffOptions { selection, ..diff::DiffOptions::default() };
        let readable = input.read(&[&item.name], 0..input.num_entries(), context).is_ok();
        match diff::diff_pairs(input, &output, &[pair], &options, context) {
            Ok(report) => {
                // As in ROOT, half precision columns do not keep the payload of a NaN.
                let nan =
                    |it: &diff::Difference| it.a.starts_with("NaN") && it.b.starts_with("NaN");
                let same = |it: &diff::Compared| {
                    it.different_entries == 0 || it.first.as_ref().is_some_and(nan)
                };
                assert!(report.compared.iter().all(same), "{report:?}");
            }
            Err(error) => assert!(!readable, "{error}"),
        }
    }
}
