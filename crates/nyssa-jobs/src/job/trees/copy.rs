//! Copies TTrees in their stored form. Their baskets are copied as they are. Only the keys of the baskets and the tables of
//! the `TTree` are written again.

use std::ops::Range;

use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::fetch::{FetchUnit, in_order};
use nyssa_root::rootfile::{KeyEntry, RootFile, name_of, split};
use nyssa_ttree::Basket;
use nyssa_ttree::read::{Expected, MovedBasket};
use nyssa_ttree::repack::{PackingMemory, renumbered, reseal};
use nyssa_ttree::stored::{Growth, StoredTree, add_bytes};

use super::form::stored_compression;
use super::work::Progress;
use crate::heuristics::job;
use crate::job::output::Output;

/// Returns the number of bytes of all baskets of a tree.
pub(crate) fn basket_bytes(tree: &StoredTree) -> u64 {
    tree.branches.iter().flat_map(|branch| &branch.baskets).map(|basket| basket.bytes).sum()
}

/// A basket on its way: its branch in the output, its number there, and its place in the input.
type Moving<'b> = (usize, usize, &'b Basket);

/// Copies stored trees into an output.
pub(crate) struct Copy<'a> {
    output: &'a Output,
    compression: Compression,
    context: &'a Context,
    done: u64,
    total: u64,
}

impl<'a> Copy<'a> {
    /// Makes a copy of `total` bytes of baskets. Tables, and baskets that were inside a tree, get the compression.
    pub(crate) fn new(
        output: &'a Output,
        compression: Compression,
        context: &'a Context,
        total: u64,
    ) -> Self {
        Self { output, compression, context, done: 0, total }
    }

    /// Returns the compression of tables.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the output.
    pub(crate) fn output(&self) -> &'a Output {
        self.output
    }

    /// Returns the context.
    pub(crate) fn context(&self) -> &'a Context {
        self.context
    }

    /// Returns the part of the job that the next `bytes` of baskets are, which another writes.
    pub(crate) fn leave(&mut self, bytes: u64) -> Progress {
        let progress = Progress { before: self.done, own: bytes, total: self.total };
        self.done += bytes;
        progress
    }

    /// Returns an error if the job must stop.
    ///
    /// # Errors
    /// `Cancelled`.
    pub(crate) fn check(&self) -> Result<()> {
        self.context.check()
    }

    /// Adds all entries of `tree` to `growth`, which is the tree at `path` of the output. There its branches have the
    /// order `matching`.
    ///
    /// # Errors
    /// `Unsupported` if the output describes a class of its branches with other members; `OutOfSpecification` for
    /// damaged baskets; `Cancelled`; an error if the input cannot be read or the output cannot be written.
    pub(crate) fn entries(
        &mut self,
        (file, tree): (&RootFile, &StoredTree),
        matching: &[usize],
        path: &str,
        growth: &mut Growth,
    ) -> Result<()> {
        let start = growth.entries;
        self.output.file.require_same_classes(&*file.streamer_infos()?, tree.classes())?;
        tree.branches.iter().try_for_each(|branch| tree.reach(branch))?;
        growth.add(tree, matching);
        self.baskets(tree, matching, (split(path).0, start), growth)?;
        self.output.file.add_streamer_infos(&file.streamer_list()?)
    }

    /// Writes the tree of `key` with the entries of `growth` at `path` of the output.
    ///
    /// # Errors
    /// `LimitExceeded` for numbers that the stored version of a class cannot hold; an error if the output cannot be
    /// written.
    pub(crate) fn tree(
        &self,
        tree: StoredTree,
        key: &KeyEntry,
        path: &str,
        growth: &Growth,
    ) -> Result<()> {
        let (dir, name) = split(path);
        let new = name_of(name);
        let renamed = (key.name != new).then(|| new.to_string());
        let make = |keylen| tree.grown(growth, renamed.as_deref(), keylen).in_object(path);
        self.output.file.with(|out| {
            out.write_made(dir, &key.class, (name, &key.title), make, self.compression).map(drop)
        })
    }

    /// Copies the baskets of a tree, in the order of its file. Baskets inside the tree get their own keys.
    fn baskets(
        &mut self,
        tree: &StoredTree,
        matching: &[usize],
        (dir, start): (&str, u64),
        growth: &mut Growth,
    ) -> Result<()> {
        let (mut stored, mut embedded): (Vec<Moving<'_>>, Vec<Moving<'_>>) =
            (Vec::new(), Vec::new());
        for (own, &at) in matching.iter().enumerate() {
            let Some(branch) = tree.branches.get(at) else { continue };
            let places = &mut growth.branches[own].baskets;
            for basket in &branch.baskets {
                let kind = if basket.embedded.is_some() { &mut embedded } else { &mut stored };
                kind.push((own, places.len(), basket));
                places.push((start + basket.first_entry, 0, 0));
            }
        }
        stored.sort_by_key(|(_, _, basket)| basket.seek);
        let units = units(tree, stored, &|own| tree.branches[matching[own]].path.clone())?;
        let (context, memory) = (self.context, PackingMemory::default());
        in_order(tree.source(), units, Some(context), |moving, bytes| {
            let bytes = bytes?;
            for (&(own, number, basket), raw) in moving.iter().zip(bytes) {
                let from = &tree.branches[matching[own]];
                let path = &from.path;
                let written = match tree.processes.concerns(path, raw) {
                    true => {
                        let (processes, own) = ((&tree.processes, &**path), self.compression);
                        let compression = stored_compression(from).unwrap_or(own);
                        let moved = renumbered(raw, basket, compression, processes, &memory);
                        moved.and_then(|one| {
                            self.copy_basket((dir, number), (&one.head, &one.payload, one.objlen))
                        })
                    }
                    false => MovedBasket::stored(raw, &Expected::of(basket))
                        .and_then(|stored| self.copy_basket((dir, number), stored)),
                };
                let (seek, bytes) =
                    written.at(|place| place.basket = Some(number as u64)).in_field(path)?;
                let branch = &mut growth.branches[own];
                branch.baskets[number] = (start + basket.first_entry, seek, bytes);
                let more = (0, bytes as i64 - basket.bytes as i64);
                add_bytes(&mut branch.bytes, more);
                add_bytes(&mut growth.bytes, more);
                self.done += basket.bytes;
            }
            context.report(self.done, self.total);
            Ok(())
        })?;
        for (own, number, basket) in embedded {
            let path = &tree.branches[matching[own]].path;
            let processes = (&tree.processes, &**path);
            let moved = reseal(&[], basket, self.compression, processes, &memory).in_field(path)?;
            let (seek, bytes) =
                self.copy_basket((dir, number), (&moved.head, &moved.payload, moved.objlen))?;
            let branch = &mut growth.branches[own];
            branch.baskets[number] = (start + basket.first_entry, seek, bytes);
            let more = (moved.head.len() as i64 + moved.objlen as i64, bytes as i64);
            add_bytes(&mut branch.bytes, more);
            add_bytes(&mut growth.bytes, more);
        }
        Ok(())
    }

    /// Writes a basket with its key, its payload and the size of its uncompressed payload. Returns its place and its size.
    fn copy_basket(
        &self,
        (dir, number): (&str, usize),
        (head, payload, objlen): (&[u8], &[u8], u64),
    ) -> Result<(u64, u64)> {
        self.output.file.with(|out| out.copy_basket((dir, number as u64), head, payload, objlen))
    }
}

/// Returns the ranges of baskets in units of about [`job::STORED_BYTES`].
fn units<'b>(
    tree: &StoredTree,
    baskets: Vec<Moving<'b>>,
    path: &dyn Fn(usize) -> String,
) -> Result<Vec<FetchUnit<Vec<Moving<'b>>>>> {
    let mut units: Vec<FetchUnit<Vec<Moving<'_>>>> = Vec::new();
    let mut bytes = u64::MAX;
    for moving in baskets {
        let range = tree.range(moving.2).at(|place| place.basket = Some(moving.1 as u64));
        let range: Range<u64> = range.in_field(&path(moving.0))?;
        if bytes >= job::STORED_BYTES {
            units.push((Vec::new(), Vec::new()));
            bytes = 0;
        }
        bytes += moving.2.bytes;
        if let Some((ranges, items)) = units.last_mut() {
            ranges.push(range);
            items.push(moving);
        }
    }
    Ok(units)
}
