//! Writes the table of the references between the objects of a tree (`TBranchRef`), as another tree had it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::Schema;
use nyssa_root::compression::Codec;
use nyssa_root::distinct::Distinct;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::writer::StoredBasket;
use nyssa_root::shared_file::SharedFile;
use nyssa_root::streamer::{Draft, Target};

use super::basket::{Basket, Capacity};
use super::codec::BasketCodecs;
use super::compress::{CompressedPayload, Compressors, MAX_PAYLOAD};
use super::form::{BranchForm, Content};
use super::options::{BranchSettings, TreeWriteOptions};
use super::shape::Plan;
use super::stored_branch::{Place, StoredBranch};
use crate::stored::ReferenceTable;

/// ROOT's name of the branch.
const NAME: &str = "TRefTable";
/// ROOT's title of the branch.
const TITLE: &str = "List of branch numbers with referenced objects";

/// The table of a new tree.
pub(super) struct WrittenTable {
    /// The branch with the table.
    pub branch: StoredBranch,
    /// The branches with referenced objects, in the order of their numbers.
    pub parents: Vec<usize>,
    /// The processes of the objects, in the order of their numbers.
    processes: Vec<String>,
}

/// Checks that a tree with the columns of `schema` has the branches of a table.
///
/// # Errors
/// `Unsupported` with a branch of the table that the tree will not have; an error if the tree cannot be made.
pub fn check_references(
    table: &ReferenceTable,
    schema: &Schema,
    options: &TreeWriteOptions,
) -> Result<()> {
    parents(table, Plan::new(schema, options)?.branches.iter()).map(drop)
}

/// Returns the branches with referenced objects.
fn parents<'f>(
    table: &ReferenceTable,
    branches: impl Iterator<Item = &'f BranchForm>,
) -> Result<Vec<usize>> {
    let (mut given, mut paths) = (Distinct::default(), Vec::<String>::new());
    let mut known = HashMap::new();
    for (at, form) in branches.enumerate() {
        let mother = form.element.as_ref().and_then(|element| paths.get(element.mother?));
        let path = mother.map_or_else(|| form.name.clone(), |path| format!("{path}/{}", form.name));
        let path = given.give(&path, true);
        if form.element.is_some() {
            known.insert(path.clone(), at);
        }
        paths.push(path);
    }
    let number = |path: &String| {
        let missing = || Error::unsupported(format!("its branch {path} is not as it was"));
        known.get(path).copied().ok_or_else(missing)
    };
    table.parents.iter().map(number).collect()
}

/// Writes the baskets of the table of the tree `tree` in the folder `dir` of `file`, whose other branches are `branches`.
///
/// # Errors
/// `Unsupported` for a table of other branches; `LimitExceeded` for an entry of more than 1 GiB; an error if the sink cannot be
/// written.
pub(super) fn write(
    table: &ReferenceTable,
    branches: &[StoredBranch],
    (file, dir, tree): (&SharedFile, &str, &str),
    options: &TreeWriteOptions,
) -> Result<WrittenTable> {
    let parents = parents(table, branches.iter().map(|branch| &branch.form))?;
    let form = BranchForm {
        name: NAME.to_owned(),
        content: Content::Text,
        counter: None,
        counter_leaf: 0,
        string_class: None,
        leaf: None,
        element: None,
        offsets: Some(true),
        process: None,
    };
    let TreeWriteOptions { compression, effort, basket_size, .. } = *options;
    let settings = BranchSettings { compression, effort, basket_size };
    let mut branch = StoredBranch::new(form, tree, settings, options);
    branch.title = Some(TITLE.to_owned());
    let capacity = Capacity { bytes: basket_size, keylen: branch.keylen };
    let mut basket = Basket::new(0, true);
    for entry in &table.entries {
        if basket.data.len() + entry.len() > MAX_PAYLOAD {
            return Err(Error::limit("a table of references of more than 1 GiB in one basket"));
        }
        basket.data.extend_from_slice(entry);
        basket.entries += 1;
        basket.ends.get_or_insert_default().push(basket.data.len() as u32);
        if capacity.is_full(&basket, entry.len()) {
            store(&mut branch, basket.take(), (file, dir, tree))?;
        }
    }
    if basket.entries > 0 {
        store(&mut branch, basket, (file, dir, tree))?;
    }
    Ok(WrittenTable { branch, parents, processes: table.processes.clone() })
}

/// Writes a basket.
fn store(
    branch: &mut StoredBranch,
    mut basket: Basket,
    (file, dir, tree): (&SharedFile, &str, &str),
) -> Result<()> {
    let codecs = BasketCodecs { entries: Arc::new(Codec::from(branch.compression)), offsets: None };
    let first = basket.first;
    let CompressedPayload { header, compressed, objlen } =
        Compressors::default().compress(&mut basket, branch.keylen, &codecs)?;
    let stored = StoredBasket {
        dir,
        branch: NAME,
        tree,
        number: branch.places.len() as u64,
        header: &header,
        objlen: objlen as u64,
    };
    let payload = compressed.unwrap_or(basket.data);
    let (seek, bytes) = file.with(|file| file.write_basket(&stored, &payload)).in_field(NAME)?;
    branch.places.push(Place { seek, bytes, first });
    branch.tot_bytes += (branch.keylen + objlen) as u64;
    branch.zip_bytes += bytes;
    Ok(())
}

impl WrittenTable {
    /// Adds to the branch what only a `TBranchRef` has. `own` is its label, and `parents` are the branches with referenced
    /// objects.
    pub(super) fn draft(&self, branch: Draft, own: usize, parents: Vec<Target>) -> Draft {
        let parents = Draft::new("TObjArray").items("items", parents);
        let table = Draft::new("TRefTable")
            .object("fParents", parents)
            .pointer("fOwner", Target::Again(own))
            .texts("fProcessGUIDs", self.processes.clone());
        branch.label(own).object("fRefTable", table)
    }
}
