//! Copies the TTrees in the file of RNTuples that become TTrees. Their baskets are not recompressed.

use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::stored::{Growth, StoredTree};

use crate::compare::diff::{self, DiffOptions};
use crate::job::others::{OtherObjects, path_of, reason};
use crate::job::output::Output;
use crate::job::trees::{Copy, basket_bytes};
use crate::open::open_dataset;

/// The advice if other trees of the file are damaged.
const WITHOUT: &str = "--no-carry (carry=False) leaves the other objects of the file behind";

/// The trees of the input that are in the output in their stored form.
#[derive(Default)]
pub(super) struct CopiedTrees(Vec<KeyEntry>);

impl CopiedTrees {
    /// Copies trees of `input`. `others` gets the trees that cannot be copied, with the reasons.
    ///
    /// # Errors
    /// `Cancelled`; an error if a tree is damaged or the output cannot be written.
    pub(super) fn write(
        keys: &[KeyEntry],
        input: &RootFile,
        output: &Output,
        others: &mut OtherObjects,
        (compression, context): (Compression, &Context),
    ) -> Result<Self> {
        let mut copied = Vec::new();
        for key in keys {
            context.check()?;
            let copy = copy_tree(key, input, output, (compression, context));
            match copy.in_file(input.name()).in_object(&key.path) {
                Ok(()) => {
                    others.arrived(key);
                    copied.push(key.clone());
                }
                Err(error) if error.kind() == Kind::Unsupported => {
                    others.leave_out(key, &reason(&error));
                }
                Err(error) if error.kind().is_damage() => {
                    return Err(error.map_message(|it| format!("{it}; {WITHOUT}")));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self(copied))
    }

    /// Compares the trees with the trees of the input.
    ///
    /// # Errors
    /// `OutOfSpecification` with the first branch that differs; `Cancelled`; an error if the file is damaged.
    pub(super) fn verify(
        &self,
        input: &RootFile,
        written: &RootFile,
        (memory, context): (u64, &Context),
    ) -> Result<()> {
        let options = DiffOptions::of_job(memory);
        for key in &self.0 {
            let tree = open_dataset(input, Some(&path_of(key)))?;
            let copy = open_dataset(written, Some(&key.path))?;
            let compared = diff::diff(&*tree, &*copy, &options, context)?;
            compared.require_equal("the input", "the copy").in_object(&key.path)?;
        }
        Ok(())
    }
}

/// Copies one tree.
fn copy_tree(
    key: &KeyEntry,
    input: &RootFile,
    output: &Output,
    (compression, context): (Compression, &Context),
) -> Result<()> {
    if output.file.with(|file| Ok(file.has(&key.path)))? {
        return Err(Error::unsupported("an object of that name is there already"));
    }
    let tree = StoredTree::read(input, key)?;
    let mut growth = Growth::default();
    let order: Vec<usize> = (0..tree.branches.len()).collect();
    let mut copy = Copy::new(output, compression, context, basket_bytes(&tree));
    copy.entries((input, &tree), &order, &key.path, &mut growth)?;
    copy.tree(tree, key, &key.path, &growth)
}
