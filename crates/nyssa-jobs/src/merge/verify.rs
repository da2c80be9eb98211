//! Verifies that nothing was lost: the inputs are read as one dataset, and every value is compared.

use std::sync::Arc;

use nyssa_data::dataset::AnyDataset;
use nyssa_data::view::evolve::{EvolutionOptions, Missing};
use nyssa_data::view::{Chain, ChainOptions, ChainSchema, Link};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::inputs::{AllInputs, open};
use crate::compare::diff;

/// Compares the entries of all inputs with the entries of the RNTuple `name` of `written`.
///
/// # Errors
/// `OutOfSpecification` with the first field that differs; `Cancelled`; an error if a file is damaged.
pub(super) fn compare(
    all_inputs: &AllInputs,
    written: &RootFile,
    name: &str,
    memory_budget: u64,
    context: &Context,
) -> Result<()> {
    // Streamed objects are bytes.
    let raw =
        || RNTupleReadOptions { streamer: StreamerForm::Raw, ..RNTupleReadOptions::default() };
    let merged = Arc::new(Reader::open_with(written, name, raw())?);
    let links = all_inputs.inputs.iter().map(|input| {
        let (name, input) = (input.report.file.clone(), input.clone());
        Link::new(name, move || Ok(open(&input, raw())?.1 as AnyDataset))
    });
    // The fields that an input lacks are zero or empty.
    let evolution = EvolutionOptions { missing: Missing::Default, narrowing: false };
    let target = ChainSchema::Like(Arc::clone(&merged) as AnyDataset);
    let options = ChainOptions { target, evolution, ..ChainOptions::default() };
    let inputs = Chain::new(links.collect(), &options, context)?;
    let options = diff::DiffOptions::of_job(memory_budget);
    let compared = diff::diff(&inputs, &*merged, &options, context)?;
    compared.require_equal("the inputs", "the RNTuple").in_object(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use arrow_array::{ArrayRef, Int32Array};
    use arrow_schema::{DataType, Field, Schema};

    use super::*;
    use crate::merge::plan::Plan;
    use nyssa_rntuple::write::{self, SharedFile, TableWriter};
    use nyssa_root::error::Kind;
    use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};

    fn write(path: &Path, values: &[i32], context: &Context) -> String {
        let sink = nyssa_io::create(path, true).unwrap();
        let file = SharedFile::new(RootFileWriter::create(sink, FileOptions::default()).unwrap());
        let schema = Schema::new(vec![Field::new("x", DataType::Int32, false)]);
        let options = write::RNTupleWriteOptions::default();
        let mut table = TableWriter::create(&file, "n", &schema, options, context).unwrap();
        let values: ArrayRef = Arc::new(Int32Array::from(values.to_vec()));
        table.extend(&[values]).unwrap();
        table.finish().unwrap();
        file.finish().unwrap();
        path.display().to_string()
    }

    #[test]
    fn another_value_is_found() {
        let (folder, context) = (tempfile::tempdir().unwrap(), Context::new(Some(1)).unwrap());
        let write = |name: &str, values: &[i32]| write(&folder.path().join(name), values, &context);
        let inputs = [write("a.root", &[1, 2]), write("b.root", &[3])];
        let merging = crate::merge::MergeOptions::default();
        let all_inputs = Plan::of(None, &inputs, &merging, &context).unwrap().ntuples.remove(0);
        let compared = |name: &str, values: &[i32]| {
            let file = write(name, values);
            let source = Arc::new(nyssa_io::LocalSource::open(file).unwrap());
            compare(&all_inputs, &RootFile::open(source).unwrap(), "n", 1 << 20, &context)
        };
        compared("same.root", &[1, 2, 3]).unwrap();
        let error = compared("other.root", &[1, 2, 4]).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification);
        let different =
            "x: 1 entries differ, the first is 2 with 3 in the inputs and 4 in the RNTuple";
        assert!(error.to_string().contains(different), "{error}");
        assert!(compared("short.root", &[1, 2]).is_err());
    }
}
