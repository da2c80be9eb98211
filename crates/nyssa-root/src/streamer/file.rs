//! Reads the streamer infos of a ROOT file, and the objects of its keys.

use std::sync::Arc;

use crate::error::{Result, ResultExt};
use crate::rootfile::writer::RootFileWriter;
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::info::{Clashes, StreamerInfos, StreamerList};
use crate::streamer::values::Object;

/// The name of the record with the streamer infos, for error messages.
const RECORD: &str = "StreamerInfo";

impl RootFile {
    /// Returns the streamer infos of this file. They are parsed once.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged.
    pub fn streamer_infos(&self) -> Result<Arc<StreamerInfos>> {
        let version = self.header().version;
        self.made_of_streamer_info(|record| {
            let record = record.as_ref().map(|(payload, keylen)| (&payload[..], *keylen));
            StreamerInfos::parse(record).map(|infos| infos.for_file_version(version))
        })
        .in_file(self.name())
        .in_object(RECORD)
    }

    /// Returns the list of streamer infos as it is stored. It is empty if the file has none.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged, `Unsupported` when it is too old.
    pub fn streamer_list(&self) -> Result<StreamerList> {
        self.streamer_info()
            .and_then(|record| match record {
                Some((payload, keylen)) => StreamerList::parse(&payload, keylen),
                None => Ok(StreamerList::default()),
            })
            .in_file(self.name())
            .in_object(RECORD)
    }

    /// Reads the object of a key, with all objects that it points to.
    ///
    /// # Errors
    /// `OutOfSpecification` with class, member and byte if the bytes do not match the streamer info, or if the record
    /// is damaged; `Unsupported` if the file does not describe the class; `LimitExceeded` for an object that grows
    /// out of all proportion.
    pub fn object(&self, entry: &KeyEntry) -> Result<Object> {
        let infos = self.streamer_infos()?;
        let payload = self.metadata(entry)?;
        infos
            .object(&entry.class, &payload, entry.keylen)
            .in_file(self.name())
            .in_object(&entry.path)
    }
}

impl RootFileWriter {
    /// Returns the classes of `infos` that this file describes with other members in the same version.
    ///
    /// # Errors
    /// `OutOfSpecification` if the file is changed in place and its list is damaged.
    pub(crate) fn clashes<'a>(&self, infos: &'a StreamerInfos) -> Result<Clashes<'a>> {
        let known = StreamerInfos::parse(self.streamer_info());
        Ok(Clashes::new(infos, &known.in_file(self.name()).in_object(RECORD)?))
    }

    /// Returns the names of the classes that the file describes.
    ///
    /// # Errors
    /// `OutOfSpecification` if the file is changed in place and its list is damaged.
    pub fn described_classes(&self) -> Result<Vec<String>> {
        let known = StreamerInfos::parse(self.streamer_info());
        let known = known.in_file(self.name()).in_object(RECORD)?;
        Ok(known.classes().iter().map(|info| info.name.clone()).collect())
    }

    /// Adds the streamer infos that the list of the file does not have yet.
    ///
    /// # Errors
    /// `OutOfSpecification` or `Unsupported` if the file is changed in place and its list is damaged or too old;
    /// `LimitExceeded` for a list of more than 1 GiB.
    pub fn add_streamer_infos(&mut self, infos: &StreamerList) -> Result<()> {
        let known =
            self.streamer_info().map(|(payload, keylen)| StreamerList::parse(payload, keylen));
        let mut list = known
            .unwrap_or_else(|| Ok(StreamerList::default()))
            .in_file(self.name())
            .in_object(RECORD)?;
        let before = list.len();
        list.merge(infos);
        if list.len() > before {
            self.set_streamer_info(|keylen| list.serialize(keylen))?;
        }
        Ok(())
    }
}
