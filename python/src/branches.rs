//! Tells what is stored of each branch of a TTree.

use nyssa_jobs::open::open_again;
use nyssa_ttree::{Branch, Stated, load};
use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::job::Job;

/// The path of a branch, its class, the entries at which its baskets begin (and its number of entries), its bytes in
/// the file and before compression, its compression, and the bytes of its baskets inside the tree object.
type BranchRow = (String, String, Vec<u64>, u64, u64, i64, u64);

/// Returns the title of a tree, and its branches with those below them.
#[pyfunction]
pub(crate) fn branches(
    py: Python<'_>,
    tree: PyRef<'_, Dataset>,
) -> PyResult<(String, Vec<BranchRow>)> {
    let tree = tree.inner();
    Job::new(None).abandonable().run(py, move |_| {
        let file = open_again(tree.as_ref())?;
        let tree_record = load(&file, &file.find(tree.name())?)?;
        let mut rows = Vec::new();
        add(&tree_record.branches, &mut rows);
        Ok((tree_record.title, rows))
    })
}

fn add(branches: &[Branch], rows: &mut Vec<BranchRow>) {
    for branch in branches {
        let starts = branch.baskets.iter().map(|basket| basket.first_entry);
        let offsets: Vec<u64> = if branch.baskets.is_empty() {
            vec![0]
        } else {
            starts.chain([branch.entries]).collect()
        };
        let Stated { stored_bytes, uncompressed_bytes, compression } = branch.stated;
        let (path, class) = (branch.path.clone(), branch.class.clone());
        let inside = branch.baskets.iter().filter_map(|basket| basket.embedded.as_ref());
        let inside = inside.map(|bytes| bytes.len() as u64).sum();
        rows.push((path, class, offsets, stored_bytes, uncompressed_bytes, compression, inside));
        add(&branch.branches, rows);
    }
}
