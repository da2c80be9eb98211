//! Gives a new tree the parts that another tree had beside its branches and entries.

use std::sync::Arc;

use nyssa_root::error::Result;
use nyssa_root::streamer::{Draft, StreamerInfos, StreamerList, Target};

use crate::stored::{PlainObject, ReferenceTable, check_index, drafts};

/// The parts of a new tree beside its branches and entries, as another tree had them.
#[derive(Clone, Debug)]
pub struct TreeParts {
    weight: f64,
    friends: Vec<Draft>,
    user_info: Vec<Draft>,
    index: Option<(Draft, u64)>,
    /// The table of the references between objects.
    references: Option<Arc<ReferenceTable>>,
    /// The classes of the objects.
    infos: Arc<StreamerInfos>,
    /// The streamer infos that the file gets.
    list: Arc<StreamerList>,
}

impl TreeParts {
    /// Starts with a weight. `infos` and `list` describe the classes of the objects of the other parts.
    pub fn new(weight: f64, infos: Arc<StreamerInfos>, list: StreamerList) -> Self {
        let (friends, user_info, list) = (Vec::new(), Vec::new(), Arc::new(list));
        Self { weight, friends, user_info, index: None, references: None, infos, list }
    }

    /// Sets the friends.
    ///
    /// # Errors
    /// `OutOfSpecification` or `Unsupported` for bytes that are no object of their class.
    pub fn set_friends(&mut self, friends: &[PlainObject]) -> Result<()> {
        self.friends = drafts("TFriendElement", friends, &self.infos)?;
        Ok(())
    }

    /// Sets the objects of the user information.
    ///
    /// # Errors
    /// `OutOfSpecification` or `Unsupported` for bytes that are no object of their class.
    pub fn set_user_info(&mut self, objects: &[PlainObject]) -> Result<()> {
        self.user_info = drafts("TObject", objects, &self.infos)?;
        Ok(())
    }

    /// Sets the index, which is for a number of entries.
    ///
    /// # Errors
    /// `OutOfSpecification` for bytes that are no such index.
    pub fn set_index(&mut self, index: &PlainObject, entries: u64) -> Result<()> {
        check_index(index, entries)?;
        self.index = Some((Draft::stored(&index.class, index.bytes.clone()), entries));
        Ok(())
    }

    /// Returns the parts with the table of the references between objects, for which [`super::check_references`] has found the branches.
    #[must_use]
    pub fn with_references(self, table: ReferenceTable) -> Self {
        Self { references: Some(Arc::new(table)), ..self }
    }

    /// Returns the table of the references of a tree of `entries` entries, unless it is for another number of entries.
    pub(super) fn references(&self, entries: u64) -> Option<&ReferenceTable> {
        self.references.as_deref().filter(|table| table.entries.len() as u64 == entries)
    }

    /// Adds the parts to a tree of `entries` entries. The index is left out if it is for another number of entries.
    pub(super) fn add_to(&self, tree: Draft, entries: u64) -> Draft {
        let tree = tree.float("fWeight", self.weight);
        let lists = [("fFriends", &self.friends), ("fUserInfo", &self.user_info)];
        let lists = lists.into_iter().filter(|(_, objects)| !objects.is_empty());
        let tree = lists.fold(tree, |tree, (member, objects)| {
            tree.items(member, objects.iter().cloned().map(Target::New).collect())
        });
        match &self.index {
            Some((index, of)) if *of == entries => {
                tree.pointer("fTreeIndex", Target::New(index.clone()))
            }
            _ => tree,
        }
    }

    /// Adds the classes of the objects to `infos`.
    pub(super) fn describe(&self, infos: &mut StreamerInfos) {
        infos.add(&self.infos);
    }

    /// Returns the streamer infos that the file gets.
    pub(super) fn list(&self) -> &StreamerList {
        &self.list
    }
}
