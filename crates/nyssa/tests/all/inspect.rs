//! Compares the sizes that are told of the files of the test data.
#![allow(clippy::unwrap_used)]

use nyssa_data::dataset::Format;
use nyssa_jobs::open::{datasets, format_of};
use nyssa_jobs::tune::inspect::{inspect_ntuple, inspect_tree};
use nyssa_rntuple::read;
use nyssa_root::rootfile::RootFile;
use nyssa_ttree as ttree;

use nyssa_testdata::data;

/// All datasets of a file are no larger than the file, with baskets inside tree objects and all.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn what_is_stored_is_in_the_file() {
    let folder = data("");
    let mut open = vec![folder];
    let (mut files, mut inside) = (0, 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "root") {
            continue;
        }
        let source = nyssa_io::open(&path).unwrap();
        let Ok(file) = RootFile::open(source) else { continue };
        let mut stored = 0;
        for key in datasets(&file).unwrap() {
            let name = format!("{};{}", key.path, key.cycle);
            let inspection = match format_of(&key) {
                Some(Format::TTree) => {
                    ttree::Reader::open(&file, &name).and_then(|tree| inspect_tree(&tree))
                }
                Some(Format::RNTuple) => {
                    read::Reader::open(&file, &name).and_then(|ntuple| inspect_ntuple(&ntuple))
                }
                _ => continue,
            };
            // Damaged on purpose, or of kinds that are refused; baskets of other files.
            let Ok(inspection) = inspection.as_ref() else { continue };
            if inspection.file_bytes != file.source().size() {
                continue;
            }
            let sums = [&inspection.fields, &inspection.compressions]
                .map(|parts| parts.iter().map(|part| part.stored_bytes).sum::<u64>());
            assert_eq!(sums, [inspection.stored_bytes; 2], "{path:?} {name}");
            stored += inspection.stored_bytes + inspection.metadata_bytes;
            inside += inspection
                .compressions
                .iter()
                .filter(|part| part.name == "inside the tree object")
                .map(|part| part.pages)
                .sum::<u64>();
            files += 1;
        }
        assert!(stored <= file.source().size(), "{path:?}: {stored} bytes of datasets");
    }
    assert!(files > 100 && inside > 1000, "{files} datasets, {inside} baskets");
}
