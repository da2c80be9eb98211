//! Lists the places of the pages or baskets of a dataset in its file.

use std::collections::{HashMap, HashSet};
use std::iter::successors;

use nyssa_data::dataset::{Dataset, glob, no_match};
use nyssa_rntuple::read::Reader as NTupleReader;
use nyssa_rntuple::schema::{Column, FieldId, Schema};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_tables::Reader as TableReader;
use nyssa_ttree::{Branch, Reader as TreeReader};

use super::Inspection;
use super::tree::branches;
use crate::open::Opened;

/// The pages or baskets of a dataset in the order of the file. It is made from metadata alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageMap {
    /// The pages or baskets, sorted by offset. Pages that several places share are listed once.
    pub pages: Vec<MappedPage>,
    /// The metadata of an RNTuple.
    pub metadata: Vec<MappedMetadata>,
    /// The number of clusters.
    pub clusters: u64,
    /// The other columns or branches that are needed to read each column or branch: the offsets of the surrounding
    /// collections, or the counters of its leaves.
    pub needs: Vec<Vec<u32>>,
}

/// The place of a page or basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedPage {
    /// The first byte in the file.
    pub offset: u64,
    /// The number of bytes on storage, with the checksum of a page or the key of a basket.
    pub bytes: u64,
    /// The index of the column in [`Inspection::columns`], or of the branch in [`Inspection::fields`].
    pub column: u32,
    /// The number of the cluster, from 0. For a basket it is the cluster of its first entry.
    pub cluster: u32,
}

/// The place of a part of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedMetadata {
    /// The name of the part.
    pub name: &'static str,
    /// The first byte in the file.
    pub offset: u64,
    /// The number of bytes on storage.
    pub bytes: u64,
}

impl PageMap {
    /// Returns the places of the pages of an RNTuple or a table, or of the baskets of a TTree.
    ///
    /// Baskets inside the tree object, and baskets in other files, have no place.
    ///
    /// # Errors
    /// Returns an error if a page list is damaged or cannot be read.
    pub fn of(dataset: &Opened) -> Result<Self> {
        let mut map = match dataset {
            Opened::Tree(reader) => of_tree(reader),
            Opened::NTuple(reader) => of_ntuple(reader)?,
            Opened::Table(reader) => of_table(reader)?,
        };
        map.pages.sort_unstable();
        Ok(map)
    }
}

impl Inspection {
    /// Returns the indices of the fields whose names match one of the globs.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that cannot be parsed, `NotFound` for a glob that no field matches.
    pub fn matching(&self, globs: &[String]) -> Result<Vec<usize>> {
        let mut matched = vec![false; self.fields.len()];
        for text in globs {
            let (glob, mut any) = (glob(text)?.compile_matcher(), false);
            for (field, matched) in self.fields.iter().zip(&mut matched) {
                let matches = field.name == *text || glob.is_match(&field.name);
                *matched |= matches;
                any |= matches;
            }
            if !any {
                let names = self.fields.iter().map(|field| field.name.as_str());
                return Err(no_match("field", text, names));
            }
        }
        Ok((0..matched.len()).filter(|&index| matched[index]).collect())
    }
}

fn of_ntuple(reader: &NTupleReader) -> Result<PageMap> {
    let (mut seen, mut pages) = (HashSet::new(), Vec::new());
    for (cluster, info) in (0u32..).zip(reader.clusters_info()?) {
        for (column, range) in (0u32..).zip(&info.columns) {
            let new = range.pages.iter().filter(|page| seen.insert(page.locator.offset));
            pages.extend(new.map(|page| MappedPage {
                offset: page.locator.offset,
                bytes: page.stored_bytes(),
                column,
                cluster,
            }));
        }
    }
    let anchor = reader.anchor();
    let part = |name, offset, bytes| MappedMetadata { name, offset, bytes };
    let groups = reader.footer().cluster_groups.iter().map(|group| group.page_list.locator);
    let mut metadata = vec![part("header", anchor.header.seek, anchor.header.nbytes)];
    metadata.extend(groups.map(|list| part("page list", list.offset, list.size)));
    metadata.push(part("footer", anchor.footer.seek, anchor.footer.nbytes));
    let (clusters, needs) = (reader.clusters_info()?.len() as u64, ancestors(reader.schema()));
    Ok(PageMap { pages, metadata, clusters, needs })
}

/// Returns for each column the columns of the parents of its field.
fn ancestors(schema: &Schema) -> Vec<Vec<u32>> {
    let mut of_field: HashMap<FieldId, Vec<u32>> = HashMap::new();
    for (index, column) in (0u32..).zip(&schema.columns) {
        of_field.entry(column.field).or_default().push(index);
    }
    let above = |id: FieldId| successors(schema.field(id).parent, |id| schema.field(*id).parent);
    let of = |column: &Column| above(column.field).filter_map(|id| of_field.get(&id)).flatten();
    schema.columns.iter().map(|column| of(column).copied().collect()).collect()
}

fn of_table(reader: &TableReader) -> Result<PageMap> {
    let layout = reader.layout(&Context::kept(None)?)?;
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let pages = layout.pages.iter().map(|page| MappedPage {
        offset: page.offset,
        bytes: page.bytes,
        column: narrow(page.leaf),
        cluster: narrow(page.cluster),
    });
    let clusters = reader.dataset().clusters().len() as u64;
    let needs = vec![Vec::new(); layout.leaves.len()];
    Ok(PageMap { pages: pages.collect(), metadata: Vec::new(), clusters, needs })
}

fn of_tree(reader: &TreeReader) -> PageMap {
    let clusters = reader.clusters();
    let mut pages = Vec::new();
    for (column, (_, branch)) in (0u32..).zip(branches(reader)) {
        if branch.is_elsewhere || reader.reach(branch).is_err() {
            continue;
        }
        let on_disk =
            branch.baskets.iter().filter(|item| item.embedded.is_none() && item.bytes > 0);
        pages.extend(on_disk.map(|basket| {
            let after = clusters.partition_point(|range| range.start <= basket.first_entry);
            let cluster = u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX);
            MappedPage { offset: basket.seek, bytes: basket.bytes, column, cluster }
        }));
    }
    let index: HashMap<&str, u32> = branches(reader)
        .zip(0u32..)
        .map(|((_, item), index)| (item.path.as_str(), index))
        .collect();
    let counters = |branch: &Branch| {
        let all = branch.leaves.iter().filter_map(|leaf| leaf.counter.as_ref());
        all.filter_map(|counter| index.get(counter.branch.as_str())).copied().collect()
    };
    let needs = branches(reader).map(|(_, branch)| counters(branch)).collect();
    PageMap { pages, metadata: Vec::new(), clusters: clusters.len() as u64, needs }
}
