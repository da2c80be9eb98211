//! Copies TTrees in their stored form. Their baskets are copied as they are, or decompressed and compressed in another
//! way. Only the keys of the baskets and the tables of the `TTree` are written again.

use std::ops::Range;

use nyssa_root::Context;
use nyssa_root::compression::{Compression, Compressor, decompress_to_vec};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fetch::{FetchUnit, in_order};
use nyssa_root::rootfile::{KeyEntry, RootFile, name_of, split};
use nyssa_ttree::Basket;
use nyssa_ttree::read::{Expected, MovedBasket};
use nyssa_ttree::stored::{Growth, StoredTree, add_bytes};
use rayon::prelude::*;

use super::output::Output;
use crate::heuristics::job;

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
    /// Whether all baskets get the compression.
    recompress: bool,
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
        Self { output, compression, recompress: false, context, done: 0, total }
    }

    /// With `recompress`, all baskets get the compression.
    pub(crate) fn recompressing(self, recompress: bool) -> Self {
        Self { recompress, ..self }
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
        growth.add(tree, matching);
        if self.recompress {
            let setting = Some(i64::from(self.compression.setting()));
            growth.branches.iter_mut().for_each(|branch| branch.compression = setting);
        }
        self.baskets((file, tree), matching, (split(path).0, start), growth)?;
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
        (file, tree): (&RootFile, &StoredTree),
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
        let units = units(file, stored, &|own| tree.branches[matching[own]].path.clone())?;
        let context = self.context;
        in_order(file.source(), units, Some(context), |moving, bytes| {
            let bytes = bytes?;
            let mut again = self.recompressed(&moving, bytes).into_iter();
            for (&(own, number, basket), raw) in moving.iter().zip(bytes) {
                let path = &tree.branches[matching[own]].path;
                let again = again.next().transpose();
                let written = again.and_then(|again| self.one(dir, (number, basket), raw, again));
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
        let mut compressor = Compressor::new(self.compression)?.with_checksums()?;
        for (own, number, basket) in embedded {
            let path = &tree.branches[matching[own]].path;
            let raw = basket.embedded.as_deref().unwrap_or_default();
            let moved = MovedBasket::embedded(raw, &Expected::of(basket)).in_field(path)?;
            let mut payload = Vec::new();
            compressor.compress(&moved.payload, &mut payload)?;
            let (seek, bytes) = self.output.file.with(|out| {
                out.copy_basket((dir, number as u64), &moved.head, &payload, moved.objlen)
            })?;
            let branch = &mut growth.branches[own];
            branch.baskets[number] = (start + basket.first_entry, seek, bytes);
            let more = (moved.head.len() as i64 + moved.objlen as i64, bytes as i64);
            add_bytes(&mut branch.bytes, more);
            add_bytes(&mut growth.bytes, more);
        }
        Ok(())
    }

    /// Writes a basket, with the other payload if there is one. Returns its place and its size.
    fn one(
        &self,
        dir: &str,
        (number, basket): (usize, &Basket),
        raw: &[u8],
        again: Option<Vec<u8>>,
    ) -> Result<(u64, u64)> {
        let (head, payload, objlen) = MovedBasket::stored(raw, &Expected::of(basket))?;
        let payload = again.as_deref().unwrap_or(payload);
        self.output.file.with(|out| out.copy_basket((dir, number as u64), head, payload, objlen))
    }

    /// Returns the payloads of baskets with the other compression, made by all threads. Returns none if baskets are
    /// copied as they are.
    fn recompressed<R: AsRef<[u8]> + Sync>(
        &self,
        moving: &[Moving<'_>],
        raw: &[R],
    ) -> Vec<Result<Vec<u8>>> {
        if !self.recompress {
            return Vec::new();
        }
        let one = |known: &mut Option<Compressor>, (moving, raw): (&Moving<'_>, &R)| {
            let (_, payload, objlen) = MovedBasket::stored(raw.as_ref(), &Expected::of(moving.2))?;
            let compressor = match known {
                Some(known) => known,
                None => known.insert(Compressor::new(self.compression)?.with_checksums()?),
            };
            recompress(payload, objlen, compressor)
        };
        let baskets = moving.par_iter().zip(raw);
        self.context.pool().install(|| baskets.map_init(|| None, one).collect())
    }
}

/// Compresses the payload of a basket in another way.
fn recompress(payload: &[u8], objlen: u64, compressor: &mut Compressor) -> Result<Vec<u8>> {
    let size = usize::try_from(objlen).unwrap_or(usize::MAX);
    let mut again = Vec::new();
    if payload.len() == size {
        compressor.compress(payload, &mut again)?;
    } else {
        compressor.compress(&decompress_to_vec(payload, size, "the basket")?, &mut again)?;
    }
    Ok(again)
}

/// Returns the ranges of baskets in units of about [`job::STORED_BYTES`].
fn units<'b>(
    file: &RootFile,
    baskets: Vec<Moving<'b>>,
    path: &dyn Fn(usize) -> String,
) -> Result<Vec<FetchUnit<Vec<Moving<'b>>>>> {
    let end = file.source().size();
    let mut units: Vec<FetchUnit<Vec<Moving<'_>>>> = Vec::new();
    let mut bytes = u64::MAX;
    for moving in baskets {
        let range: Range<u64> = moving.2.seek..moving.2.seek.saturating_add(moving.2.bytes);
        if range.end > end {
            return Err(Error::out_of_spec(format!(
                "the basket is said to end at byte {}, the file ends at byte {end}",
                range.end
            ))
            .at(|place| place.basket = Some(moving.1 as u64)))
            .in_field(&path(moving.0));
        }
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
