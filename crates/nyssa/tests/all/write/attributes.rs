//! Tests attribute sets: the link in the footer and its target follow the specification.

use std::sync::Arc;

use arrow_array::*;
use nyssa_rntuple::format::{Anchor, FormatVersion};
use nyssa_rntuple::write::{AttributeSetWriter, RNTupleWriteOptions, TableWriter};

use crate::support::writing::*;

#[test]
fn the_footer_links_an_anchor_that_no_directory_lists() {
    let (file, handle) = file();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let schema = arrow_schema(&[("x", numbers.clone())]);
    let (options, context) = (RNTupleWriteOptions::default(), context(1));
    let mut main =
        TableWriter::create(&file, "Events", &schema, options.clone(), &context).unwrap();
    let attributes = arrow_schema(&[("run", numbers.clone())]);
    let mut set = main
        .with_writer(|main| {
            AttributeSetWriter::create(main, "meta", &attributes, options.clone(), &context)
        })
        .unwrap();
    main.extend(std::slice::from_ref(&numbers)).unwrap();
    set.extend(vec![0, 1].into(), vec![2, 0].into(), &[numbers]).unwrap();
    main.with_writer(|main| main.link(set.finish()?)).unwrap();
    main.finish().unwrap();
    file.finish().unwrap();
    let bytes = handle.take();
    let reader = reader(bytes.clone(), "Events");
    assert_eq!(open(bytes.clone()).keys().unwrap().len(), 1);
    assert_eq!(reader.anchor().version, FormatVersion { epoch: 1, major: 0, minor: 1, patch: 0 });
    let [link] = &reader.footer().attribute_sets[..] else { panic!("one set") };
    // ROOT 6.40 writes schema version 1.0 and an anchor of 78 bytes as stored.
    assert_eq!((link.schema_major, link.schema_minor, link.anchor_length), (1, 0, 78));
    assert_eq!((link.name.as_str(), link.locator.size), ("meta", 78));
    let start = link.locator.offset as usize;
    let anchor = Anchor::parse(&bytes[start..start + 78]).unwrap();
    assert_eq!(anchor.version, FormatVersion::WRITTEN);
    // The payload of a key of its own: class, name and title lie right before it.
    assert_eq!(&bytes[start - 20..start], b"\x0dROOT::RNTuple\x04meta\0");
}

/// Tests that the oldest version, which every reader knows, is written if there are no attribute sets.
#[test]
fn the_version_rises_only_with_a_set() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let (bytes, _) = write(&[("x", numbers)], &[1], RNTupleWriteOptions::default(), 1);
    assert_eq!(reader(bytes, "Events").anchor().version, FormatVersion::WRITTEN);
}
