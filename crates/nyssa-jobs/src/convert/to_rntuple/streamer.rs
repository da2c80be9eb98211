//! Makes streamer fields from branches of classes and containers.
//!
//! A streamer field has the bytes that ROOT's streamer writes for each object. The objects of split branches are
//! first assembled. If nyssa cannot stream the objects, their bytes are copied from the file, if the file contains
//! whole objects.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::info::StreamerList;
use nyssa_root::streamer::{Layouts, ObjectLayout, StreamerInfos};
use nyssa_root::type_name;
use nyssa_ttree::{Branch, Reader, Shape, Split, Streamed};

use super::model::Input;
use crate::convert::report::StreamerFieldReport;

/// A branch whose objects are streamed.
#[derive(Clone, Debug)]
pub struct StreamerBranch {
    /// The C++ class, in the spelling of RNTuple.
    pub class: String,
    layout: Arc<ObjectLayout>,
    /// Whether the branch reads as another type than the field.
    apart: bool,
    /// Whether the branch could be stored in columns instead.
    columns: bool,
    /// The layout of the bytes in the file, if they are whole objects.
    bytes: Option<Arc<ObjectLayout>>,
    /// The branch as a branch of bytes, if the bytes are copied from the file.
    carried: Option<Arc<Branch>>,
}

/// The branches of a tree that become streamer fields.
#[derive(Clone, Debug, Default)]
pub struct StreamerBranches {
    pub(super) by_input: BTreeMap<usize, StreamerBranch>,
    /// The streamer infos of their classes.
    pub infos: StreamerList,
    /// The choice for each branch, with the reason.
    pub reports: Vec<StreamerFieldReport>,
    /// The reason why branches without another type cannot be streamer fields.
    pub(super) not_streamed: BTreeMap<usize, String>,
}

impl StreamerBranches {
    /// Returns the reason why a branch without another type cannot be a streamer field.
    pub(super) fn not_streamed(&self, input: usize) -> Option<&str> {
        self.not_streamed.get(&input).map(String::as_str)
    }

    /// Returns whether a branch that is a streamer field could be stored in another way.
    pub(super) fn has_choice(&self, input: usize) -> bool {
        self.get(input).is_some_and(|streamed| {
            streamed.columns || streamed.bytes.is_some() && streamed.carried.is_none()
        })
    }

    /// Returns the streamer infos that readers of the objects need.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged, `Unsupported` when it is too old.
    pub(super) fn describe(&self, file: &RootFile) -> Result<StreamerList> {
        if self.by_input.is_empty() {
            return Ok(StreamerList::default());
        }
        let infos = file.streamer_list()?;
        let layouts = || self.by_input.values().map(|streamed| &*streamed.layout);
        // Bytes that are copied from the file may have any version of the class.
        Ok(match self.by_input.values().any(StreamerBranch::is_carried) {
            true => ObjectLayout::describe_all(layouts(), &infos),
            false => ObjectLayout::describe(layouts(), &infos),
        })
    }

    /// Returns the streamed branch of an input, if it is streamed.
    pub fn get(&self, input: usize) -> Option<&StreamerBranch> {
        self.by_input.get(&input)
    }
}

impl StreamerBranch {
    /// Finds how the objects of a branch are streamed. `columns` is true if they could be columns instead.
    ///
    /// # Errors
    /// `Unsupported` if a class cannot be streamed, or a member that the branch lacks is needed.
    pub(super) fn new(
        (layouts, infos): (&mut Layouts<'_>, &Arc<StreamerInfos>),
        class: &str,
        input: &Input<'_>,
        columns: bool,
    ) -> Result<Self> {
        // The branch names the class of the items of a split TClonesArray.
        let layout = match &input.branch.split {
            Some(Split { class, collection: Some((name, _)), .. }) if name == "TClonesArray" => {
                layouts.clones(&class.name)?
            }
            _ => layouts.object(class)?,
        };
        let data_type = input.branch.data_type().map_err(Error::unsupported)?;
        // A split branch may lack members.
        layout.encode(&new_empty_array(&data_type))?;
        let apart = layout.data_type() != data_type;
        let bytes = match &input.branch.shape {
            Ok(Shape::Streamed(streamed))
                if input.branch.split.is_none() && layouts.are_of_today() =>
            {
                streamed.layout.raw(infos).filter(|_| streamed.counter.is_none()).map(Arc::new)
            }
            _ => None,
        };
        Ok(Self {
            class: type_name::normalize(class),
            layout: Arc::new(layout),
            apart,
            columns,
            bytes,
            carried: None,
        })
    }

    /// Returns the branch, or a reason if no streamer info describes its objects for readers.
    pub(super) fn require_info(self, infos: &StreamerList) -> std::result::Result<Self, String> {
        let own = ObjectLayout::describe_all([&*self.layout], infos);
        let own = own.versions(|name| type_name::normalize(name) == self.class);
        // The name of a container describes its content.
        match own.is_empty() && !ObjectLayout::is_container(&self.class) {
            true => Err(format!("no streamer info describes the class {}", self.class)),
            false => Ok(self),
        }
    }

    /// Returns this branch, with its bytes copied from the file instead. Returns `None` if they are not whole
    /// objects.
    pub(super) fn carry(mut self, input: &Input<'_>) -> Option<Self> {
        let Ok(Shape::Streamed(streamed)) = &input.branch.shape else { return None };
        let layout = self.bytes.clone()?;
        let mut branch = input.branch.clone();
        branch.shape = Ok(Shape::Streamed(Streamed { layout, ..streamed.clone() }));
        (self.apart, self.carried) = (true, Some(Arc::new(branch)));
        Some(self)
    }

    /// Returns whether the bytes are copied from the file.
    pub(super) fn is_carried(&self) -> bool {
        self.carried.is_some()
    }

    /// Returns whether the branch reads as another type than the field. A split branch of a `TClonesArray`, for example,
    /// has only its items.
    pub(super) fn is_apart(&self) -> bool {
        self.apart
    }

    /// Reads the objects of a branch as streamed bytes.
    ///
    /// # Errors
    /// Returns an error if the branch is damaged, cannot be read, or its objects cannot be streamed.
    pub(super) fn read(
        &self,
        reader: &Reader,
        path: &str,
        entries: &Range<u64>,
    ) -> Result<ArrayRef> {
        self.objects(reader, path, entries).map(|(_, bytes)| bytes)
    }

    /// Reads the objects of a branch and their streamed bytes. If the bytes are copied from the file, returns
    /// only the bytes.
    ///
    /// # Errors
    /// Returns an error if the branch is damaged, cannot be read, or its objects cannot be streamed.
    pub(super) fn objects(
        &self,
        reader: &Reader,
        path: &str,
        entries: &Range<u64>,
    ) -> Result<(Option<ArrayRef>, ArrayRef)> {
        if let Some(branch) = &self.carried {
            return Ok((None, reader.read_branch(branch, entries.clone(), None)?));
        }
        let array = reader.read_whole(path, entries.clone())?;
        let bytes = self.layout.streamed(&array, entries.start)?;
        Ok((Some(array), bytes))
    }
}
