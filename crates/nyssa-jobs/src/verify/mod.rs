//! Checks whether a file is sound: the records of its keys, its objects, and the data of all datasets. A table is a file with
//! one dataset and no keys.

mod report;

use std::collections::HashSet;
use std::sync::Arc;

use nyssa_io::Source;

pub use report::{Checksums, DatasetReport, Objects, VerifyReport};

use crate::open::{AnyFile, Opened, format_of, named_table, table_format};
use nyssa_rntuple::read;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ObjectReader;
use nyssa_ttree as ttree;

/// Checks a whole file, or one object at a path in it.
///
/// Every page and basket is read, checked and decoded, every other object is decoded, and all problems are collected.
/// Progress is reported dataset by dataset. A Parquet or Arrow IPC file is one dataset.
///
/// # Errors
/// `NotFound` for a path that does not exist; `Io`; `Cancelled`. Problems of the file are in the report.
pub fn verify(
    source: Arc<dyn Source>,
    path: Option<&str>,
    context: &Context,
) -> Result<VerifyReport> {
    let report = VerifyReport::new(source.name());
    let mut check = Check { report, anchors: HashSet::new(), context };
    match AnyFile::open(&source) {
        Ok(AnyFile::Root(file)) => check.file(&file, path)?,
        Ok(AnyFile::Table(table)) => {
            let table = named_table(table, path)?;
            let class = table_format(&table);
            check.report.table(table.dataset().name(), class, table.verify(context)?);
        }
        Err(error) => check.report.damage(None, error)?,
    }
    Ok(check.report.concluded())
}

/// A check that is running.
struct Check<'a> {
    report: VerifyReport,
    /// The positions of the anchors of attribute sets.
    anchors: HashSet<u64>,
    context: &'a Context,
}

impl Check<'_> {
    fn file(&mut self, file: &RootFile, path: Option<&str>) -> Result<()> {
        let objects = ObjectReader::new(file.clone());
        if let Some(path) = path {
            return self.key(file, &objects, &file.find(path)?);
        }
        self.report.unchecked.extend(file.not_closed().map(str::to_owned));
        let infos = file.streamer_infos();
        if let Ok(infos) = &infos {
            self.report.described_twice(&infos.described_twice());
        }
        self.report.record(None, infos.map(drop))?;
        for wrong in file.check_container()? {
            self.report.damage(None, wrong)?;
        }
        let (keys, lost) = file.list_all()?;
        lost.into_iter().try_for_each(|error| self.report.lost(error))?;
        keys.iter().try_for_each(|key| self.key(file, &objects, key))?;
        self.look_for_unlisted(file, &keys)
    }

    /// Adds notes on the keys in the file that no directory lists, and that are not of attribute sets.
    fn look_for_unlisted(&mut self, file: &RootFile, listed: &[KeyEntry]) -> Result<()> {
        if file.was_recovered() {
            return Ok(());
        }
        if !file.source().limits().is_near() {
            let note =
                "keys that no directory lists were not looked for, because the file is remote";
            self.report.notes.push(note.to_owned());
            return Ok(());
        }
        let mut unlisted = file.unlisted(listed)?;
        unlisted.keys.retain(|key| !self.anchors.contains(&(key.seek + u64::from(key.keylen))));
        self.report.unlisted(&unlisted);
        Ok(())
    }

    fn key(&mut self, file: &RootFile, objects: &ObjectReader, key: &KeyEntry) -> Result<()> {
        self.context.check()?;
        self.report.keys += 1;
        if key.is_directory() {
            // The list of keys of a directory has already been read.
            return Ok(());
        }
        let before = self.report.problems.len();
        self.report.record(Some(key), file.check_object(key))?;
        if self.report.problems.len() > before {
            return Ok(());
        }
        if format_of(key).is_none() {
            return self.report.object(key, objects.read(key));
        }
        match Opened::of_key(file, key) {
            Ok(Opened::Tree(reader)) => {
                let check = ttree::verify(&reader, self.context)?;
                self.report.dataset(key.path.clone(), key, check);
                Ok(())
            }
            Ok(Opened::NTuple(reader)) => self.ntuple(&reader, key),
            // No key has a table.
            Ok(Opened::Table(_)) => Ok(()),
            Err(error) => self.report.record(Some(key), Err(error)),
        }
    }

    /// Checks an RNTuple and its attribute sets, which no directory lists.
    fn ntuple(&mut self, reader: &read::Reader, key: &KeyEntry) -> Result<()> {
        let check = read::verify(reader, self.context)?;
        self.report.dataset(key.path.clone(), key, check);
        for link in reader.attribute_links() {
            self.anchors.insert(link.locator.offset);
            match reader.open_attribute_set(&link.name) {
                Ok(set) => {
                    let path = format!("{}, attribute set {}", key.path, link.name);
                    let check = read::verify(&set, self.context)?;
                    self.report.dataset(path, key, check);
                    self.report.record(Some(key), set.attribute_ranges(self.context).map(drop))?;
                }
                Err(error) => self.report.record(Some(key), Err(error))?,
            }
        }
        Ok(())
    }
}
