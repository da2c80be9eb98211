//! Compares every RNTuple of the test data with what ROOT says about it.

use std::path::PathBuf;

use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_root::Kind;
use nyssa_testdata::data;

use super::descriptors::{FIELDS, NUMBERS};
use super::files::{self, Loaded};

fn load(file: &str, name: &str) -> Loaded {
    let bytes = std::fs::read(data(file)).expect("test file");
    let loaded = files::anchors(&bytes)
        .into_iter()
        .map(|anchor| files::load(&bytes, anchor).unwrap_or_else(|e| panic!("{file}: {e}")))
        .find(|loaded| loaded.header.name == name);
    loaded.unwrap_or_else(|| panic!("{file}: no RNTuple {name}"))
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn numbers_of_fields_columns_and_clusters() {
    for (file, name, expected) in NUMBERS {
        let loaded = load(file, name);
        let groups = &loaded.footer.cluster_groups;
        let clusters = loaded.page_lists.iter().flat_map(|list| &list.clusters);
        let numbers = [
            loaded.schema.fields.len() as u64,
            loaded.schema.columns.len() as u64,
            loaded.schema.aliases.len() as u64,
            clusters.clone().count() as u64,
            groups.len() as u64,
            clusters.clone().map(|cluster| cluster.entries).sum(),
        ];
        assert_eq!(numbers, *expected, "{file}");
    }
}

fn describe(schema: &Schema, id: FieldId, out: &mut Vec<(String, String, String)>) {
    let field = schema.field(id);
    let types: Vec<_> = field
        .columns
        .iter()
        .map(|column| schema.column(*column).column_type.expect("known column type").name())
        .collect();
    out.push((schema.path(id), field.type_name.clone(), types.join(" ")));
    field.children.iter().for_each(|child| describe(schema, *child, out));
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn names_types_and_columns_of_fields() {
    for (file, expected) in FIELDS {
        let loaded = files::load_file(file);
        let mut fields = Vec::new();
        loaded.schema.top_level().for_each(|(id, _)| describe(&loaded.schema, id, &mut fields));
        let fields: Vec<_> =
            fields.iter().map(|(path, name, types)| (&**path, &**name, &**types)).collect();
        assert_eq!(fields, *expected, "{file}");
    }
}

#[test]
fn own_files_are_valid_and_written_again_byte_for_byte() {
    assert!(written_again(files::own_files()) >= 31);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn real_files_are_valid_and_written_again_byte_for_byte() {
    assert!(written_again(files::real_files()) >= 50);
}

/// Writes the metadata of all files again; the number of RNTuples.
fn written_again(files: Vec<PathBuf>) -> usize {
    let mut ntuples = 0;
    for path in files {
        let bytes = std::fs::read(&path).expect("test file");
        let refused = path.ends_with("structure.feature_flag.root");
        for anchor in files::anchors(&bytes) {
            let mut loaded = match files::load(&bytes, anchor) {
                Ok(loaded) => loaded,
                Err(error) if refused => {
                    assert_eq!(error.kind(), Kind::Unsupported);
                    assert_eq!(
                        error.message(),
                        "header envelope, byte 24: unsupported format feature: 137"
                    );
                    continue;
                }
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let place = path.display();
            loaded.schema.validate().unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(loaded.anchor.serialize(), loaded.anchor_bytes, "anchor of {place}");
            let checksum = loaded.header.checksum;
            assert!(loaded.header.serialize().expect("header") == loaded.header_bytes, "{place}");
            assert_eq!(loaded.header.checksum, checksum);
            assert!(loaded.footer.serialize().expect("footer") == loaded.footer_bytes, "{place}");
            for (list, bytes) in loaded.page_lists.iter().zip(&loaded.page_list_bytes) {
                assert!(list.serialize().expect("page list") == *bytes, "{place}");
            }
            // Type names of this schema are in normal form already, but for old ATLAS files.
            for (raw, field) in loaded.header.records.fields.iter().zip(&loaded.schema.fields) {
                assert_eq!(raw.type_name.replace("> >", ">>"), field.type_name, "{place}");
            }
            ntuples += 1;
        }
    }
    ntuples
}

#[test]
fn pages_of_own_files_cover_the_entries() {
    pages_cover_the_entries(files::own_files());
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn pages_of_real_files_cover_the_entries() {
    pages_cover_the_entries(files::real_files());
}

fn pages_cover_the_entries(files: Vec<PathBuf>) {
    for path in files {
        let bytes = std::fs::read(&path).expect("test file");
        for anchor in files::anchors(&bytes) {
            let Ok(loaded) = files::load(&bytes, anchor) else { continue };
            for cluster in loaded.page_lists.iter().flat_map(|list| &list.clusters) {
                for (index, range) in cluster.columns.iter().enumerate() {
                    let sum: u64 = range.pages.iter().map(|page| u64::from(page.elements)).sum();
                    assert!(range.suppressed || sum == range.elements);
                    for page in &range.pages {
                        let end = page.locator.offset + page.locator.size;
                        assert!(end <= bytes.len() as u64, "{}", path.display());
                    }
                    let column = &loaded.schema.columns[index];
                    let field = loaded.schema.field(column.field);
                    let single = field.parent.is_none()
                        && field.columns.len() == 1
                        && field.array_size.is_none()
                        && column.first_element.is_none();
                    if single && !range.suppressed {
                        assert_eq!(range.elements, cluster.entries, "{}", path.display());
                        assert_eq!(range.first_element, cluster.first_entry);
                    }
                }
            }
        }
    }
}
